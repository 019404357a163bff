/* rows.c - rows go through the external sort; their texts wait in a file without a name until they are asked for, since a
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

enum { SORT_BYTES = 32 << 20 };

struct strobe_rows {
    struct strobe_sort *sort; /* owned */
    char *folder;             /* owned */
    int fd;                   /* owned: texts; -1: not needed yet */
    char *texts;              /* owned: STROBE_ROWS_TEXT_MAX bytes, n_texts not written yet */
    size_t n_texts;
    uint64_t texts_at; /* place of the first of them */
    char *window;      /* owned: what strobe_rows_text gives */
    size_t window_room;
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

enum strobe_err strobe_rows_open(const char *folder, struct strobe_rows **out)
{
    const struct strobe_sort_options options = {.record_bytes = sizeof(struct strobe_row),
                                                .memory_bytes = SORT_BYTES,
                                                .compare = compare,
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

const char *strobe_rows_text(struct strobe_rows *rows, const struct strobe_row *row)
{
    if (!row->n_text)
        return NULL;
    STROBE_ASSERT(row->text_at + row->n_text <= rows->texts_at + rows->n_texts);
    if (row->text_at >= rows->texts_at)
        return rows->texts + (row->text_at - rows->texts_at);
    STROBE_ASSERT(row->text_at + row->n_text <= rows->texts_at); /* none is in both places */
    if (STROBE_ARRAY_RESERVE(rows->window, rows->window_room, row->n_text))
        return NULL;
    for (uint32_t at = 0; at < row->n_text;) {
        ssize_t done =
            pread(rows->fd, rows->window + at, row->n_text - at, (off_t)(row->text_at + at));
        if (done == 0 || (done < 0 && errno != EINTR))
            return NULL;
        at += done > 0 ? (uint32_t)done : 0;
    }
    return rows->window;
}

/* ---- rows ---- */

enum strobe_err strobe_rows_add(struct strobe_rows *rows, const struct strobe_row *row)
{
    return strobe_sort_add(rows->sort, row, NULL, 0);
}

struct taker {
    enum strobe_err (*call)(void *context, const struct strobe_row *row);
    void *context;
    struct strobe_row last;
    int has_last;
};

static enum strobe_err take(void *context, const void *record, const void *bytes, size_t n_bytes)
{
    struct taker *taker = context;
    (void)bytes, (void)n_bytes;
    STROBE_ASSERT(!taker->has_last || compare(&taker->last, record) <= 0);
    memcpy(&taker->last, record, sizeof taker->last);
    taker->has_last = 1;
    return taker->call(taker->context, &taker->last);
}

enum strobe_err strobe_rows_sorted(struct strobe_rows *rows,
                                   enum strobe_err (*call)(void *context,
                                                           const struct strobe_row *row),
                                   void *context)
{
    struct taker taker = {.call = call, .context = context};
    return strobe_sort_all(rows->sort, take, &taker);
}
