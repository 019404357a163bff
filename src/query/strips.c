/* strips.c - rows of items: adding, levels, looking at a range, close-ups.  SPDX-License-Identifier: MIT */
#include "query/strips.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum { LEVEL_STEP = 2, FIRST_LEVEL = 10, NEAR = 3 };

static uint64_t length_of(const struct strobe_strip_item *item, enum strobe_strip_kind kind)
{
    STROBE_ASSERT(item->is_one);
    if (kind == STROBE_STRIP_CPU)
        return item->ticks[STROBE_STRIP_RUN];
    return item->ticks[STROBE_STRIP_RUN] + item->ticks[STROBE_STRIP_READY] +
           item->ticks[STROBE_STRIP_WAIT];
}

/* ---- adding ---- */

/* A new last item. What comes late is sorted in later: sort_row. NULL without memory. */
static struct strobe_strip_item *append(struct strobe_strip_row *row, uint64_t at)
{
    struct strobe_strip_item *item = STROBE_ARRAY_PUSH(row->items, row->n_items, row->items_room);
    if (!item)
        return NULL;
    *item = (struct strobe_strip_item){.at = at};
    if (row->n_items > 1 && item[-1].at > at)
        row->is_unsorted = 1;
    return item;
}

/* The bucket with a tick, made if need be: one of the last. A stretch that begins in it may stand behind it. */
static struct strobe_strip_item *bucket_of(struct strobe_strip_row *row, uint32_t level,
                                           uint64_t tick, uint64_t at)
{
    uint32_t n = row->n_items;
    for (uint32_t i = n; i-- > 0 && i + NEAR >= n;)
        if (!row->items[i].is_one && row->items[i].at >> level == tick >> level)
            return &row->items[i];
    return append(row, at);
}

/* Add sums to the bucket with a tick. */
static enum strobe_err add_sums(struct strobe_strip_row *row, enum strobe_strip_kind kind,
                                uint32_t level, uint64_t tick, const struct strobe_strip_item *sums)
{
    uint64_t at = kind == STROBE_STRIP_SAMPLES ? tick : tick >> level << level;
    struct strobe_strip_item *bucket = bucket_of(row, level, tick, at);
    if (!bucket)
        return STROBE_ERR_NOMEM;
    if (kind == STROBE_STRIP_CPU) {
        uint64_t longest = sums->ticks[STROBE_STRIP_READY];
        bucket->ticks[STROBE_STRIP_RUN] += sums->ticks[STROBE_STRIP_RUN];
        if (longest > bucket->ticks[STROBE_STRIP_READY]) {
            bucket->ticks[STROBE_STRIP_READY] = longest;
            bucket->who = sums->who;
        }
    } else {
        for (int i = 0; i < STROBE_STRIP_STATES; i++)
            bucket->ticks[i] += sums->ticks[i];
        if (sums->most > bucket->most) {
            bucket->most = sums->most;
            bucket->reason = sums->reason;
        }
    }
    bucket->n += sums->n;
    return STROBE_OK;
}

/* One stretch that is shorter than a bucket lies in at most two. */
static enum strobe_err add_short(struct strobe_strip_row *row, enum strobe_strip_kind kind,
                                 uint32_t level, const struct strobe_strip_item *one)
{
    uint64_t length = length_of(one, kind), edge = ((one->at >> level) + 1) << level;
    uint64_t before = one->at + length <= edge ? length : edge - one->at;
    struct strobe_strip_item first = *one, rest = *one;
    enum strobe_err err = STROBE_OK;
    if (one->ticks[STROBE_STRIP_WAIT])
        first.most = rest.most = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
    for (int i = 0; i < STROBE_STRIP_STATES; i++) {
        first.ticks[i] = one->ticks[i] ? before : 0;
        rest.ticks[i] = one->ticks[i] ? length - before : 0;
    }
    rest.n = 0;
    err = add_sums(row, kind, level, one->at, &first);
    if (!err && before < length)
        err = add_sums(row, kind, level, edge, &rest);
    return err;
}

enum strobe_err strobe_strips_put(struct strobe_strip_row *row, enum strobe_strip_kind kind,
                                  uint32_t level, const struct strobe_strip_item *item)
{
    if (!item->is_one)
        return add_sums(row, kind, level, item->at, item);
    uint64_t length = length_of(item, kind);
    if (length >> level == 0)
        return length ? add_short(row, kind, level, item) : STROBE_OK;
    struct strobe_strip_item *at = append(row, item->at);
    if (!at)
        return STROBE_ERR_NOMEM;
    *at = *item;
    return STROBE_OK;
}

/* ---- rows ---- */

struct strobe_strip_row *strobe_strips_row(const struct strobe_strips *strips,
                                           enum strobe_strip_kind kind, uint64_t number)
{
    uint32_t i = strobe_idmap_find(&strips->ids, kind, number);
    return i == STROBE_IDMAP_NONE ? NULL : &strips->rows[i];
}

struct strobe_strip_row *strobe_strips_reach(struct strobe_strips *strips,
                                             enum strobe_strip_kind kind, uint64_t number)
{
    uint32_t i = strobe_idmap_add_row(&strips->ids, kind, number, (void **)&strips->rows,
                                      &strips->rows_room, sizeof *strips->rows);
    return i == STROBE_IDMAP_NONE ? NULL : &strips->rows[i];
}

static uint64_t count_items(const struct strobe_strips *strips)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < strips->ids.n; i++)
        n += strips->rows[i].n_items;
    return n;
}

/* The items of a row once more, at the level that holds now. */
static enum strobe_err renew(struct strobe_strip_row *row, enum strobe_strip_kind kind,
                             uint32_t level)
{
    struct strobe_strip_row fresh = *row;
    enum strobe_err err = STROBE_OK;
    fresh.items = NULL;
    fresh.n_items = fresh.items_room = 0;
    fresh.is_unsorted = 0;
    for (uint32_t i = 0; i < row->n_items && !err; i++)
        err = strobe_strips_put(&fresh, kind, level, &row->items[i]);
    free(row->items);
    *row = fresh;
    return err;
}

static int by_time(const void *a, const void *b)
{
    const struct strobe_strip_item *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (int)x->is_one - (int)y->is_one;
}

/* Items in the order of time, each bucket once. */
static enum strobe_err sort_row(struct strobe_strip_row *row, enum strobe_strip_kind kind,
                                uint32_t level)
{
    if (!row->is_unsorted)
        return STROBE_OK;
    qsort(row->items, row->n_items, sizeof *row->items, by_time);
    return renew(row, kind, level);
}

static void sort_rows(struct strobe_strips *strips)
{
    for (uint32_t i = 0; i < strips->ids.n; i++)
        if (sort_row(&strips->rows[i], strips->ids.keys[i].scope, strips->level))
            strips->failed = 1;
}

void strobe_strips_settle(struct strobe_strips *strips)
{
    while ((strips->n_items = count_items(strips)) > STROBE_STRIPS_ITEMS) {
        strips->level = strips->level ? strips->level + LEVEL_STEP : FIRST_LEVEL;
        STROBE_ASSERT(strips->level < 64);
        for (uint32_t i = 0; i < strips->ids.n; i++)
            if (renew(&strips->rows[i], strips->ids.keys[i].scope, strips->level))
                strips->failed = 1;
    }
}

/* ---- reading ---- */

/* The next block from `block` on that may have switches or samples in lo to hi; STROBE_VIEW_NO_BLOCK: none. */
static uint32_t next_block(struct strobe_view *view, uint32_t block, uint64_t lo, uint64_t hi)
{
    uint64_t kinds = strobe_strips_kinds();
    while ((block = strobe_view_next(view, block, lo, hi)) != STROBE_VIEW_NO_BLOCK) {
        uint32_t lod = strobe_view_lod_of(view, block);
        if (lod && !(view->lods[lod - 1].kinds & kinds))
            block = view->lods[lod - 1].end;
        else if (strobe_view_block(view, block).kinds & kinds)
            return block;
        else
            block++;
    }
    return STROBE_VIEW_NO_BLOCK;
}

enum strobe_err strobe_strips_step(struct strobe_strips *strips)
{
    struct strobe_view *view = strips->view;
    for (uint64_t n_events = 0; n_events < STROBE_STRIPS_STEP && !strips->is_held;) {
        uint32_t block = next_block(view, strips->next_block, 0, UINT64_MAX);
        if (block == STROBE_VIEW_NO_BLOCK) {
            strips->next_block = view->n_blocks;
            break;
        }
        strobe_strips_read(strips, block);
        strips->next_block = block + 1;
        n_events += strobe_view_block(view, block).n_events;
    }
    sort_rows(strips);
    return strips->failed ? STROBE_ERR_NOMEM : STROBE_OK;
}

double strobe_strips_share(const struct strobe_strips *strips)
{
    uint32_t n = strips->view->n_blocks;
    return n ? (double)strips->next_block / n : 1;
}

void strobe_strips_free(struct strobe_strips *strips)
{
    for (uint32_t i = 0; i < strips->ids.n; i++)
        free(strips->rows[i].items);
    free(strips->rows);
    free(strips->runs);
    free(strips->tid_threads);
    strobe_idmap_free(&strips->ids);
    strobe_idmap_free(&strips->tids);
    strobe_joiner_free(&strips->joiner);
    if (strips->close)
        strobe_strips_free(strips->close);
    free(strips->close);
    memset(strips, 0, sizeof *strips);
}

/* ---- the close-up ---- */

/* Events of the blocks that have something in lo to hi; more than `most`: that it is more. */
static uint64_t count_events(struct strobe_view *view, uint64_t lo, uint64_t hi, uint64_t most)
{
    uint64_t n = 0;
    for (uint32_t b = 0; n <= most && (b = next_block(view, b, lo, hi)) != STROBE_VIEW_NO_BLOCK;
         b++)
        n += strobe_view_block(view, b).n_events;
    return n;
}

/* Read the blocks around lo to hi; NULL: there are too many, or no memory. */
static struct strobe_strips *come_close(struct strobe_strips *strips, uint64_t lo, uint64_t hi)
{
    struct strobe_view *view = strips->view;
    uint64_t margin = 1ull << strips->level;
    if (strips->close && strips->close_lo <= lo && strips->close_hi >= hi &&
        strips->close_blocks == view->n_blocks && strips->close->below == margin)
        return strips->close;
    uint64_t first = lo > margin ? lo - margin : 0;
    uint64_t last = hi < UINT64_MAX - margin ? hi + margin : UINT64_MAX;
    if (count_events(view, first, last, STROBE_STRIPS_CLOSE) > STROBE_STRIPS_CLOSE)
        return NULL;
    if (strips->close)
        strobe_strips_free(strips->close);
    else
        strips->close = calloc(1, sizeof *strips->close);
    if (!strips->close)
        return NULL;
    strips->close->view = view;
    strips->close->below = margin;
    for (uint32_t b = 0; (b = next_block(view, b, first, last)) != STROBE_VIEW_NO_BLOCK; b++)
        strobe_strips_read(strips->close, b);
    sort_rows(strips->close);
    strips->close_lo = lo;
    strips->close_hi = hi;
    strips->close_blocks = view->n_blocks;
    return strips->close->failed ? NULL : strips->close;
}

/* ---- looking ---- */

/* The ticks [at, end) that an item is about. */
static uint64_t end_of(const struct strobe_strip_item *item, enum strobe_strip_kind kind,
                       uint32_t level)
{
    if (item->is_one)
        return item->at + length_of(item, kind);
    return kind == STROBE_STRIP_SAMPLES && item->n == 1 ? item->at + 1
                                                        : ((item->at >> level) + 1) << level;
}

/* Items of a row that overlap lo to hi; a bucket and one stretch may both reach over lo. */
struct walk {
    const struct strobe_strip_row *row; /* borrowed; NULL: none */
    enum strobe_strip_kind kind;
    uint32_t level, next;
    uint64_t lo, hi;
    int only_ones;
};

static void walk_start(struct walk *walk)
{
    const struct strobe_strip_row *row = walk->row;
    if (!row)
        return;
    walk->next = (uint32_t)STROBE_ARRAY_BISECT(0, row->n_items, i, row->items[i].at <= walk->lo);
    for (int i = 0; i < 3 && walk->next; i++)
        walk->next--;
}

static const struct strobe_strip_item *walk_see(struct walk *walk)
{
    const struct strobe_strip_row *row = walk->row;
    for (; row && walk->next < row->n_items; walk->next++) {
        const struct strobe_strip_item *item = &row->items[walk->next];
        if (item->at > walk->hi)
            break;
        if ((item->is_one || !walk->only_ones) && end_of(item, walk->kind, walk->level) > walk->lo)
            return item;
    }
    return NULL;
}

static enum strobe_err copy_both(struct walk *a, struct walk *b, uint32_t k,
                                 struct strobe_strip_row *out)
{
    enum strobe_err err = STROBE_OK;
    walk_start(a);
    walk_start(b);
    while (!err) {
        const struct strobe_strip_item *x = walk_see(a), *y = walk_see(b);
        if (!x && !y)
            break;
        struct walk *first = !y || (x && x->at < y->at) ? a : b;
        err = strobe_strips_put(out, a->kind, k, first == a ? x : y);
        first->next++;
    }
    return err;
}

/* Until when a thread that is not switched again is in its state: its end, that of its process, or of the trace. */
static uint64_t end_of_thread(const struct strobe_strips *strips, uint64_t number)
{
    const struct strobe_trace *trace = strips->view->trace;
    const struct strobe_trace_thread *thread = &trace->threads[number];
    const struct strobe_process *process = &trace->processes[thread->process];
    uint64_t end = strips->view->tick_last;
    if (thread->end_tick && thread->end_tick < end)
        end = thread->end_tick;
    return process->has_ended && process->end_tick < end ? process->end_tick : end;
}

/* The stretch of a row that is open, up to `end`, as an item of a row of some kind. */
static enum strobe_err put_open(const struct strobe_strip_row *row, enum strobe_strip_kind kind,
                                uint32_t k, uint64_t end, struct strobe_strip_row *out)
{
    if (!row->is_open || row->open.at >= end)
        return STROBE_OK;
    struct strobe_strip_item item = row->open;
    item.ticks[row->state] = end - row->open.at;
    if (kind == STROBE_STRIP_CPU)
        item.ticks[STROBE_STRIP_READY] = end - row->open.at;
    item.n = item.is_one = 1;
    return strobe_strips_put(out, kind, k, &item);
}

/* What is open in a row: of a processor without switches of its own, the threads that run on it. */
static enum strobe_err put_all_open(const struct strobe_strips *strips, const struct walk *walk,
                                    uint64_t number, uint32_t k, struct strobe_strip_row *out)
{
    const struct strobe_strip_row *row = walk->row;
    enum strobe_err err = STROBE_OK;
    if (walk->kind == STROBE_STRIP_SAMPLES || strips->next_block < strips->view->n_blocks)
        return STROBE_OK;
    if (walk->kind == STROBE_STRIP_THREAD)
        return put_open(row, walk->kind, k, end_of_thread(strips, number), out);
    if (row->is_open)
        return put_open(row, walk->kind, k, strips->view->tick_last, out);
    for (uint32_t i = 0; i < strips->ids.n && !err; i++)
        if (strips->ids.keys[i].scope == STROBE_STRIP_THREAD &&
            strips->rows[i].state == STROBE_STRIP_RUN && strips->rows[i].open.cpu == number)
            err = put_open(&strips->rows[i], walk->kind, k,
                           end_of_thread(strips, strips->ids.keys[i].id), out);
    return err;
}

enum strobe_err strobe_strips_look(struct strobe_strips *strips, enum strobe_strip_kind kind,
                                   uint64_t number, uint64_t lo, uint64_t hi, uint32_t k,
                                   struct strobe_strip_row *out, uint32_t *level)
{
    struct strobe_strips *close = k < strips->level ? come_close(strips, lo, hi) : NULL;
    uint32_t least = close ? close->level : strips->level;
    struct walk far = {.row = strobe_strips_row(strips, kind, number),
                       .kind = kind,
                       .level = strips->level,
                       .lo = lo,
                       .hi = hi,
                       .only_ones = close != NULL};
    struct walk near = far;
    near.row = close ? strobe_strips_row(close, kind, number) : NULL;
    near.level = close ? close->level : 0;
    near.only_ones = 0;
    *level = k = k > least ? k : least;
    enum strobe_err err = copy_both(&far, &near, k, out);
    if (!err && far.row)
        err = put_all_open(strips, &far, number, k, out);
    return err ? err : sort_row(out, kind, k);
}
