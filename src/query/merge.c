/* merge.c - see merge.h; file/copy.c does the copying, file/retime.c the other clock.  SPDX-License-Identifier: MIT */
#include "query/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/varint.h"
#include "file/copy.h"
#include "file/records.h"
#include "query/inherit.h"
#include "query/pair.h"

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

/* ---- how well times are known ---- */

struct target {
    struct strobe_file_writer *to;
    const struct strobe_clock *clock; /* of the base */
    uint64_t shift;                   /* numbers of processes that are taken */
};

/* One CLOCK_PLACED record. */
static void put_placed(struct strobe_records *records, uint64_t proc, uint64_t n_procs,
                       const struct strobe_clock_placed *placed, const char *host)
{
    uint64_t numbers[] = {proc,           n_procs,           placed->how,
                          placed->tick,   placed->likely_ns, placed->proven_ns,
                          placed->n_steps};
    strobe_records_begin(records, STROBE_FACT_CLOCK_PLACED);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        strobe_records_u(records, numbers[i]);
    strobe_records_s(records, host, strlen(host));
    strobe_records_end(records);
}

/* Those of a map: one where the error changes by much, never less than it is. */
static void put_fit(struct strobe_records *records, const struct target *target, uint64_t n_procs,
                    const struct strobe_placing_row *row, const char *host)
{
    double tick_ns = (double)target->clock->mult / 4294967296.0;
    struct strobe_clock_placed last = {0};
    for (uint32_t i = 0; i < row->fit.n_knots; i++) {
        const struct strobe_clock_knot *knot = &row->fit.knots[i];
        struct strobe_clock_placed now = {.how = row->how,
                                          .tick = knot->y,
                                          .likely_ns = (uint64_t)(knot->likely * tick_ns) + 1,
                                          .proven_ns = (uint64_t)(knot->proven * tick_ns) + 1,
                                          .n_steps = knot->n_steps};
        if (row->how == STROBE_CLOCK_HOW_WALL)
            now.likely_ns = now.proven_ns = 0;
        if (i && now.n_steps == last.n_steps && now.proven_ns <= last.proven_ns &&
            now.likely_ns <= last.likely_ns && now.proven_ns * 4 > last.proven_ns * 3)
            continue;
        put_placed(records, target->shift, n_procs, &now, host);
        last = now;
    }
}

/* Of two ways to know a clock, the one that says less. */
static uint32_t worse_of(uint32_t a, uint32_t b)
{
    if (a == STROBE_CLOCK_HOW_WALL || b == STROBE_CLOCK_HOW_WALL)
        return STROBE_CLOCK_HOW_WALL;
    return a > b ? a : b;
}

/* What a trace that was merged before says itself: its errors come on top of those of its clock now. */
static void put_inner(struct strobe_records *records, const struct target *target,
                      const struct strobe_trace *trace, const struct strobe_placing_row *row)
{
    uint32_t hint = 0;
    for (uint32_t i = 0; i < trace->n_placed; i++) {
        struct strobe_clock_placed placed = trace->placed[i];
        if (row->map.n_pieces)
            placed.tick = strobe_retime_tick(&row->map, placed.tick, &hint);
        placed.likely_ns += row->likely_ns + row->error_ns;
        placed.proven_ns += row->proven_ns + row->error_ns;
        placed.n_steps += row->n_steps;
        placed.how = worse_of(placed.how, row->how);
        if (placed.how == STROBE_CLOCK_HOW_WALL)
            placed.likely_ns = placed.proven_ns = 0;
        put_placed(records, placed.proc + target->shift, placed.n_procs, &placed,
                   strobe_trace_text(trace, placed.host, NULL));
    }
}

static uint64_t last_proc(const struct strobe_trace *trace)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        last = trace->processes[i].proc > last ? trace->processes[i].proc : last;
    return last;
}

static enum strobe_err put_errors(const struct target *target, const struct strobe_trace *trace,
                                  const struct strobe_placing_row *row, int is_first)
{
    struct strobe_records records = {0};
    const char *host = strobe_trace_text(trace, trace->hostname, NULL);
    const struct strobe_clock_placed same = {
        .how = row->how, .likely_ns = row->error_ns, .proven_ns = row->error_ns};
    if (is_first)
        strobe_records_kinds(&records);
    if (trace->n_placed && row->how == STROBE_CLOCK_HOW_OWN)
        ; /* its records are copied as they are */
    else if (trace->n_placed)
        put_inner(&records, target, trace, row);
    else if (row->fit.n_knots)
        put_fit(&records, target, last_proc(trace) + 1, row, host);
    else
        put_placed(&records, target->shift, last_proc(trace) + 1, &same, host);
    enum strobe_err err = strobe_file_put_records(target->to, &records);
    strobe_records_free(&records);
    return err;
}

/* ---- processes with a clock of their own, on another clock ---- */

static int has_own_clock(void *context, uint64_t proc)
{
    const struct strobe_trace *trace = context;
    uint32_t i = strobe_idmap_find(&trace->process_ids, 0, proc);
    return i != STROBE_IDMAP_NONE && trace->processes[i].n_own;
}

static void put_own_piece(struct strobe_records *records, uint64_t proc, int64_t time,
                          uint64_t tick, double mult, uint64_t error_ns)
{
    strobe_records_begin(records, STROBE_FACT_CLOCK_MAP);
    strobe_records_u(records, proc);
    strobe_records_u(records, strobe_zigzag(time));
    strobe_records_u(records, tick);
    strobe_records_u(records, mult >= 1 ? (uint64_t)mult : 1);
    strobe_records_u(records, error_ns);
    strobe_records_end(records);
}

/* The pieces of such a process, cut where the trace's own map has pieces. */
static void put_own_clock(struct strobe_records *records, const struct target *target,
                          const struct strobe_trace *trace, uint32_t process,
                          const struct strobe_placing_row *row)
{
    const struct strobe_process *owner = &trace->processes[process];
    const struct strobe_own_row *pieces = trace->own_pieces + owner->own_first;
    const struct strobe_retime *map = &row->map;
    double one = (double)(1ull << STROBE_RETIME_SHIFT);
    for (uint32_t i = 0, k = 0; i < owner->n_own; i++) {
        const struct strobe_own_row *piece = &pieces[i];
        uint64_t tick = piece->tick;
        while (k + 1 < map->n_pieces && map->pieces[k + 1].from <= tick)
            k++;
        for (;;) {
            uint32_t hint = k;
            put_own_piece(records, owner->proc + target->shift,
                          tick == piece->tick ? piece->time
                                              : strobe_trace_own_time(trace, process, tick),
                          strobe_retime_tick(map, tick, &hint),
                          (double)piece->mult * ((double)map->pieces[k].mult / one),
                          piece->error_ns + row->proven_ns);
            if (k + 1 >= map->n_pieces ||
                (i + 1 < owner->n_own && map->pieces[k + 1].from >= pieces[i + 1].tick))
                break;
            tick = map->pieces[++k].from;
        }
    }
}

static enum strobe_err put_own_clocks(const struct target *target, const struct strobe_trace *trace,
                                      const struct strobe_placing_row *row)
{
    struct strobe_records records = {0};
    for (uint32_t i = 0; i < trace->n_processes && row->map.n_pieces; i++)
        if (trace->processes[i].n_own)
            put_own_clock(&records, target, trace, i, row);
    enum strobe_err err = strobe_file_put_records(target->to, &records);
    strobe_records_free(&records);
    return err;
}

/* ---- ranks ---- */

/* The rank that a file is of, by its name: …/rank-00003.strobe. -1: it is none's. */
static long rank_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *end;
    if (strncmp(name, "rank-", 5) || name[5] < '0' || name[5] > '9')
        return -1;
    long rank = strtol(name + 5, &end, 10);
    return strcmp(end, ".strobe") ? -1 : rank;
}

/* Processes of a rank are named by it. */
static enum strobe_err put_rank(const struct target *target, const struct strobe_trace *trace,
                                const char *path)
{
    struct strobe_records records = {0};
    long rank = rank_of(path);
    for (uint32_t i = 0; i < trace->n_processes && rank >= 0; i++) {
        char room[STROBE_NAME_ROOM], text[256];
        uint32_t n;
        const char *name = strobe_trace_process_name(trace, i, room, &n);
        int n_text = snprintf(text, sizeof text, "rank %ld: %.*s", rank, (int)n, name);
        n_text = n_text < (int)sizeof text ? n_text : (int)sizeof text - 1;
        strobe_records_begin(&records, STROBE_META_PROGRAM_NAME);
        strobe_records_u(&records, trace->processes[i].proc + target->shift);
        strobe_records_s(&records, text, (size_t)n_text);
        strobe_records_end(&records);
    }
    enum strobe_err err = strobe_file_put_records(target->to, &records);
    strobe_records_free(&records);
    return err;
}

/* ---- all ---- */

/* One trace behind the others. */
static enum strobe_err put_trace(struct target *target, struct strobe_trace *trace,
                                 const char *name, const struct strobe_placing_row *row)
{
    int is_base = row->how == STROBE_CLOCK_HOW_OWN;
    const struct strobe_copy_options options = {.proc_shift = target->shift,
                                                .no_clock = !is_base,
                                                .retime = row->map.n_pieces ? &row->map : NULL,
                                                .has_own_clock = has_own_clock,
                                                .context = trace,
                                                .lod = !row->map.n_pieces,
                                                .counts = 1};
    const struct strobe_inherit_options inherited = {
        .proc_shift = target->shift, .retime = options.retime, .closed = 1};
    struct strobe_file_totals *totals = strobe_file_totals(target->to);
    const struct strobe_trace_totals *had = &strobe_file_facts(trace->file)->totals;
    STROBE_ASSERT(is_base == !target->shift);
    enum strobe_err err = put_errors(target, trace, row, is_base);
    if (!err)
        err = put_own_clocks(target, trace, row);
    if (!err)
        err = strobe_copy_blocks(trace->file, &options, target->to);
    if (!err)
        err = strobe_inherit_losses(trace, &inherited, target->to);
    if (!err && trace->n_processes)
        err = put_note(target->to, trace->processes[0].proc + target->shift, name);
    if (!err)
        err = put_rank(target, trace, name);
    totals->n_procs += trace->n_processes;
    totals->n_threads += trace->thread_ids.n;
    for (int i = 0; i < STROBE_LOSS_COUNT; i++)
        totals->lost[i] += had->n_lost[i];
    target->shift += last_proc(trace) + 1;
    return err;
}

/* When the first of them was recorded: then is when the result was. 0: nobody knows. */
static uint64_t first_created_ns(struct strobe_trace *const *traces, uint32_t n)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t created = strobe_file_facts(traces[i]->file)->created_ns;
        first = created && (!first || created < first) ? created : first;
    }
    return first;
}

enum strobe_err strobe_merge_write(struct strobe_trace *const *traces, const char *const *names,
                                   uint32_t n, const char *path, struct strobe_merge_result *result)
{
    struct target target = {0};
    *result = (struct strobe_merge_result){0};
    struct strobe_placing *placing = &result->placing;
    STROBE_ASSERT(n);
    if (!access(path, F_OK))
        return STROBE_ERR_BUSY;
    enum strobe_err err = strobe_placing_run(traces, n, placing, &result->failed);
    if (!err)
        err = strobe_file_create(path, "", 0, &target.to);
    if (err)
        return err;
    uint32_t base = placing->base;
    uint64_t created_ns = first_created_ns(traces, n);
    target.clock = &traces[base]->clock;
    err = created_ns ? strobe_file_set_created(target.to, created_ns) : STROBE_OK;
    if (!err)
        err = put_trace(&target, traces[base], names[base], &placing->rows[base]);
    for (uint32_t i = 0; i < n && !err; i++) {
        result->failed = i;
        if (i != base)
            err = put_trace(&target, traces[i], names[i], &placing->rows[i]);
    }
    if (!err)
        strobe_pair_write(target.to, NULL); /* where that fails readers pair themselves */
    enum strobe_err closed = strobe_file_finish(target.to);
    err = err ? err : closed;
    if (err)
        unlink(path);
    return err;
}

void strobe_merge_result_free(struct strobe_merge_result *result)
{
    strobe_placing_free(&result->placing);
}
