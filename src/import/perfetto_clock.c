/* perfetto_clock.c - times of any clock as times of the trace's. A snapshot says what several clocks showed at one moment; a time is as far from the last
 * moment before it as on its own clock. Clocks 64 to 127 are a sequence's own, and may count in steps.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/array.h"
#include "import/perfetto_parts.h"

enum { OWN_FIRST = 64, OWN_LAST = 127, SNAPSHOT_MAX = 64, MOMENTS_MAX = 1 << 16, MOVED_MAX = 64 };
#define TIME_MAX (1ll << 61) /* later than anything, and no sum of two overflows */

static uint64_t key_of(uint32_t sequence, uint64_t clock)
{
    int is_own = clock >= OWN_FIRST && clock <= OWN_LAST;
    return is_own ? (uint64_t)sequence << 32 | clock : clock | 1ull << 63;
}

/* NULL: no room. */
static struct strobe_perfetto_clock *clock_at(struct strobe_perfetto *perfetto, uint64_t key)
{
    uint64_t *index =
        strobe_timeline_map_at(perfetto->timeline, &perfetto->clock_ids, key, UINT32_MAX);
    if (index && *index)
        return &perfetto->clocks[*index - 1];
    if (!index || !strobe_timeline_room(perfetto->timeline, (void **)&perfetto->clocks,
                                        &perfetto->clocks_room, perfetto->n_clocks + 1ull,
                                        sizeof *perfetto->clocks)) {
        strobe_map_remove(&perfetto->clock_ids, key);
        return NULL;
    }
    struct strobe_perfetto_clock *clock = &perfetto->clocks[perfetto->n_clocks++];
    *clock = (struct strobe_perfetto_clock){.key = key, .multiplier = 1};
    *index = perfetto->n_clocks;
    return clock;
}

static struct strobe_perfetto_clock *find_clock(const struct strobe_perfetto *perfetto,
                                                uint64_t key)
{
    uint64_t index = strobe_map_get(&perfetto->clock_ids, key, 0);
    return index ? &perfetto->clocks[index - 1] : NULL;
}

/* By the last moment that is not later, else by the first. */
static int64_t by_moments(const struct strobe_perfetto_clock *clock, int64_t ns)
{
    uint32_t from = 0, to = clock->n_moments;
    while (from + 1 < to) {
        uint32_t middle = from + (to - from) / 2;
        if (clock->moments[middle].clock_ns <= ns)
            from = middle;
        else
            to = middle;
    }
    return clock->moments[from].trace_ns + (ns - clock->moments[from].clock_ns);
}

static int is_sane(int64_t ns)
{
    return ns > -TIME_MAX && ns < TIME_MAX;
}

/* Steps of a clock as ns; one beyond all times where they are too many. */
static int64_t scale(uint64_t steps, uint64_t multiplier)
{
    uint64_t ns;
    return __builtin_mul_overflow(steps, multiplier, &ns) || ns >= (uint64_t)TIME_MAX ? TIME_MAX
                                                                                      : (int64_t)ns;
}

int strobe_perfetto_time(struct strobe_perfetto *perfetto, uint32_t sequence, uint64_t clock,
                         uint64_t timestamp, int64_t *out)
{
    int is_own = clock >= OWN_FIRST && clock <= OWN_LAST;
    *out = scale(timestamp, 1);
    if (!clock || clock == perfetto->trace_clock)
        return is_sane(*out);
    struct strobe_perfetto_clock *known = find_clock(perfetto, key_of(sequence, clock));
    if (known && known->is_incremental)
        timestamp = known->last += timestamp;
    if (known)
        *out = scale(timestamp, known->multiplier);
    if (!is_sane(*out) || (is_own && (!known || !known->n_moments)))
        return 0;
    if (known && known->n_moments)
        *out = by_moments(known, *out);
    else
        strobe_timeline_say(perfetto->timeline,
                            "events have times of a clock that was never compared with the "
                            "trace's: they are taken as they are",
                            1);
    return is_sane(*out);
}

/* ---- snapshots ---- */

struct reading {
    uint64_t clock, steps, multiplier;
    int is_incremental;
};

static struct reading read_clock(struct strobe_protobuf message)
{
    struct reading reading = {.multiplier = 1};
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            reading.clock = message.number;
        else if (message.field == 2)
            reading.steps = message.number;
        else if (message.field == 3)
            reading.is_incremental = message.number != 0;
        else if (message.field == 4 && message.number)
            reading.multiplier = message.number;
    }
    return reading;
}

static void add_moment(struct strobe_perfetto *perfetto, struct strobe_perfetto_clock *clock,
                       struct strobe_perfetto_moment moment)
{
    uint32_t at = clock->n_moments, n_moved = 0;
    while (at > n_moved && n_moved <= MOVED_MAX &&
           clock->moments[at - n_moved - 1].clock_ns > moment.clock_ns)
        n_moved++;
    if (n_moved > MOVED_MAX || at == MOMENTS_MAX ||
        !strobe_timeline_room(perfetto->timeline, (void **)&clock->moments, &clock->moments_room,
                              at + 1ull, sizeof *clock->moments))
        return;
    for (; n_moved; n_moved--, at--)
        clock->moments[at] = clock->moments[at - 1];
    clock->moments[at] = moment;
    clock->n_moments++;
}

/* The moment on the trace's clock: read from it, or from another that is known. 0: none of them is. */
static int moment_of(struct strobe_perfetto *perfetto, uint32_t sequence,
                     const struct reading *readings, uint32_t n, int64_t *out)
{
    for (uint32_t i = 0; i < n; i++)
        if (readings[i].clock == perfetto->trace_clock) {
            *out = scale(readings[i].steps, readings[i].multiplier);
            return is_sane(*out);
        }
    for (uint32_t i = 0; i < n; i++) {
        const struct strobe_perfetto_clock *known =
            find_clock(perfetto, key_of(sequence, readings[i].clock));
        int64_t ns = scale(readings[i].steps, readings[i].multiplier);
        if (known && known->n_moments && is_sane(ns)) {
            *out = by_moments(known, ns);
            return is_sane(*out);
        }
    }
    return 0;
}

void strobe_perfetto_snapshot(struct strobe_perfetto *perfetto, uint32_t sequence,
                              struct strobe_protobuf message)
{
    struct reading readings[SNAPSHOT_MAX];
    uint32_t n = 0;
    int64_t trace_ns;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1 && n < SNAPSHOT_MAX)
            readings[n++] = read_clock(strobe_protobuf_inner(&message));
        else if (message.field == 2 && message.number && !perfetto->n_clocks)
            perfetto->trace_clock = message.number;
    }
    if (!moment_of(perfetto, sequence, readings, n, &trace_ns))
        return;
    for (uint32_t i = 0; i < n; i++) {
        int64_t ns = scale(readings[i].steps, readings[i].multiplier);
        if (readings[i].clock == perfetto->trace_clock || !is_sane(ns))
            continue;
        struct strobe_perfetto_clock *clock =
            clock_at(perfetto, key_of(sequence, readings[i].clock));
        if (!clock)
            continue;
        clock->multiplier = readings[i].multiplier;
        clock->is_incremental = (uint8_t)readings[i].is_incremental;
        clock->last = readings[i].steps;
        add_moment(perfetto, clock, (struct strobe_perfetto_moment){ns, trace_ns});
    }
}
