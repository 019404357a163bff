/* switches.c - see switches.h.
 *
 * Switches of processors come on one track, a thread's own on another: all are put in order of time first. Where a trace has
 * no switches of threads, those of processors say when the program's threads ran.
 * SPDX-License-Identifier: MIT */
#include "tracy_file/switches.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tracy_file/write_parts.h"

enum { FIBER_REASON = 99, NO_STATE = 255, MOST_OTHERS = UINT16_MAX, NONE = -1 };

/* ---- taking ---------------------------------------------------------------------------------- */

void strobe_tracy_switches_start(struct strobe_tracy_switches *switches, const char *folder)
{
    switches->turns.row_bytes = sizeof(struct strobe_tracy_turn_row);
    switches->runs.row_bytes = sizeof(struct strobe_tracy_run_row);
    switches->cpu_runs.row_bytes = sizeof(struct strobe_tracy_cpu_row);
    switches->turns.folder = switches->runs.folder = switches->cpu_runs.folder = folder;
}

void strobe_tracy_switches_free(struct strobe_tracy_switches *switches)
{
    strobe_spool_free(&switches->turns);
    strobe_spool_free(&switches->runs);
    strobe_spool_free(&switches->cpu_runs);
    strobe_idmap_free(&switches->ids);
    free(switches->others);
}

int strobe_tracy_switches_take(struct strobe_tracy_model *model,
                               const struct strobe_happening *happening)
{
    struct strobe_tracy_switches *switches = &model->switches;
    const struct strobe_event *event = happening->event;
    const struct strobe_field *f = event->fields;
    if (f[0].u >= STROBE_TRACY_CPUS && event->kind != STROBE_KIND_WAKEUP) {
        model->folds->n_switches++;
        return 1;
    }
    struct strobe_tracy_turn_row *row = strobe_spool_add(&switches->turns);
    if (!row)
        return 0;
    *row = (struct strobe_tracy_turn_row){
        .time = strobe_tracy_when(model, happening->process, event->tick, event->own),
        .order = switches->turns.n,
        .kind = (uint8_t)event->kind,
        .cpu = (uint8_t)f[0].u,
        .to = model->trace->threads[happening->thread].tid,
        .state = NO_STATE,
    };
    if (event->kind == STROBE_KIND_WAKEUP) {
        row->to = f[0].u;
        row->cpu = (uint8_t)f[1].u;
    } else if (event->kind == STROBE_KIND_CPU_SWITCH) {
        row->from = f[1].u;
        row->to = f[2].u;
        row->reason = (uint8_t)f[3].u;
        row->state = (uint8_t)f[4].u;
    } else {
        row->reason = (uint8_t)f[1].u;
        switches->has_in += event->kind == STROBE_KIND_SWITCH_IN;
    }
    return 1;
}

static int add_run(struct strobe_tracy_switches *switches, const struct strobe_tracy_run_row *run)
{
    struct strobe_tracy_run_row *row = strobe_spool_add(&switches->runs);
    if (row)
        *row = *run;
    return row != NULL;
}

int strobe_tracy_switches_fiber(struct strobe_tracy_model *model, uint32_t fiber, uint32_t carrier,
                                int64_t start, int64_t end)
{
    return add_run(&model->switches,
                   &(struct strobe_tracy_run_row){.wakeup = start,
                                                  .start = start,
                                                  .end = end,
                                                  .tid = model->threads[fiber].tid,
                                                  .carrier = model->threads[carrier].tid,
                                                  .reason = FIBER_REASON,
                                                  .state = NO_STATE});
}

/* ---- runs ------------------------------------------------------------------------------------ */

static uint32_t other_of(struct strobe_tracy_switches *switches, uint64_t tid)
{
    uint32_t before = switches->ids.n;
    uint32_t i = strobe_idmap_add_row(&switches->ids, 0, tid, (void **)&switches->others,
                                      &switches->others_room, sizeof *switches->others);
    if (i == before && i != STROBE_IDMAP_NONE)
        switches->others[i] =
            (struct strobe_tracy_other){.wakeup = NONE, .start = NONE, .sum.last_cpu = UINT32_MAX};
    return i;
}

static int compare_turns(const void *a, const void *b)
{
    const struct strobe_tracy_turn_row *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void begin_run(struct strobe_tracy_switches *switches, uint32_t who,
                      const struct strobe_tracy_turn_row *turn)
{
    struct strobe_tracy_other *other = &switches->others[who];
    STROBE_ASSERT(who < switches->ids.n);
    other->start = turn->time;
    other->cpu = turn->cpu;
    if (other->wakeup < 0) {
        other->wakeup = turn->time;
        other->wakeup_cpu = turn->cpu;
    }
}

static int end_run(struct strobe_tracy_switches *switches, uint32_t who, int64_t end,
                   uint8_t reason, uint8_t state)
{
    struct strobe_tracy_other *other = &switches->others[who];
    struct strobe_tracy_run_row run = {
        other->wakeup, other->start, end,   switches->ids.keys[who].id, 0,
        other->cpu,    reason,       state, other->wakeup_cpu};
    if (other->start < 0)
        return 1;
    other->start = other->wakeup = NONE;
    return add_run(switches, &run);
}

/* The run of a processor: who, since when. */
struct turn_of_cpu {
    uint32_t thread; /* index + 1, 0: none */
    int64_t start;
};

static int end_cpu(struct strobe_tracy_switches *switches, struct turn_of_cpu *now, uint8_t cpu,
                   int64_t end)
{
    uint32_t who = now->thread;
    STROBE_ASSERT(who <= switches->ids.n);
    now->thread = 0;
    if (!who)
        return 1;
    struct strobe_tracy_cpu_row *row = strobe_spool_add(&switches->cpu_runs);
    if (!row)
        return 0;
    *row = (struct strobe_tracy_cpu_row){now->start, end, who - 1, cpu};
    if (end == NONE)
        return 1; /* it runs on: sums are of what is over */
    struct strobe_tracy_run_sum *sum = &switches->others[who - 1].sum;
    sum->running += end > now->start ? end - now->start : 0;
    sum->regions++;
    sum->migrations += sum->last_cpu != UINT32_MAX && sum->last_cpu != cpu;
    sum->last_cpu = cpu;
    return 1;
}

static int is_local(const struct strobe_tracy_model *model, uint64_t tid)
{
    return tid && strobe_idmap_find(&model->tids, 0, tid) != STROBE_IDMAP_NONE;
}

static int take_cpu_turn(struct strobe_tracy_model *model, struct turn_of_cpu *cpus,
                         const struct strobe_tracy_turn_row *turn)
{
    struct strobe_tracy_switches *switches = &model->switches;
    uint32_t from = other_of(switches, turn->from), to = other_of(switches, turn->to);
    if (from == STROBE_IDMAP_NONE || to == STROBE_IDMAP_NONE ||
        !end_cpu(switches, &cpus[turn->cpu], turn->cpu, turn->time))
        return 0;
    if (turn->to)
        cpus[turn->cpu] = (struct turn_of_cpu){to + 1, turn->time};
    if (switches->has_in)
        return 1;
    if (is_local(model, turn->from) &&
        !end_run(switches, from, turn->time, turn->reason, turn->state))
        return 0;
    if (is_local(model, turn->to))
        begin_run(switches, to, turn);
    return 1;
}

static int take_turn(struct strobe_tracy_model *model, struct turn_of_cpu *cpus,
                     const struct strobe_tracy_turn_row *turn)
{
    struct strobe_tracy_switches *switches = &model->switches;
    uint32_t who = other_of(switches, turn->to);
    if (who == STROBE_IDMAP_NONE)
        return 0;
    switch (turn->kind) {
    case STROBE_KIND_CPU_SWITCH:
        return take_cpu_turn(model, cpus, turn);
    case STROBE_KIND_WAKEUP:
        if (switches->others[who].wakeup < 0) {
            switches->others[who].wakeup = turn->time;
            switches->others[who].wakeup_cpu = turn->cpu;
        }
        return 1;
    case STROBE_KIND_SWITCH_IN:
        begin_run(switches, who, turn);
        return 1;
    default:
        return end_run(switches, who, turn->time, turn->reason, turn->state);
    }
}

/* ---- names of others' threads ---------------------------------------------------------------- */

void strobe_tracy_switches_name(struct strobe_tracy_model *model, const struct strobe_field *f)
{
    uint32_t i = other_of(&model->switches, f[0].u);
    if (i == STROBE_IDMAP_NONE)
        return;
    struct strobe_tracy_other *other = &model->switches.others[i];
    other->pid = f[1].u;
    other->process = strobe_tracy_model_string(model, f[2].text, f[2].u) + 1;
    other->name = strobe_tracy_model_string(model, f[3].text, f[3].u) + 1;
}

enum strobe_err strobe_tracy_switches_gather(struct strobe_tracy_model *model)
{
    struct strobe_tracy_switches *switches = &model->switches;
    struct turn_of_cpu *cpus = calloc(STROBE_TRACY_CPUS, sizeof *cpus);
    struct strobe_tracy_turn_row *turns = switches->turns.rows;
    uint64_t n = switches->turns.n;
    int ok = cpus != NULL;
    if (n)
        qsort(turns, n, sizeof *turns, compare_turns);
    ok = ok && other_of(switches, 0) == 0; /* number 0 of the file is nobody */
    for (uint64_t i = 0; ok && i < n; i++)
        ok = take_turn(model, cpus, &turns[i]);
    for (uint32_t i = 0; ok && i < switches->ids.n; i++)
        ok = end_run(switches, i, NONE, 0, NO_STATE);
    for (uint32_t cpu = 0; ok && cpu < STROBE_TRACY_CPUS; cpu++)
        ok = end_cpu(switches, &cpus[cpu], (uint8_t)cpu, NONE);
    free(cpus);
    return ok ? STROBE_OK : STROBE_ERR_NOSPACE;
}

/* ---- sections -------------------------------------------------------------------------------- */

void strobe_tracy_put_other_names(const struct strobe_tracy_model *model,
                                  struct strobe_tracy_out *out)
{
    const struct strobe_tracy_switches *switches = &model->switches;
    uint64_t n = 0;
    for (uint32_t i = 0; i < switches->ids.n; i++)
        n += switches->others[i].name != 0;
    strobe_tracy_out_u64(out, n);
    for (uint32_t i = 0; i < switches->ids.n; i++) {
        if (!switches->others[i].name)
            continue;
        strobe_tracy_out_u64(out, switches->ids.keys[i].id);
        strobe_tracy_out_u64(out, switches->others[i].process); /* a string's pointer */
        strobe_tracy_out_u64(out, switches->others[i].name);
    }
}

void strobe_tracy_put_other_ids(const struct strobe_tracy_model *model,
                                struct strobe_tracy_out *out)
{
    uint32_t n = model->switches.ids.n < MOST_OTHERS ? model->switches.ids.n : MOST_OTHERS;
    strobe_tracy_out_u64(out, n ? n : 1);
    if (!n)
        strobe_tracy_out_u64(out, 0);
    for (uint32_t i = 0; i < n; i++)
        strobe_tracy_out_u64(out, model->switches.ids.keys[i].id);
}

static int compare_runs(const void *a, const void *b)
{
    const struct strobe_tracy_run_row *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void put_threads_runs(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_tracy_switches *switches = &model->switches;
    struct strobe_tracy_run_row *runs = switches->runs.rows;
    uint64_t n = switches->runs.n, n_threads = 0;
    if (n)
        qsort(runs, n, sizeof *runs, compare_runs);
    for (uint64_t i = 0; i < n; i++)
        n_threads += !i || runs[i].tid != runs[i - 1].tid;
    strobe_tracy_out_u64(out, n_threads);
    for (uint64_t first = 0, end; first < n; first = end) {
        int64_t ref = 0;
        for (end = first; end < n && runs[end].tid == runs[first].tid;)
            end++;
        strobe_tracy_out_u64(out, runs[first].tid);
        strobe_tracy_out_u64(out, end - first);
        for (uint64_t i = first; i < end; i++) {
            strobe_tracy_put_time(out, &ref, runs[i].wakeup);
            strobe_tracy_put_time(out, &ref, runs[i].start);
            strobe_tracy_put_time(out, &ref, runs[i].end);
            strobe_tracy_out_u8(out, runs[i].cpu);
            strobe_tracy_out_u8(out, runs[i].reason);
            strobe_tracy_out_u8(out, runs[i].state);
            strobe_tracy_out_u64(out, runs[i].carrier);
            if (model->layout >= STROBE_TRACY_LAYOUT_14)
                strobe_tracy_out_u8(out, runs[i].wakeup_cpu);
        }
    }
}

static int compare_cpus(const void *a, const void *b)
{
    const struct strobe_tracy_cpu_row *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

void strobe_tracy_put_runs(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_tracy_switches *switches = &model->switches;
    struct strobe_tracy_cpu_row *rows = switches->cpu_runs.rows;
    uint64_t n = switches->cpu_runs.n, at = 0;
    put_threads_runs(model, out);
    if (n)
        qsort(rows, n, sizeof *rows, compare_cpus);
    strobe_tracy_out_u64(out, n);
    for (uint32_t cpu = 0; cpu < STROBE_TRACY_CPUS; cpu++) {
        uint64_t first = at;
        int64_t ref = 0;
        while (at < n && rows[at].cpu == cpu)
            at++;
        strobe_tracy_out_u64(out, at - first);
        STROBE_ASSERT(cpu + 1 < STROBE_TRACY_CPUS || at == n); /* all were written */
        for (uint64_t i = first; i < at; i++) {
            strobe_tracy_put_time(out, &ref, rows[i].start);
            strobe_tracy_put_time(out, &ref, rows[i].end);
            strobe_tracy_out_u16(out, rows[i].thread < MOST_OTHERS ? (uint16_t)rows[i].thread : 0);
        }
    }
}

void strobe_tracy_put_pids(const struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    const struct strobe_tracy_switches *switches = &model->switches;
    uint64_t n = 0, n_sums = 0;
    for (uint32_t i = 0; i < model->thread_ids.n; i++)
        n += model->threads[i].process != model->first_process;
    for (uint32_t i = 0; i < switches->ids.n; i++) {
        n += switches->others[i].pid != 0;
        n_sums += switches->others[i].sum.regions != 0;
    }
    strobe_tracy_out_u64(out, n);
    for (uint32_t i = 0; i < model->thread_ids.n; i++)
        if (model->threads[i].process != model->first_process) {
            strobe_tracy_out_u64(out, model->threads[i].tid);
            strobe_tracy_out_u64(out, model->trace->processes[model->threads[i].process].pid);
        }
    for (uint32_t i = 0; i < switches->ids.n; i++)
        if (switches->others[i].pid) {
            strobe_tracy_out_u64(out, switches->ids.keys[i].id);
            strobe_tracy_out_u64(out, switches->others[i].pid);
        }
    strobe_tracy_out_u64(out, n_sums);
    for (uint32_t i = 0; i < switches->ids.n; i++) {
        const struct strobe_tracy_run_sum *sum = &switches->others[i].sum;
        if (!sum->regions)
            continue;
        strobe_tracy_out_u64(out, switches->ids.keys[i].id);
        strobe_tracy_out_i64(out, sum->running);
        strobe_tracy_out_u32(out, sum->regions);
        strobe_tracy_out_u32(out, sum->migrations);
    }
}
