/* merge.c - see merge.h; file/copy.c does the copying.  SPDX-License-Identifier: MIT */
#include "query/merge.h"

#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "file/copy.h"
#include "file/records.h"
#include "query/pair.h"

/* A clock's rate is known from readings of so little error that a line drawn on goes wrong by no more than this. */
enum { PPM_OFF = 2, LEAST_NS = 20000 };

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* The time between the first and the last reading of a trace's clock. */
static uint64_t span_ns(const struct strobe_clock *clock)
{
    return clock->n_syncs ? clock->syncs[clock->n_syncs - 1].mono_ns - clock->syncs[0].mono_ns : 0;
}

struct strobe_merge_clock strobe_merge_compare(const struct strobe_trace *base,
                                               const struct strobe_trace *other)
{
    const struct strobe_clock *a = &base->clock, *b = &other->clock;
    struct strobe_merge_clock result = {.is_one = 1};
    if (!a->kind || a->kind != b->kind || !a->n_syncs || !b->n_syncs ||
        strcmp(strobe_trace_text(base, base->hostname, NULL),
               strobe_trace_text(other, other->hostname, NULL)))
        return (struct strobe_merge_clock){0};
    for (uint32_t i = 0; i < b->n_syncs; i++) {
        const struct strobe_sync *sync = &b->syncs[i];
        uint64_t off = distance(strobe_clock_at(a, sync->tick), (int64_t)sync->mono_ns);
        uint64_t reach = distance((int64_t)sync->mono_ns, (int64_t)a->syncs[0].mono_ns);
        uint64_t reach_end =
            distance((int64_t)sync->mono_ns, (int64_t)a->syncs[a->n_syncs - 1].mono_ns);
        uint64_t far = reach < reach_end ? reach : reach_end;
        if (off > LEAST_NS + a->error_ns + sync->error_ns + far / 1000000 * PPM_OFF)
            result.is_one = 0;
        if (off + sync->error_ns > result.error_ns)
            result.error_ns = off + sync->error_ns;
    }
    result.error_ns += a->error_ns;
    return result;
}

/* Times on CLOCK_MONOTONIC mean the same since one boot alone: wall clocks that are hours apart are of two. */
static int is_one_boot(const struct strobe_trace *a, const struct strobe_trace *b)
{
    return distance((int64_t)a->clock.real_offset_ns, (int64_t)b->clock.real_offset_ns) <
           60000000000ull;
}

/* ---- writing ---- */

/* A note at the first process of each: where it came from. */
static enum strobe_err put_note(struct strobe_file_writer *to, uint64_t proc, const char *name)
{
    struct strobe_records records = {0};
    static const char words[] = "from ";
    char text[512];
    size_t n = strlen(name);
    n = n < sizeof text - sizeof words ? n : sizeof text - sizeof words;
    memcpy(text, words, sizeof words - 1);
    memcpy(text + sizeof words - 1, name, n);
    strobe_records_begin(&records, STROBE_FACT_NOTE);
    strobe_records_u(&records, proc);
    strobe_records_s(&records, text, n + sizeof words - 1);
    strobe_records_end(&records);
    enum strobe_err err = strobe_file_put_records(to, &records);
    strobe_records_free(&records);
    return err;
}

static uint64_t last_proc(const struct strobe_trace *trace)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        last = trace->processes[i].proc > last ? trace->processes[i].proc : last;
    return last;
}

/* One trace behind the others; *shift: the numbers of processes that are taken. */
static enum strobe_err put_trace(struct strobe_file_writer *to, struct strobe_trace *trace,
                                 const char *name, int is_base, uint64_t *shift)
{
    const struct strobe_copy_options options = {
        .proc_shift = *shift, .no_clock = !is_base, .counts = 1};
    struct strobe_file_totals *totals = strobe_file_totals(to);
    const struct strobe_trace_totals *had = &strobe_file_facts(trace->file)->totals;
    STROBE_ASSERT(is_base == !*shift);
    enum strobe_err err = strobe_copy_blocks(trace->file, &options, to);
    if (!err && trace->n_processes)
        err = put_note(to, trace->processes[0].proc + *shift, name);
    totals->n_procs += trace->n_processes;
    totals->n_threads += trace->thread_ids.n;
    for (int i = 0; i < STROBE_LOSS_COUNT; i++)
        totals->lost[i] += had->n_lost[i];
    *shift += last_proc(trace) + 1;
    return err;
}

/* Whose clock the result has, and whether all have it. */
static enum strobe_err check_clocks(struct strobe_trace *const *traces, uint32_t n,
                                    struct strobe_merge_result *result)
{
    for (uint32_t i = 1; i < n; i++)
        if (span_ns(&traces[i]->clock) > span_ns(&traces[result->base]->clock))
            result->base = i;
    for (uint32_t i = 0; i < n; i++) {
        struct strobe_merge_clock clock = strobe_merge_compare(traces[result->base], traces[i]);
        result->failed = i;
        if (!clock.is_one || !is_one_boot(traces[result->base], traces[i]))
            return STROBE_ERR_INVALID;
        if (i != result->base && clock.error_ns > result->error_ns)
            result->error_ns = clock.error_ns;
    }
    return STROBE_OK;
}

enum strobe_err strobe_merge_write(struct strobe_trace *const *traces, const char *const *names,
                                   uint32_t n, const char *path, struct strobe_merge_result *result)
{
    struct strobe_file_writer *to = NULL;
    uint64_t shift = 0;
    *result = (struct strobe_merge_result){0};
    STROBE_ASSERT(n);
    if (!access(path, F_OK))
        return STROBE_ERR_BUSY;
    enum strobe_err err = check_clocks(traces, n, result);
    if (!err)
        err = strobe_file_create(path, "", 0, &to);
    if (err)
        return err;
    err = put_trace(to, traces[result->base], names[result->base], 1, &shift);
    for (uint32_t i = 0; i < n && !err; i++) {
        result->failed = i;
        if (i != result->base)
            err = put_trace(to, traces[i], names[i], 0, &shift);
    }
    if (!err)
        strobe_pair_write(to, NULL); /* where that fails readers pair themselves */
    enum strobe_err closed = strobe_file_finish(to);
    err = err ? err : closed;
    if (err)
        unlink(path);
    return err;
}
