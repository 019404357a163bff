/* sums.c - a crew of threads over the blocks of a trace.
 *
 * Each takes the next block under the crew's lock, decodes it, and adds the zones of its parts to rows
 * of its own; the rows are joined at the end. What changes the trace (processes that no record names,
 * holes) is done under the lock.
 *
 * Most parts hold nothing but begins and ends of zones. There a begin and an end are the same work, since
 * nobody can foretell which comes next: each event is taken for the end of the innermost zone and for the
 * begin of another, and what it was not is written over by the next.
 * All other parts are replayed (file/replay.h).  SPDX-License-Identifier: MIT */
#include "query/sums.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "file/replay.h"

#define INLINE inline __attribute__((always_inline))

enum { MAX_WORKERS = 4 };

/* How ticks of a process become ns. Differences alone count: no origin is added. */
struct axis {
    uint64_t zero;
    uint64_t mult; /* 32.32; 0: `timer_mul` */
    double timer_mul;
};

struct crew {
    struct strobe_trace *trace;              /* borrowed */
    const struct strobe_client_facts *facts; /* borrowed */
    struct strobe_block_iter *iter;          /* owned; under `lock` */
    pthread_mutex_t lock;
    enum strobe_err err; /* of the first worker that failed; under `lock` */
};

/* A zone: when it began, or, once it ended, how long it took. */
struct open {
    int64_t ns;
    uint64_t slot;
};

struct worker {
    struct crew *crew;
    pthread_t thread;
    struct strobe_sums sums;
    struct strobe_block block;
    struct strobe_events events;
    struct strobe_replay replay;
    struct strobe_ns_sum *part_rows; /* owned: by slot of a part */
    struct open *stack, *ended;      /* owned */
    uint32_t part_rows_room, stack_room, ended_room;
};

int strobe_sums_serve(const struct strobe_trace *trace)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    return totals->has_totals && !totals->n_of_kind[STROBE_KIND_FIBER_ENTER] && !trace->has_twins &&
           !trace->n_own_pieces && trace->clock.n_pieces == 1;
}

void strobe_ns_sum_join(struct strobe_ns_sum *to, const struct strobe_ns_sum *from)
{
    if (!from->n)
        return;
    to->min = !to->n || from->min < to->min ? from->min : to->min;
    to->max = !to->n || from->max > to->max ? from->max : to->max;
    to->n += from->n;
    to->total += from->total;
    to->squares += from->squares;
}

/* To a row that began with the greatest minimum. */
static inline void add_time(struct strobe_ns_sum *sum, int64_t ns)
{
    sum->min = ns < sum->min ? ns : sum->min;
    sum->max = ns > sum->max ? ns : sum->max;
    sum->n++;
    sum->total += (uint64_t)ns;
    sum->squares += (unsigned __int128)(uint64_t)ns * (uint64_t)ns;
}

/* ---- a part ---------------------------------------------------------------------------------- */

static struct axis axis_of(const struct crew *crew, uint32_t process)
{
    const struct strobe_client_fact *client = strobe_client_of(crew->facts, process);
    const struct strobe_clock *clock = &crew->trace->clock;
    if (client)
        return (struct axis){.zero = client->init_begin, .timer_mul = client->timer_mul};
    return (struct axis){.zero = clock->pieces[0].tick, .mult = clock->mult};
}

static inline int64_t ns_of_client(const struct axis *axis, uint64_t tick)
{
    return (int64_t)((double)(int64_t)(tick - axis->zero) * axis->timer_mul);
}

static inline int64_t ns_of(const struct axis *axis, uint64_t tick)
{
    return axis->mult ? (int64_t)((__int128)(int64_t)(tick - axis->zero) * axis->mult >> 32)
                      : ns_of_client(axis, tick);
}

/* 1: nothing but ends and begins at locations that the part lists. */
static int is_plain(const struct strobe_events *events, const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    const uint8_t n_locs =
        (uint8_t)(part->n_locs < STROBE_SYM_BEGIN_DIRECT ? part->n_locs : STROBE_SYM_BEGIN_DIRECT);
    uint8_t other = part->n_side != 0;
    for (uint32_t i = 0; i < part->n_events; i++)
        other |= (uint8_t)((sym[i] != STROBE_KIND_ZONE_END) &
                           ((uint8_t)(sym[i] - STROBE_SYM_BEGIN) >= n_locs));
    return !other;
}

/* Rows of a part, empty; room for what may be open in it. */
static int make_part_room(struct worker *worker, const struct strobe_part *part)
{
    uint32_t n = part->n_locs + part->n_stack;
    if (STROBE_ARRAY_REACH(worker->part_rows, worker->part_rows_room, n) ||
        STROBE_ARRAY_REACH(worker->stack, worker->stack_room,
                           (uint64_t)part->n_stack + part->n_events + 1) ||
        STROBE_ARRAY_REACH(worker->ended, worker->ended_room, part->n_events))
        return 0;
    for (uint32_t i = 0; i <= n; i++)
        worker->part_rows[i] = (struct strobe_ns_sum){.min = INT64_MAX};
    return 1;
}

/* What is open at the start of a part: the last of worker->stack. Below lies one that nothing began. */
static struct open *fill_stack(struct worker *worker, const struct strobe_part *part,
                               const struct axis *axis)
{
    struct open *top = worker->stack;
    *top = (struct open){0, part->n_locs + part->n_stack};
    for (uint32_t i = 0; i < part->n_stack; i++)
        *++top = (struct open){ns_of(axis, part->stack[i].begin), part->n_locs + i};
    return top;
}

/* A time that grows by steps of ticks. */
struct moment {
    uint64_t tick;            /* of a client's clock */
    unsigned __int128 scaled; /* of the trace's: (tick - zero) * mult */
};

static INLINE void pass_time(struct moment *now, int64_t step, const struct axis *axis,
                             int is_client)
{
    if (is_client)
        now->tick += (uint64_t)step;
    else
        now->scaled += (unsigned __int128)((__int128)step * (__int128)axis->mult);
}

static INLINE int64_t moment_ns(const struct moment *now, const struct axis *axis, int is_client)
{
    return is_client ? ns_of_client(axis, now->tick) : (int64_t)(now->scaled >> 32);
}

/* The zones that end in a plain part go to worker->ended. Their number; -1: a step is cut off, or a
 * zone ends that never began. */
static INLINE int64_t pair_plain(struct worker *worker, const struct strobe_part *part,
                                 const struct axis *axis, const int is_client)
{
    const struct strobe_events *events = &worker->events;
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    const uint8_t *lo = events->stream[STROBE_LO] + part->first_event;
    const uint8_t *hi = events->stream[STROBE_HI] + part->first_event;
    struct strobe_bytes big =
        strobe_bytes_over(events->stream[STROBE_BIG] + part->big_at, part->n_big);
    struct open *top = fill_stack(worker, part, axis), *ended = worker->ended;
    struct moment now = {.tick = axis->zero};
    pass_time(&now, (int64_t)(part->first_tick - axis->zero), axis, is_client);
    for (uint32_t i = 0; i < part->n_events; i++) {
        uint32_t step = lo[i] | (uint32_t)hi[i] << 8;
        if (__builtin_expect(step == 65535, 0)) {
            pass_time(&now, strobe_get_zigzag(&big), axis, is_client);
            if (big.bad)
                return -1;
        } else {
            pass_time(&now, step, axis, is_client);
        }
        const uint64_t begins = sym[i] >= STROBE_SYM_BEGIN;
        *ended = (struct open){moment_ns(&now, axis, is_client) - top->ns, top->slot};
        top[1] =
            (struct open){moment_ns(&now, axis, is_client), sym[i] - (uint64_t)STROBE_SYM_BEGIN};
        top += 2 * (int64_t)begins - 1;
        ended += 1 - begins;
        if (__builtin_expect(top < worker->stack, 0))
            return -1;
    }
    return ended - worker->ended;
}

static __attribute__((noinline)) int64_t
pair_native(struct worker *worker, const struct strobe_part *part, const struct axis *axis)
{
    return pair_plain(worker, part, axis, 0);
}

static __attribute__((noinline)) int64_t
pair_client(struct worker *worker, const struct strobe_part *part, const struct axis *axis)
{
    return pair_plain(worker, part, axis, 1);
}

static enum strobe_err add_plain(struct worker *worker, const struct strobe_part *part,
                                 const struct axis *axis)
{
    int64_t n = axis->mult ? pair_native(worker, part, axis) : pair_client(worker, part, axis);
    for (int64_t i = 0; i < n; i++)
        if (worker->ended[i].ns > 0)
            add_time(&worker->part_rows[worker->ended[i].slot], worker->ended[i].ns);
    return n < 0 ? STROBE_ERR_CORRUPT : STROBE_OK;
}

/* Of any part. */
static enum strobe_err add_replayed(struct worker *worker, const struct strobe_part *part,
                                    const struct axis *axis)
{
    struct strobe_replay *replay = &worker->replay;
    enum strobe_err err =
        strobe_replay_part(&worker->events, part, &worker->crew->trace->schema, 0, NULL, replay);
    if (err && err != STROBE_ERR_CORRUPT)
        return err;
    for (uint32_t i = 0; i < replay->n_zones; i++) {
        const struct strobe_zone_row *zone = &replay->zones[i];
        if (zone->state != STROBE_ZONE_ENDED)
            continue;
        int64_t ns = ns_of(axis, zone->begin + zone->ticks) - ns_of(axis, zone->begin);
        if (ns > 0)
            add_time(&worker->part_rows[zone->slot], ns);
    }
    return err;
}

static enum strobe_err add_zones(struct worker *worker, const struct strobe_part *part,
                                 const struct axis *axis)
{
    enum strobe_err err = STROBE_ERR_CORRUPT;
    if (!make_part_room(worker, part))
        return STROBE_ERR_NOMEM;
    if (is_plain(&worker->events, part))
        err = add_plain(worker, part, axis);
    return err ? add_replayed(worker, part, axis) : STROBE_OK;
}

static void join_part(struct worker *worker, const struct strobe_part *part, uint32_t process)
{
    struct strobe_sums *sums = &worker->sums;
    for (uint32_t i = 0; i < part->n_locs + part->n_stack; i++) {
        if (!worker->part_rows[i].n)
            continue;
        uint32_t loc = strobe_trace_loc(worker->crew->trace, process, strobe_slot_loc(part, i));
        uint32_t last = sums->n_rows - 1;
        strobe_ns_sum_join(&sums->rows[loc < last ? loc : last], &worker->part_rows[i]);
    }
}

static enum strobe_err sum_part(struct worker *worker, const struct strobe_part *part)
{
    struct strobe_sums *sums = &worker->sums;
    struct crew *crew = worker->crew;
    if (!part->n_events)
        return STROBE_OK;
    uint64_t last = part->first_tick < part->last_tick ? part->last_tick : part->first_tick;
    sums->tick_last = !sums->n_events || last > sums->tick_last ? last : sums->tick_last;
    sums->n_events += part->n_events;
    pthread_mutex_lock(&crew->lock);
    uint32_t process = strobe_trace_process(crew->trace, part->proc);
    pthread_mutex_unlock(&crew->lock);
    if (process == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    const struct axis axis = axis_of(crew, process);
    enum strobe_err err = add_zones(worker, part, &axis);
    if (err && err != STROBE_ERR_CORRUPT)
        return err;
    sums->n_bad_parts += err == STROBE_ERR_CORRUPT;
    join_part(worker, part, process);
    return STROBE_OK;
}

/* ---- the crew -------------------------------------------------------------------------------- */

/* The next block, unless somebody failed. */
static enum strobe_err take_block(struct crew *crew, struct strobe_block_ref *ref)
{
    pthread_mutex_lock(&crew->lock);
    enum strobe_err err = crew->err ? crew->err : strobe_file_next(crew->iter, ref);
    pthread_mutex_unlock(&crew->lock);
    return err;
}

static enum strobe_err sum_block(struct worker *worker, const struct strobe_block_ref *ref)
{
    struct crew *crew = worker->crew;
    enum strobe_err err = strobe_file_load(crew->trace->file, ref, &worker->block);
    if (!err)
        err = strobe_decode_parts(&worker->block, &worker->events);
    if (!err)
        err = strobe_decode_streams(&worker->block, STROBE_ALL_STREAMS, &worker->events);
    if (err == STROBE_ERR_CORRUPT) {
        pthread_mutex_lock(&crew->lock);
        strobe_file_note_hole(crew->trace->file, ref);
        pthread_mutex_unlock(&crew->lock);
        return STROBE_OK;
    }
    for (uint32_t i = 0; i < worker->events.n_parts && !err; i++)
        err = sum_part(worker, &worker->events.parts[i]);
    return err;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct crew *crew = worker->crew;
    struct strobe_block_ref ref;
    enum strobe_err err;
    while ((err = take_block(crew, &ref)) == STROBE_OK &&
           (err = sum_block(worker, &ref)) == STROBE_OK) {
    }
    if (err != STROBE_ERR_END) {
        pthread_mutex_lock(&crew->lock);
        crew->err = crew->err ? crew->err : err;
        pthread_mutex_unlock(&crew->lock);
    }
    return NULL;
}

/* Threads beside the caller's, as many as can be started. */
static uint32_t start_helpers(struct worker *workers, uint32_t n)
{
    uint32_t started = 0;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (started < n && !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
        started++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

static void free_worker(struct worker *worker)
{
    strobe_sums_free(&worker->sums);
    strobe_block_free(&worker->block);
    strobe_events_free(&worker->events);
    strobe_replay_free(&worker->replay);
    free(worker->part_rows);
    free(worker->stack);
    free(worker->ended);
}

static void join_sums(struct strobe_sums *to, const struct strobe_sums *from)
{
    if (from->n_events && (!to->n_events || from->tick_last > to->tick_last))
        to->tick_last = from->tick_last;
    to->n_events += from->n_events;
    to->n_bad_parts += from->n_bad_parts;
    for (uint32_t i = 0; i < to->n_rows; i++)
        strobe_ns_sum_join(&to->rows[i], &from->rows[i]);
}

static int make_rows(const struct strobe_trace *trace, struct strobe_sums *sums)
{
    sums->n_rows = trace->loc_ids.n + 1;
    sums->rows = calloc(sums->n_rows, sizeof *sums->rows);
    return sums->rows != NULL;
}

static enum strobe_err run_crew(struct crew *crew, struct worker *workers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        workers[i].crew = crew;
        if (!make_rows(crew->trace, &workers[i].sums))
            return STROBE_ERR_NOMEM;
    }
    uint32_t n_helpers = start_helpers(workers + 1, n - 1);
    work(&workers[0]);
    for (uint32_t i = 1; i <= n_helpers; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 1; i < n; i++)
        join_sums(&workers[0].sums, &workers[i].sums);
    return crew->err;
}

enum strobe_err strobe_sums_run(struct strobe_trace *trace, const struct strobe_client_facts *facts,
                                struct strobe_sums *out)
{
    struct crew crew = {.trace = trace, .facts = facts, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker workers[MAX_WORKERS] = {0};
    struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS};
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = n_cpus < 1 ? 1 : n_cpus > MAX_WORKERS ? MAX_WORKERS : (uint32_t)n_cpus;
    memset(out, 0, sizeof *out);
    enum strobe_err err = strobe_file_iterate(trace->file, &filter, &crew.iter);
    if (err)
        return err;
    err = run_crew(&crew, workers, n);
    *out = workers[0].sums;
    memset(&workers[0].sums, 0, sizeof workers[0].sums);
    for (uint32_t i = 0; i < n; i++)
        free_worker(&workers[i]);
    strobe_file_end_iterate(crew.iter);
    return err;
}

void strobe_sums_free(struct strobe_sums *sums)
{
    free(sums->rows);
    memset(sums, 0, sizeof *sums);
}
