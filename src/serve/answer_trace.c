/* answer_trace.c - what is in a trace, names, source files.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "serve/engine.h"

enum { MAX_NAMES = 4096, MAX_SOURCE = 2 << 20 };

static void put_named(struct strobe_reply *reply, const char *name,
                      const struct strobe_trace *trace, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(trace, text, &n);
    strobe_reply_text(reply, name, bytes, n);
}

/* ---- tracks ---- */

static void put_track(struct strobe_reply *reply, uint32_t id, uint32_t parent, const char *kind,
                      const char *name, uint32_t n_name, uint32_t n_depths)
{
    strobe_reply_open(reply, "", '{');
    strobe_reply_u64(reply, "id", id);
    strobe_reply_u64(reply, "parent", parent);
    strobe_reply_string(reply, "kind", kind);
    strobe_reply_text(reply, "name", name, n_name);
    strobe_reply_u64(reply, "n_depths", n_depths);
}

static void put_table(struct strobe_engine *engine, struct strobe_reply *reply, uint32_t i)
{
    static const char *const kinds[] = {
        [STROBE_TABLE_FIBER] = "fiber",       [STROBE_TABLE_SPANS] = "spans",
        [STROBE_TABLE_MESSAGES] = "messages", [STROBE_TABLE_FRAMES] = "frames",
        [STROBE_TABLE_PLOT] = "plot",         [STROBE_TABLE_LOCK] = "locks"};
    const struct strobe_table *table = &engine->tables.tables[i];
    const struct strobe_trace *trace = engine->trace;
    uint32_t parent = strobe_track_id(STROBE_TRACK_PROCESS, table->process), n = 0;
    char room[STROBE_NAME_ROOM];
    const char *name = "spans";
    if (table->kind == STROBE_TABLE_FIBER)
        name = strobe_trace_fiber_name(trace, table->process, table->id, room, &n);
    else if (table->kind == STROBE_TABLE_LOCK)
        name = strobe_trace_lock_name(trace, table->process, table->id, room, &n);
    else if (table->kind == STROBE_TABLE_FRAMES || table->kind == STROBE_TABLE_PLOT)
        name = strobe_trace_string(trace, table->process, table->id, room, &n);
    else if (table->kind == STROBE_TABLE_MESSAGES)
        name = "messages";
    if (table->kind == STROBE_TABLE_FRAMES && !n)
        name = "frames";
    put_track(reply, strobe_track_id(STROBE_TRACK_TABLE, i), parent, kinds[table->kind], name,
              n ? n : (uint32_t)strlen(name), table->n_depths);
    strobe_reply_close(reply, '}');
}

static void put_tables(struct strobe_engine *engine, struct strobe_reply *reply, uint32_t process,
                       int before_threads)
{
    for (uint32_t i = 0; i < engine->tables.n_tables; i++) {
        const struct strobe_table *table = &engine->tables.tables[i];
        uint32_t twin = engine->trace->processes[table->process].twin;
        uint32_t owner = twin ? twin - 1 : table->process;
        int is_before = table->kind == STROBE_TABLE_FRAMES || table->kind == STROBE_TABLE_MESSAGES;
        if (owner == process && table->kind != STROBE_TABLE_THREAD && is_before == before_threads)
            put_table(engine, reply, i);
    }
}

static void put_thread(struct strobe_engine *engine, struct strobe_reply *reply, uint32_t i,
                       uint32_t parent)
{
    const struct strobe_thread *thread = &engine->trace->threads[i];
    char room[STROBE_NAME_ROOM];
    uint32_t n, n_depths = strobe_view_depths(engine->view, i);
    if (thread->twin) {
        const struct strobe_table *table =
            strobe_tables_find(&engine->tables, STROBE_TABLE_THREAD, thread->process, i);
        n_depths = table ? table->n_depths : 0;
    }
    const char *name = strobe_trace_thread_name(engine->trace, i, room, &n);
    put_track(reply, strobe_track_id(STROBE_TRACK_THREAD, i), parent, "thread", name, n, n_depths);
    strobe_reply_u64(reply, "pid", engine->trace->processes[thread->process].pid);
    strobe_reply_u64(reply, "tid", thread->tid);
    strobe_reply_close(reply, '}');
}

struct by_process {
    uint32_t process, thread;
};

static int compare(const void *a, const void *b)
{
    const struct by_process *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The threads that are tracks, by the process that shows them. */
static struct by_process *list_threads(const struct strobe_trace *trace, uint32_t *n)
{
    struct by_process *list = malloc((trace->thread_ids.n + 1ull) * sizeof *list);
    *n = 0;
    for (uint32_t i = 0; list && i < trace->thread_ids.n; i++) {
        uint32_t process = trace->threads[i].process, twin = trace->processes[process].twin;
        if (!trace->threads[i].twin || trace->threads[i].twin - 1 == i)
            list[(*n)++] = (struct by_process){twin ? twin - 1 : process, i};
    }
    if (list)
        qsort(list, *n, sizeof *list, compare);
    return list;
}

static void put_tracks(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    uint32_t n_threads, next = 0;
    struct by_process *threads = list_threads(trace, &n_threads);
    strobe_reply_open(reply, "tracks", '[');
    for (uint32_t i = 0; threads && i < trace->n_processes; i++) {
        const struct strobe_process *process = &trace->processes[i];
        char room[STROBE_NAME_ROOM];
        uint32_t n, id = strobe_track_id(STROBE_TRACK_PROCESS, i);
        if (process->twin && process->twin - 1 != i)
            continue;
        const char *name = strobe_trace_process_name(trace, i, room, &n);
        put_track(reply, id, 0, "process", name, n, 0);
        strobe_reply_u64(reply, "pid", process->pid);
        strobe_reply_close(reply, '}');
        put_tables(engine, reply, i, 1);
        for (; next < n_threads && threads[next].process == i; next++)
            put_thread(engine, reply, threads[next].thread, id);
        put_tables(engine, reply, i, 0);
    }
    strobe_reply_close(reply, ']');
    free(threads);
}

/* ---- facts ---- */

static void put_argv(struct strobe_reply *reply, const struct strobe_trace *trace, uint32_t text)
{
    uint32_t n, from = 0;
    const char *argv = strobe_trace_text(trace, text, &n);
    strobe_reply_open(reply, "argv", '[');
    for (uint32_t i = 0; i <= n && n; i++)
        if (i == n || !argv[i]) {
            strobe_reply_text(reply, "", argv + from, i - from);
            from = i + 1;
        }
    strobe_reply_close(reply, ']');
}

/* How far a process's own clock may be off; 0: it has the host's. */
static uint64_t clock_error_of(const struct strobe_trace *trace,
                               const struct strobe_process *process)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < process->n_own; i++) {
        uint64_t error = trace->own_pieces[process->own_first + i].error_ns;
        most = error > most ? error : most;
    }
    return most;
}

static void put_processes(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    strobe_reply_open(reply, "processes", '[');
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *process = &trace->processes[i];
        strobe_reply_open(reply, "", '{');
        strobe_reply_u64(reply, "track", strobe_track_id(STROBE_TRACK_PROCESS, i));
        strobe_reply_u64(reply, "pid", process->pid);
        strobe_reply_u64(reply, "parent_pid", process->parent_pid);
        put_named(reply, "exe", trace, process->exe);
        put_named(reply, "cwd", trace, process->cwd);
        put_argv(reply, trace, process->argv);
        strobe_reply_bool(reply, "ended", process->has_ended);
        strobe_reply_u64(reply, "how", process->how);
        strobe_reply_u64(reply, "value", process->end_value);
        strobe_reply_u64(reply, "clock_error_ns", clock_error_of(trace, process));
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

static uint32_t track_of_loss(struct strobe_engine *engine, const struct strobe_loss_row *loss)
{
    if (loss->process == STROBE_IDMAP_NONE)
        return 0;
    uint32_t thread =
        loss->track ? strobe_idmap_find(&engine->trace->thread_ids, loss->process, loss->track)
                    : STROBE_IDMAP_NONE;
    return thread == STROBE_IDMAP_NONE ? strobe_track_id(STROBE_TRACK_PROCESS, loss->process)
                                       : strobe_engine_track_of(engine, thread);
}

static void put_losses(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    struct strobe_coverage coverage;
    strobe_trace_coverage(trace, &coverage);
    strobe_reply_open(reply, "coverage", '{');
    strobe_reply_u64(reply, "emitted", coverage.n_emitted);
    strobe_reply_u64(reply, "stored", coverage.n_stored);
    strobe_reply_u64(reply, "dropped", coverage.n_dropped);
    strobe_reply_u64(reply, "hole_words", coverage.n_hole_words);
    strobe_reply_bool(reply, "exact", coverage.is_exact);
    strobe_reply_close(reply, '}');
    strobe_reply_open(reply, "losses", '[');
    for (uint32_t i = 0; i < trace->loss_ids.n; i++) {
        const struct strobe_loss_row *loss = &trace->losses[i];
        strobe_reply_open(reply, "", '{');
        strobe_reply_u64(reply, "track", track_of_loss(engine, loss));
        strobe_reply_string(reply, "cause", strobe_loss_text(loss->cause));
        strobe_reply_u64(reply, "count", loss->count);
        strobe_reply_number(reply, "from", strobe_engine_ns(engine, loss->first_tick));
        strobe_reply_number(reply, "to", strobe_engine_ns(engine, loss->last_tick));
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

static void put_totals(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(engine->trace->file)->totals;
    const uint64_t *n = totals->n_of_kind;
    uint64_t n_events = 0;
    for (int i = 0; i < STROBE_KIND_COUNT; i++)
        n_events += n[i];
    strobe_reply_open(reply, "totals", '{');
    if (totals->has_totals) {
        strobe_reply_u64(reply, "events", n_events);
        strobe_reply_u64(reply, "zones", n[STROBE_KIND_ZONE_BEGIN]);
        strobe_reply_u64(reply, "spans", n[STROBE_KIND_SPAN_BEGIN]);
        strobe_reply_u64(reply, "messages", n[STROBE_KIND_MESSAGE]);
        strobe_reply_u64(reply, "frames", n[STROBE_KIND_FRAME_MARK] + n[STROBE_KIND_FRAME_START]);
        strobe_reply_u64(reply, "plots", n[STROBE_KIND_PLOT_INT] + n[STROBE_KIND_PLOT_DOUBLE]);
    }
    strobe_reply_close(reply, '}');
}

static void put_machine(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    strobe_reply_open(reply, "clock", '{');
    strobe_reply_u64(reply, "kind", trace->clock.kind);
    strobe_reply_u64(reply, "error_ns", trace->clock.error_ns);
    strobe_reply_open(reply, "jumps", '[');
    for (uint32_t i = 1; i < trace->clock.n_pieces; i++)
        strobe_reply_number(reply, "",
                            (double)strobe_clock_rel(&trace->clock, trace->clock.pieces[i].tick));
    strobe_reply_close(reply, ']');
    strobe_reply_close(reply, '}');
    strobe_reply_open(reply, "host", '{');
    put_named(reply, "name", trace, trace->hostname);
    put_named(reply, "kernel", trace, trace->kernel);
    put_named(reply, "cpu", trace, trace->cpu);
    strobe_reply_close(reply, '}');
    if (!trace->has_overhead)
        return;
    strobe_reply_open(reply, "overhead", '{');
    strobe_reply_u64(reply, "recorder_cpu_ns", trace->recorder_cpu_ns);
    strobe_reply_u64(reply, "event_ps", trace->event_ps);
    strobe_reply_u64(reply, "waited_ns", trace->waited_ns);
    strobe_reply_close(reply, '}');
}

/* It has no end yet, and was written a moment ago. */
static int is_live(const struct strobe_engine *engine)
{
    struct stat st;
    return !strobe_file_facts(engine->trace->file)->closed && !stat(engine->path, &st) &&
           time(NULL) - st.st_mtime < 10;
}

static void put_file(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_file_facts *facts = strobe_file_facts(engine->trace->file);
    const struct strobe_clock *clock = &engine->trace->clock;
    char uuid[33], real[32];
    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, 3, "%02x", facts->uuid[i]);
    snprintf(real, sizeof real, "%llu",
             (unsigned long long)((uint64_t)clock->origin_ns + clock->real_offset_ns));
    strobe_reply_string(reply, "name", engine->name);
    strobe_reply_string(reply, "uuid", uuid);
    strobe_reply_u64(reply, "bytes", facts->n_bytes);
    strobe_reply_string(reply, "origin_real_ns", real);
    strobe_reply_bool(reply, "closed", facts->closed);
    strobe_reply_bool(reply, "live", is_live(engine));
    strobe_reply_u64(reply, "holes", facts->n_holes);
    strobe_reply_u64(reply, "hole_bytes", facts->hole_bytes);
}

static void put_notes(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    strobe_reply_open(reply, "notes", '[');
    for (uint32_t i = 0; i < trace->n_notes; i++)
        put_named(reply, "", trace, trace->notes[i].text);
    strobe_reply_close(reply, ']');
    strobe_reply_open(reply, "limits", '[');
    if (engine->tables.is_unpaired)
        strobe_reply_string(reply, "",
                            "fibers and spans are not shown: the trace is too large to "
                            "pair them");
    if (engine->tables.n_left_out)
        strobe_reply_string(reply, "", "not all messages, frames, plots and spans are shown");
    strobe_reply_close(reply, ']');
}

void strobe_answer_trace(struct strobe_engine *engine, struct strobe_reply *reply)
{
    struct strobe_view *view = engine->view;
    strobe_tables_update(&engine->tables);
    put_file(engine, reply);
    strobe_reply_open(reply, "range", '[');
    int is_empty = view->tick_first > view->tick_last;
    strobe_reply_number(reply, "", is_empty ? 0 : strobe_engine_ns(engine, view->tick_first));
    strobe_reply_number(reply, "", is_empty ? 0 : strobe_engine_ns(engine, view->tick_last));
    strobe_reply_close(reply, ']');
    put_tracks(engine, reply);
    strobe_reply_bool(reply, "has_flows", engine->tables.n_flows > 0);
    put_totals(engine, reply);
    put_losses(engine, reply);
    put_machine(engine, reply);
    put_processes(engine, reply);
    put_notes(engine, reply);
}

/* ---- names ---- */

static void put_loc(struct strobe_engine *engine, struct strobe_reply *reply, uint32_t number)
{
    const struct strobe_trace *trace = engine->trace;
    strobe_reply_open(reply, "", '{');
    strobe_reply_u64(reply, "id", number);
    if (number && number <= trace->loc_ids.n) {
        const struct strobe_loc_row *row = &trace->locs[number - 1];
        put_named(reply, "name", trace, row->name ? row->name : row->function);
        put_named(reply, "function", trace, row->function);
        put_named(reply, "file", trace, row->file);
        strobe_reply_u64(reply, "line", row->line);
        strobe_reply_u64(reply, "color", row->color);
    } else {
        strobe_reply_key(reply, "name");
        strobe_reply_printf(reply, "\"loc %u\"", number & 0xfffff);
        strobe_reply_raw(reply, ",\"function\":\"\",\"file\":\"\",\"line\":0,\"color\":0");
    }
    strobe_reply_close(reply, '}');
}

void strobe_answer_names(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply)
{
    uint32_t list = strobe_json_member(question, 0, "locs"), at = 0, value, n = 0;
    strobe_reply_open(reply, "locs", '[');
    while ((value = strobe_json_next(question, list, &at)) && n++ < MAX_NAMES)
        put_loc(engine, reply, (uint32_t)strobe_json_count(question, value, 0, UINT32_MAX));
    strobe_reply_close(reply, ']');
}

/* ---- source ---- */

/* Open a source file. What compilers were told from within a folder is looked for here, then where the processes ran. */
static int open_source(const struct strobe_trace *trace, const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = open(path, flags);
    for (uint32_t i = 0; fd < 0 && *path && *path != '/' && i < trace->n_processes && i < 64; i++) {
        uint32_t n;
        char whole[PATH_MAX];
        const char *folder = strobe_trace_text(trace, trace->processes[i].cwd, &n);
        if (n && (size_t)snprintf(whole, sizeof whole, "%s/%s", folder, path) < sizeof whole)
            fd = open(whole, flags);
    }
    return fd;
}

/* The file's text, to be freed; NULL with *why. Only what a location of the trace names is ever read. */
static char *read_source(const struct strobe_engine *engine, const char *path, size_t *n,
                         const char **why)
{
    struct stat st;
    int fd = open_source(engine->trace, path);
    *why = "the file is not on this machine";
    if (fd < 0)
        return NULL;
    char *text = NULL;
    ssize_t got = -1;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_SOURCE)
        *why = "it is no file that could be shown";
    else if ((uint64_t)st.st_mtim.tv_sec * 1000000000ull >
             strobe_file_facts(engine->trace->file)->created_ns)
        *why = "the file was changed after the recording";
    else if ((text = malloc((size_t)st.st_size + 1)))
        got = read(fd, text, (size_t)st.st_size);
    close(fd);
    if (got < 0 || (got && memchr(text, 0, (size_t)got))) {
        free(text);
        return NULL;
    }
    *n = (size_t)got;
    return text;
}

void strobe_answer_source(struct strobe_engine *engine, const struct strobe_json *question,
                          struct strobe_reply *reply)
{
    uint32_t loc = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "loc"), 0,
                                               UINT32_MAX);
    if (!loc || loc > engine->trace->loc_ids.n) {
        strobe_answer_error(reply, "there is no such location");
        return;
    }
    const struct strobe_loc_row *row = &engine->trace->locs[loc - 1];
    uint32_t n_path;
    const char *path = strobe_trace_text(engine->trace, row->file, &n_path), *why = NULL;
    size_t n = 0;
    strobe_reply_text(reply, "file", path, n_path);
    strobe_reply_u64(reply, "line", row->line);
    char *text = read_source(engine, path, &n, &why);
    if (text)
        strobe_reply_text(reply, "text", text, n);
    else
        strobe_reply_string(reply, "why", why);
    free(text);
}
