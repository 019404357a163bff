/* write_locks.c - locks of a .tracy file, each with its events in order of time.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tracy_file/write_parts.h"

static int compare_locks(const void *a, const void *b)
{
    const struct strobe_tracy_lock_row *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Give each mark to the last wait or obtain of its thread. The marks stay, with type 255. */
static void place_marks(struct strobe_tracy_lock_row *rows, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t j = i; rows[i].type == UINT8_MAX && j-- > 0 && i - j < 4096;)
            if (rows[j].thread == rows[i].thread && rows[j].type != UINT8_MAX &&
                rows[j].type % 3 != 2) {
                rows[j].loc = rows[i].loc;
                break;
            }
}

/* The number of a thread among those of a lock; -1: there are 64 others. */
static int lock_thread(uint32_t *threads, unsigned *n, uint32_t thread)
{
    for (unsigned i = 0; i < *n; i++)
        if (threads[i] == thread)
            return (int)i;
    if (*n == STROBE_TRACY_MAX_LOCK_THREADS)
        return -1;
    threads[*n] = thread;
    return (int)(*n)++;
}

static void put_lock(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                     uint32_t lock, struct strobe_tracy_lock_row *rows, uint64_t n,
                     struct strobe_tracy_out *out)
{
    const struct strobe_tracy_model_lock *row = &model->locks[lock];
    uint32_t fact = strobe_idmap_find(&model->facts.lock_ids, row->process, row->id);
    uint32_t threads[STROBE_TRACY_MAX_LOCK_THREADS];
    unsigned n_threads = 0;
    uint64_t n_events = 0;
    int is_shared = fact != STROBE_IDMAP_NONE && model->facts.locks[fact].is_shared;
    place_marks(rows, n);
    for (uint64_t i = 0; i < n; i++) {
        if (rows[i].type == UINT8_MAX)
            continue;
        is_shared |= rows[i].type >= 3;
        if (lock_thread(threads, &n_threads, rows[i].thread) >= 0)
            n_events++;
        else
            model->folds->n_lock_events++;
    }
    int64_t ref = n ? rows[0].time : 0;
    if (fact != STROBE_IDMAP_NONE && model->facts.locks[fact].made)
        ref = strobe_client_own_ns(&model->facts, row->process, model->facts.locks[fact].made);
    strobe_tracy_out_u32(out, lock); /* of the file: the clients' may collide */
    strobe_tracy_put_idx(out, names->locks[lock]);
    strobe_tracy_out_i16(out, names->lock_locs[lock]);
    strobe_tracy_out_u8(out, is_shared != 0);
    strobe_tracy_out_u8(out, 1);
    strobe_tracy_out_i64(out, ref);
    strobe_tracy_out_i64(out, row->gone);
    strobe_tracy_out_u64(out, n_threads);
    for (unsigned i = 0; i < n_threads; i++)
        strobe_tracy_out_u64(out, model->threads[threads[i]].tid);
    strobe_tracy_out_u64(out, n_events);
    for (uint64_t i = 0; i < n; i++) {
        int thread =
            rows[i].type == UINT8_MAX ? -1 : lock_thread(threads, &n_threads, rows[i].thread);
        if (thread < 0)
            continue;
        strobe_tracy_put_time(out, &ref, rows[i].time);
        strobe_tracy_out_i16(out, rows[i].loc);
        strobe_tracy_out_u8(out, (uint8_t)thread);
        strobe_tracy_out_u8(out, rows[i].type);
    }
}

void strobe_tracy_write_locks(struct strobe_tracy_model *model,
                              const struct strobe_tracy_names *names, struct strobe_tracy_out *out)
{
    struct strobe_tracy_lock_row *rows = model->lock_events.rows;
    uint64_t n = model->lock_events.n, at = 0;
    if (n)
        qsort(rows, n, sizeof *rows, compare_locks);
    strobe_tracy_out_u64(out, model->lock_ids.n);
    for (uint32_t lock = 0; lock < model->lock_ids.n; lock++) {
        uint64_t first = at;
        while (at < n && rows[at].lock == lock)
            at++;
        put_lock(model, names, lock, rows + first, at - first, out);
    }
}
