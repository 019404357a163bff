/* info_json.c - strobe info --json. Times are ns after the start of the recording.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/info.h"
#include "cli/input.h"

static void put_name(struct strobe_out *out, const char *name, const char *text, uint32_t n)
{
    strobe_out_format(out, "\"%s\":", name);
    strobe_out_json(out, text, n);
}

static void put_text(struct strobe_out *out, const struct strobe_trace *trace, const char *name,
                     uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(trace, text, &n);
    put_name(out, name, bytes, n);
}

static void put_u(struct strobe_out *out, const char *name, uint64_t value)
{
    strobe_out_format(out, ",\"%s\":%" PRIu64, name, value);
}

static int64_t rel(const struct strobe_info *info, uint64_t tick)
{
    return strobe_clock_rel(&info->trace->clock, tick);
}

static void put_file(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_file_facts *facts = strobe_file_facts(info->trace->file);
    put_name(out, "file", info->path, (uint32_t)strlen(info->path));
    put_u(out, "bytes", facts->n_bytes);
    put_u(out, "version", facts->version);
    strobe_out_format(out, ",\"closed\":%s,\"verified\":%s", facts->closed ? "true" : "false",
                      info->overview.is_whole ? "true" : "false");
    put_u(out, "created_ns", facts->created_ns);
    put_u(out, "duration_ns", strobe_info_duration_ns(info));
    strobe_out_char(out, ',');
    put_name(out, "session", facts->session, (uint32_t)strlen(facts->session));
    put_u(out, "tail_bytes", facts->tail_bytes);
    put_u(out, "n_holes", facts->n_holes);
    put_u(out, "hole_bytes", facts->hole_bytes);
    strobe_out_text(out, ",\"holes\":[");
    const struct strobe_hole *hole;
    for (size_t i = 0; (hole = strobe_file_hole(info->trace->file, i)); i++)
        strobe_out_format(out, "%s{\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", i ? "," : "",
                          hole->offset, hole->n_bytes);
    strobe_out_text(out, "],\n");
}

static void put_host(struct strobe_out *out, const struct strobe_trace *trace)
{
    const struct strobe_clock *clock = &trace->clock;
    strobe_out_text(out, "\"host\":{");
    put_text(out, trace, "hostname", trace->hostname);
    strobe_out_char(out, ',');
    put_text(out, trace, "kernel", trace->kernel);
    strobe_out_char(out, ',');
    put_text(out, trace, "cpu", trace->cpu);
    strobe_out_format(out, "},\n\"clock\":{\"kind\":\"%s\"",
                      clock->kind == STROBE_CLOCK_TSC    ? "tsc"
                      : clock->kind == STROBE_CLOCK_MONO ? "monotonic"
                                                         : "unknown");
    put_u(out, "mult", clock->mult);
    put_u(out, "error_ns", clock->error_ns);
    put_u(out, "syncs", clock->n_syncs);
    put_u(out, "pieces", clock->n_pieces);
    strobe_out_text(out, "},\n");
}

static void put_client(struct strobe_out *out, const struct strobe_process *process)
{
    if (!process->is_tracy)
        return;
    strobe_out_format(out, ",\"tracy\":{\"protocol\":%" PRIu64, process->tracy_protocol);
    if (process->has_taken) {
        put_u(out, "zones", process->n_zones_taken);
        put_u(out, "events", process->n_events_taken);
        put_u(out, "set_aside", process->n_set_aside);
        put_u(out, "unnamed", process->n_unnamed);
    }
    strobe_out_char(out, '}');
}

static void put_unrecorded(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    strobe_out_text(out, ",\n\"unrecorded\":[");
    for (uint32_t i = 0; i < trace->n_unrecorded; i++) {
        const struct strobe_unrecorded *row = &trace->unrecorded[i];
        strobe_out_format(out, "%s{\"pid\":%" PRIu64 ",\"at_ns\":%" PRId64 ",",
                          i ? ",\n  " : "\n  ", row->pid, rel(info, row->tick));
        put_text(out, trace, "what", row->what);
        strobe_out_char(out, ',');
        put_text(out, trace, "reason", row->reason);
        strobe_out_char(out, '}');
    }
    strobe_out_char(out, ']');
}

static void put_process(struct strobe_out *out, const struct strobe_info *info, uint32_t i)
{
    static const char *const hows[] = {"unknown", "exit", "signal"};
    const struct strobe_process *process = &info->trace->processes[i];
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = strobe_trace_process_name(info->trace, i, room, &n);
    strobe_out_char(out, '{');
    put_name(out, "name", name, n);
    put_u(out, "pid", process->pid);
    put_u(out, "parent_pid", process->parent_pid);
    if (process->pid_ns || process->outer_pid) {
        put_u(out, "outer_pid", process->outer_pid);
        put_u(out, "pid_ns", process->pid_ns);
    }
    put_u(out, "threads", process->n_threads);
    strobe_out_char(out, ',');
    put_text(out, info->trace, "exe", process->exe);
    strobe_out_char(out, ',');
    put_text(out, info->trace, "cwd", process->cwd);
    strobe_out_text(out, ",\"argv\":[");
    const char *argv = strobe_trace_text(info->trace, process->argv, &n);
    for (uint32_t at = 0; at < n;) {
        uint32_t length = (uint32_t)strnlen(argv + at, n - at);
        if (at)
            strobe_out_char(out, ',');
        strobe_out_json(out, argv + at, length);
        at += length + 1;
    }
    strobe_out_char(out, ']');
    put_client(out, process);
    if (process->has_ended)
        strobe_out_format(out, ",\"end\":\"%s\",\"end_value\":%" PRIu64 ",\"end_ns\":%" PRId64,
                          hows[process->how < 3 ? process->how : 0], process->end_value,
                          rel(info, process->end_tick));
    strobe_out_char(out, '}');
}

static void put_processes(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    uint32_t n = 0, n_threads = 0;
    strobe_out_text(out, "\"processes\":[");
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        if (!strobe_info_shows(&trace->processes[i]))
            continue;
        strobe_out_text(out, n++ ? ",\n  " : "\n  ");
        put_process(out, info, i);
    }
    for (uint32_t i = 0; i < trace->thread_ids.n; i++)
        n_threads += trace->threads[i].is_known;
    strobe_out_format(out, "],\n\"threads\":%u", n_threads);
}

static void put_events(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_overview *over = &info->overview;
    const struct strobe_schema *schema = &info->trace->schema;
    int n = 0;
    put_u(out, "events", over->n_events);
    strobe_out_text(out, ",\"kinds\":{");
    for (int i = 0; over->has_kinds && i < STROBE_KIND_COUNT; i++) {
        char name[32];
        if (!over->n_of_kind[i])
            continue;
        int length = snprintf(name, sizeof name, "kind %d", i);
        strobe_out_text(out, n++ ? "," : "");
        if (schema->kind[i].known)
            strobe_out_json(out, schema->kind[i].name, schema->kind[i].n_name);
        else
            strobe_out_json(out, name, (size_t)length);
        strobe_out_format(out, ":%" PRIu64, over->n_of_kind[i]);
    }
    strobe_out_text(out, "},\n");
    strobe_cli_put_coverage_json(out, info->trace);
}

static void put_losses(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    strobe_out_text(out, ",\n\"losses\":[");
    for (uint32_t i = 0; i < trace->loss_ids.n; i++) {
        const struct strobe_loss_row *loss = &trace->losses[i];
        const char *why = strobe_loss_text(loss->cause);
        strobe_out_format(
            out,
            "%s{\"pid\":%" PRIu64 ",\"track\":%" PRIu64 ",\"cause\":%" PRIu64 ",\"count\":%" PRIu64
            ",\"first_ns\":%" PRId64 ",\"last_ns\":%" PRId64 ",",
            i ? ",\n  " : "\n  ", trace->processes[loss->process].pid, loss->track, loss->cause,
            loss->count, rel(info, loss->first_tick), rel(info, loss->last_tick));
        put_name(out, "why", why, (uint32_t)strlen(why));
        strobe_out_char(out, '}');
    }
    strobe_out_char(out, ']');
}

static void put_open(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_overview *over = &info->overview;
    const struct strobe_trace *trace = info->trace;
    put_u(out, "open", over->n_open);
    put_u(out, "open_spans", over->n_open_spans);
    if (over->is_whole) {
        put_u(out, "unfinished", over->n_unfinished);
        put_u(out, "no_begin", over->n_no_begin);
    }
    strobe_out_text(out, ",\n\"open_list\":[");
    for (uint32_t i = 0; i < over->n_listed; i++) {
        const struct strobe_open_row *zone = &over->open[i];
        char room[STROBE_NAME_ROOM];
        uint32_t n, loc = strobe_trace_loc(trace, zone->process, zone->loc_id);
        const char *name = strobe_trace_loc_name(trace, loc, zone->loc_id, room, &n);
        strobe_out_text(out, i ? ",\n  {" : "\n  {");
        put_name(out, "name", name, n);
        name = strobe_trace_thread_name(trace, zone->thread, room, &n);
        strobe_out_char(out, ',');
        put_name(out, "thread", name, n);
        strobe_out_format(out, ",\"pid\":%" PRIu64 ",\"depth\":%u,\"start_ns\":%" PRId64 "}",
                          trace->processes[zone->process].pid, zone->depth, rel(info, zone->begin));
    }
    strobe_out_char(out, ']');
}

static void put_rest(struct strobe_out *out, const struct strobe_trace *trace)
{
    if (trace->has_overhead) {
        strobe_out_format(out, ",\n\"overhead\":{\"event_ps\":%" PRIu64, trace->event_ps);
        put_u(out, "recorder_cpu_ns", trace->recorder_cpu_ns);
        put_u(out, "waited_ns", trace->waited_ns);
        put_u(out, "events", trace->n_overhead_events);
        strobe_out_char(out, '}');
    }
    strobe_out_text(out, ",\n\"notes\":[");
    for (uint32_t i = 0; i < trace->n_notes; i++) {
        uint32_t n;
        const char *text = strobe_trace_text(trace, trace->notes[i].text, &n);
        strobe_out_text(out, i ? "," : "");
        strobe_out_json(out, text, n);
    }
    strobe_out_text(out, "],\"triggers\":[");
    for (uint32_t i = 0; i < trace->n_kept; i++) {
        uint32_t n;
        const char *text = strobe_trace_text(trace, trace->kept[i].reason, &n);
        strobe_out_text(out, i ? "," : "");
        strobe_out_json(out, text, n);
    }
    strobe_out_text(out, "]}\n");
}

void strobe_info_put_json(struct strobe_out *out, const struct strobe_info *info)
{
    strobe_out_char(out, '{');
    put_file(out, info);
    put_host(out, info->trace);
    put_processes(out, info);
    put_events(out, info);
    put_losses(out, info);
    put_unrecorded(out, info);
    put_open(out, info);
    put_rest(out, info->trace);
}
