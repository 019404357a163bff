/* info_text.c - strobe info for people.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/info.h"
#include "cli/input.h"
#include "file/records.h"
#include "query/host_rows.h"
#include "query/placing.h"

static void put_text(struct strobe_out *out, const struct strobe_trace *trace, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(trace, text, &n);
    strobe_out_terminal(out, bytes, n);
}

const char *strobe_info_end(const struct strobe_process *process, char room[64])
{
    if (!process->has_ended)
        snprintf(room, 64, "end not seen");
    else if (process->how == STROBE_END_EXIT)
        snprintf(room, 64, "exit status %" PRIu64, process->end_value);
    else if (process->how == STROBE_END_SIGNAL)
        snprintf(room, 64, "signal %" PRIu64 " (%.40s)", process->end_value,
                 process->end_value < 65 ? strsignal((int)process->end_value) : "unknown");
    else
        snprintf(room, 64, "ended, how is not known");
    return room;
}

uint64_t strobe_info_duration_ns(const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    uint64_t last = info->overview.tick_last;
    for (uint32_t i = 0; i < trace->n_recordings; i++)
        if (trace->recordings[i].what == 1 && trace->recordings[i].tick > last)
            last = trace->recordings[i].tick;
    int64_t ns = last ? strobe_clock_rel(&trace->clock, last) : 0;
    return ns > 0 ? (uint64_t)ns : 0;
}

int64_t strobe_info_started_unix_ns(const struct strobe_info *info)
{
    return info->trace->clock.kind ? strobe_placing_started_unix_ns(info->trace)
                                   : (int64_t)strobe_file_facts(info->trace->file)->created_ns;
}

/* Its recorder came to the end of the recording, and could not close the file. */
static bool has_ended(const struct strobe_trace *trace)
{
    return trace->n_recordings && trace->recordings[trace->n_recordings - 1].what == 1;
}

static void put_file(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_file_facts *facts = strobe_file_facts(info->trace->file);
    char room[32], when[64] = "at an unknown time";
    int64_t started_ns = strobe_info_started_unix_ns(info);
    time_t seconds = (time_t)(started_ns / 1000000000);
    struct tm tm;
    strobe_out_format(out, "file       %s (%s, version %u)", info->path,
                      strobe_number_show_bytes(facts->n_bytes, room), facts->version);
    if (started_ns && localtime_r(&seconds, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    strobe_out_format(out, "\nrecorded   %s, %s\n", when,
                      strobe_number_show_ns(strobe_info_duration_ns(info), room));
    if (!facts->closed)
        strobe_out_format(
            out, "           not closed: the recorder %s ('strobe recover' mends it)\n",
            has_ended(info->trace)
                ? "could not read all that the session's memory holds, or had no room "
                  "for the end"
                : "is still writing or was killed");
    if (facts->tail_bytes)
        strobe_out_format(out, "           %" PRIu64 " bytes at the end are no block\n",
                          facts->tail_bytes);
    if (facts->head_damaged)
        strobe_out_text(out, "           the file head is damaged\n");
}

static void put_host(struct strobe_out *out, const struct strobe_trace *trace)
{
    if (!trace->hostname && !trace->cpu)
        return;
    strobe_out_text(out, "host       ");
    put_text(out, trace, trace->hostname);
    strobe_out_text(out, ", ");
    put_text(out, trace, trace->kernel);
    strobe_out_text(out, ", ");
    put_text(out, trace, trace->cpu);
    strobe_out_char(out, '\n');
}

static void put_clock(struct strobe_out *out, const struct strobe_trace *trace)
{
    const struct strobe_clock *clock = &trace->clock;
    char room[32];
    if (!clock->kind) {
        strobe_out_text(out, "clock      not known: times are ticks\n");
        return;
    }
    strobe_out_format(out, "clock      %s",
                      clock->kind == STROBE_CLOCK_TSC ? "time-stamp counter" : "CLOCK_MONOTONIC");
    if (clock->kind == STROBE_CLOCK_TSC && clock->mult)
        strobe_out_format(out, " at %.6f GHz", 4294967296.0 / (double)clock->mult);
    strobe_out_format(out, ", error at most %s, %u sync points",
                      strobe_number_show_ns(clock->error_ns, room), clock->n_syncs);
    if (clock->n_pieces > 1)
        strobe_out_format(out, ", %u jumps", clock->n_pieces - 1);
    strobe_out_char(out, '\n');
}

/* One of the hosts that were merged. */
static void put_merged(struct strobe_out *out, const struct strobe_trace *trace,
                       const struct strobe_host_row *row)
{
    char likely[32], proven[32], unsure[32];
    uint32_t n_processes = 0;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        n_processes += trace->processes[i].proc >= row->proc &&
                       trace->processes[i].proc - row->proc < row->n_procs &&
                       strobe_info_shows(&trace->processes[i]);
    strobe_out_text(out, "  ");
    put_text(out, trace, row->host);
    strobe_out_format(out, ", %u %s, %s", n_processes, n_processes == 1 ? "process" : "processes",
                      strobe_host_row_how(row->how));
    if (row->how == STROBE_CLOCK_HOW_HOST)
        strobe_out_format(out, ": likely within %s", strobe_number_show_ns(row->likely_ns, likely));
    else if (row->how == STROBE_CLOCK_HOW_WALL)
        strobe_out_text(out, ": placed by the wall clock, the order of its events and others' "
                             "means nothing");
    else if (row->how != STROBE_CLOCK_HOW_OWN)
        strobe_out_format(out, ": likely within %s, proven within %s",
                          strobe_number_show_ns(row->likely_ns, likely),
                          strobe_number_show_ns(row->proven_ns, proven));
    if (row->n_steps)
        strobe_out_format(out, "; a clock was stepped, %" PRIu64 " %s: there within %s",
                          row->n_steps, row->n_steps == 1 ? "time" : "times",
                          strobe_number_show_ns(row->unsure_ns, unsure));
    strobe_out_char(out, '\n');
}

/* The hosts of a trace that was merged, and those that its recorder compared clocks with. */
static void put_hosts(struct strobe_out *out, const struct strobe_trace *trace)
{
    enum { MOST = 64 };
    struct strobe_host_rows hosts;
    struct strobe_peer_row peer;
    char best[32];
    if (!strobe_host_rows_list(trace, &hosts))
        return;
    if (hosts.n)
        strobe_out_format(out, "merged     of %u traces\n", hosts.n);
    for (uint32_t i = 0; i < hosts.n && i < MOST; i++)
        put_merged(out, trace, &hosts.rows[i]);
    if (hosts.n > MOST)
        strobe_out_format(out, "  ... and %u more\n", hosts.n - MOST);
    strobe_host_rows_free(&hosts);
    for (uint32_t i = 0; strobe_host_rows_peer(trace, i, &peer) && i < MOST; i++) {
        strobe_out_text(out, i ? "           " : "compared   ");
        put_text(out, trace, peer.name);
        if (peer.role == STROBE_CLOCK_ROLE_ASKING)
            strobe_out_text(out, " asked for this clock\n");
        else
            strobe_out_format(out, ", %u exchanges, the shortest way there and back %s\n",
                              peer.n_exchanges, strobe_number_show_ns(peer.best_ns, best));
    }
}

/* What a Tracy client spoke, and what was taken from it. */
static void put_client(struct strobe_out *out, const struct strobe_process *process)
{
    char a[32], b[32];
    if (!process->is_tracy)
        return;
    if (process->tracy_protocol)
        strobe_out_format(out, "    Tracy client, protocol %" PRIu64, process->tracy_protocol);
    else
        strobe_out_text(out, "    from a Tracy file");
    if (process->has_taken)
        strobe_out_format(out, ": %s zones, %s events",
                          strobe_number_show_count(process->n_zones_taken, a),
                          strobe_number_show_count(process->n_events_taken, b));
    if (process->n_set_aside)
        strobe_out_format(out, ", %s set aside", strobe_number_show_count(process->n_set_aside, a));
    if (process->n_unnamed)
        strobe_out_format(out, ", %s names never registered",
                          strobe_number_show_count(process->n_unnamed, a));
    strobe_out_char(out, '\n');
}

/* What could not be recorded, and why. */
static void put_unrecorded(struct strobe_out *out, const struct strobe_trace *trace)
{
    enum { MOST = 50 };
    char room[32];
    if (!trace->n_unrecorded)
        return;
    strobe_out_format(out, "unrecorded %s\n", strobe_number_show_count(trace->n_unrecorded, room));
    for (uint32_t i = 0; i < trace->n_unrecorded && i < MOST; i++) {
        const struct strobe_unrecorded *row = &trace->unrecorded[i];
        strobe_out_text(out, "  ");
        put_text(out, trace, row->what);
        if (row->pid)
            strobe_out_format(out, "  pid %" PRIu64, row->pid);
        strobe_out_format(
            out, ", at %.6f s: ", (double)strobe_clock_rel(&trace->clock, row->tick) / 1e9);
        put_text(out, trace, row->reason);
        strobe_out_char(out, '\n');
    }
    if (trace->n_unrecorded > MOST)
        strobe_out_format(out, "  ... and %u more\n", trace->n_unrecorded - MOST);
}

/* A clock of its own, and how well it is known. */
static void put_own_clock(struct strobe_out *out, const struct strobe_trace *trace,
                          uint32_t process)
{
    struct strobe_own_errors errors;
    char least[32], most[32];
    uint32_t n_pieces = strobe_trace_own_errors(trace, process, &errors);
    if (n_pieces && errors.most_ns >= STROBE_CLOCK_ERROR_UNKNOWN)
        strobe_out_format(out, "    own clock, error not known, %u %s of its map\n", n_pieces,
                          n_pieces == 1 ? "piece" : "pieces");
    else if (n_pieces)
        strobe_out_format(out,
                          "    own clock, error %s at the best, %s at most, %u %s of its map\n",
                          strobe_number_show_ns(errors.least_ns, least),
                          strobe_number_show_ns(errors.most_ns, most), n_pieces,
                          n_pieces == 1 ? "piece" : "pieces");
}

static void put_processes(struct strobe_out *out, const struct strobe_trace *trace)
{
    enum { MOST = 50 };
    char room[STROBE_NAME_ROOM], end[64];
    uint32_t n, n_shown = 0, n_all = 0, n_images = 0, n_processes, n_threads;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        n_all += (uint32_t)strobe_info_shows(&trace->processes[i]);
        n_images += trace->processes[i].image_of != 0;
    }
    strobe_trace_count_lives(trace, &n_processes, &n_threads);
    strobe_out_format(out, "processes  %u, threads %u", n_processes, n_threads);
    if (n_images)
        strobe_out_format(out, "; %u more %s by exec", n_images,
                          n_images == 1 ? "image" : "images");
    strobe_out_char(out, '\n');
    for (uint32_t i = 0; i < trace->n_processes && n_shown < MOST; i++) {
        const struct strobe_process *process = &trace->processes[i];
        if (!strobe_info_shows(process))
            continue;
        n_shown++;
        const char *name = strobe_trace_process_name(trace, i, room, &n);
        strobe_out_text(out, "  ");
        strobe_out_terminal(out, name, n);
        strobe_out_format(out, "  pid %" PRIu64, process->pid);
        if (process->outer_pid)
            strobe_out_format(out, " (outside %" PRIu64 ")", process->outer_pid);
        else if (process->pid_ns)
            strobe_out_format(out, " (in namespace %" PRIu64 ")", process->pid_ns);
        strobe_out_format(out, ", %u %s, %s\n", process->n_threads,
                          process->n_threads == 1 ? "thread" : "threads",
                          strobe_info_end(process, end));
        put_client(out, process);
        put_own_clock(out, trace, i);
        if (process->argv) {
            strobe_out_text(out, "    ");
            put_text(out, trace, process->argv);
            strobe_out_char(out, '\n');
        }
    }
    if (n_all > n_shown)
        strobe_out_format(out, "  ... and %u more ('strobe csv --kind processes' lists all)\n",
                          n_all - n_shown);
}

static void put_events(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_overview *over = &info->overview;
    const struct strobe_schema *schema = &info->trace->schema;
    char room[32];
    strobe_out_format(out, "events     %s\n", strobe_number_show_count(over->n_events, room));
    for (int i = 0; over->has_kinds && i < STROBE_KIND_COUNT; i++) {
        if (!over->n_of_kind[i])
            continue;
        strobe_out_format(out, "  %15s  ", strobe_number_show_count(over->n_of_kind[i], room));
        if (schema->kind[i].known)
            strobe_out_terminal(out, schema->kind[i].name, schema->kind[i].n_name);
        else
            strobe_out_format(out, "kind %d", i);
        strobe_out_char(out, '\n');
    }
    if (!over->has_kinds)
        strobe_out_text(out,
                        "           not counted by kind: no footer; --verify reads every event\n");
}

static void put_span(struct strobe_out *out, const struct strobe_trace *trace, uint64_t first,
                     uint64_t last)
{
    strobe_out_format(out, ", %.6f s to %.6f s",
                      (double)strobe_clock_rel(&trace->clock, first) / 1e9,
                      (double)strobe_clock_rel(&trace->clock, last) / 1e9);
}

/* Losses by cause, over all tracks. */
static void put_losses(struct strobe_out *out, const struct strobe_trace *trace)
{
    for (uint64_t cause = 0; cause < 256; cause++) {
        uint64_t count = 0, first = UINT64_MAX, last = 0, n_tracks = 0;
        for (uint32_t i = 0; i < trace->loss_ids.n; i++) {
            const struct strobe_loss_row *loss = &trace->losses[i];
            if ((loss->cause < 255 ? loss->cause : 255) != cause)
                continue;
            count += loss->count;
            n_tracks++;
            first = loss->first_tick < first ? loss->first_tick : first;
            last = loss->last_tick > last ? loss->last_tick : last;
        }
        char room[32];
        if (!count)
            continue;
        strobe_out_format(out, "  %15s  %s on %" PRIu64 " %s: %s",
                          strobe_number_show_count(count, room),
                          strobe_loss_is_of_events(cause) ? "lost" : "noted", n_tracks,
                          n_tracks == 1 ? "track" : "tracks", strobe_loss_text(cause));
        put_span(out, trace, first, last);
        strobe_out_char(out, '\n');
    }
}

static void put_holes(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_file_facts *facts = strobe_file_facts(info->trace->file);
    char room[32];
    const struct strobe_hole *hole;
    if (!facts->n_holes) {
        strobe_out_format(
            out, "damage     none%s\n",
            info->overview.is_whole ? "" : " seen (not everything was read; --verify does)");
        return;
    }
    strobe_out_format(out, "damage     %s holes, ", strobe_number_show_count(facts->n_holes, room));
    strobe_out_format(out, "%s skipped\n", strobe_number_show_bytes(facts->hole_bytes, room));
    for (size_t i = 0; i < 10 && (hole = strobe_file_hole(info->trace->file, i)); i++)
        strobe_out_format(out, "  at byte %" PRIu64 ": %" PRIu64 " bytes\n", hole->offset,
                          hole->n_bytes);
}

static void put_open_zone(struct strobe_out *out, const struct strobe_trace *trace,
                          const struct strobe_open_row *zone)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, loc = strobe_trace_loc(trace, zone->process, zone->loc_id);
    const char *name = strobe_trace_loc_name(trace, loc, zone->loc_id, room, &n);
    strobe_out_text(out, "  ");
    strobe_out_terminal(out, name, n);
    strobe_out_text(out, ", ");
    if (zone->kind == STROBE_BATCH_THREAD)
        name = strobe_trace_thread_name(trace, zone->thread, room, &n);
    else if (zone->kind == STROBE_BATCH_FIBER)
        name = strobe_trace_fiber_name(trace, zone->process, zone->id, room, &n);
    else
        n = (uint32_t)snprintf(room, sizeof room, "span %" PRIu64, zone->id), name = room;
    strobe_out_terminal(out, name, n);
    strobe_out_format(out, ", since %.6f s\n",
                      (double)strobe_clock_rel(&trace->clock, zone->begin) / 1e9);
}

static void put_zones(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_overview *over = &info->overview;
    char a[32], b[32], c[32];
    if (over->is_whole)
        strobe_out_format(out,
                          "zones      %s open at the end, %s unfinished, %s ends without a begin\n",
                          strobe_number_show_count(over->n_open, a),
                          strobe_number_show_count(over->n_unfinished, b),
                          strobe_number_show_count(over->n_no_begin, c));
    else if (over->has_kinds)
        strobe_out_format(out,
                          "zones      %s began, %s ended, %s ends without a begin or in a fiber\n",
                          strobe_number_show_count(over->n_zones_begun, a),
                          strobe_number_show_count(over->n_zones_ended, b),
                          strobe_number_show_count(over->n_of_kind[STROBE_KIND_ZONE_END_AT], c));
    if (!over->is_whole && over->n_open)
        strobe_out_format(out, "           at least %s open at the end\n",
                          strobe_number_show_count(over->n_open, a));
    for (uint32_t i = 0; i < over->n_listed && i < 20; i++)
        put_open_zone(out, info->trace, &over->open[i]);
    struct strobe_coverage coverage;
    strobe_trace_coverage(info->trace, &coverage);
    if (over->n_open && coverage.n_dropped)
        strobe_out_text(out,
                        "           events were dropped, last ends of zones maybe: such a zone "
                        "seems open\n");
}

uint64_t strobe_info_hooks_ns(const struct strobe_info *info)
{
    return (uint64_t)((unsigned __int128)info->overview.n_zones_begun *
                      info->trace->python_call_ps / 1000);
}

static void put_hooks(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    char cost[32], zones[32];
    if (!trace->has_python_hooks)
        return;
    if (!trace->python_call_ps) {
        strobe_out_text(out, "           Python's hooks are not in that, and were not measured\n");
        return;
    }
    strobe_out_format(out,
                      "           Python's hooks: about %.1f ns per call in a tight loop, events "
                      "and all: %s if all %s zones are theirs\n",
                      (double)trace->python_call_ps / 1000,
                      strobe_number_show_ns(strobe_info_hooks_ns(info), cost),
                      strobe_number_show_count(info->overview.n_zones_begun, zones));
}

/* What became of Python's frames: in how many samples they are, how late they were read; and where they are not, why. */
static void put_python(struct strobe_out *out, const struct strobe_trace *trace)
{
    static const char *const why[] = {"", "laid out otherwise than in 3.9 to 3.13",
                                      "the kernel refused to read them",
                                      "functions are traced, and are zones"};
    uint64_t n_joined = 0, n_missed = 0, late_ns = 0, most_ns = 0;
    char a[32], b[32], c[32], d[32];
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *process = &trace->processes[i];
        if (!process->has_python)
            continue;
        n_joined += process->n_python_joined;
        n_missed += process->n_python_missed;
        late_ns += process->python_late_ns * process->n_python_joined;
        most_ns = process->python_late_max_ns > most_ns ? process->python_late_max_ns : most_ns;
        if (process->python_state && process->python_state < sizeof why / sizeof why[0])
            strobe_out_format(out,
                              "           samples of process %" PRIu64
                              ", Python 3.%u, without its frames: %s\n",
                              process->pid, process->python_minor, why[process->python_state]);
    }
    if (n_joined)
        strobe_out_format(
            out,
            "           Python's frames in %s of %s samples of Python code; read %s "
            "after the sample on average, %s at the most\n",
            strobe_number_show_count(n_joined, a), strobe_number_show_count(n_joined + n_missed, b),
            strobe_number_show_ns(late_ns / n_joined, c), strobe_number_show_ns(most_ns, d));
}

/* Samples that timers in the program took. */
static void put_timed(struct strobe_out *out, const struct strobe_info *info, uint64_t hz)
{
    const struct strobe_overview *over = &info->overview;
    char a[32], b[32], c[32];
    strobe_out_format(
        out,
        "samples    %s at %" PRIu64 " per second of CPU time, by timers in the program: the kernel "
        "refused perf events; no switches; %s periods without a sample, %s stacks without their "
        "outer frames\n",
        strobe_number_show_count(over->n_of_kind[STROBE_KIND_SAMPLE], a), hz,
        strobe_number_show_count(over->n_unsampled, b), strobe_number_show_count(over->n_cut, c));
}

/* Samples, switches, and what is wrong with them; the kernel's losses stand among the others. */
static void put_samples(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_process *sampled = strobe_info_sampled(info->trace);
    const uint64_t *n_of_kind = info->overview.n_of_kind;
    char a[32], b[32], c[32];
    uint64_t n_cut = 0, n_lost = 0;
    if (!sampled)
        return;
    if (sampled->is_timed) {
        put_timed(out, info, sampled->sample_hz);
        return;
    }
    for (uint32_t i = 0; i < info->trace->loss_ids.n; i++) {
        const struct strobe_loss_row *loss = &info->trace->losses[i];
        n_lost += loss->cause == STROBE_LOSS_SAMPLE_FULL ? loss->count : 0;
        n_cut += loss->cause == STROBE_LOSS_STACK_CUT || loss->cause == STROBE_LOSS_STACK_SHORT
                     ? loss->count
                     : 0;
    }
    strobe_out_format(out, "samples    %s",
                      strobe_number_show_count(n_of_kind[STROBE_KIND_SAMPLE], a));
    if (!sampled->sample_hz) { /* of another profiler */
        strobe_out_text(out, ", of no known rate\n");
        return;
    }
    strobe_out_format(out, " at %" PRIu64 " per second of CPU time, %s, %s switches",
                      sampled->sample_hz,
                      sampled->has_kernel_frames ? "with the kernel" : "user side only",
                      strobe_number_show_count(n_of_kind[STROBE_KIND_SWITCH_OUT], b));
    strobe_out_format(out, "; %s lost", strobe_number_show_count(n_lost, a));
    strobe_out_format(out, ", %s stacks without their outer frames; times within %" PRIu64 " ns\n",
                      strobe_number_show_count(n_cut, c), sampled->sample_error_ns);
    put_python(out, info->trace);
}

static void put_overhead(struct strobe_out *out, const struct strobe_info *info)
{
    const struct strobe_trace *trace = info->trace;
    char cpu[32], cost[32], waited[32];
    if (!trace->has_overhead) {
        strobe_out_text(out, "overhead   not stated in this trace\n");
        return;
    }
    uint64_t events = trace->n_overhead_events ? trace->n_overhead_events : info->overview.n_events;
    uint64_t cost_ns = (uint64_t)((unsigned __int128)events * trace->event_ps / 1000);
    strobe_out_format(
        out, "overhead   %.1f ns per event, %s in the program; recorder %s of CPU; waited %s\n",
        (double)trace->event_ps / 1000, strobe_number_show_ns(cost_ns, cost),
        strobe_number_show_ns(trace->recorder_cpu_ns, cpu),
        strobe_number_show_ns(trace->waited_ns, waited));
    put_hooks(out, info);
}

static void put_notes(struct strobe_out *out, const struct strobe_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_notes && i < 50; i++) {
        strobe_out_text(out, i ? "           " : "notes      ");
        put_text(out, trace, trace->notes[i].text);
        strobe_out_char(out, '\n');
    }
    for (uint32_t i = 0; i < trace->n_kept && i < 50; i++) {
        strobe_out_text(out, "trigger    ");
        put_text(out, trace, trace->kept[i].reason);
        strobe_out_format(out, " at %.6f s\n",
                          (double)strobe_clock_rel(&trace->clock, trace->kept[i].tick) / 1e9);
    }
}

void strobe_info_put_text(struct strobe_out *out, const struct strobe_info *info)
{
    put_file(out, info);
    put_host(out, info->trace);
    put_clock(out, info->trace);
    put_hosts(out, info->trace);
    put_processes(out, info->trace);
    put_unrecorded(out, info->trace);
    put_events(out, info);
    strobe_cli_put_coverage(out, info->trace);
    strobe_out_char(out, '\n');
    put_losses(out, info->trace);
    put_holes(out, info);
    put_zones(out, info);
    put_samples(out, info);
    put_overhead(out, info);
    put_notes(out, info->trace);
}
