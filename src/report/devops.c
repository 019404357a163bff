/* devops.c - books markers into the accounts of ops.
 *
 * A program may run more than once: replayed from a trace (the trace counter tells), or enqueued
 * again (then its master RISC starts its FW zone anew). Each run has an account of its own; the
 * runs of a program are a list, and a marker's run is found by its time against the FW zones of its
 * core. SPDX-License-Identifier: MIT */
#include "report/devops.h"
#include "base/array.h"
#include "report/op2op.h"
#include "report/sorted_log.h"

#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_device_op device_op;

void strobe_report_device_ops_open(struct strobe_report_device_ops *ops,
                                   struct strobe_report_log *log)
{
    *ops = (struct strobe_report_device_ops){
        .log = log, .faults = log->faults, .last = UINT32_MAX, .last_sub_device = -1};
}

static void reset(struct strobe_report_device_ops *ops)
{
    strobe_index_free(&ops->by_key);
    ops->n = 0;
    ops->last = UINT32_MAX;
    ops->scattered = ops->has_dispatch = false;
}

void strobe_report_device_ops_close(struct strobe_report_device_ops *ops)
{
    reset(ops);
    free(ops->ops);
    strobe_out_free(&ops->last_meta);
    *ops = (struct strobe_report_device_ops){0};
}

/* ---- which op ---- */

static uint64_t hash_of(uint64_t seed, uint32_t device, uint64_t run, int64_t trace,
                        int64_t counter)
{
    return strobe_hash_pair(strobe_hash_pair(run << 8 ^ device, (uint64_t)trace, seed),
                            (uint64_t)counter, seed);
}

static inline bool is_op(const device_op *op, uint32_t device, uint64_t run, int64_t trace,
                         int64_t counter)
{
    return op->run == run && op->device == device && op->trace == trace && op->counter == counter;
}

uint32_t strobe_report_device_ops_find(const struct strobe_report_device_ops *ops, uint32_t device,
                                       uint64_t run, int64_t trace, int64_t counter)
{
    uint64_t hash = hash_of(ops->by_key.seed, device, run, trace, counter);
    STROBE_INDEX_EACH (index, at, &ops->by_key, hash)
        if (is_op(&ops->ops[index], device, run, trace, counter))
            return index;
    return UINT32_MAX;
}

static uint32_t new_op(struct strobe_report_device_ops *ops, const struct strobe_report_marker *m)
{
    if (STROBE_ARRAY_RESERVE(ops->ops, ops->cap, (uint64_t)ops->n + 1)) {
        ops->out_of_memory = true;
        return UINT32_MAX;
    }
    device_op *op = &ops->ops[ops->n];
    memset(op, 0, sizeof *op);
    op->run = m->run, op->trace = m->trace, op->counter = m->counter;
    op->device = m->series->device_index;
    op->next = UINT32_MAX;
    op->head = op->cursor = ops->n;
    op->first_time = op->per_core.first_time = UINT64_MAX;
    op->line = m->line;
    op->sub_device = -1;
    op->open.core = UINT32_MAX;
    return ops->n++;
}

static uint32_t find_head(struct strobe_report_device_ops *ops,
                          const struct strobe_report_marker *m)
{
    uint32_t device = m->series->device_index;
    if (ops->last < ops->n && is_op(&ops->ops[ops->last], device, m->run, m->trace, m->counter))
        return ops->last;
    uint32_t next = ops->last + 1;
    if (next < ops->n && ops->ops[next].head == next &&
        is_op(&ops->ops[next], device, m->run, m->trace, m->counter))
        return ops->last = next;
    uint32_t head = strobe_report_device_ops_find(ops, device, m->run, m->trace, m->counter);
    if (head == UINT32_MAX) {
        head = new_op(ops, m);
        if (head != UINT32_MAX && strobe_index_add(&ops->by_key,
                                                   hash_of(strobe_index_seed(&ops->by_key), device,
                                                           m->run, m->trace, m->counter),
                                                   head))
            ops->out_of_memory = true;
    }
    return ops->last = head;
}

/* ---- which run of it ---- */

/* The run after `index`, made when it is new. */
static uint32_t next_run(struct strobe_report_device_ops *ops, uint32_t index,
                         const struct strobe_report_marker *m)
{
    if (ops->ops[index].next != UINT32_MAX)
        return ops->ops[index].next;
    uint32_t next = new_op(ops, m);
    if (next == UINT32_MAX)
        return index;
    ops->ops[next].head = ops->ops[index].head;
    ops->ops[index].next = next;
    return next;
}

/* The master RISC starts: a run that this core has already started is over. */
static uint32_t run_of_start(struct strobe_report_device_ops *ops, uint32_t head,
                             const struct strobe_report_marker *m)
{
    uint32_t core = m->series->core, index = ops->ops[head].cursor;
    if (ops->ops[index].open.core != core)
        index = head;
    while (ops->ops[index].open.core == core && ops->ops[index].open.fw_start) {
        if (m->time < ops->ops[index].open.fw_start && !ops->sorted)
            ops->scattered = true; /* not in the order of time */
        uint32_t next = next_run(ops, index, m);
        if (next == index)
            break;
        index = next;
    }
    return index;
}

/* Any other marker: by its time against the FW zones of its core. */
static uint32_t run_by_time(struct strobe_report_device_ops *ops, uint32_t head,
                            const struct strobe_report_marker *m)
{
    uint32_t core = m->series->core, index = ops->ops[head].cursor;
    const device_op *op = &ops->ops[index];
    if (op->open.core != core || m->time < op->open.fw_start)
        index = head;
    while ((op = &ops->ops[index])->next != UINT32_MAX) {
        const device_op *next = &ops->ops[op->next];
        if (next->open.core != core || !next->open.fw_start)
            break;
        bool before = m->time < next->open.fw_start;
        bool leads = m->zone->type == STROBE_REPORT_ZONE_START && op->open.fw_end &&
                     m->time > op->open.fw_end;
        if (before && !leads)
            break;
        index = op->next;
        if (before)
            break;
    }
    return index;
}

static inline uint32_t find_run(struct strobe_report_device_ops *ops, uint32_t head,
                                const struct strobe_report_marker *m)
{
    bool starts =
        m->zone->type == STROBE_REPORT_ZONE_START && strobe_report_is_master(m->series, m->zone);
    if (starts)
        return ops->ops[head].cursor = run_of_start(ops, head, m);
    if (ops->ops[head].next == UINT32_MAX)
        return head;
    return ops->ops[head].cursor = run_by_time(ops, head, m);
}

/* ---- booking ---- */

static inline void extend(struct strobe_report_range *range, uint64_t time)
{
    if (!range->n++) {
        range->first = range->last = time;
        return;
    }
    if (time < range->first)
        range->first = time;
    if (time > range->last)
        range->last = time;
}

/* The open core's share goes into the op's totals. */
static void close_core(device_op *op)
{
    if (op->open.core != UINT32_MAX && op->open.kernel.n >= 2) {
        uint64_t cycles = op->open.kernel.last - op->open.kernel.first;
        if (!op->per_core.n || cycles < op->per_core.min)
            op->per_core.min = cycles;
        if (cycles > op->per_core.max)
            op->per_core.max = cycles;
        op->per_core.sum += cycles;
        op->per_core.n++;
        if (op->open.first_time < op->per_core.first_time) {
            op->per_core.first_time = op->open.first_time;
            op->per_core.first_cycles = cycles;
        }
    }
    memset(&op->open, 0, sizeof op->open);
    op->open.core = UINT32_MAX;
}

/* False when the op has already left this core. */
static bool open_core(device_op *op, const struct strobe_report_marker *m)
{
    uint32_t index = m->series->core_in_device;
    close_core(op);
    op->open.core = m->series->core;
    op->open.first_time = m->time;
    if (index >= 64 * STROBE_REPORT_CORE_WORDS)
        return true;
    uint64_t bit = 1ull << (index & 63);
    if (op->seen[index >> 6] & bit)
        return false;
    op->seen[index >> 6] |= bit;
    return true;
}

static void count_fw_core(device_op *op, const struct strobe_report_marker *m)
{
    uint32_t index = m->series->core_in_device;
    if (index >= 64 * STROBE_REPORT_CORE_WORDS) {
        op->n_cores += !op->open.fw_start; /* beyond the table: once per visit of a core */
        return;
    }
    uint64_t bit = 1ull << (index & 63);
    op->n_cores += !(op->fw_cores[index >> 6] & bit);
    op->fw_cores[index >> 6] |= bit;
}

static void book_fw(device_op *op, const struct strobe_report_marker *m)
{
    count_fw_core(op, m);
    if (m->zone->flags & STROBE_REPORT_IS_FW)
        extend(&op->fw, m->time);
    if (!strobe_report_is_master(m->series, m->zone))
        return;
    if (m->zone->type == STROBE_REPORT_ZONE_START)
        op->open.fw_start = m->time;
    else
        op->open.fw_end = m->time;
}

static void book_kernel(device_op *op, const struct strobe_report_marker *m)
{
    uint8_t risc = m->series->risc, own = m->zone->own_risc;
    extend(&op->kernel, m->time);
    extend(&op->open.kernel, m->time);
    if (m->zone->type == STROBE_REPORT_ZONE_START)
        extend(&op->kernel_start, m->time);
    if (m->zone->flags & STROBE_REPORT_IS_DM_KERNEL && (!op->n_dm++ || m->time < op->dm_start))
        op->dm_start = m->time;
    bool is_trisc = risc >= STROBE_REPORT_TRISC_0 && risc <= STROBE_REPORT_TRISC_2;
    if (risc < STROBE_REPORT_KERNEL_RISCS && own == (is_trisc ? STROBE_REPORT_TRISC_0 : risc))
        extend(&op->riscs[risc], m->time);
}

static void book_sums(device_op *op, const struct strobe_report_marker *m)
{
    uint16_t flags = m->zone->flags;
    if (flags & STROBE_REPORT_IS_WAIT_FRONT && m->series->risc == STROBE_REPORT_TRISC_0)
        op->wait_front += m->data;
    if (flags & STROBE_REPORT_IS_RESERVE_BACK && m->series->risc == STROBE_REPORT_TRISC_2)
        op->reserve_back += m->data;
}

static inline void book(struct strobe_report_device_ops *ops, device_op *op,
                        const struct strobe_report_marker *m)
{
    uint16_t flags = m->zone->flags;
    if (op->open.core != m->series->core && !open_core(op, m))
        ops->scattered = !ops->sorted;
    if (m->time < op->first_time)
        op->first_time = m->time;
    if (m->time < op->open.first_time)
        op->open.first_time = m->time;
    if (flags & STROBE_REPORT_HAS_FW)
        book_fw(op, m);
    if (flags & STROBE_REPORT_IS_KERNEL)
        book_kernel(op, m);
    if (flags & (STROBE_REPORT_IS_WAIT_FRONT | STROBE_REPORT_IS_RESERVE_BACK))
        book_sums(op, m);
}

/* ---- meta data ---- */

/* The number after "sub_device_id"; -1 when there is none. */
static int32_t decode_sub_device(struct strobe_report_span meta)
{
    static const char key[] = "\"sub_device_id\"";
    const char *at = memmem(meta.at, meta.len, key, sizeof key - 1), *end = meta.at + meta.len;
    if (!at)
        return -1;
    at += sizeof key - 1;
    while (at < end && (*at == ':' || *at == ' ' || *at == '"'))
        at++;
    int32_t value = 0;
    const char *from = at;
    while (at < end && *at >= '0' && *at <= '9' && at - from < 9)
        value = value * 10 + (*at++ - '0');
    return at > from ? value : -1;
}

static int32_t sub_device_of(struct strobe_report_device_ops *ops, struct strobe_report_span meta)
{
    if (ops->last_meta.len == meta.len && !memcmp(ops->last_meta.at, meta.at, meta.len))
        return ops->last_sub_device;
    strobe_out_clear(&ops->last_meta);
    strobe_out_bytes(&ops->last_meta, meta.at, meta.len);
    return ops->last_sub_device = decode_sub_device(meta);
}

static void book_meta(struct strobe_report_device_ops *ops, uint32_t index,
                      const struct strobe_report_marker *m)
{
    if (ops->counters && m->timer == STROBE_REPORT_COUNTER_TIMER &&
        m->series->risc == STROBE_REPORT_BRISC && m->zone->type >= STROBE_REPORT_TS_DATA) {
        ops->out_of_memory |= !strobe_report_counters_take(ops->counters, m);
        return;
    }
    int32_t sub_device = sub_device_of(ops, m->meta);
    if (sub_device < 0)
        return;
    device_op *op = &ops->ops[index];
    if (op->sub_device >= 0 && op->sub_device != sub_device && ops->faults)
        strobe_report_fault_add(ops->faults, STROBE_REPORT_FAULT_SUB_DEVICE,
                                STROBE_REPORT_DEVICE_FILE, m->line, "op %llu: %d and %d",
                                (unsigned long long)op->run, op->sub_device, sub_device);
    op->sub_device = sub_device;
}

/* ---- orphans ---- */

static void note_orphan(struct strobe_report_device_ops *ops, enum strobe_report_fault kind,
                        const struct strobe_report_series *series, uint64_t run, uint64_t line)
{
    if (ops->faults)
        strobe_report_fault_add(ops->faults, kind, STROBE_REPORT_DEVICE_FILE, line,
                                "op %llu, device %lld core %lld,%lld %s", (unsigned long long)run,
                                (long long)series->device, (long long)series->x,
                                (long long)series->y, series->name);
}

static void push_zone(struct strobe_report_device_ops *ops, struct strobe_report_series *series,
                      const struct strobe_report_marker *m)
{
    bool outermost = m->zone->flags & STROBE_REPORT_IS_FW;
    while (series->depth && (outermost || series->stack[series->depth - 1].run != m->run)) {
        series->depth--;
        note_orphan(ops, STROBE_REPORT_FAULT_ORPHAN_START, series, series->stack[series->depth].run,
                    series->stack[series->depth].line);
    }
    if (series->depth == STROBE_REPORT_STACK)
        return;
    series->stack[series->depth].source = m->zone->source;
    series->stack[series->depth].run = m->run;
    series->stack[series->depth++].line = m->line;
}

static void pop_zone(struct strobe_report_device_ops *ops, struct strobe_report_series *series,
                     const struct strobe_report_marker *m)
{
    uint32_t depth = series->depth;
    while (depth && (series->stack[depth - 1].source != m->zone->source ||
                     series->stack[depth - 1].run != m->run))
        depth--;
    if (!depth) {
        note_orphan(ops, STROBE_REPORT_FAULT_ORPHAN_END, series, m->run, m->line);
        return;
    }
    while (series->depth > depth) {
        series->depth--;
        note_orphan(ops, STROBE_REPORT_FAULT_ORPHAN_START, series, series->stack[series->depth].run,
                    series->stack[series->depth].line);
    }
    series->depth = depth - 1;
}

/* ---- all of it ---- */

bool strobe_report_device_ops_take(void *context, const struct strobe_report_marker *m)
{
    struct strobe_report_device_ops *ops = context;
    if (ops->only_sub_devices && !m->meta.len)
        return true;
    if (ops->op2op && !ops->only_sub_devices)
        ops->out_of_memory |= !strobe_report_op2op_take(ops->op2op, m);
    if (m->zone->flags & STROBE_REPORT_IS_DISPATCH && m->series->risc != STROBE_REPORT_ERISC)
        ops->has_dispatch = ops->log->cores[m->series->core].dispatch = true;
    if (!m->run || !m->timer)
        return true;
    ops->has_noc |= m->timer == STROBE_REPORT_NOC_TIMER;
    uint32_t head = find_head(ops, m);
    if (head == UINT32_MAX)
        return false;
    uint32_t index = ops->only_sub_devices ? head : find_run(ops, head, m);
    if (!ops->only_sub_devices)
        book(ops, &ops->ops[index], m);
    if (m->meta.len)
        book_meta(ops, index, m);
    if (ops->only_sub_devices)
        return true;
    if (m->zone->type == STROBE_REPORT_ZONE_START)
        push_zone(ops, m->series, m);
    else if (m->zone->type == STROBE_REPORT_ZONE_END)
        pop_zone(ops, m->series, m);
    return !ops->scattered && !ops->out_of_memory;
}

void strobe_report_device_ops_finish(struct strobe_report_device_ops *ops)
{
    for (uint32_t i = 0; i < ops->n; i++)
        close_core(&ops->ops[i]);
    for (uint32_t i = 0; i < ops->log->n_series; i++) {
        struct strobe_report_series *series = ops->log->series[i];
        while (series->depth) {
            series->depth--;
            note_orphan(ops, STROBE_REPORT_FAULT_ORPHAN_START, series,
                        series->stack[series->depth].run, series->stack[series->depth].line);
        }
    }
    if (ops->op2op)
        ops->out_of_memory |= !strobe_report_op2op_finish(ops->op2op);
}

/* Read again in order; `mark` is the ledger before the first try. */
static enum strobe_err read_sorted(struct strobe_report_device_ops *ops, const char *path,
                                   const struct strobe_report_log_options *options,
                                   const struct strobe_report_faults_mark *mark)
{
    reset(ops);
    ops->sorted = true;
    if (ops->counters)
        ops->counters->n = 0;
    if (ops->op2op)
        strobe_report_op2op_reset(ops->op2op);
    if (ops->faults) {
        strobe_report_faults_rewind(ops->faults, mark);
        strobe_report_fault_add(ops->faults, STROBE_REPORT_FAULT_SCATTERED,
                                STROBE_REPORT_DEVICE_FILE, 0, "read twice and sorted");
    }
    return strobe_report_log_read_sorted(ops->log, path, options);
}

enum strobe_err strobe_report_device_ops_read(struct strobe_report_device_ops *ops,
                                              const char *path,
                                              const struct strobe_report_log_options *options)
{
    struct strobe_report_log_options own = *options;
    struct strobe_report_faults_mark mark = {0};
    if (ops->faults)
        mark = strobe_report_faults_mark(ops->faults);
    own.take = strobe_report_device_ops_take;
    own.context = ops;
    enum strobe_err err = strobe_report_log_read(ops->log, path, &own);
    if (!err && ops->scattered)
        err = read_sorted(ops, path, &own, &mark);
    if (!err && ops->out_of_memory)
        err = STROBE_ERR_NOMEM;
    strobe_report_device_ops_finish(ops);
    return err;
}

/* ---- order ---- */

struct place {
    uint64_t time;
    uint32_t rank; /* ties stay in the order of the file */
    uint32_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Programs are told apart by run id alone here: replays of one program stay together. */
static void set_program_times(const struct strobe_report_device_ops *ops, struct place *places)
{
    struct strobe_map programs = {0};
    uint32_t *first = malloc((ops->n + 1) * sizeof *first);
    for (uint32_t i = 0; i < ops->n; i++) {
        uint64_t key = ops->ops[i].run << 8 ^ ops->ops[i].device;
        uint32_t program = (uint32_t)strobe_map_get(&programs, key, UINT32_MAX);
        places[i] = (struct place){ops->ops[i].first_time, i, i};
        if (program == UINT32_MAX) {
            strobe_map_put(&programs, key, i);
            program = i;
        }
        if (first)
            first[i] = program;
        if (places[i].time < places[program].time)
            places[program].time = places[i].time;
    }
    for (uint32_t i = 0; first && i < ops->n; i++) {
        places[i].time = places[first[i]].time;
        places[i].rank = first[i];
    }
    free(first);
    strobe_map_free(&programs);
}

/* By program; inside a program by the run's own first marker. */
static void sort_runs(const struct strobe_report_device_ops *ops, struct place *places)
{
    for (uint32_t from = 0, to; from < ops->n; from = to) {
        for (to = from; to < ops->n && places[to].rank == places[from].rank; to++)
            ;
        for (uint32_t i = from; i < to; i++) {
            places[i].time = ops->ops[places[i].index].first_time;
            places[i].rank = places[i].index;
        }
        qsort(places + from, to - from, sizeof *places, compare_places);
    }
}

uint32_t *strobe_report_device_ops_order(const struct strobe_report_device_ops *ops)
{
    struct place *places = malloc((ops->n + 1) * sizeof *places);
    uint32_t *order = malloc((ops->n + 1) * sizeof *order);
    if (!places || !order) {
        free(places);
        free(order);
        return NULL;
    }
    set_program_times(ops, places);
    if (ops->n) {
        qsort(places, ops->n, sizeof *places, compare_places);
        sort_runs(ops, places);
    }
    for (uint32_t i = 0; i < ops->n; i++)
        order[i] = places[i].index;
    free(places);
    return order;
}
