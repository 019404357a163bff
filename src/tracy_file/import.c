/* import.c - reads a .tracy file into a trace: two walks, since a file tells the call stacks and the
 * fibers' runs behind the zones that need them. Threads, zones and fibers are here, the rest in
 * import_events.c.
 *
 * A fiber's zones are in the file as those of a thread of their own. In a trace they lie on the
 * threads that ran it: the runs (context switches of a fiber) say when and where.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "query/pair.h"
#include "tracy_file/import_internal.h"

enum { BUDGET_BYTES = 1 << 30 };

/* ---- the first walk -------------------------------------------------------------------------- */

static enum strobe_err note_frames(void *context, uint64_t name, int continuous, uint64_t n_frames)
{
    struct import *import = context;
    (void)n_frames;
    import->frame_is_main = !name && continuous;
    import->n_main_frames = 0;
    return STROBE_OK;
}

/* A live trace starts with marks at 0, at the end of start-up and, on demand, when it was joined. */
static enum strobe_err note_frame(void *context, int64_t start, int64_t end, int32_t image)
{
    struct import *import = context;
    (void)end, (void)image;
    if (!import->frame_is_main)
        return STROBE_OK;
    uint64_t i = import->n_main_frames++;
    if (i == 0 && start == 0)
        import->n_start_marks = 1;
    else if (i == 1 && import->n_start_marks == 1)
        import->init_end = start, import->n_start_marks = 2;
    else if (i == 2 && import->n_start_marks == 2 && import->content.head.on_demand)
        import->joined = start, import->n_start_marks = 3;
    return STROBE_OK;
}

static enum strobe_err note_thread(void *context, const struct strobe_tracy_thread_head *thread)
{
    struct import *import = context;
    if (thread->tid == import->content.head.pid || (!import->main_tid && !thread->is_fiber))
        import->main_tid = thread->tid;
    if (!thread->is_fiber)
        return STROBE_OK;
    if (STROBE_ARRAY_RESERVE(import->fibers, import->fibers_room, import->n_fibers + 1))
        return STROBE_ERR_NOMEM;
    import->fibers[import->n_fibers++] = thread->tid;
    return STROBE_OK;
}

static enum strobe_err note_stack(void *context, uint32_t id, const uint64_t *frames, uint32_t n)
{
    struct import *import = context;
    (void)id; /* they are numbered from 1 in the order of the file */
    if (STROBE_ARRAY_RESERVE(import->stack_at, import->stack_at_room, import->n_stacks + 2) ||
        STROBE_ARRAY_RESERVE(import->stack_frames, import->stack_frames_room,
                             import->n_stack_frames + n + 1))
        return STROBE_ERR_NOMEM;
    import->stack_at[import->n_stacks++] = import->n_stack_frames;
    for (uint32_t i = 0; i < n; i++)
        import->stack_frames[import->n_stack_frames++] = strobe_tracy_address(frames[i]);
    import->stack_at[import->n_stacks] = import->n_stack_frames;
    return STROBE_OK;
}

static bool is_fiber(const struct import *import, uint64_t tid)
{
    for (size_t i = 0; i < import->n_fibers; i++)
        if (import->fibers[i] == tid)
            return true;
    return false;
}

static enum strobe_err note_run(void *context, const struct strobe_tracy_switch *run)
{
    struct import *import = context;
    if (!is_fiber(import, run->thread))
        return STROBE_OK;
    if (STROBE_ARRAY_RESERVE(import->runs, import->runs_room, import->n_runs + 1))
        return STROBE_ERR_NOMEM;
    import->runs[import->n_runs++] =
        (struct fiber_run){run->thread, run->start, run->end, run->carrier};
    return STROBE_OK;
}

static int compare_runs(const void *a, const void *b)
{
    const struct fiber_run *x = a, *y = b;
    if (x->fiber != y->fiber)
        return x->fiber < y->fiber ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static enum strobe_err walk_first(struct import *import)
{
    struct strobe_tracy_visitor visitor = {
        .context = import,
        .until = STROBE_TRACY_SWITCHES,
        .frame_set = note_frames,
        .frame = note_frame,
        .thread = note_thread,
        .stack = note_stack,
        .context_switch = note_run,
    };
    enum strobe_err err = strobe_tracy_walk(&import->content, &visitor);
    if (import->n_runs)
        qsort(import->runs, import->n_runs, sizeof *import->runs, compare_runs);
    return err;
}

/* ---- names ----------------------------------------------------------------------------------- */

uint64_t strobe_tracy_import_loc(struct import *import, int16_t id)
{
    uint64_t *known = &import->loc_ids[(uint16_t)id];
    if (*known)
        return *known;
    const struct strobe_tracy_srcloc *loc = strobe_tracy_content_loc(&import->content, id);
    struct strobe_build_loc told = {
        .line = loc->line,
        .color = loc->color,
        .function = loc->function.is_there ? loc->function.at : "???",
        .n_function = loc->function.is_there ? loc->function.n : 3,
        .file = loc->file.at,
        .n_file = loc->file.n,
        .name = loc->name.at,
        .n_name = loc->name.n,
    };
    return *known = strobe_build_loc(import->build, &told);
}

struct strobe_build_track *strobe_tracy_import_track(struct import *import, uint64_t tid,
                                                     int64_t time)
{
    uint64_t n_before = import->out->n_threads;
    struct strobe_build_track *track =
        strobe_build_thread(import->build, tid, strobe_tracy_tick(time));
    if (track && strobe_build_track_id(track) > n_before) {
        struct strobe_tracy_text name = strobe_tracy_thread_name(&import->content, tid);
        import->out->n_threads = strobe_build_track_id(track);
        if (name.is_there)
            strobe_build_thread_name(import->build, track, name.at, name.n);
    }
    return track;
}

void strobe_tracy_import_stack(struct import *import, struct strobe_build_track *track,
                               int64_t time, uint32_t stack)
{
    if (!stack || stack > import->n_stacks)
        return;
    size_t at = (size_t)import->stack_at[stack - 1], n = (size_t)import->stack_at[stack] - at;
    STROBE_ASSERT(at + n <= import->n_stack_frames);
    strobe_build_stack(import->build, track, strobe_tracy_tick(time), STROBE_KIND_CALLSTACK, 0,
                       import->stack_frames + at, n);
}

/* ---- fibers ---------------------------------------------------------------------------------- */

static void leave_run(struct import *import)
{
    const struct fiber_run *run = &import->runs[import->run];
    if (import->in_run && run->end >= run->start)
        strobe_build_fiber(import->build, import->track, strobe_tracy_tick(run->end), 0);
    import->in_run = 0;
    import->run++;
}

static void enter_run(struct import *import)
{
    STROBE_ASSERT(import->run < import->run_end && import->run_end <= import->n_runs);
    const struct fiber_run *run = &import->runs[import->run];
    import->track = strobe_tracy_import_track(import, run->carrier, run->start);
    import->in_run = import->track != NULL;
    if (import->track)
        strobe_build_fiber(import->build, import->track, strobe_tracy_tick(run->start),
                           strobe_tracy_thread_number(&import->content, import->tid));
}

/* Be in the run that an event of the fiber belongs to. */
static void find_run(struct import *import, int64_t time)
{
    while (import->run + 1 < import->run_end && import->runs[import->run].end >= 0 &&
           time > import->runs[import->run].end) {
        leave_run(import);
        enter_run(import);
    }
}

/* Without runs, a track of its own stands for the thread that ran it. */
static void begin_fiber(struct import *import)
{
    uint64_t id = strobe_tracy_thread_number(&import->content, import->tid);
    import->run = 0;
    while (import->run < import->n_runs && import->runs[import->run].fiber != import->tid)
        import->run++;
    import->run_end = import->run;
    while (import->run_end < import->n_runs && import->runs[import->run_end].fiber == import->tid)
        import->run_end++;
    if (import->run < import->run_end) {
        enter_run(import);
        return;
    }
    import->track = strobe_tracy_import_track(import, import->tid, 0);
    if (import->track)
        strobe_build_fiber(import->build, import->track, strobe_tracy_tick(0), id);
}

static void end_fiber(struct import *import)
{
    if (import->run == import->run_end) {
        if (import->track)
            strobe_build_fiber(import->build, import->track,
                               strobe_tracy_tick(import->content.head.last_time), 0);
        return;
    }
    while (import->run < import->run_end) {
        leave_run(import);
        if (import->run < import->run_end)
            enter_run(import);
    }
}

/* ---- threads and zones ----------------------------------------------------------------------- */

static enum strobe_err begin_thread(void *context, const struct strobe_tracy_thread_head *thread)
{
    struct import *import = context;
    import->tid = thread->tid;
    import->is_fiber = thread->is_fiber != 0;
    import->in_run = 0;
    if (import->is_fiber)
        begin_fiber(import);
    else
        import->track = strobe_tracy_import_track(import, thread->tid, 0);
    if (!import->track)
        return STROBE_ERR_LIMIT;
    if (thread->group && !import->is_fiber) {
        uint64_t numbers[] = {strobe_build_track_id(import->track), (uint64_t)thread->group};
        strobe_build_record(import->build, STROBE_META_THREAD_GROUP, numbers, NULL, NULL);
    }
    return STROBE_OK;
}

static enum strobe_err end_thread(void *context, const struct strobe_tracy_thread_head *thread)
{
    struct import *import = context;
    (void)thread;
    if (import->is_fiber)
        end_fiber(import);
    import->is_fiber = 0;
    return STROBE_OK;
}

/* What a zone has beside its times follows its begin. */
static void put_extra(struct import *import, const struct strobe_tracy_extra *extra, uint64_t tick)
{
    struct strobe_build *build = import->build;
    uint64_t color = extra->color;
    if (extra->text.is_there)
        strobe_build_event(build, import->track, tick, STROBE_KIND_ZONE_TEXT, NULL, extra->text.at,
                           extra->text.n);
    if (extra->name.is_there)
        strobe_build_event(build, import->track, tick, STROBE_KIND_ZONE_NAME, NULL, extra->name.at,
                           extra->name.n);
    if (extra->color)
        strobe_build_event(build, import->track, tick, STROBE_KIND_ZONE_COLOR, &color, NULL, 0);
}

static void tap_text(struct import *import, const struct strobe_tracy_zone *zone,
                     const struct strobe_tracy_text *text)
{
    const struct strobe_tracy_srcloc *loc = strobe_tracy_content_loc(&import->content, zone->loc);
    const struct strobe_tracy_text *name = loc->name.is_there ? &loc->name : &loc->function;
    if (import->taps && import->taps->zone_text && name->is_there)
        import->taps->zone_text(import->taps->context, zone->start, name->at, name->n, text->at,
                                text->n);
}

static enum strobe_err begin_zone(void *context, struct strobe_tracy_zone *stack, uint32_t depth)
{
    struct import *import = context;
    const struct strobe_tracy_zone *zone = &stack[depth];
    struct strobe_tracy_extra extra;
    uint64_t tick = strobe_tracy_tick(zone->start);
    if (import->is_fiber && import->in_run)
        find_run(import, zone->start);
    int has_extra = zone->extra && strobe_tracy_extra(&import->content, zone->extra, &extra);
    if (has_extra)
        strobe_tracy_import_stack(import, import->track, zone->start, extra.callstack);
    strobe_build_zone_begin(import->build, import->track, tick,
                            strobe_tracy_import_loc(import, zone->loc));
    if (has_extra)
        put_extra(import, &extra, tick);
    if (has_extra && extra.text.is_there)
        tap_text(import, zone, &extra.text);
    import->out->n_zones++;
    return STROBE_OK;
}

/* A zone that never ended stays open; the end of one around it names the location, so that the
 * encoder knows which is meant. */
static enum strobe_err end_zone(void *context, struct strobe_tracy_zone *stack, uint32_t depth)
{
    struct import *import = context;
    struct strobe_tracy_zone *zone = &stack[depth];
    if (zone->end < 0 || zone->mark) {
        if (depth)
            stack[depth - 1].mark |= zone->end < 0 ? 1 : zone->mark;
        if (zone->end < 0)
            return STROBE_OK;
    }
    if (import->is_fiber && import->in_run)
        find_run(import, zone->end);
    uint64_t tick = strobe_tracy_tick(zone->end);
    if (!zone->mark || import->is_fiber) {
        strobe_build_zone_end(import->build, import->track, tick);
        return STROBE_OK;
    }
    strobe_build_zone_end_of(import->build, import->track, tick,
                             strobe_tracy_import_loc(import, zone->loc));
    if (depth)
        stack[depth - 1].mark = 0; /* what was open in it is gone with it */
    return STROBE_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum strobe_err open_build(struct import *import)
{
    const struct strobe_tracy_head *head = &import->content.head;
    struct strobe_build_process process = {.pid = head->pid};
    struct strobe_tracy_client client = {
        .timer_mul = 1.0,
        .init_begin = (int64_t)STROBE_TRACY_IMPORT_BASE,
        .init_end = (int64_t)strobe_tracy_tick(import->init_end),
        .delay = head->delay,
        .resolution = head->resolution,
        .epoch = head->capture_time,
        .exec_time = head->executable_time,
        .pid = head->pid,
        .sampling = head->sampling,
        .flags = head->on_demand ? 1 : 0,
        .arch = head->arch,
        .cpu_id = head->cpu_id,
    };
    memcpy(client.maker, head->maker, sizeof client.maker);
    memcpy(client.program, head->program, sizeof client.program - 1);
    memcpy(client.host, head->host, sizeof client.host - 1);
    enum strobe_err err = strobe_build_open(import->store, &process, &import->build);
    if (!err)
        strobe_build_tracy_client(import->build, &client);
    return err;
}

/* A line of what the client says of its machine, without its word: "CPU: AMD EPYC"; of "User: root@vm (Root)" the machine alone. */
static void put_host_line(struct strobe_records *records, const char *host, const char *word,
                          char before)
{
    const char *line = host;
    size_t n_word = strlen(word);
    while (line && strncmp(line, word, n_word))
        line = (line = strchr(line, '\n')) ? line + 1 : NULL;
    const char *text = line ? line + n_word : "";
    size_t n = strcspn(text, "\n");
    const char *name = before ? memchr(text, before, n) : NULL;
    if (name) {
        text = name + 1;
        n = strcspn(text, " \n");
    }
    strobe_records_s(records, text, n);
}

/* The clock and what the trace covers. */
static enum strobe_err put_facts(struct import *import, struct strobe_file_writer *writer)
{
    struct strobe_records records = {0};
    const struct strobe_tracy_head *head = &import->content.head;
    uint64_t zero = strobe_tracy_tick(0), last = strobe_tracy_tick(head->last_time);
    uint64_t real =
        head->capture_time < UINT64_MAX / 1000000000 ? head->capture_time * 1000000000 : 0;
    uint64_t sync[] = {STROBE_CLOCK_MONO, zero, zero, real, 0, 0};
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){zero, 0}, 2);
    if (import->n_start_marks == 3)
        strobe_records_numbers(&records, STROBE_FACT_RECORDING,
                               (uint64_t[]){strobe_tracy_tick(import->joined), 3}, 2);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){last, 1}, 2);
    strobe_records_begin(&records, STROBE_FACT_HOST);
    put_host_line(&records, head->host, "User: ", '@');
    put_host_line(&records, head->host, "OS: ", 0);
    put_host_line(&records, head->host, "CPU: ", 0);
    strobe_records_end(&records);
    strobe_records_kinds(&records);
    strobe_records_tick(&records, zero);
    enum strobe_err err = strobe_file_put_records(writer, &records);
    if (!err && real)
        err = strobe_file_set_created(writer, real);
    strobe_records_free(&records);
    return err;
}

static void name_fiber(struct import *import, uint64_t tid)
{
    uint64_t id = strobe_tracy_thread_number(&import->content, tid);
    struct strobe_tracy_text name = strobe_tracy_thread_name(&import->content, tid);
    size_t n = name.n;
    if (name.is_there)
        strobe_build_record(import->build, STROBE_META_FIBER_NAME, &id, &name.at, &n);
}

/* Threads, and fibers behind them, in the order in which the file numbers them. */
static void make_tracks(struct import *import)
{
    for (size_t i = 1; i < import->content.n_threads; i++) {
        uint64_t tid = import->content.threads[i];
        if (is_fiber(import, tid))
            name_fiber(import, tid);
        else
            strobe_tracy_import_track(import, tid, 0);
    }
}

static enum strobe_err walk_second(struct import *import)
{
    make_tracks(import);
    struct strobe_tracy_visitor visitor = {
        .context = import,
        .thread = begin_thread,
        .thread_end = end_thread,
        .zone_begin = begin_zone,
        .zone_end = end_zone,
    };
    strobe_tracy_import_set_events(&visitor);
    return strobe_tracy_walk(&import->content, &visitor);
}

static void free_import(struct import *import)
{
    strobe_build_close(import->build);
    strobe_build_store_close(import->store);
    strobe_tracy_content_close(&import->content);
    free(import->stack_frames);
    free(import->stack_at);
    free(import->runs);
    free(import->fibers);
    free(import->loc_ids);
    free(import->messages);
    free(import->image_frame);
    free(import->image_time);
    free(import->query_of);
    free(import->memory);
    free(import->foreign);
    strobe_idmap_free(&import->switch_ids);
    free(import->n_of_switch);
}

/* Where the bytes come from: a file, or memory (a file or bare content). */
struct source {
    const char *path;
    const void *bytes;
    size_t n_bytes;
    int is_file;
};

static enum strobe_err open_source(const struct source *source, struct strobe_tracy_bytes *in)
{
    strobe_tracy_bytes_close(in);
    if (source->path)
        return strobe_tracy_bytes_open(source->path, 1, in);
    if (source->is_file)
        return strobe_tracy_bytes_over_file(source->bytes, source->n_bytes, in);
    strobe_tracy_bytes_over(source->bytes, source->n_bytes, in);
    return STROBE_OK;
}

static enum strobe_err fill_trace(const struct source *source, struct import *import,
                                  struct strobe_file_writer *writer, enum strobe_err first)
{
    struct strobe_build_store_options options = {.writer = writer, .budget_bytes = BUDGET_BYTES};
    import->loc_ids = calloc(UINT16_MAX + 1, sizeof *import->loc_ids);
    import->query_of = calloc(UINT16_MAX + 1, sizeof *import->query_of);
    if (!import->loc_ids || !import->query_of)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = put_facts(import, writer);
    if (!err)
        err = strobe_build_store_open(&options, &import->store);
    if (!err)
        err = open_build(import);
    if (!err)
        err = open_source(source, &import->content.in);
    if (err)
        return err;
    err = walk_second(import);
    import->out->n_gpu_zones = import->content.n_gpu_zones;
    enum strobe_err end = strobe_tracy_import_finish(import);
    if (!err)
        err = end ? end : first;
    import->out->is_cut = err == STROBE_ERR_END || err == STROBE_ERR_CORRUPT;
    if (import->out->is_cut)
        strobe_build_note(import->build,
                          "the .tracy file ends too early or is damaged after %llu bytes of "
                          "its content",
                          (unsigned long long)strobe_tracy_tell(&import->content.in));
    return err;
}

static enum strobe_err import_source(const struct source *source, const char *to,
                                     const struct strobe_tracy_import_taps *taps,
                                     struct strobe_tracy_import *out)
{
    struct import import = {.out = out, .taps = taps};
    struct strobe_file_writer *writer = NULL;
    memset(out, 0, sizeof *out);
    enum strobe_err err = open_source(source, &import.content.in);
    if (!err)
        err = walk_first(&import);
    out->version = import.content.head.version;
    int is_readable =
        !err || ((err == STROBE_ERR_END || err == STROBE_ERR_CORRUPT) && import.content.has_tables);
    enum strobe_err first = err;
    if (is_readable)
        err = strobe_file_create(to, source->path ? source->path : "", 1000000000, &writer);
    if (is_readable && !err)
        err = fill_trace(source, &import, writer, first);
    int keep = !err || out->is_cut;
    int64_t last_ns = import.content.head.last_time;
    free_import(&import); /* writes the last block */
    if (writer && keep && taps && taps->more) {
        enum strobe_err more = taps->more(taps->context, writer, last_ns);
        err = err ? err : more;
    }
    if (writer && keep) {
        char folder[4096];
        const char *slash = strrchr(to, '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - to) + 1 : 1,
                 slash ? to : ".");
        strobe_pair_write(writer, folder); /* where that fails readers pair themselves */
        enum strobe_err end = strobe_file_finish(writer);
        return err ? err : end;
    }
    if (writer)
        strobe_file_abandon(writer);
    return err;
}

enum strobe_err strobe_tracy_import(const char *from, const char *to,
                                    struct strobe_tracy_import *out)
{
    return import_source(&(struct source){.path = from}, to, NULL, out);
}

enum strobe_err strobe_tracy_import_tapped(const char *from, const char *to,
                                           const struct strobe_tracy_import_taps *taps,
                                           struct strobe_tracy_import *out)
{
    return import_source(&(struct source){.path = from}, to, taps, out);
}

enum strobe_err strobe_tracy_import_bytes(const void *bytes, size_t n_bytes, int is_file,
                                          const char *to, struct strobe_tracy_import *out)
{
    return import_source(&(struct source){NULL, bytes, n_bytes, is_file}, to, NULL, out);
}
