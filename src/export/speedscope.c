/* speedscope.c - see speedscope.h. Profiles stand before the frames that they number, so that samples go from the sort to the output one by one.
 * SPDX-License-Identifier: MIT */
#include "export/speedscope.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_write.h"
#include "base/sort.h"
#include "export/stacks.h"
#include "query/walk.h"

enum { SORT_BYTES = 32 << 20, NONE = -1 };

struct speedscope {
    struct strobe_trace *trace; /* borrowed */
    const struct strobe_samples_options *options;
    struct strobe_speedscope_result *result;
    struct strobe_out *out;
    struct strobe_json_writer json;
    struct strobe_stacks *stacks; /* borrowed; NULL: zones are written */
    int64_t thread;               /* the one whose profile is open; NONE */
    uint64_t n_of_thread;         /* samples */
    /* zones: */
    struct strobe_sort *sort;  /* owned */
    struct strobe_idmap names; /* (process, id of the location): index of its frame */
    struct frame_row {
        uint32_t loc;
        uint64_t id;
    } * frames; /* owned */
    uint32_t frames_room;
    struct open_zone {
        uint64_t end;
        uint32_t frame;
    } * open; /* owned */
    uint32_t n_open, open_room;
    int64_t last_ns; /* of the thread */
};

/* ---- what both kinds of profile share ---- */

static void open_profile(struct speedscope *scope, uint32_t thread, const char *type,
                         const char *unit)
{
    char room[STROBE_NAME_ROOM];
    struct strobe_json_writer *json = &scope->json;
    struct strobe_out name = {0};
    uint32_t n, process = scope->trace->threads[thread].process;
    const char *text = strobe_trace_process_name(scope->trace, process, room, &n);
    strobe_out_bytes(&name, text, n);
    strobe_out_text(&name, " / ");
    text = strobe_trace_thread_name(scope->trace, thread, room, &n);
    strobe_out_bytes(&name, text, n);
    strobe_out_text(&name, " ");
    strobe_out_u(&name, scope->trace->threads[thread].tid);
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_string(json, "type", type);
    strobe_json_write_text(json, "name", name.at ? name.at : "", name.len);
    strobe_json_write_string(json, "unit", unit);
    strobe_out_free(&name);
    scope->thread = thread;
}

static void write_head(struct speedscope *scope, const char *name)
{
    struct strobe_json_writer *json = &scope->json;
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    strobe_json_write_string(json, "exporter", "strobe " STROBE_VERSION);
    strobe_json_write_string(json, "name", name);
    strobe_json_write_u(json, "activeProfileIndex", 0);
    strobe_json_write_open(json, "profiles", '[');
}

/* ---- samples ---- */

static void end_samples(struct speedscope *scope)
{
    struct strobe_json_writer *json = &scope->json;
    uint64_t period_ns = strobe_stacks_period_ns(scope->stacks), weight = period_ns ? period_ns : 1;
    if (scope->thread == NONE)
        return;
    strobe_json_write_close(json, ']');
    strobe_json_write_open(json, "weights", '[');
    for (uint64_t i = 0; i < scope->n_of_thread; i++)
        strobe_json_write_u(json, NULL, weight);
    strobe_json_write_close(json, ']');
    strobe_json_write_u(json, "startValue", 0);
    strobe_json_write_u(json, "endValue", weight * scope->n_of_thread);
    strobe_json_write_close(json, '}');
    scope->n_of_thread = 0;
    scope->thread = NONE;
}

static enum strobe_err put_sample(void *context, const struct strobe_stacks_sample *sample)
{
    struct speedscope *scope = context;
    const struct strobe_stacks *stacks = scope->stacks;
    struct strobe_json_writer *json = &scope->json;
    if (scope->thread != sample->thread) {
        end_samples(scope);
        open_profile(scope, sample->thread, "sampled", stacks->hz ? "nanoseconds" : "none");
        strobe_json_write_open(json, "samples", '[');
    }
    strobe_json_write_open(json, NULL, '[');
    for (uint32_t i = sample->n_places; i-- > 0;) {
        const struct strobe_stacks_place *place = &stacks->places[sample->places[i]];
        for (uint32_t k = place->n; k-- > 0;)
            strobe_json_write_u(json, NULL, stacks->lines[place->first + k].function);
    }
    strobe_json_write_close(json, ']');
    scope->n_of_thread++;
    return scope->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static void put_frame(struct strobe_json_writer *json, const char *name, uint32_t n,
                      const char *file, uint32_t n_file, uint32_t line)
{
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_text(json, "name", name, n);
    if (n_file)
        strobe_json_write_text(json, "file", file, n_file);
    if (line)
        strobe_json_write_u(json, "line", line);
    strobe_json_write_close(json, '}');
}

static enum strobe_err write_samples(struct speedscope *scope)
{
    const struct strobe_stacks *stacks = scope->stacks;
    enum strobe_err err = strobe_stacks_each(scope->stacks, put_sample, scope);
    end_samples(scope);
    strobe_json_write_close(&scope->json, ']');
    strobe_json_write_open(&scope->json, "shared", '{');
    strobe_json_write_open(&scope->json, "frames", '[');
    for (uint32_t i = 0; !err && i < stacks->function_ids.n; i++) {
        uint32_t n, n_file;
        const char *name = strobe_texts_get(&stacks->texts, stacks->functions[i].name, &n);
        const char *file = strobe_texts_get(&stacks->texts, stacks->functions[i].file, &n_file);
        put_frame(&scope->json, name, n, file, n_file, 0);
    }
    return err;
}

/* ---- zones ---- */

/* What zones are sorted by: a zone comes before those that it holds. */
struct zone_key {
    uint64_t begin, end;
    uint32_t thread, depth, frame;
};

static int compare(const void *a, const void *b)
{
    const struct zone_key *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

static uint32_t frame_of(struct speedscope *scope, const struct strobe_batch *batch,
                         const struct strobe_zone_row *zone)
{
    uint64_t id;
    uint32_t loc = strobe_batch_loc(scope->trace, batch, zone, &id);
    uint32_t i = strobe_idmap_add_row(&scope->names, batch->process, id, (void **)&scope->frames,
                                      &scope->frames_room, sizeof *scope->frames);
    if (i != STROBE_IDMAP_NONE)
        scope->frames[i] = (struct frame_row){loc, id};
    return i;
}

static enum strobe_err take_zones(void *context, const struct strobe_batch *batch)
{
    struct speedscope *scope = context;
    const struct strobe_samples_options *options = scope->options;
    enum strobe_err err = STROBE_OK;
    if (options->processes && batch->process < options->n_processes &&
        !options->processes[batch->process])
        return STROBE_OK;
    for (uint32_t i = 0; !err && i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        struct zone_key key = {zone->begin, UINT64_MAX, batch->thread, zone->depth,
                               frame_of(scope, batch, zone)};
        if (zone->state == STROBE_ZONE_NO_BEGIN)
            continue;
        if (zone->state == STROBE_ZONE_ENDED)
            key.end = zone->begin + zone->ticks;
        if (key.frame == STROBE_IDMAP_NONE)
            return STROBE_ERR_NOMEM;
        err = strobe_sort_add(scope->sort, &key, NULL, 0);
    }
    return err;
}

static void put_event(struct speedscope *scope, const char *type, uint32_t frame, int64_t at_ns)
{
    strobe_json_write_open(&scope->json, NULL, '{');
    strobe_json_write_string(&scope->json, "type", type);
    strobe_json_write_u(&scope->json, "frame", frame);
    strobe_json_write_i(&scope->json, "at", at_ns);
    strobe_json_write_close(&scope->json, '}');
    scope->last_ns = at_ns > scope->last_ns ? at_ns : scope->last_ns;
}

/* Close what ends until then; one without an end closes with the one around it, or last. */
static void close_until(struct speedscope *scope, uint64_t tick)
{
    for (;;) {
        uint32_t i = scope->n_open;
        while (i && scope->open[i - 1].end == UINT64_MAX)
            i--; /* these go with the one around them */
        uint64_t end = i ? scope->open[i - 1].end : UINT64_MAX;
        if (end > tick || !scope->n_open)
            return;
        int64_t at_ns = i ? strobe_clock_rel(&scope->trace->clock, end) : scope->last_ns;
        for (uint32_t last = i ? i - 1 : 0; scope->n_open > last;)
            put_event(scope, "C", scope->open[--scope->n_open].frame, at_ns);
    }
}

static void end_zones(struct speedscope *scope)
{
    if (scope->thread == NONE)
        return;
    close_until(scope, UINT64_MAX);
    strobe_json_write_close(&scope->json, ']');
    strobe_json_write_i(&scope->json, "endValue", scope->last_ns);
    strobe_json_write_close(&scope->json, '}');
    scope->thread = NONE;
}

static enum strobe_err put_zone(void *context, const void *record, const void *bytes, size_t n)
{
    struct speedscope *scope = context;
    const struct zone_key *key = record;
    int64_t begin_ns = strobe_clock_rel(&scope->trace->clock, key->begin);
    (void)bytes;
    (void)n;
    if (scope->thread != key->thread) {
        end_zones(scope);
        open_profile(scope, key->thread, "evented", "nanoseconds");
        strobe_json_write_i(&scope->json, "startValue", begin_ns);
        strobe_json_write_open(&scope->json, "events", '[');
        scope->last_ns = begin_ns;
    }
    close_until(scope, key->begin);
    struct open_zone *zone = STROBE_ARRAY_PUSH(scope->open, scope->n_open, scope->open_room);
    if (!zone)
        return STROBE_ERR_NOMEM;
    /* an inner zone never outlives the one around it: ticks that went back */
    *zone = (struct open_zone){key->end, key->frame};
    for (uint32_t i = scope->n_open - 1; i-- > 0;)
        if (scope->open[i].end != UINT64_MAX) {
            if (zone->end != UINT64_MAX && zone->end > scope->open[i].end)
                zone->end = scope->open[i].end;
            break;
        }
    put_event(scope, "O", key->frame, begin_ns);
    scope->result->n_zones++;
    return scope->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static void put_zone_frames(struct speedscope *scope)
{
    const struct strobe_trace *trace = scope->trace;
    for (uint32_t i = 0; i < scope->names.n; i++) {
        char room[STROBE_NAME_ROOM];
        uint32_t n, n_file = 0, line = 0;
        const struct frame_row *frame = &scope->frames[i];
        const char *file = "";
        const char *name = strobe_trace_loc_name(trace, frame->loc, frame->id, room, &n);
        if (frame->loc != STROBE_IDMAP_NONE) {
            file = strobe_trace_text(trace, trace->locs[frame->loc].file, &n_file);
            line = trace->locs[frame->loc].line;
        }
        put_frame(&scope->json, name, n, file, n_file, line);
    }
}

static enum strobe_err write_zones(struct speedscope *scope)
{
    struct strobe_sort_options sort = {
        .record_bytes = sizeof(struct zone_key), .memory_bytes = SORT_BYTES, .compare = compare};
    const struct strobe_samples_options *options = scope->options;
    struct strobe_walk walk = {.trace = scope->trace,
                               .context = scope,
                               .zones = take_zones,
                               .want_open = 1,
                               .by_tick = options->by_tick,
                               .tick_min = options->tick_min,
                               .tick_max = options->tick_max};
    enum strobe_err err = strobe_sort_open(&sort, &scope->sort);
    if (!err)
        err = strobe_walk_run(&walk);
    scope->result->n_bad_parts = walk.n_bad_parts;
    if (!err)
        err = strobe_sort_all(scope->sort, put_zone, scope);
    end_zones(scope);
    strobe_json_write_close(&scope->json, ']');
    strobe_json_write_open(&scope->json, "shared", '{');
    strobe_json_write_open(&scope->json, "frames", '[');
    put_zone_frames(scope);
    strobe_sort_close(scope->sort);
    strobe_idmap_free(&scope->names);
    free(scope->frames);
    free(scope->open);
    return err;
}

enum strobe_err strobe_speedscope_write(struct strobe_trace *trace,
                                        const struct strobe_samples_options *options,
                                        const char *name, struct strobe_out *out,
                                        struct strobe_speedscope_result *result)
{
    struct strobe_stacks stacks;
    struct speedscope scope = {.trace = trace,
                               .options = options,
                               .result = result,
                               .out = out,
                               .json = {.out = out},
                               .stacks = &stacks,
                               .thread = NONE};
    memset(result, 0, sizeof *result);
    enum strobe_err err = strobe_stacks_open(trace, options, STROBE_STACKS_BY_TIME, &stacks);
    result->n_samples = stacks.n_samples;
    result->n_bad_parts = stacks.n_bad_parts;
    write_head(&scope, name);
    if (!err)
        err = stacks.n_samples ? write_samples(&scope) : write_zones(&scope);
    strobe_json_write_close(&scope.json, ']');
    strobe_json_write_close(&scope.json, '}');
    strobe_json_write_close(&scope.json, '}');
    strobe_out_char(out, '\n');
    strobe_stacks_close(&stacks);
    return err ? err : out->error ? STROBE_ERR_IO : STROBE_OK;
}
