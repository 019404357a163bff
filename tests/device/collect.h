/* collect.h - a decoder whose every call is kept, for tests to look at.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_COLLECT_H
#define STROBE_TESTS_COLLECT_H

#include <stdlib.h>
#include <string.h>

#include "device/stream.h"

struct collect_mark {
    uint64_t time, values[63];
    uint32_t id, program, n_values;
    bool is_data;
};

struct collect {
    struct strobe_device_stream *stream;
    struct strobe_device_zone *zones; /* owned */
    uint32_t *riscs;                  /* owned: of each zone */
    size_t n_zones, room;
    struct collect_mark marks[256];
    size_t n_marks;
    struct strobe_device_sum sums[64];
    size_t n_sums;
    struct strobe_device_open open[16];
    size_t n_open, n_open_calls;
    bool open_final;
    uint64_t n_dropped;
    char name[64];
};

static void collect_zones(void *context, const struct strobe_device_lane *lane,
                          const struct strobe_device_zone *zones, size_t n_zones)
{
    struct collect *all = context;
    if (all->n_zones + n_zones > all->room) {
        all->room = 2 * (all->n_zones + n_zones);
        all->zones = realloc(all->zones, all->room * sizeof *all->zones);
        all->riscs = realloc(all->riscs, all->room * sizeof *all->riscs);
        if (!all->zones || !all->riscs)
            abort();
    }
    memcpy(all->zones + all->n_zones, zones, n_zones * sizeof *zones);
    for (size_t i = 0; i < n_zones; i++)
        all->riscs[all->n_zones + i] = lane->risc;
    all->n_zones += n_zones;
}

static void collect_mark(void *context, const struct strobe_device_lane *lane,
                         const struct strobe_device_mark *mark)
{
    struct collect *all = context;
    (void)lane;
    if (all->n_marks == 256)
        return;
    struct collect_mark *one = &all->marks[all->n_marks++];
    *one = (struct collect_mark){.time = mark->time,
                                 .id = mark->id,
                                 .program = mark->program,
                                 .n_values = mark->n_values,
                                 .is_data = mark->values != NULL};
    if (mark->values)
        memcpy(one->values, mark->values, mark->n_values * sizeof one->values[0]);
}

static void collect_sum(void *context, const struct strobe_device_lane *lane,
                        const struct strobe_device_sum *sum)
{
    struct collect *all = context;
    (void)lane;
    if (all->n_sums < 64)
        all->sums[all->n_sums++] = *sum;
}

static void collect_open(void *context, const struct strobe_device_lane *lane, uint64_t cycles,
                         bool final, const struct strobe_device_open *open, size_t n_open)
{
    struct collect *all = context;
    (void)cycles;
    all->n_open_calls++;
    if (lane->risc)
        return;
    all->n_open = n_open;
    all->open_final = final;
    if (n_open)
        memcpy(all->open, open, n_open * sizeof *open);
}

static void collect_drop(void *context, const struct strobe_device_lane *lane, uint32_t count)
{
    (void)lane;
    ((struct collect *)context)->n_dropped += count;
}

static void collect_name(void *context, const struct strobe_device_name *name)
{
    struct collect *all = context;
    size_t n = name->name.n_bytes < 63 ? name->name.n_bytes : 63;
    memcpy(all->name, name->name.bytes, n);
    all->name[n] = 0;
}

static __attribute__((unused)) struct collect *collect_open_stream(bool scalar)
{
    struct collect *all = calloc(1, sizeof *all);
    struct strobe_device_calls calls = {.context = all,
                                        .zones = collect_zones,
                                        .event = collect_mark,
                                        .data = collect_mark,
                                        .sum = collect_sum,
                                        .open = collect_open,
                                        .drop = collect_drop,
                                        .name = collect_name};
    struct strobe_device_stream_options options = {.scalar = scalar};
    if (!all || strobe_device_stream_open(&calls, &options, &all->stream))
        abort();
    return all;
}

static __attribute__((unused)) void collect_close(struct collect *all)
{
    strobe_device_stream_close(all->stream);
    free(all->zones);
    free(all->riscs);
    free(all);
}

#endif
