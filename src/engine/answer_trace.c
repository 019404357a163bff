/* answer_trace.c - what is in a trace, names, source files.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/host_rows.h"

enum { MAX_NAMES = 4096 };

static void put_named(struct strobe_reply *reply, const char *name,
                      const struct strobe_trace *trace, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(trace, text, &n);
    strobe_reply_text(reply, name, bytes, n);
}

/* ---- tracks ---- */

static void put_track(void *context, const struct strobe_track_row *row)
{
    struct strobe_reply *reply = context;
    strobe_reply_open(reply, "", '{');
    strobe_reply_u64(reply, "id", row->id);
    strobe_reply_u64(reply, "parent", row->parent);
    strobe_reply_string(reply, "kind", row->kind);
    strobe_reply_text(reply, "name", row->name, row->n_name);
    strobe_reply_u64(reply, "n_depths", row->n_depths);
    strobe_reply_u64(reply, "pid", row->pid);
    strobe_reply_u64(reply, "tid", row->tid);
    if (row->marks)
        strobe_reply_u64(reply, "marks", row->marks);
    if (!strcmp(row->kind, "plot")) {
        strobe_reply_u64(reply, "format", row->plot ? row->plot->format : 0);
        strobe_reply_u64(reply, "step", row->plot ? row->plot->step : 0);
        strobe_reply_u64(reply, "color", row->plot ? row->plot->color : 0);
    }
    strobe_reply_close(reply, '}');
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

/* How far a process's own clock, or that of its host, may be off; 0: it has the trace's. */
static uint64_t clock_error_of(const struct strobe_trace *trace,
                               const struct strobe_process *process,
                               const struct strobe_host_rows *hosts)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < hosts->n; i++)
        if (process->proc - hosts->rows[i].proc < hosts->rows[i].n_procs)
            most = hosts->rows[i].proven_ns;
    for (uint32_t i = 0; i < process->n_own; i++) {
        uint64_t error = trace->own_pieces[process->own_first + i].error_ns;
        most = error > most ? error : most;
    }
    return most;
}

/* The hosts of a trace that was merged. */
static void put_hosts(const struct strobe_trace *trace, const struct strobe_host_rows *hosts,
                      struct strobe_reply *reply)
{
    strobe_reply_open(reply, "hosts", '[');
    for (uint32_t i = 0; i < hosts->n; i++) {
        strobe_reply_open(reply, "", '{');
        put_named(reply, "name", trace, hosts->rows[i].host);
        strobe_host_row_put(&hosts->rows[i], &reply->json);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

static void put_processes(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    struct strobe_host_rows hosts;
    strobe_host_rows_list(trace, &hosts); /* none without memory */
    put_hosts(trace, &hosts, reply);
    strobe_reply_open(reply, "processes", '[');
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *process = &trace->processes[i];
        strobe_reply_open(reply, "", '{');
        strobe_reply_u64(reply, "track", strobe_track_of_process(engine, i));
        strobe_reply_u64(reply, "pid", process->pid);
        strobe_reply_u64(reply, "parent_pid", process->parent_pid);
        put_named(reply, "exe", trace, process->exe);
        put_named(reply, "cwd", trace, process->cwd);
        put_argv(reply, trace, process->argv);
        if (process->has_ended)
            strobe_reply_number(reply, "ended", strobe_engine_ns(engine, process->end_tick));
        else
            strobe_reply_null(reply, "ended");
        strobe_reply_u64(reply, "how", process->how);
        strobe_reply_u64(reply, "value", process->end_value);
        strobe_reply_u64(reply, "clock_error_ns", clock_error_of(trace, process, &hosts));
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
    strobe_host_rows_free(&hosts);
}

static uint32_t track_of_loss(struct strobe_engine *engine, const struct strobe_loss_row *loss)
{
    if (loss->process == STROBE_IDMAP_NONE)
        return 0;
    uint32_t thread =
        loss->track ? strobe_idmap_find(&engine->trace->thread_ids, loss->process, loss->track)
                    : STROBE_IDMAP_NONE;
    return thread == STROBE_IDMAP_NONE ? strobe_track_of_process(engine, loss->process)
                                       : strobe_track_of_thread(engine, thread);
}

static void put_coverage(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    uint64_t n_stored = engine->view->n_events, n_dropped = 0;
    for (uint32_t i = 0; i < trace->loss_ids.n; i++)
        n_dropped += strobe_loss_is_of_events(trace->losses[i].cause) ? trace->losses[i].count : 0;
    strobe_reply_open(reply, "coverage", '{');
    strobe_reply_u64(reply, "emitted", n_stored + n_dropped);
    strobe_reply_u64(reply, "stored", n_stored);
    strobe_reply_u64(reply, "dropped", n_dropped);
    strobe_reply_bool(reply, "exact", !strobe_file_facts(trace->file)->n_holes);
    strobe_reply_close(reply, '}');
}

static void put_losses(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    strobe_reply_open(reply, "losses", '[');
    for (uint32_t i = 0; i < trace->loss_ids.n; i++) {
        const struct strobe_loss_row *loss = &trace->losses[i];
        if (!strobe_loss_is_of_events(loss->cause))
            continue; /* no event is missing: a stored sample has a cut stack */
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
    static const struct {
        const char *name;
        uint8_t kinds[2];
    } sorts[] = {{"zones", {STROBE_KIND_ZONE_BEGIN, 0}},
                 {"spans", {STROBE_KIND_SPAN_BEGIN, 0}},
                 {"messages", {STROBE_KIND_MESSAGE, 0}},
                 {"frames", {STROBE_KIND_FRAME_MARK, STROBE_KIND_FRAME_START}},
                 {"plots", {STROBE_KIND_PLOT_INT, STROBE_KIND_PLOT_DOUBLE}},
                 {"locks", {STROBE_KIND_LOCK_OBTAIN, STROBE_KIND_LOCK_WAITED}},
                 {"allocs", {STROBE_KIND_MEM_ALLOC, STROBE_KIND_MEM_BLOCK}},
                 {"flows", {STROBE_KIND_FLOW_BEGIN, 0}},
                 {"samples", {STROBE_KIND_SAMPLE, 0}},
                 {"gpu_zones", {STROBE_KIND_GPU_BEGIN, 0}}};
    const struct strobe_trace_totals *totals = &strobe_file_facts(engine->trace->file)->totals;
    const uint64_t *n = totals->n_of_kind;
    strobe_reply_open(reply, "totals", '{');
    strobe_reply_u64(reply, "events", engine->view->n_events);
    for (size_t i = 0; totals->has_totals && i < sizeof sorts / sizeof sorts[0]; i++)
        strobe_reply_u64(reply, sorts[i].name,
                         n[sorts[i].kinds[0]] + (sorts[i].kinds[1] ? n[sorts[i].kinds[1]] : 0));
    strobe_reply_close(reply, '}');
}

static void put_machine(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    strobe_reply_open(reply, "clock", '{');
    strobe_reply_string(reply, "kind",
                        trace->clock.kind == STROBE_CLOCK_TSC    ? "tsc"
                        : trace->clock.kind == STROBE_CLOCK_MONO ? "monotonic"
                                                                 : "none");
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

static int is_live(const struct strobe_engine *engine)
{
    return engine->host && engine->host->is_live(engine->host->context, engine->trace);
}

static void put_file(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_file_facts *facts = strobe_file_facts(engine->trace->file);
    const struct strobe_clock *clock = &engine->trace->clock;
    char uuid[33], real[32], mono[32];
    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, 3, "%02x", facts->uuid[i]);
    snprintf(real, sizeof real, "%llu",
             (unsigned long long)((uint64_t)clock->origin_ns + clock->real_offset_ns));
    snprintf(mono, sizeof mono, "%lld", (long long)clock->origin_ns);
    strobe_reply_string(reply, "name", engine->name);
    strobe_reply_string(reply, "uuid", uuid);
    strobe_reply_u64(reply, "bytes", facts->n_bytes);
    strobe_reply_string(reply, "origin_real_ns", real);
    strobe_reply_string(reply, "origin_mono_ns", mono);
    strobe_reply_bool(reply, "closed", facts->closed);
    strobe_reply_bool(reply, "live", is_live(engine));
    strobe_reply_u64(reply, "holes", facts->n_holes);
}

/* A text of two or three. */
static void put_joined(struct strobe_reply *reply, const char *before,
                       const struct strobe_trace *trace, uint32_t first, uint32_t second)
{
    char text[1024];
    uint32_t n_first, n_second;
    const char *a = strobe_trace_text(trace, first, &n_first);
    const char *b = strobe_trace_text(trace, second, &n_second);
    int n = snprintf(text, sizeof text, "%s%.*s%s%.*s", before, (int)n_first, a, second ? ": " : "",
                     (int)n_second, b);
    strobe_reply_text(reply, "", text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_notes(const struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    strobe_reply_open(reply, "notes", '[');
    for (uint32_t i = 0; i < trace->n_notes; i++)
        put_named(reply, "", trace, trace->notes[i].text);
    for (uint32_t i = 0; i < trace->n_kept; i++)
        put_joined(reply, "kept because of: ", trace, trace->kept[i].reason, 0);
    for (uint32_t i = 0; i < trace->n_unrecorded; i++)
        put_joined(reply, "not recorded: ", trace, trace->unrecorded[i].what,
                   trace->unrecorded[i].reason);
    strobe_reply_close(reply, ']');
    strobe_reply_open(reply, "limits", '[');
    if (engine->tables.is_unpaired)
        strobe_reply_string(reply, "",
                            "fibers, spans and GPU zones are not shown: the trace is too large to "
                            "pair them");
    if (engine->tables.lacks_rows)
        strobe_reply_string(reply, "",
                            "some fibers, spans or GPU zones are not shown: where the trace has "
                            "them paired it is damaged");
    if (engine->tables.n_left_out)
        strobe_reply_string(reply, "", "not all messages, frames, plots and spans are shown");
    strobe_reply_close(reply, ']');
    double tables = strobe_tables_share(&engine->tables);
    double strips = strobe_strips_share(&engine->strips);
    strobe_reply_number(reply, "read", tables < strips ? tables : strips);
}

void strobe_engine_answer_trace(struct strobe_engine *engine, struct strobe_reply *reply)
{
    struct strobe_view *view = engine->view;
    strobe_tables_update(&engine->tables);
    strobe_strips_step(&engine->strips);
    put_file(engine, reply);
    strobe_reply_open(reply, "range", '[');
    int is_empty = view->tick_first > view->tick_last;
    strobe_reply_number(reply, "", is_empty ? 0 : strobe_engine_ns(engine, view->tick_first));
    strobe_reply_number(reply, "", is_empty ? 0 : strobe_engine_ns(engine, view->tick_last));
    strobe_reply_close(reply, ']');
    strobe_reply_open(reply, "tracks", '[');
    strobe_tracks_visit(engine, put_track, reply);
    strobe_reply_close(reply, ']');
    strobe_reply_bool(reply, "has_flows", engine->tables.n_flows > 0);
    strobe_reply_bool(reply, "has_images", engine->tables.n_images > 0);
    strobe_reply_bool(reply, "has_colors", strobe_engine_has_colors(engine));
    put_totals(engine, reply);
    put_coverage(engine, reply);
    put_losses(engine, reply);
    put_machine(engine, reply);
    put_processes(engine, reply);
    put_notes(engine, reply);
}

/* ---- names ---- */

/* Numbers that are no location's are left out. */
static void put_loc(struct strobe_engine *engine, struct strobe_reply *reply, uint32_t number)
{
    const struct strobe_trace *trace = engine->trace;
    const struct strobe_loc_row none = {0}, *row = &none;
    char made_up[32];
    if (!number || (number > trace->loc_ids.n && !(number >> 31)))
        return;
    strobe_reply_open(reply, "", '{');
    strobe_reply_u64(reply, "id", number);
    if (number <= trace->loc_ids.n) {
        row = &trace->locs[number - 1];
        put_named(reply, "name", trace, row->name ? row->name : row->function);
    } else {
        snprintf(made_up, sizeof made_up, "loc %u", number & 0xfffff);
        strobe_reply_string(reply, "name", made_up);
    }
    put_named(reply, "function", trace, row->function);
    put_named(reply, "file", trace, row->file);
    strobe_reply_u64(reply, "line", row->line);
    strobe_reply_u64(reply, "color", row->color);
    strobe_reply_close(reply, '}');
}

void strobe_engine_answer_names(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    uint32_t list = strobe_json_member(question, 0, "locs"), at = 0, value, n = 0;
    strobe_reply_open(reply, "locs", '[');
    while ((value = strobe_json_next(question, list, &at)) && n++ < MAX_NAMES)
        put_loc(engine, reply, (uint32_t)strobe_json_count(question, value, 0, UINT32_MAX));
    strobe_reply_close(reply, ']');
}

/* ---- source ---- */

void strobe_engine_answer_source(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    uint32_t loc = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "loc"), 0,
                                               UINT32_MAX);
    if (!loc || loc > engine->trace->loc_ids.n) {
        strobe_engine_answer_error(reply, "there is no such location");
        return;
    }
    const struct strobe_loc_row *row = &engine->trace->locs[loc - 1];
    uint32_t n_path;
    const char *path = strobe_trace_text(engine->trace, row->file, &n_path);
    strobe_reply_text(reply, "file", path, n_path);
    strobe_reply_u64(reply, "line", row->line);
    strobe_engine_put_source(engine, reply, path);
}
