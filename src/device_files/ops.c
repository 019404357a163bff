/* ops.c - lines per op: cpp_device_perf_report.csv and the streaming profiler's ops file. Runs of RISCs come sorted by op; an op's figures
 * are its first and last times of some of them. The latencies between ops need another order, so ops are sorted twice more.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "device_files/internal.h"
#include "device_files/log_row.h"

/* What is measured, in the order of the columns of cpp_device_perf_report.csv; 1: with first and last cycle. */
#define SPANS(X)                                                                               \
    X(TRACE_FW, "DEVICE TRACE FIRMWARE DURATION [ns]", NULL)                                   \
    X(TRACE_KERNEL, "DEVICE TRACE KERNEL DURATION [ns]", NULL)                                 \
    X(STARTS, "DEVICE KERNEL FIRST TO LAST START [ns]", NULL)                                  \
    X(FW, "DEVICE FW DURATION [ns]", "DEVICE FW")                                              \
    X(KERNEL, "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL")                                  \
    X(DM, "DEVICE KERNEL DURATION DM START [ns]", "DEVICE KERNEL DM")                          \
    X(BRISC, "DEVICE BRISC KERNEL DURATION [ns]", NULL)                                        \
    X(NCRISC, "DEVICE NCRISC KERNEL DURATION [ns]", NULL)                                      \
    X(TRISC0, "DEVICE TRISC0 KERNEL DURATION [ns]", NULL)                                      \
    X(TRISC1, "DEVICE TRISC1 KERNEL DURATION [ns]", NULL)                                      \
    X(TRISC2, "DEVICE TRISC2 KERNEL DURATION [ns]", NULL)                                      \
    X(ERISC, "DEVICE ERISC KERNEL DURATION [ns]", NULL)                                        \
    X(QUASAR_DM, "DEVICE QUASAR_DM KERNEL DURATION [ns]", "DEVICE QUASAR_DM KERNEL")           \
    X(TRISC, "DEVICE QUASAR_NEO_TRISC KERNEL DURATION [ns]", "DEVICE QUASAR_NEO_TRISC KERNEL") \
    X(DM_FW, "DEVICE DM FW DURATION [ns]", NULL)                                               \
    X(TRISC_FW, "DEVICE TRISC FW DURATION [ns]", NULL)

enum span {
#define X(name, column, cycles) SPAN_##name,
    SPANS(X)
#undef X
        N_SPANS
};

struct times {
    uint64_t first, last;
    bool is_set;
};

struct op {
    uint32_t program, execution, trace, counter, n_cores;
    struct times spans[N_SPANS];
    uint64_t core_min, core_max, core_sum; /* of kernels, per core */
    uint32_t n_kernel_cores;
    int64_t latency, dm_latency; /* ns; -1: none */
};

/* An op under construction. */
struct gathering {
    struct strobe_device_files *files; /* borrowed */
    struct strobe_out *ops;            /* borrowed; NULL: not wanted */
    struct strobe_sort *by_start;      /* owned; NULL: not wanted */
    struct op op;
    bool has_op;
    uint32_t core_yx;
    bool core_has_fw;
    struct times core;
    enum strobe_err err;
};

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

int strobe_files_run_compare(const void *left, const void *right)
{
    const struct strobe_files_run *a = left, *b = right;
    int order = compare_u32(a->program, b->program);
    order = order ? order : compare_u32(a->execution, b->execution);
    order = order ? order : compare_u32(a->trace, b->trace);
    order = order ? order : compare_u32(a->counter, b->counter);
    order = order ? order : compare_u32(a->core_yx, b->core_yx);
    return order ? order : compare_u32(a->risc, b->risc);
}

/* ---- figures ---- */

static void widen(struct times *times, uint64_t first, uint64_t last)
{
    if (!times->is_set || first < times->first)
        times->first = first;
    if (!times->is_set || last > times->last)
        times->last = last;
    times->is_set = true;
    STROBE_ASSERT(times->first <= first && times->last >= last);
}

static uint64_t ns_of(const struct strobe_device_files *files, uint64_t cycles)
{
    return (uint64_t)llround((double)cycles * 1000 / (files->mhz ? files->mhz : 1000));
}

static void add_kernel(struct op *op, const struct strobe_files_run *run, bool is_wide)
{
    static const enum span of_risc[] = {SPAN_BRISC, SPAN_NCRISC, SPAN_TRISC0, SPAN_TRISC1,
                                        SPAN_TRISC2};
    bool is_eth = run->kind == STROBE_CORE_ETH;
    bool moves = is_eth || run->risc < (is_wide ? 8u : 2u);
    STROBE_ASSERT(run->flags & STROBE_RUN_KERNEL && run->kernel_end >= run->kernel_start);
    widen(&op->spans[SPAN_KERNEL], run->kernel_start, run->kernel_end);
    widen(&op->spans[SPAN_STARTS], run->kernel_start, run->kernel_start);
    if (run->flags & STROBE_RUN_AGGREGATE) {
        widen(&op->spans[SPAN_TRACE_KERNEL], run->kernel_start, run->kernel_end);
        return;
    }
    if (moves)
        widen(&op->spans[SPAN_DM], run->kernel_start, run->kernel_start);
    if (is_eth)
        widen(&op->spans[SPAN_ERISC], run->kernel_start, run->kernel_end);
    else if (!is_wide && run->risc < 5)
        widen(&op->spans[of_risc[run->risc]], run->kernel_start, run->kernel_end);
    else if (moves)
        widen(&op->spans[SPAN_QUASAR_DM], run->kernel_start, run->kernel_end);
    if (!moves)
        widen(&op->spans[SPAN_TRISC], run->kernel_start, run->kernel_end);
}

static void add_fw(struct op *op, const struct strobe_files_run *run, bool is_wide)
{
    STROBE_ASSERT(run->flags & STROBE_RUN_FW && run->fw_end >= run->fw_start);
    widen(&op->spans[SPAN_FW], run->fw_start, run->fw_end);
    if (run->flags & STROBE_RUN_AGGREGATE)
        widen(&op->spans[SPAN_TRACE_FW], run->fw_start, run->fw_end);
    else if (run->kind == STROBE_CORE_ETH)
        return;
    else if (is_wide && run->risc < 8)
        widen(&op->spans[SPAN_DM_FW], run->fw_start, run->fw_end);
    else if (run->risc >= (is_wide ? 8u : 2u))
        widen(&op->spans[SPAN_TRISC_FW], run->fw_start, run->fw_end);
}

static void end_core(struct gathering *g)
{
    uint64_t cycles = g->core.last - g->core.first;
    struct op *op = &g->op;
    op->n_cores += g->core_has_fw || g->core.is_set;
    STROBE_ASSERT(g->core.last >= g->core.first && g->has_op);
    if (g->core.is_set) {
        op->core_min = op->n_kernel_cores && op->core_min < cycles ? op->core_min : cycles;
        op->core_max = op->core_max > cycles ? op->core_max : cycles;
        op->core_sum += cycles;
        op->n_kernel_cores++;
    }
    g->core = (struct times){0};
    g->core_has_fw = false;
}

/* ---- the ops file ---- */

static const char ops_head[] =
    "DEVICE ID,GLOBAL CALL COUNT,EXECUTION,CORE COUNT,DEVICE KERNEL START CYCLE,"
    "DEVICE KERNEL END CYCLE,DEVICE KERNEL DURATION [ns],DEVICE KERNEL DURATION DM START [ns],"
    "DEVICE KERNEL DURATION PER CORE MIN [ns],DEVICE KERNEL DURATION PER CORE MAX [ns],"
    "DEVICE KERNEL DURATION PER CORE AVG [ns],DEVICE KERNEL FIRST TO LAST START [ns],"
    "DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],"
    "DEVICE TRISC0 KERNEL DURATION [ns],DEVICE TRISC1 KERNEL DURATION [ns],"
    "DEVICE TRISC2 KERNEL DURATION [ns]\n";

static void put_span(struct strobe_out *out, const struct strobe_device_files *files,
                     const struct times *times)
{
    strobe_out_char(out, ',');
    if (times->is_set)
        strobe_out_u(out, ns_of(files, times->last - times->first));
}

static void put_cycles(struct strobe_out *out, const struct times *times)
{
    strobe_out_char(out, ',');
    if (times->is_set)
        strobe_out_u(out, times->first);
    strobe_out_char(out, ',');
    if (times->is_set)
        strobe_out_u(out, times->last);
}

static void put_ops_row(struct strobe_out *out, const struct strobe_device_files *files,
                        const struct op *op)
{
    strobe_out_format(out, "%u,%u,%u,%u", files->device, op->program, op->execution,
                      op->n_kernel_cores);
    STROBE_ASSERT(op->n_kernel_cores && op->core_min <= op->core_max);
    put_cycles(out, &op->spans[SPAN_KERNEL]);
    put_span(out, files, &op->spans[SPAN_KERNEL]);
    put_span(out, files, &op->spans[SPAN_DM]);
    strobe_out_format(out, ",%llu,%llu,%llu", (unsigned long long)ns_of(files, op->core_min),
                      (unsigned long long)ns_of(files, op->core_max),
                      (unsigned long long)ns_of(files, op->core_sum / op->n_kernel_cores));
    put_span(out, files, &op->spans[SPAN_STARTS]);
    for (int i = SPAN_BRISC; i <= SPAN_TRISC2; i++)
        put_span(out, files, &op->spans[i]);
    strobe_out_char(out, '\n');
}

/* ---- the report ---- */

static void put_report_head(struct strobe_out *out)
{
    static const char *const columns[][2] = {
#define X(name, column, cycles) {column, cycles},
        SPANS(X)
#undef X
    };
    strobe_out_text(out, "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,"
                         "DEVICE ARCH,OP NAME,CORE COUNT,AVAILABLE WORKER CORE COUNT");
    for (int i = 0; i < N_SPANS; i++) {
        strobe_out_format(out, ",%s", columns[i][0]);
        if (columns[i][1])
            strobe_out_format(out, ",%s START CYCLE,%s END CYCLE", columns[i][1], columns[i][1]);
    }
    strobe_out_text(out, ",OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns]\n");
}

static void put_name(struct strobe_out *out, const struct strobe_device_files *files,
                     uint32_t program)
{
    uint64_t entry = strobe_map_get(&files->programs, program, 0);
    const char *name = entry ? strobe_textmap_key(&files->op_names, (uint32_t)entry - 1) : "";
    for (; *name; name++)
        strobe_out_char(out, *name == ',' ? ';' : (unsigned char)*name < ' ' ? ' ' : *name);
}

static enum strobe_err put_report_row(void *context, const void *record, const void *bytes,
                                      size_t n_bytes)
{
    struct strobe_device_files *files = context;
    struct strobe_out *out = &files->perf.out;
    struct op op;
    (void)bytes, (void)n_bytes;
    memcpy(&op, record, sizeof op);
    STROBE_ASSERT(op.program && files->perf.fd >= 0);
    strobe_out_u(out, (uint64_t)op.program << 10 | files->device);
    if (op.trace != UINT32_MAX)
        strobe_out_format(out, ",%u,%u", op.trace, op.counter);
    else
        strobe_out_text(out, ",,");
    strobe_out_format(out, ",%u,%s,", files->device, strobe_device_log_arch(files->arch));
    put_name(out, files, op.program);
    strobe_out_format(out, ",%u,%u", op.n_cores, files->max_cores);
    for (int i = 0; i < N_SPANS; i++) {
        put_span(out, files, &op.spans[i]);
        if (i == SPAN_FW || i == SPAN_KERNEL || i == SPAN_DM || i == SPAN_QUASAR_DM ||
            i == SPAN_TRISC)
            put_cycles(out, &op.spans[i]);
    }
    strobe_out_char(out, ',');
    if (op.latency >= 0)
        strobe_out_i(out, op.latency);
    strobe_out_char(out, ',');
    if (op.dm_latency >= 0)
        strobe_out_i(out, op.dm_latency);
    strobe_out_char(out, '\n');
    return STROBE_OK;
}

/* From the op before to this one: at the rate that the op's own duration has. -1: they overlap, or it has no length. */
static int64_t gap_of(const struct strobe_device_files *files, uint64_t before,
                      const struct times *times)
{
    STROBE_ASSERT(times->is_set);
    uint64_t cycles = times->last - times->first;
    if (!files->has_last_op)
        return 0;
    if (times->first < before || !cycles)
        return -1;
    return llround((double)(times->first - before) * (double)ns_of(files, cycles) / (double)cycles);
}

struct latencies {
    struct strobe_device_files *files; /* borrowed */
    struct strobe_sort *by_key;        /* borrowed */
};

static enum strobe_err take_by_start(void *context, const void *record, const void *bytes,
                                     size_t n_bytes)
{
    struct latencies *l = context;
    struct strobe_device_files *files = l->files;
    struct op op;
    (void)bytes, (void)n_bytes;
    memcpy(&op, record, sizeof op);
    const struct times *kernel = &op.spans[SPAN_KERNEL], *dm = &op.spans[SPAN_DM];
    op.latency = op.dm_latency = -1;
    if (kernel->is_set) {
        op.latency = gap_of(files, files->last_kernel_end, kernel);
        op.dm_latency = dm->is_set ? gap_of(files, files->last_dm_end, dm) : -1;
        files->last_kernel_end = kernel->last;
        files->last_dm_end = dm->is_set ? dm->last : kernel->last;
        files->has_last_op = true;
    }
    return strobe_sort_add(l->by_key, &op, NULL, 0);
}

static int compare_keys(const void *left, const void *right)
{
    const struct op *a = left, *b = right;
    int order = compare_u32(a->program, b->program);
    order = order ? order : compare_u32(a->trace, b->trace); /* none is the last */
    order = order ? order : compare_u32(a->counter, b->counter);
    return order ? order : compare_u32(a->execution, b->execution);
}

static int compare_starts(const void *left, const void *right)
{
    const struct times *a = &((const struct op *)left)->spans[SPAN_KERNEL],
                       *b = &((const struct op *)right)->spans[SPAN_KERNEL];
    int order = (a->first > b->first) - (a->first < b->first);
    return order ? order : compare_keys(left, right);
}

static enum strobe_err open_sort(strobe_sort_compare *compare, struct strobe_sort **out)
{
    struct strobe_sort_options options = {.record_bytes = sizeof(struct op),
                                          .memory_bytes = STROBE_FILES_SORT_BYTES / 4,
                                          .compare = compare};
    return strobe_sort_open(&options, out);
}

static enum strobe_err write_report(struct strobe_device_files *files, struct strobe_sort *by_start)
{
    struct latencies l = {.files = files};
    STROBE_ASSERT(by_start && files->perf.path[0]);
    enum strobe_err err = open_sort(compare_keys, &l.by_key);
    if (!err)
        err = strobe_sort_all(by_start, take_by_start, &l);
    if (!err && strobe_files_begin(files, &files->perf)) {
        if (files->perf.is_new)
            put_report_head(&files->perf.out);
        err = strobe_sort_all(l.by_key, put_report_row, files);
        strobe_files_end(files, &files->perf);
    }
    strobe_sort_close(l.by_key);
    return err;
}

/* ---- ops of runs ---- */

static void end_op(struct gathering *g)
{
    struct op *op = &g->op;
    if (!g->has_op)
        return;
    end_core(g);
    op->spans[SPAN_DM].last =
        op->spans[SPAN_KERNEL].last; /* from the first that moves data to the last of all */
    if (g->ops && op->n_kernel_cores)
        put_ops_row(g->ops, g->files, op);
    if (g->by_start && !g->err)
        g->err = strobe_sort_add(g->by_start, op, NULL, 0);
    g->has_op = false;
}

static enum strobe_err take_run(void *context, const void *record, const void *bytes,
                                size_t n_bytes)
{
    struct gathering *g = context;
    struct strobe_files_run run;
    bool is_wide = g->files->n_riscs > 5;
    (void)bytes, (void)n_bytes;
    memcpy(&run, record, sizeof run);
    STROBE_ASSERT(run.program && run.flags);
    if (g->has_op && (g->op.program != run.program || g->op.execution != run.execution ||
                      g->op.trace != run.trace || g->op.counter != run.counter))
        end_op(g);
    if (!g->has_op)
        g->op = (struct op){.program = run.program,
                            .execution = run.execution,
                            .trace = run.trace,
                            .counter = run.counter};
    else if (g->core_yx != run.core_yx)
        end_core(g);
    STROBE_ASSERT(!g->has_op || g->core_yx == run.core_yx ||
                  !g->core.is_set); /* the core before was ended */
    g->has_op = true;
    g->core_yx = run.core_yx;
    if (run.flags & STROBE_RUN_FW) {
        add_fw(&g->op, &run, is_wide);
        g->core_has_fw = true;
    }
    if (run.flags & STROBE_RUN_KERNEL) {
        add_kernel(&g->op, &run, is_wide);
        widen(&g->core, run.kernel_start, run.kernel_end);
    }
    return g->err;
}

enum strobe_err strobe_files_dump_ops(struct strobe_device_files *files)
{
    struct gathering g = {.files = files};
    enum strobe_err err = STROBE_OK;
    if (!files->runs)
        return STROBE_OK;
    if (files->perf.path[0])
        err = open_sort(compare_starts, &g.by_start);
    if (!files->is_classic && strobe_files_begin(files, &files->ops)) {
        g.ops = &files->ops.out;
        if (files->ops.is_new)
            strobe_out_text(g.ops, ops_head);
    }
    if (!err)
        err = strobe_sort_all(files->runs, take_run, &g);
    end_op(&g);
    strobe_files_end(files, &files->ops);
    STROBE_ASSERT(!g.has_op && !g.core.is_set);
    err = err ? err : g.err;
    if (!err && g.by_start)
        err = write_report(files, g.by_start);
    strobe_sort_close(g.by_start);
    return err;
}
