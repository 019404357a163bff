/* rows.c - rows go through the external sort, in a thread of its own where there are many; their texts wait in a file without a name until they are asked for, since a
 * text may be kept long before its row is whole.  SPDX-License-Identifier: MIT */
#include "build/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/ready.h"
#include "base/sort.h"
#include "build/row_ring.h"

enum { SORT_BYTES = 32 << 20, WINDOW_BYTES = 64 << 10, MANY = 32 << 10 };

struct strobe_rows {
    struct strobe_sort *sort;     /* owned; while there is a ring, its thread's */
    struct strobe_row_ring *ring; /* owned; NULL: rows are few, or all were added */
    uint64_t n_added;
    char *folder; /* owned */
    int fd;       /* owned: texts; -1: not needed yet */
    char *texts;  /* owned: STROBE_ROWS_TEXT_MAX bytes, n_texts not written yet */
    size_t n_texts;
    uint64_t texts_at; /* place of the first of them */
    char *window;      /* owned: what strobe_rows_text gives; n_window bytes from window_at on */
    size_t n_window, window_room;
    uint64_t window_at;
};

static int compare(const void *a, const void *b)
{
    const struct strobe_row *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Groups that are no less than 2^32 - 1 are distinguished by comparing. */
static struct strobe_sort_key key_of(const void *record)
{
    const struct strobe_row *row = record;
    if (row->group >= UINT32_MAX)
        return (struct strobe_sort_key){0, UINT32_MAX};
    return (struct strobe_sort_key){(uint64_t)row->time ^ 1ull << 63, (uint32_t)row->group};
}

enum strobe_err strobe_rows_open(const char *folder, struct strobe_rows **out)
{
    const struct strobe_sort_options options = {.record_bytes = sizeof(struct strobe_row),
                                                .memory_bytes = SORT_BYTES,
                                                .compare = compare,
                                                .key = key_of,
                                                .is_fixed = 1,
                                                .folder = folder};
    struct strobe_rows *rows = *out = calloc(1, sizeof *rows);
    if (!rows)
        return STROBE_ERR_NOMEM;
    rows->fd = -1;
    rows->folder = strdup(folder);
    rows->texts = malloc(STROBE_ROWS_TEXT_MAX);
    if (rows->folder && rows->texts && !strobe_sort_open(&options, &rows->sort))
        return STROBE_OK;
    strobe_rows_close(rows);
    *out = NULL;
    return STROBE_ERR_NOMEM;
}

void strobe_rows_close(struct strobe_rows *rows)
{
    if (!rows)
        return;
    strobe_row_ring_join(rows->ring);
    strobe_sort_close(rows->sort);
    if (rows->fd >= 0)
        close(rows->fd);
    free(rows->folder);
    free(rows->texts);
    free(rows->window);
    free(rows);
}

/* ---- texts ---- */

static enum strobe_err flush_texts(struct strobe_rows *rows)
{
    STROBE_ASSERT(rows->n_texts <= STROBE_ROWS_TEXT_MAX);
    if (rows->fd < 0 && (rows->fd = strobe_ready_unnamed(rows->folder)) < 0)
        return strobe_err_from_errno(errno);
    for (size_t at = 0; at < rows->n_texts;) {
        ssize_t done =
            pwrite(rows->fd, rows->texts + at, rows->n_texts - at, (off_t)(rows->texts_at + at));
        if (done < 0 && errno != EINTR)
            return strobe_err_from_errno(errno);
        at += done > 0 ? (size_t)done : 0;
    }
    rows->texts_at += rows->n_texts;
    rows->n_texts = 0;
    return STROBE_OK;
}

enum strobe_err strobe_rows_put_text(struct strobe_rows *rows, const char *text, uint32_t n,
                                     struct strobe_row *row)
{
    if (n > STROBE_ROWS_TEXT_MAX)
        return STROBE_ERR_LIMIT;
    enum strobe_err err = rows->n_texts + n > STROBE_ROWS_TEXT_MAX ? flush_texts(rows) : STROBE_OK;
    if (err)
        return err;
    STROBE_ASSERT(rows->n_texts + n <= STROBE_ROWS_TEXT_MAX);
    row->text_at = rows->texts_at + rows->n_texts;
    row->n_text = n;
    memcpy(rows->texts + rows->n_texts, text, n);
    rows->n_texts += n;
    return STROBE_OK;
}

/* Read a text and, where texts are asked for nearly as they were put, what is behind it. 0: it can't be read. */
static int read_window(struct strobe_rows *rows, const struct strobe_row *row, int is_near)
{
    uint64_t left = rows->texts_at - row->text_at;
    size_t want = is_near && row->n_text < WINDOW_BYTES ? WINDOW_BYTES : row->n_text, n = 0;
    want = want < left ? want : (size_t)left;
    rows->n_window = 0;
    if (STROBE_ARRAY_RESERVE(rows->window, rows->window_room, want))
        return 0;
    while (n < want) {
        ssize_t done = pread(rows->fd, rows->window + n, want - n, (off_t)(row->text_at + n));
        if (done == 0 || (done < 0 && errno != EINTR))
            return 0;
        n += done > 0 ? (size_t)done : 0;
    }
    rows->window_at = row->text_at;
    rows->n_window = n;
    return 1;
}

const char *strobe_rows_text(struct strobe_rows *rows, const struct strobe_row *row)
{
    if (!row->n_text)
        return NULL;
    STROBE_ASSERT(row->text_at + row->n_text <= rows->texts_at + rows->n_texts);
    if (row->text_at >= rows->texts_at)
        return rows->texts + (row->text_at - rows->texts_at);
    STROBE_ASSERT(row->text_at + row->n_text <= rows->texts_at); /* none is in both places */
    uint64_t from = row->text_at - rows->window_at; /* huge where it is before the window */
    if (from < rows->n_window && row->n_text <= rows->n_window - from)
        return rows->window + from;
    return read_window(rows, row, from < 2 * WINDOW_BYTES) ? rows->window : NULL;
}

/* ---- rows ---- */

static enum strobe_err sort_rows(void *context, struct strobe_row_ring *ring)
{
    struct strobe_rows *rows = context;
    const struct strobe_row *batch;
    uint32_t n;
    while ((batch = strobe_row_ring_take(ring, &n)))
        for (uint32_t i = 0; i < n; i++) {
            enum strobe_err err = strobe_sort_add(rows->sort, &batch[i], NULL, 0);
            if (err)
                return err;
        }
    return STROBE_OK;
}

/* All were given to the other thread, or it takes no more. */
static enum strobe_err end_sorting(struct strobe_rows *rows)
{
    struct strobe_row_ring *ring = rows->ring;
    rows->ring = NULL;
    return strobe_row_ring_join(ring);
}

enum strobe_err strobe_rows_add(struct strobe_rows *rows, const struct strobe_row *row)
{
    if (++rows->n_added == MANY)
        rows->ring = strobe_row_ring_start(sort_rows, rows, 0);
    if (!rows->ring)
        return strobe_sort_add(rows->sort, row, NULL, 0);
    enum strobe_err err = strobe_row_ring_give(rows->ring, row), why;
    if (!err)
        return STROBE_OK;
    why = end_sorting(rows);
    return why ? why : err;
}

struct taker {
    enum strobe_err (*call)(void *context, const struct strobe_row *row);
    void *context;
    struct strobe_row last;
    int has_last;
};

static enum strobe_err take_row(struct taker *taker, const struct strobe_row *row)
{
    STROBE_ASSERT(!taker->has_last || compare(&taker->last, row) <= 0);
    taker->last = *row;
    taker->has_last = 1;
    return taker->call(taker->context, &taker->last);
}

static enum strobe_err take(void *context, const void *record, const void *bytes, size_t n_bytes)
{
    (void)bytes, (void)n_bytes;
    return take_row(context, record);
}

static enum strobe_err give(void *context, const void *record, const void *bytes, size_t n_bytes)
{
    (void)bytes, (void)n_bytes;
    return strobe_row_ring_give(context, record);
}

static enum strobe_err merge_rows(void *context, struct strobe_row_ring *ring)
{
    struct strobe_rows *rows = context;
    return strobe_sort_all(rows->sort, give, ring);
}

enum strobe_err strobe_rows_sorted(struct strobe_rows *rows,
                                   enum strobe_err (*call)(void *context,
                                                           const struct strobe_row *row),
                                   void *context)
{
    struct taker taker = {.call = call, .context = context};
    const struct strobe_row *batch;
    uint32_t n;
    enum strobe_err err = end_sorting(rows), ended;
    struct strobe_row_ring *ring =
        err || rows->n_added < MANY ? NULL : strobe_row_ring_start(merge_rows, rows, 1);
    if (!ring)
        return err ? err : strobe_sort_all(rows->sort, take, &taker);
    while (!err && (batch = strobe_row_ring_take(ring, &n)))
        for (uint32_t i = 0; i < n && !err; i++)
            err = take_row(&taker, &batch[i]);
    ended = strobe_row_ring_join(ring);
    return err ? err : ended;
}
