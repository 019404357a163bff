/* rows.c - sorted runs in an unnamed file, merged by a heap.  SPDX-License-Identifier: MIT */
#include "build/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RUN_ROWS = 256 << 10,    /* 16 MiB */
    MERGE_ROWS = 256 << 10,  /* in memory while merging, over all runs */
    TEXT_BYTES = 1 << 20,    /* written at once */
    RUNS_MAX = 16 << 10,     /* four thousand million rows */
    WINDOW_BYTES = 64 << 10, /* read at once when texts are asked for in order */
};

struct run {
    uint64_t at, end;        /* rows of the file that are not in memory yet */
    struct strobe_row *rows; /* borrowed from the merge's buffer */
    uint32_t next, n, room;
};

struct strobe_rows {
    char folder[4096];
    int fd, text_fd;         /* owned; -1: not needed yet */
    struct strobe_row *rows; /* owned: the run under construction */
    uint32_t n_rows;
    uint64_t n_all, n_written;
    struct run *runs; /* owned */
    uint32_t n_runs;
    char *texts; /* owned: not written yet */
    size_t n_texts;
    uint64_t texts_at; /* place of the first of them */
    char *window;      /* owned: what strobe_rows_text gives */
    size_t window_room;
};

/* ---- files ---- */

static int open_unnamed(const char *folder)
{
    char path[4200];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "%s/.strobe-import-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static enum strobe_err write_all(int fd, const void *bytes, size_t n, uint64_t at)
{
    const char *from = bytes;
    while (n) {
        ssize_t done = pwrite(fd, from, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return strobe_err_from_errno(errno);
        from += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return STROBE_OK;
}

static enum strobe_err read_all(int fd, void *bytes, size_t n, uint64_t at)
{
    char *to = bytes;
    while (n) {
        ssize_t done = pread(fd, to, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return STROBE_ERR_IO;
        to += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return STROBE_OK;
}

enum strobe_err strobe_rows_open(const char *folder, struct strobe_rows **out)
{
    struct strobe_rows *rows = *out = calloc(1, sizeof *rows);
    if (!rows)
        return STROBE_ERR_NOMEM;
    rows->fd = rows->text_fd = -1;
    snprintf(rows->folder, sizeof rows->folder, "%s", folder);
    rows->rows = malloc(RUN_ROWS * sizeof *rows->rows);
    rows->texts = malloc(TEXT_BYTES);
    rows->runs = malloc(RUNS_MAX * sizeof *rows->runs);
    if (rows->rows && rows->texts && rows->runs)
        return STROBE_OK;
    strobe_rows_close(rows);
    *out = NULL;
    return STROBE_ERR_NOMEM;
}

void strobe_rows_close(struct strobe_rows *rows)
{
    if (!rows)
        return;
    if (rows->fd >= 0)
        close(rows->fd);
    if (rows->text_fd >= 0)
        close(rows->text_fd);
    free(rows->rows);
    free(rows->runs);
    free(rows->texts);
    free(rows->window);
    free(rows);
}

/* ---- texts ---- */

static enum strobe_err flush_texts(struct strobe_rows *rows)
{
    if (rows->text_fd < 0 && (rows->text_fd = open_unnamed(rows->folder)) < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = write_all(rows->text_fd, rows->texts, rows->n_texts, rows->texts_at);
    rows->texts_at += rows->n_texts;
    rows->n_texts = 0;
    return err;
}

enum strobe_err strobe_rows_put_text(struct strobe_rows *rows, const char *text, uint32_t n,
                                     struct strobe_row *row)
{
    enum strobe_err err = rows->n_texts + n > TEXT_BYTES ? flush_texts(rows) : STROBE_OK;
    if (err || n > TEXT_BYTES)
        return err ? err : STROBE_ERR_LIMIT;
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
    if (row->text_at >= rows->texts_at)
        return rows->texts + (row->text_at - rows->texts_at);
    if (row->n_text > rows->window_room) {
        size_t room = row->n_text + WINDOW_BYTES;
        char *window = realloc(rows->window, room);
        if (!window)
            return NULL;
        rows->window = window;
        rows->window_room = room;
    }
    return read_all(rows->text_fd, rows->window, row->n_text, row->text_at) ? NULL : rows->window;
}

/* ---- runs ---- */

static int compare(const void *a, const void *b)
{
    const struct strobe_row *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static enum strobe_err end_run(struct strobe_rows *rows)
{
    if (rows->n_runs == RUNS_MAX)
        return STROBE_ERR_LIMIT;
    if (rows->fd < 0 && (rows->fd = open_unnamed(rows->folder)) < 0)
        return strobe_err_from_errno(errno);
    qsort(rows->rows, rows->n_rows, sizeof *rows->rows, compare);
    enum strobe_err err = write_all(rows->fd, rows->rows, rows->n_rows * sizeof *rows->rows,
                                    rows->n_written * sizeof *rows->rows);
    if (err)
        return err;
    rows->runs[rows->n_runs++] =
        (struct run){.at = rows->n_written, .end = rows->n_written + rows->n_rows};
    rows->n_written += rows->n_rows;
    rows->n_rows = 0;
    return STROBE_OK;
}

enum strobe_err strobe_rows_add(struct strobe_rows *rows, const struct strobe_row *row)
{
    enum strobe_err err = rows->n_rows == RUN_ROWS ? end_run(rows) : STROBE_OK;
    if (err)
        return err;
    rows->rows[rows->n_rows] = *row;
    rows->rows[rows->n_rows++].seq = rows->n_all++;
    return STROBE_OK;
}

/* ---- merging ---- */

/* The next rows of a run. 0 in n: none is left. */
static enum strobe_err load(struct strobe_rows *rows, struct run *run)
{
    uint64_t left = run->end - run->at;
    run->next = 0;
    run->n = left < run->room ? (uint32_t)left : run->room;
    enum strobe_err err =
        read_all(rows->fd, run->rows, run->n * sizeof *run->rows, run->at * sizeof *run->rows);
    run->at += run->n;
    return err;
}

static int is_before(const struct run *a, const struct run *b)
{
    return compare(&a->rows[a->next], &b->rows[b->next]) < 0;
}

/* Put heap[i] where it belongs among those below it. */
static void sink_down(struct run **heap, uint32_t n, uint32_t i)
{
    for (;;) {
        uint32_t least = i;
        for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (is_before(heap[child], heap[least]))
                least = child;
        if (least == i)
            return;
        struct run *run = heap[i];
        heap[i] = heap[least];
        heap[least] = run;
        i = least;
    }
}

static enum strobe_err merge(struct strobe_rows *rows, struct run **heap, uint32_t n,
                             enum strobe_err (*call)(void *, const struct strobe_row *),
                             void *context)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = n; i-- > 0;)
        sink_down(heap, n, i);
    while (n && !err) {
        struct run *run = heap[0];
        err = call(context, &run->rows[run->next++]);
        if (!err && run->next == run->n)
            err = load(rows, run);
        if (!run->n)
            heap[0] = heap[--n];
        sink_down(heap, n, 0);
    }
    return err;
}

static enum strobe_err merge_runs(struct strobe_rows *rows,
                                  enum strobe_err (*call)(void *, const struct strobe_row *),
                                  void *context)
{
    uint32_t each = MERGE_ROWS / rows->n_runs;
    each = each < 16 ? 16 : each;
    struct strobe_row *buffer = malloc((size_t)each * rows->n_runs * sizeof *buffer);
    struct run **heap = malloc(rows->n_runs * sizeof *heap);
    enum strobe_err err = buffer && heap ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < rows->n_runs; i++) {
        heap[i] = &rows->runs[i];
        heap[i]->rows = buffer + (size_t)i * each;
        heap[i]->room = each;
        err = load(rows, heap[i]);
    }
    if (!err)
        err = merge(rows, heap, rows->n_runs, call, context);
    free(buffer);
    free(heap);
    return err;
}

enum strobe_err strobe_rows_sorted(struct strobe_rows *rows,
                                   enum strobe_err (*call)(void *context,
                                                           const struct strobe_row *row),
                                   void *context)
{
    enum strobe_err err = STROBE_OK;
    if (rows->n_runs) {
        err = rows->n_rows ? end_run(rows) : STROBE_OK;
        return err ? err : merge_runs(rows, call, context);
    }
    qsort(rows->rows, rows->n_rows, sizeof *rows->rows, compare);
    for (uint32_t i = 0; !err && i < rows->n_rows; i++)
        err = call(context, &rows->rows[i]);
    return err;
}
