/* fuzz_file.c - traces of any bytes are read, in bounded time and memory: opened, walked over whole, added up. They are read from memory; the damage
 * (mutate.c) mends checksums, so that it reaches the decoders. What they are turned into: fuzz_export.c.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "packed.h"
#include "query/overview.h"
#include "query/stats.h"
#include "query/walk.h"
#include "seeds.h"
#include "threads.h"

static volatile uint64_t touched; /* keeps the reads of results */

struct bytes {
    const uint8_t *at;
    size_t n;
};

static enum strobe_err read_at(void *context, void *out, size_t n, uint64_t offset)
{
    const struct bytes *bytes = context;
    if (offset > bytes->n || n > bytes->n - offset)
        return STROBE_ERR_END;
    memcpy(out, bytes->at + offset, n);
    return STROBE_OK;
}

static enum strobe_err size_of(void *context, uint64_t *n_bytes)
{
    *n_bytes = ((const struct bytes *)context)->n;
    return STROBE_OK;
}

static void touch(const void *data, uint64_t n)
{
    const uint8_t *bytes = data;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += bytes[i];
    touched += sum;
}

static enum strobe_err see_batch(void *context, const struct strobe_batch *batch)
{
    struct strobe_trace *trace = context;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id;
        uint32_t loc = strobe_batch_loc(trace, batch, zone, &id);
        const char *name = strobe_trace_loc_name(trace, loc, id, room, &n);
        touch(name, n);
        touched +=
            (uint64_t)strobe_clock_rel(&trace->clock, zone->begin) + zone->ticks + zone->self;
        if (zone->note && batch->notes) {
            touch(batch->notes[zone->note - 1].text, batch->notes[zone->note - 1].n_text);
            touch(batch->notes[zone->note - 1].name, batch->notes[zone->note - 1].n_name);
        }
    }
    const char *name = strobe_trace_thread_name(trace, batch->thread, room, &n);
    touch(name, n);
    name = strobe_trace_process_name(trace, batch->process, room, &n);
    touch(name, n);
    return STROBE_OK;
}

static enum strobe_err see_event(void *context, const struct strobe_happening *happening)
{
    (void)context;
    touch(happening->stack, happening->n_stack * sizeof *happening->stack);
    for (unsigned i = 0; i < happening->event->n_fields; i++) {
        const struct strobe_field *field = &happening->event->fields[i];
        if (field->letter == 's')
            touch(field->text, field->u);
        else if (field->letter == 'a')
            touch(field->list, field->u * sizeof *field->list);
    }
    return STROBE_OK;
}

static void walk_all(struct strobe_trace *trace)
{
    struct strobe_walk walk = {.trace = trace,
                               .context = trace,
                               .zones = see_batch,
                               .happens = see_event,
                               .kinds = ~0ull,
                               .want_notes = 1,
                               .want_fibers = 1,
                               .want_spans = 1,
                               .want_open = 1,
                               .want_kinds = 1};
    strobe_walk_run(&walk);
    walk.by_tick = 1;
    walk.tick_min = walk.tick_first;
    walk.tick_max = walk.tick_first + (walk.tick_last - walk.tick_first) / 2;
    walk.want_fibers = walk.want_spans = 0;
    strobe_walk_run(&walk);
}

static void do_stats(struct strobe_trace *trace, struct strobe_stats_options options)
{
    struct strobe_stats stats;
    if (strobe_stats_run(trace, &options, &stats) == STROBE_OK)
        for (uint32_t i = 0; i < stats.n_rows; i++)
            touched += strobe_stats_std(&stats.rows[i]) + stats.rows[i].percentile[0];
    strobe_stats_free(&stats);
}

static void use_trace(const struct strobe_source *source, uint64_t choice)
{
    struct strobe_file *file;
    struct strobe_trace *trace;
    if (strobe_file_open_source(source, &file) ||
        strobe_trace_open_file(file, choice & 1 ? STROBE_TRACE_NO_LOCS : 0, &trace))
        return;
    struct strobe_overview *overview = malloc(sizeof *overview);
    strobe_overview_run(trace, (int)(choice >> 1 & 1), NULL, overview);
    free(overview);
    walk_all(trace);
    do_stats(trace,
             (struct strobe_stats_options){.exact = choice >> 2 & 1, .spans = choice >> 3 & 1});
    do_stats(trace, (struct strobe_stats_options){.quick = 1});
    strobe_file_refresh(trace->file);
    struct strobe_coverage coverage;
    strobe_trace_coverage(trace, &coverage);
    strobe_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint64_t choice = XXH64(data, n, 1);
    const uint8_t *trace = packed_open(data, &n);
    struct bytes bytes = {trace, n};
    const struct strobe_source source = {.read_at = read_at, .size = size_of, .context = &bytes};
    has_threads = (choice >> 8) % 16 == 0;
    use_trace(&source, choice);
    return 0;
}
