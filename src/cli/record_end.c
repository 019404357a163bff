/* record_end.c - the last lines of a recording: file, coverage, where the time went, what to type
 * next. SPDX-License-Identifier: MIT */
#include "cli/record_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/out.h"
#include "cli/record_hosts.h"
#include "query/samples.h"
#include "query/stats.h"

#define CLOSING_SAID_NS 1000000000ull /* from here on the time after the end is said */

static int more_self(const void *a, const void *b)
{
    const struct strobe_stats_row *x = a, *y = b;
    return x->self < y->self ? 1 : x->self > y->self ? -1 : 0;
}

static int more_samples(const void *a, const void *b)
{
    const struct strobe_samples_row *x = a, *y = b;
    return x->self < y->self ? 1 : x->self > y->self ? -1 : 0;
}

static void put_name_line(const char *name, size_t n)
{
    strobe_cli_put_name(stderr, name, n);
    fputc('\n', stderr);
}

/* The three functions with most samples, of a program without zones. */
static void show_top_functions(struct strobe_trace *trace)
{
    struct strobe_samples samples;
    struct strobe_samples_options options = {0};
    if (!strobe_samples_run(trace, &options, &samples) && samples.n_samples) {
        qsort(samples.rows, samples.ids.n, sizeof *samples.rows, more_samples);
        fputs("strobe: most CPU time, by stack samples:\n", stderr);
        for (uint32_t i = 0; i < samples.ids.n && i < 3 && samples.rows[i].self; i++) {
            uint32_t n = 0;
            const char *name = strobe_texts_get(&samples.texts, samples.rows[i].name, &n);
            fprintf(stderr, "    %5.1f %%  %12llu x  ",
                    100.0 * (double)samples.rows[i].self / (double)samples.n_samples,
                    (unsigned long long)samples.rows[i].self);
            put_name_line(name, strobe_utf8_cut(name, n, 200));
        }
    }
    strobe_samples_free(&samples);
}

/* The three locations with most self time, from the summaries. False: there are no zones. */
static bool show_top(struct strobe_trace *trace)
{
    struct strobe_stats stats = {0};
    struct strobe_stats_options options = {.quick = 1};
    if (!trace)
        return true;
    bool has_zones = !strobe_stats_run(trace, &options, &stats) && stats.n_rows;
    if (!has_zones) {
        show_top_functions(trace);
    } else {
        unsigned __int128 all = 0;
        for (uint32_t i = 0; i < stats.n_rows; i++)
            all += stats.rows[i].self;
        qsort(stats.rows, stats.n_rows, sizeof *stats.rows, more_self);
        fputs("strobe: most self time:\n", stderr);
        for (uint32_t i = 0; i < stats.n_rows && i < 3; i++) {
            const struct strobe_stats_row *row = &stats.rows[i];
            char room[STROBE_NAME_ROOM], time[32];
            uint32_t n_name = 0;
            const char *name = strobe_trace_loc_name(trace, row->loc, row->loc_id, room, &n_name);
            fprintf(stderr, "    %5.1f %%  %10s  %12llu x  ",
                    all ? 100.0 * (double)row->self / (double)all : 0.0,
                    strobe_number_show_ns(strobe_clock_sum_ns(&trace->clock, row->self), time),
                    (unsigned long long)row->count);
            put_name_line(name, n_name);
        }
    }
    strobe_stats_free(&stats);
    return has_zones;
}

/* Threads that stood still while the recording ended. */
static void show_unheard(const struct strobe_collector_status *s)
{
    for (uint32_t i = 0; i < s->n_unheard && i < STROBE_UNHEARD_NAMED; i++) {
        const struct strobe_unheard *one = &s->unheard[i];
        if (one->tid) {
            fprintf(stderr, "strobe: thread %u (", one->tid);
            strobe_cli_put_name(stderr, one->name, strlen(one->name));
            fprintf(stderr,
                    ") of process %u stood still while the recording ended: its last event may be "
                    "missing\n",
                    one->pid);
        } else
            fprintf(stderr,
                    "strobe: a thread of process %u was not heard while the recording ended: its "
                    "last event may be "
                    "missing\n",
                    one->pid);
    }
    if (s->n_unheard > STROBE_UNHEARD_NAMED)
        fprintf(stderr, "strobe: and so did %u more threads\n",
                s->n_unheard - STROBE_UNHEARD_NAMED);
}

/* How many there are about, of which some are in the trace twice: with samples, and with what they emitted. */
static uint32_t once(uint32_t n_all, uint32_t n_sampled)
{
    uint32_t n_others = n_all > n_sampled ? n_all - n_sampled : 0;
    return n_others > n_sampled ? n_others : n_sampled;
}

static void show_file(const struct strobe_recorder_outcome *outcome,
                      const struct strobe_trace *trace)
{
    const struct strobe_collector_status *s = &outcome->status;
    uint32_t n_procs = once(s->n_procs, outcome->samples.n_processes);
    uint32_t n_threads = once(s->n_threads, outcome->samples.n_threads);
    if (trace)
        strobe_trace_count_lives(trace, &n_procs, &n_threads);
    fprintf(stderr, "strobe: %s  %.1f MB, %.3f s, %u %s, %u %s\n", outcome->path,
            (double)s->n_bytes / 1e6, (double)outcome->duration_ns / 1e9, n_procs,
            n_procs == 1 ? "process" : "processes", n_threads,
            n_threads == 1 ? "thread" : "threads");
    if (outcome->closing_ns >= CLOSING_SAID_NS)
        fprintf(stderr, "strobe: names were looked up for %.1f s more, after the recording\n",
                (double)outcome->closing_ns / 1e9);
    unsigned hundredths = strobe_cli_coverage(s->n_events, s->n_events + s->n_lost);
    if (s->no_memory)
        fprintf(stderr,
                "strobe: %llu events stored, %llu dropped; the recorder had no memory left to read "
                "more, which is still in the session's: 'strobe recover' adds it to the trace\n",
                (unsigned long long)s->n_events, (unsigned long long)s->n_lost);
    else if (s->n_left)
        fprintf(
            stderr,
            "strobe: %llu events stored, %llu dropped; the recorder had no file descriptor left "
            "for %u %s, and what they emitted is still in the session's memory: 'strobe "
            "recover' adds it to the trace\n",
            (unsigned long long)s->n_events, (unsigned long long)s->n_lost, s->n_left,
            s->n_left == 1 ? "process" : "processes");
    else if (outcome->was_emptied)
        fprintf(
            stderr,
            "strobe: %llu events were stored, of which those are gone that were in the trace when "
            "it was truncated\n",
            (unsigned long long)s->n_events);
    else
        fprintf(stderr, "strobe: %llu events stored, %llu dropped: coverage %u.%02u %%\n",
                (unsigned long long)s->n_events, (unsigned long long)s->n_lost, hundredths / 100,
                hundredths % 100);
    if (s->n_unrecorded)
        fprintf(stderr,
                "strobe: %u %s could not take part, and what it would have emitted is not known: "
                "'strobe info' tells "
                "which and why\n",
                s->n_unrecorded, s->n_unrecorded == 1 ? "process" : "processes");
    if (s->size_limit)
        fputs("strobe: the trace is as long as this process may make a file: 'ulimit -f' sets that "
              "limit\n",
              stderr);
    else if (s->n_lost > s->n_unrecorded + s->n_unheard)
        fprintf(stderr, "strobe: 'strobe info' tells when and why%s\n",
                s->n_pool_full ? "; --max-memory gives the program a larger pool" : "");
}

/* The session's memory has more than the trace. */
static bool is_left(const struct strobe_collector_status *s)
{
    return s->no_memory || s->n_left;
}

/* Samples as the trace has them: what was taken may have found no room in it. */
static void show_samples(const struct strobe_recorder_outcome *outcome,
                         const struct strobe_trace *trace)
{
    uint64_t n_samples = outcome->samples.n_samples, n_switches = outcome->samples.n_switches;
    const struct strobe_trace_totals *totals =
        trace ? &strobe_file_facts(trace->file)->totals : NULL;
    if (totals && totals->has_totals) {
        n_samples = totals->n_of_kind[STROBE_KIND_SAMPLE];
        n_switches = totals->n_of_kind[STROBE_KIND_SWITCH_OUT];
    }
    fprintf(stderr, "strobe: %llu stack sample%s%s, %llu context switches%s\n",
            (unsigned long long)n_samples, n_samples == 1 ? "" : "s",
            outcome->samples.has_kernel ? "" : " of the user side", (unsigned long long)n_switches,
            n_samples ? ": 'strobe stats --stacks' shows where the CPU time went" : "");
}

/* Nothing came: how to add the first zone. */
static void show_first_steps(const struct strobe_recorder_outcome *outcome)
{
    const struct strobe_collector_status *s = &outcome->status;
    if (outcome->python[0]) {
        fprintf(
            stderr,
            "strobe: no event came: %s has no strobe package, or was started with -S. To record "
            "Python programs:\n"
            "    make wheel && %s -m pip install --find-links dist strobe-profiler==" STROBE_VERSION
            "\n",
            outcome->python, outcome->python);
        return;
    }
    fputs("strobe: no event came from the program. To add the first zone:\n"
          "    #include <strobe/strobe.h>\n"
          "    void work(void) { STROBE_SCOPE(\"work\"); ... }\n"
          "  and link it with -lstrobe (pkg-config strobe, CMake Strobe::Strobe).\n",
          stderr);
    if (!s->n_procs)
        fputs("  No process with the library in it was seen: 'strobe doctor' tells what could be "
              "in the way.\n",
              stderr);
}

void strobe_cli_record_end(const struct strobe_recorder_outcome *outcome, bool quiet,
                           bool had_command)
{
    const struct strobe_collector_status *s = &outcome->status;
    if (!quiet && outcome->is_flight && !outcome->n_kept) {
        fputs("strobe: no trigger came, so nothing was kept (SIGUSR2, strobe_trigger(), --trigger, "
              "a crash)\n",
              stderr);
    } else if (!quiet && !outcome->is_flight) {
        bool has_zones = true, has_more = is_left(s);
        struct strobe_trace *trace = NULL; /* stays so where the file can't be read */
        strobe_trace_open(outcome->path, 0, &trace);
        show_file(outcome, trace);
        if (outcome->was_sampled)
            show_samples(outcome, trace);
        if (outcome->samples.n_calls)
            fprintf(stderr, "strobe: %llu system calls as zones, some 2 us of the program each\n",
                    (unsigned long long)outcome->samples.n_calls);
        if (outcome->timer_hz)
            fprintf(stderr,
                    "strobe: stack samples by timers in the program, %u per second of CPU time: "
                    "'strobe stats --stacks' shows where it went\n",
                    outcome->timer_hz);
        if (outcome->was_compared)
            strobe_record_hosts_show_end(&outcome->hosts);
        if (s->n_events || s->n_lost)
            has_zones = show_top(trace);
        else if (had_command && !has_more)
            show_first_steps(outcome);
        else if (!has_more)
            fputs("strobe: no event came; 'strobe info' tells what could not be recorded\n",
                  stderr);
        fprintf(stderr, "strobe: next: strobe %s%s%s\n", has_more ? "recover " : "stats ",
                has_zones || has_more ? "" : "--stacks ", outcome->path);
        strobe_trace_close(trace);
    }
    show_unheard(s);
    if (outcome->err && outcome->ledger[0])
        strobe_cli_error(
            "record", "the trace is not whole: %s; %llu events were lost, listed in %s",
            strobe_err_text(outcome->err), (unsigned long long)s->n_lost, outcome->ledger);
    else if (outcome->err)
        strobe_cli_error("record", "the trace is not whole: %s; 'strobe %s",
                         strobe_err_text(outcome->err),
                         is_left(s) ? "recover' adds the rest" : "info' tells what is missing");
}
