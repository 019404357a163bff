/* timeline.c - see timeline.h: the life of an import, its processes and threads, its budget, what it leaves out.  SPDX-License-Identifier: MIT */
#include "import/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "query/pair.h"

#define TICK_BASE (1ull << 40)
#define HOUR_NS   3600000000000ll
#define NEAR_NS   1000000000ll
#define WALL_NS   978307200000000000ll /* the year 2001: no other clock shows so much */
enum {
    BUDGET_BYTES =
        64 << 20, /* of all that grows with what a file names; docs/chrome-files.md, "Bounded" */
    MAP_BYTES = 4096, /* of a map's first entries, at the most */
};

const char strobe_timeline_too_many[] = "events were left out: too deep, or too many open at once";
const char strobe_timeline_no_begin[] = "ends without a begin were left out";
const char strobe_timeline_no_end[] = "begins without an end: these zones and spans stay open";
const char strobe_timeline_no_time[] = "events without a time were left out";

/* ---- memory ---- */

int strobe_timeline_charge(struct strobe_timeline *timeline, uint64_t n_now, uint64_t n_then)
{
    return strobe_build_store_charge(timeline->store, (int64_t)n_then - (int64_t)n_now);
}

int strobe_timeline_room(struct strobe_timeline *timeline, void **items, uint32_t *room,
                         uint64_t want, size_t item_bytes)
{
    enum strobe_err err;
    uint64_t size = *room, n_now = size * item_bytes, n_most = (want + want / 2 + 16) * item_bytes;
    if (want <= size)
        return 1;
    if (!strobe_timeline_charge(timeline, n_now, n_most))
        return 0;
    void *more = strobe_array_grow(*items, &size, want, UINT32_MAX, item_bytes, 0, &err);
    strobe_timeline_charge(timeline, n_most, size * item_bytes);
    if (!more)
        return 0;
    *items = more;
    *room = (uint32_t)size;
    return 1;
}

void strobe_timeline_free(struct strobe_timeline *timeline, void **items, uint32_t *room,
                          size_t item_bytes)
{
    if (timeline->store)
        strobe_timeline_charge(timeline, *room * item_bytes, 0);
    free(*items);
    *items = NULL;
    *room = 0;
}

static uint64_t map_bytes(const struct strobe_map *map)
{
    return map->room * sizeof *map->entries + map->index.n_slots * sizeof *map->index.slots;
}

static int is_full(const struct strobe_map *map)
{
    return map->n == map->room || 4 * (map->n + 1ull) > 3ull * map->index.n_slots;
}

uint64_t *strobe_timeline_map_at(struct strobe_timeline *timeline, struct strobe_map *map,
                                 uint64_t key, uint32_t most)
{
    uint64_t *value = strobe_map_find(map, key), n_now = map_bytes(map);
    if (value || map->n >= most)
        return value;
    /* what grows is there twice for a while, and within the budget */
    uint64_t n_then = is_full(map) ? 3 * n_now + MAP_BYTES : n_now;
    if (!strobe_timeline_charge(timeline, n_now, n_then))
        return NULL;
    enum strobe_err err = strobe_map_add(map, key, &value);
    STROBE_ASSERT(map_bytes(map) <= n_then);
    strobe_timeline_charge(timeline, n_then, map_bytes(map));
    return err ? NULL : value;
}

void strobe_timeline_map_free(struct strobe_timeline *timeline, struct strobe_map *map)
{
    if (timeline->store)
        strobe_timeline_charge(timeline, map_bytes(map), 0);
    strobe_map_free(map);
    *map = (struct strobe_map){0};
}

/* ---- processes and threads ---- */

uint32_t strobe_timeline_process(struct strobe_timeline *timeline, uint64_t pid, int *is_new)
{
    uint64_t *known = strobe_timeline_map_at(timeline, &timeline->pids, pid, UINT32_MAX);
    *is_new = 0;
    if (!known || *known)
        return known ? (uint32_t)*known : 0;
    struct strobe_build_process process = {.pid = pid};
    struct strobe_build *build;
    uint32_t i = timeline->n_processes;
    if (!strobe_timeline_room(timeline, (void **)&timeline->processes, &timeline->processes_room,
                              i + 1ull, sizeof *timeline->processes) ||
        strobe_build_open(timeline->store, &process, &build)) {
        strobe_map_remove(&timeline->pids, pid);
        return 0;
    }
    timeline->processes[i] = (struct strobe_timeline_process){.pid = pid, .build = build};
    timeline->out->n_processes = ++timeline->n_processes;
    *is_new = 1;
    return (uint32_t)(*known = i + 1);
}

void strobe_timeline_name_process(struct strobe_timeline *timeline, uint32_t process,
                                  const char *name, size_t n)
{
    if (n)
        strobe_build_record(timeline->processes[process - 1].build, STROBE_META_PROGRAM_NAME, NULL,
                            &name, &n);
}

/* A new row of the table: index + 1; 0: no room. */
static uint32_t push_thread(struct strobe_timeline *timeline, uint32_t process,
                            struct strobe_build_track *track)
{
    timeline->threads[timeline->n_threads] =
        (struct strobe_timeline_thread){.process = process - 1, .track = track};
    return ++timeline->n_threads;
}

static int has_room(struct strobe_timeline *timeline)
{
    return strobe_timeline_room(timeline, (void **)&timeline->threads, &timeline->threads_room,
                                timeline->n_threads + 1ull, sizeof *timeline->threads);
}

uint32_t strobe_timeline_thread(struct strobe_timeline *timeline, uint32_t process, uint64_t tid,
                                int *is_new)
{
    uint64_t pair[] = {process, tid}, key = XXH64(pair, sizeof pair, 0);
    uint64_t *known = strobe_timeline_map_at(timeline, &timeline->tids, key, UINT32_MAX);
    *is_new = 0;
    if (!known || *known)
        return known ? (uint32_t)*known : 0;
    struct strobe_timeline_process *owner = &timeline->processes[process - 1];
    struct strobe_build_track *track =
        has_room(timeline) ? strobe_build_thread(owner->build, tid, TICK_BASE) : NULL;
    if (!track) {
        strobe_map_remove(&timeline->tids, key);
        return 0;
    }
    uint32_t thread = push_thread(timeline, process, track);
    timeline->out->n_threads++;
    *known = owner->a_thread = thread;
    *is_new = 1;
    return thread;
}

void strobe_timeline_name_thread(struct strobe_timeline *timeline, uint32_t thread,
                                 const char *name, size_t n)
{
    const struct strobe_timeline_thread *row = &timeline->threads[thread - 1];
    if (n)
        strobe_build_thread_name(timeline->processes[row->process].build, row->track, name, n);
}

uint32_t strobe_timeline_lane(struct strobe_timeline *timeline, uint32_t process)
{
    return has_room(timeline) ? push_thread(timeline, process, NULL) : 0;
}

void strobe_timeline_settle(struct strobe_timeline *timeline, uint32_t lane, uint64_t tid,
                            const char *name, size_t n)
{
    uint32_t process = timeline->threads[lane - 1].process + 1;
    struct strobe_timeline_process *owner = &timeline->processes[process - 1];
    STROBE_ASSERT(!timeline->threads[lane - 1].track);
    struct strobe_build_track *track =
        tid ? strobe_build_thread(owner->build, tid, TICK_BASE) : NULL;
    if (track) {
        timeline->threads[lane - 1].track = track;
        timeline->out->n_threads++;
        strobe_timeline_name_thread(timeline, lane, name, n);
        return;
    }
    int is_new;
    uint32_t carrier = owner->a_thread
                           ? owner->a_thread
                           : strobe_timeline_thread(timeline, process, owner->pid, &is_new);
    timeline->threads[lane - 1].carrier = carrier;
}

struct strobe_build *strobe_timeline_build(const struct strobe_timeline *timeline, uint32_t thread)
{
    return timeline->processes[timeline->threads[thread - 1].process].build;
}

/* ---- events ---- */

void strobe_timeline_see(struct strobe_timeline *timeline, int64_t time)
{
    timeline->first = time < timeline->first ? time : timeline->first;
    timeline->last = time > timeline->last ? time : timeline->last;
}

enum strobe_err strobe_timeline_text(struct strobe_timeline *timeline, const char *text, size_t n,
                                     struct strobe_row *row)
{
    uint32_t most = n < STROBE_TIMELINE_TEXT_MAX ? (uint32_t)n : STROBE_TIMELINE_TEXT_MAX;
    return most ? strobe_rows_put_text(timeline->rows, text, most, row) : STROBE_OK;
}

enum strobe_err strobe_timeline_add(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    STROBE_ASSERT(row->group && row->group <= timeline->n_threads);
    return strobe_rows_add(timeline->rows, row);
}

enum strobe_err strobe_timeline_zone(struct strobe_timeline *timeline, struct strobe_row row,
                                     int64_t end)
{
    row.kind = STROBE_TIMELINE_ZONE;
    row.value = end == INT64_MAX ? UINT64_MAX : end > row.time ? (uint64_t)(end - row.time) : 0;
    row.order =
        UINT64_MAX - 1 - (row.value == UINT64_MAX ? UINT64_MAX - 1 : row.value); /* longest first */
    timeline->last = end != INT64_MAX && end > timeline->last ? end : timeline->last;
    return strobe_timeline_add(timeline, &row);
}

/* A key for each depth of a binding, and how many are open under that of depth 0. */
static uint64_t span_key(uint64_t binding, uint64_t depth)
{
    uint64_t key[] = {binding, depth};
    return XXH64(key, sizeof key, 1);
}

static uint64_t *open_span(struct strobe_timeline *timeline, uint64_t binding, uint64_t depth)
{
    return strobe_timeline_map_at(timeline, &timeline->spans, span_key(binding, depth),
                                  STROBE_TIMELINE_SPANS_MAX);
}

enum strobe_err strobe_timeline_span_begin(struct strobe_timeline *timeline, struct strobe_row row,
                                           uint64_t binding)
{
    uint64_t *n_open = open_span(timeline, binding, 0), depth = n_open ? ++*n_open : 0;
    uint64_t *number = depth ? open_span(timeline, binding, depth) : NULL;
    if (!number) {
        strobe_timeline_leave_out(timeline, strobe_timeline_too_many, 1);
        return STROBE_OK;
    }
    row.kind = STROBE_TIMELINE_SPAN_BEGIN;
    *number = row.value = ++timeline->n_spans;
    timeline->out->n_spans++;
    return strobe_timeline_add(timeline, &row);
}

enum strobe_err strobe_timeline_span_end(struct strobe_timeline *timeline, struct strobe_row row,
                                         uint64_t binding)
{
    uint64_t plain = span_key(binding, 0), *n_open = strobe_map_find(&timeline->spans, plain);
    if (!n_open || !*n_open) {
        strobe_timeline_leave_out(timeline, strobe_timeline_no_begin, 1);
        return STROBE_OK;
    }
    uint64_t key = span_key(binding, (*n_open)--);
    if (!*n_open)
        strobe_map_remove(&timeline->spans, plain);
    row.kind = STROBE_TIMELINE_SPAN_END;
    row.value = strobe_map_get(&timeline->spans, key, 0);
    return strobe_map_remove(&timeline->spans, key) ? strobe_timeline_add(timeline, &row)
                                                    : STROBE_OK;
}

void strobe_timeline_say(struct strobe_timeline *timeline, const char *what, uint64_t n)
{
    uint32_t i = 0;
    while (i < timeline->n_left_out && strcmp(timeline->left_out[i].what, what) != 0)
        i++;
    if (i == STROBE_TIMELINE_LEFT_OUT_MAX || !n)
        return;
    timeline->left_out[i].what = what;
    timeline->left_out[i].n += n;
    timeline->n_left_out += i == timeline->n_left_out;
}

void strobe_timeline_leave_out(struct strobe_timeline *timeline, const char *what, uint64_t n)
{
    timeline->out->n_set_aside += n;
    strobe_timeline_say(timeline, what, n);
}

/* ---- the trace ---- */

/* Time 0 of the file is the trace's start if the first event is no further from it than the trace is long, or a second; else
 * that event is. */
static void choose_start(struct strobe_timeline *timeline)
{
    if (timeline->first > timeline->last)
        timeline->first = timeline->last = 0;
    int64_t length = timeline->last - timeline->first, most = length > NEAR_NS ? length : NEAR_NS;
    int is_near = timeline->first > -(int64_t)(TICK_BASE / 2) && timeline->first < HOUR_NS &&
                  timeline->first <= most;
    int64_t start = is_near ? 0 : timeline->first;
    timeline->shift = (int64_t)TICK_BASE - start;
    uint64_t base = timeline->base_ns;
    if (base > WALL_NS && base < INT64_MAX / 2 && start < INT64_MAX / 4)
        timeline->out->wall_ns = (uint64_t)((int64_t)base + start);
    else if (!base && start > WALL_NS)
        timeline->out->wall_ns = (uint64_t)start;
}

static enum strobe_err put_facts(struct strobe_timeline *timeline)
{
    struct strobe_records records = {0};
    uint64_t zero = TICK_BASE, last = (uint64_t)(timeline->last + timeline->shift);
    uint64_t sync[] = {STROBE_CLOCK_MONO, zero, zero, 0, 0, 0};
    if (timeline->out
            ->wall_ns) { /* the file's own clock is the wall's: merging puts it on another one */
        sync[3] = timeline->out->wall_ns;
        sync[4] = timeline->grain_ns;
    }
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){zero, 0}, 2);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING,
                           (uint64_t[]){last > zero ? last : zero, 1}, 2);
    strobe_records_tick(&records, zero);
    enum strobe_err err = strobe_file_put_records(timeline->writer, &records);
    if (!err && timeline->out->wall_ns)
        err = strobe_file_set_created(timeline->writer, timeline->out->wall_ns);
    strobe_records_free(&records);
    return err;
}

/* What can't be seen in the trace is said in it. */
static void put_notes(struct strobe_timeline *timeline)
{
    struct strobe_build *build = timeline->n_processes ? timeline->processes[0].build : NULL;
    for (uint32_t i = 0; build && i < timeline->n_left_out; i++)
        strobe_build_note(build, "%llu %s", (unsigned long long)timeline->left_out[i].n,
                          timeline->left_out[i].what);
    if (build && timeline->out->is_cut)
        strobe_build_note(build, "the file ends too early or is damaged at byte %llu",
                          (unsigned long long)timeline->out->offset);
}

/* All events were read: what was needed to tell them apart makes room for sorting them. */
static void forget_names(struct strobe_timeline *timeline)
{
    struct strobe_map *maps[] = {&timeline->pids, &timeline->tids, &timeline->names,
                                 &timeline->spans};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        strobe_timeline_map_free(timeline, maps[i]);
    for (uint32_t i = 0; i < timeline->n_threads; i++) {
        struct strobe_timeline_thread *thread = &timeline->threads[i];
        strobe_timeline_free(timeline, (void **)&thread->open, &thread->open_room,
                             sizeof *thread->open);
    }
}

static enum strobe_err fill_trace(struct strobe_timeline *timeline,
                                  const struct strobe_timeline_reader *reader)
{
    struct strobe_build_store_options options = {.writer = timeline->writer,
                                                 .budget_bytes = BUDGET_BYTES};
    enum strobe_err err = strobe_build_store_open(&options, &timeline->store);
    if (err)
        return err;
    err = reader->read(reader->context, timeline);
    timeline->out->is_cut = err == STROBE_ERR_CORRUPT && timeline->out->n_events;
    if (err && !timeline->out->is_cut)
        return err;
    reader->drop(reader->context, timeline);
    forget_names(timeline);
    choose_start(timeline);
    enum strobe_err written = put_facts(timeline);
    if (!written)
        written = strobe_timeline_write_rows(timeline);
    put_notes(timeline);
    return written ? written : err;
}

/* ---- life ---- */

static void close_sinks(struct strobe_timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->n_processes; i++)
        strobe_build_close(timeline->processes[i].build);
    strobe_build_store_close(timeline->store); /* writes the last block */
    timeline->store = NULL;
    timeline->n_processes = 0;
}

static void folder_of(const char *path, char *out, size_t room)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, room, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
}

static enum strobe_err make(struct strobe_timeline *timeline, const char *from, const char *to,
                            const struct strobe_timeline_reader *reader)
{
    char folder[4096];
    folder_of(to, folder, sizeof folder);
    timeline->folder = folder;
    timeline->ends = malloc(STROBE_TIMELINE_DEPTH_MAX * sizeof *timeline->ends);
    enum strobe_err err =
        timeline->ends ? strobe_rows_open(folder, &timeline->rows) : STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_file_create(to, from, 1000000000, &timeline->writer);
    if (!err)
        err = fill_trace(timeline, reader);
    int is_kept = !err || timeline->out->is_cut;
    reader->drop(reader->context, timeline);
    close_sinks(timeline);
    if (timeline->writer && is_kept) {
        strobe_pair_write(timeline->writer, folder); /* where that fails readers pair themselves */
        enum strobe_err end = strobe_file_finish(timeline->writer);
        return err ? err : end;
    }
    if (timeline->writer)
        strobe_file_abandon(timeline->writer);
    return err;
}

enum strobe_err strobe_timeline_make(const char *from, const char *to,
                                     const struct strobe_timeline_reader *reader,
                                     struct strobe_timeline_result *out)
{
    struct strobe_timeline timeline = {
        .out = out, .first = INT64_MAX, .last = INT64_MIN, .slack_ns = 2};
    memset(out, 0, sizeof *out);
    enum strobe_err err = make(&timeline, from, to, reader);
    forget_names(&timeline);
    strobe_rows_close(timeline.rows);
    free(timeline.processes);
    free(timeline.threads);
    free(timeline.ends);
    return err;
}
