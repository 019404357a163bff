/* info_json.c - strobe info --json. Times are ns after the start of the recording.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "cli/info.h"
#include "cli/input.h"
#include "file/records.h"
#include "query/host_rows.h"

typedef struct strobe_json_writer json_t;

/* `name` NULL: an element of an array. */
static void put_text(json_t *json, const struct strobe_trace *trace, const char *name,
                     uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(trace, text, &n);
    strobe_json_write_text(json, name, bytes, n);
}

static int64_t rel(const struct strobe_info *info, uint64_t tick)
{
    return strobe_clock_rel(&info->trace->clock, tick);
}

static void put_holes(json_t *json, const struct strobe_info *info)
{
    const struct strobe_hole *hole;
    strobe_json_write_open(json, "holes", '[');
    for (size_t i = 0; (hole = strobe_file_hole(info->trace->file, i)); i++) {
        strobe_json_write_open(json, NULL, '{');
        strobe_json_write_u(json, "offset", hole->offset);
        strobe_json_write_u(json, "bytes", hole->n_bytes);
        strobe_json_write_close(json, '}');
    }
    strobe_json_write_close(json, ']');
}

static void put_file(json_t *json, const struct strobe_info *info)
{
    const struct strobe_file_facts *facts = strobe_file_facts(info->trace->file);
    strobe_json_write_string(json, "file", info->path);
    strobe_json_write_u(json, "bytes", facts->n_bytes);
    strobe_json_write_u(json, "version", facts->version);
    strobe_json_write_bool(json, "closed", facts->closed);
    strobe_json_write_bool(json, "verified", info->overview.is_whole);
    strobe_json_write_u(json, "created_ns", facts->created_ns);
    strobe_json_write_i(json, "started_unix_ns", strobe_info_started_unix_ns(info));
    strobe_json_write_u(json, "duration_ns", strobe_info_duration_ns(info));
    strobe_json_write_string(json, "session", facts->session);
    strobe_json_write_u(json, "tail_bytes", facts->tail_bytes);
    strobe_json_write_u(json, "n_holes", facts->n_holes);
    strobe_json_write_u(json, "hole_bytes", facts->hole_bytes);
    put_holes(json, info);
}

static void put_host(json_t *json, const struct strobe_trace *trace)
{
    const struct strobe_clock *clock = &trace->clock;
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "host", '{');
    put_text(json, trace, "hostname", trace->hostname);
    put_text(json, trace, "kernel", trace->kernel);
    put_text(json, trace, "cpu", trace->cpu);
    strobe_json_write_close(json, '}');
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "clock", '{');
    strobe_json_write_string(json, "kind",
                             clock->kind == STROBE_CLOCK_TSC    ? "tsc"
                             : clock->kind == STROBE_CLOCK_MONO ? "monotonic"
                                                                : "unknown");
    strobe_json_write_u(json, "mult", clock->mult);
    strobe_json_write_u(json, "error_ns", clock->error_ns);
    strobe_json_write_u(json, "syncs", clock->n_syncs);
    strobe_json_write_u(json, "pieces", clock->n_pieces);
    strobe_json_write_close(json, '}');
}

static void put_client(json_t *json, const struct strobe_process *process)
{
    if (!process->is_tracy)
        return;
    strobe_json_write_open(json, "tracy", '{');
    strobe_json_write_u(json, "protocol", process->tracy_protocol);
    if (process->has_taken) {
        strobe_json_write_u(json, "zones", process->n_zones_taken);
        strobe_json_write_u(json, "events", process->n_events_taken);
        strobe_json_write_u(json, "set_aside", process->n_set_aside);
        strobe_json_write_u(json, "unnamed", process->n_unnamed);
    }
    strobe_json_write_close(json, '}');
}

static void put_unrecorded(json_t *json, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "unrecorded", '[');
    for (uint32_t i = 0; i < trace->n_unrecorded; i++) {
        const struct strobe_unrecorded *row = &trace->unrecorded[i];
        strobe_json_write_line(json, 2);
        strobe_json_write_open(json, NULL, '{');
        strobe_json_write_u(json, "pid", row->pid);
        strobe_json_write_i(json, "at_ns", rel(info, row->tick));
        put_text(json, trace, "what", row->what);
        put_text(json, trace, "reason", row->reason);
        strobe_json_write_close(json, '}');
    }
    strobe_json_write_close(json, ']');
}

static void put_argv(json_t *json, const struct strobe_info *info,
                     const struct strobe_process *process)
{
    uint32_t n;
    const char *argv = strobe_trace_text(info->trace, process->argv, &n);
    strobe_json_write_open(json, "argv", '[');
    for (uint32_t at = 0; at < n;) {
        uint32_t length = (uint32_t)strnlen(argv + at, n - at);
        strobe_json_write_text(json, NULL, argv + at, length);
        at += length + 1;
    }
    strobe_json_write_close(json, ']');
}

static void put_own_clock(json_t *json, const struct strobe_trace *trace, uint32_t process)
{
    struct strobe_own_errors errors;
    uint32_t n_pieces = strobe_trace_own_errors(trace, process, &errors);
    if (!n_pieces)
        return;
    strobe_json_write_open(json, "own_clock", '{');
    strobe_json_write_u(json, "pieces", n_pieces);
    if (errors.most_ns >= STROBE_CLOCK_ERROR_UNKNOWN) {
        strobe_json_write_null(json, "error_ns");
        strobe_json_write_null(json, "least_error_ns");
    } else {
        strobe_json_write_u(json, "error_ns", errors.most_ns);
        strobe_json_write_u(json, "least_error_ns", errors.least_ns);
    }
    strobe_json_write_close(json, '}');
}

static void put_process(json_t *json, const struct strobe_info *info, uint32_t i)
{
    static const char *const hows[] = {"unknown", "exit", "signal"};
    const struct strobe_process *process = &info->trace->processes[i];
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = strobe_trace_process_name(info->trace, i, room, &n);
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_text(json, "name", name, n);
    strobe_json_write_u(json, "pid", process->pid);
    strobe_json_write_u(json, "parent_pid", process->parent_pid);
    if (process->pid_ns || process->outer_pid) {
        strobe_json_write_u(json, "outer_pid", process->outer_pid);
        strobe_json_write_u(json, "pid_ns", process->pid_ns);
    }
    strobe_json_write_u(json, "threads", process->n_threads);
    put_text(json, info->trace, "exe", process->exe);
    put_text(json, info->trace, "cwd", process->cwd);
    put_argv(json, info, process);
    put_client(json, process);
    put_own_clock(json, info->trace, i);
    if (process->has_ended) {
        strobe_json_write_string(json, "end", hows[process->how < 3 ? process->how : 0]);
        strobe_json_write_u(json, "end_value", process->end_value);
        strobe_json_write_i(json, "end_ns", rel(info, process->end_tick));
    }
    strobe_json_write_close(json, '}');
}

/* The hosts of a trace that was merged, and those that its recorder compared clocks with. */
static void put_hosts(json_t *json, const struct strobe_trace *trace)
{
    struct strobe_host_rows hosts;
    struct strobe_peer_row peer;
    if (!strobe_host_rows_list(trace, &hosts))
        return;
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "hosts", '[');
    for (uint32_t i = 0; i < hosts.n; i++) {
        strobe_json_write_open(json, NULL, '{');
        put_text(json, trace, "host", hosts.rows[i].host);
        strobe_host_row_put(&hosts.rows[i], json);
        strobe_json_write_close(json, '}');
    }
    strobe_json_write_close(json, ']');
    strobe_host_rows_free(&hosts);
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "peers", '[');
    for (uint32_t i = 0; strobe_host_rows_peer(trace, i, &peer); i++) {
        strobe_json_write_open(json, NULL, '{');
        put_text(json, trace, "host", peer.name);
        put_text(json, trace, "address", peer.address);
        strobe_json_write_u(json, "exchanges", peer.n_exchanges);
        strobe_json_write_u(json, "best_ns", peer.best_ns);
        strobe_json_write_close(json, '}');
    }
    strobe_json_write_close(json, ']');
}

static void put_processes(json_t *json, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    uint32_t n_processes, n_threads;
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "processes", '[');
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        if (!strobe_info_shows(&trace->processes[i]))
            continue;
        strobe_json_write_line(json, 2);
        put_process(json, info, i);
    }
    strobe_json_write_close(json, ']');
    strobe_trace_count_lives(trace, &n_processes, &n_threads);
    strobe_json_write_line(json, 0);
    strobe_json_write_u(json, "threads", n_threads);
}

static void put_events(json_t *json, const struct strobe_info *info)
{
    const struct strobe_overview *over = &info->overview;
    const struct strobe_schema *schema = &info->trace->schema;
    strobe_json_write_u(json, "events", over->n_events);
    strobe_json_write_open(json, "kinds", '{');
    for (int i = 0; over->has_kinds && i < STROBE_KIND_COUNT; i++) {
        char name[32];
        if (!over->n_of_kind[i])
            continue;
        int length = snprintf(name, sizeof name, "kind %d", i);
        if (schema->kind[i].known)
            strobe_json_write_name(json, schema->kind[i].name, schema->kind[i].n_name);
        else
            strobe_json_write_name(json, name, (size_t)length);
        strobe_json_write_u(json, NULL, over->n_of_kind[i]);
    }
    strobe_json_write_close(json, '}');
    strobe_json_write_line(json, 0);
    strobe_cli_put_coverage_json(json, info->trace);
}

static void put_losses(json_t *json, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "losses", '[');
    for (uint32_t i = 0; i < trace->loss_ids.n; i++) {
        const struct strobe_loss_row *loss = &trace->losses[i];
        strobe_json_write_line(json, 2);
        strobe_json_write_open(json, NULL, '{');
        strobe_json_write_u(json, "pid", trace->processes[loss->process].pid);
        strobe_json_write_u(json, "track", loss->track);
        strobe_json_write_u(json, "cause", loss->cause);
        strobe_json_write_u(json, "count", loss->count);
        strobe_json_write_i(json, "first_ns", rel(info, loss->first_tick));
        strobe_json_write_i(json, "last_ns", rel(info, loss->last_tick));
        strobe_json_write_string(json, "why", strobe_loss_text(loss->cause));
        strobe_json_write_close(json, '}');
    }
    strobe_json_write_close(json, ']');
}

static void put_open_zone(json_t *json, const struct strobe_info *info,
                          const struct strobe_open_row *zone)
{
    const struct strobe_trace *trace = info->trace;
    char room[STROBE_NAME_ROOM];
    uint32_t n, loc = strobe_trace_loc(trace, zone->process, zone->loc_id);
    const char *name = strobe_trace_loc_name(trace, loc, zone->loc_id, room, &n);
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_text(json, "name", name, n);
    name = strobe_trace_thread_name(trace, zone->thread, room, &n);
    strobe_json_write_text(json, "thread", name, n);
    strobe_json_write_u(json, "pid", trace->processes[zone->process].pid);
    strobe_json_write_u(json, "depth", zone->depth);
    strobe_json_write_i(json, "start_ns", rel(info, zone->begin));
    strobe_json_write_close(json, '}');
}

static void put_open(json_t *json, const struct strobe_info *info)
{
    const struct strobe_overview *over = &info->overview;
    strobe_json_write_u(json, "open", over->n_open);
    strobe_json_write_u(json, "open_spans", over->n_open_spans);
    if (over->is_whole) {
        strobe_json_write_u(json, "unfinished", over->n_unfinished);
        strobe_json_write_u(json, "no_begin", over->n_no_begin);
    }
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "open_list", '[');
    for (uint32_t i = 0; i < over->n_listed; i++) {
        strobe_json_write_line(json, 2);
        put_open_zone(json, info, &over->open[i]);
    }
    strobe_json_write_close(json, ']');
}

static void put_rest(json_t *json, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    const struct strobe_process *sampled = strobe_info_sampled(trace);
    if (sampled) {
        strobe_json_write_line(json, 0);
        strobe_json_write_open(json, "sampling", '{');
        strobe_json_write_u(json, "hz", sampled->sample_hz);
        strobe_json_write_u(json, "error_ns", sampled->sample_error_ns);
        strobe_json_write_u(json, "has_kernel", sampled->has_kernel_frames);
        strobe_json_write_u(json, "samples", info->overview.n_of_kind[STROBE_KIND_SAMPLE]);
        strobe_json_write_u(json, "by_timer", sampled->is_timed);
        if (sampled->is_timed) {
            strobe_json_write_u(json, "missed", info->overview.n_unsampled);
            strobe_json_write_u(json, "cut", info->overview.n_cut);
        }
        strobe_json_write_u(json, "switches", info->overview.n_of_kind[STROBE_KIND_SWITCH_OUT]);
        strobe_json_write_close(json, '}');
    }
    if (trace->has_overhead) {
        strobe_json_write_line(json, 0);
        strobe_json_write_open(json, "overhead", '{');
        strobe_json_write_u(json, "event_ps", trace->event_ps);
        strobe_json_write_u(json, "recorder_cpu_ns", trace->recorder_cpu_ns);
        strobe_json_write_u(json, "waited_ns", trace->waited_ns);
        strobe_json_write_u(json, "events", trace->n_overhead_events);
        if (trace->has_python_hooks) {
            strobe_json_write_u(json, "python_call_ps", trace->python_call_ps);
            strobe_json_write_u(json, "python_hooks_ns", strobe_info_hooks_ns(info));
        }
        strobe_json_write_close(json, '}');
    }
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, "notes", '[');
    for (uint32_t i = 0; i < trace->n_notes; i++)
        put_text(json, trace, NULL, trace->notes[i].text);
    strobe_json_write_close(json, ']');
    strobe_json_write_open(json, "triggers", '[');
    for (uint32_t i = 0; i < trace->n_kept; i++)
        put_text(json, trace, NULL, trace->kept[i].reason);
    strobe_json_write_close(json, ']');
}

void strobe_info_put_json(struct strobe_out *out, const struct strobe_info *info)
{
    json_t json = {.out = out};
    strobe_json_write_open(&json, NULL, '{');
    put_file(&json, info);
    put_host(&json, info->trace);
    put_hosts(&json, info->trace);
    put_processes(&json, info);
    put_events(&json, info);
    put_losses(&json, info);
    put_unrecorded(&json, info);
    put_open(&json, info);
    put_rest(&json, info);
    strobe_json_write_close(&json, '}');
    strobe_out_char(out, '\n');
}
