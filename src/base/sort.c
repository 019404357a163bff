/* sort.c - see sort.h.
 *
 * In memory records lie one behind the other, each a head, where bytes may be beside it, and its fixed part; `order` has
 * their places and is sorted (sort_order.h), equal ones stay in order. When the memory is full the records go
 * to the file in their order: a run. The merge reads every run through a buffer of its own and keeps
 * the runs in a heap by their first record; of equal ones the earlier run is first. When there
 * are so many runs that their buffers would be small, all are merged to one in a new file.
 *
 * Neighbours with the same bytes beside them share these in memory.  SPDX-License-Identifier: MIT */
#include "base/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/ready.h"
#include "base/sort_order.h"

enum {
    MEMORY_MIN = 1 << 20,
    RUN_BUFFER_MIN = 16 << 10, /* below that, reading is slow */
    BESIDE_MAX = 1 << 30,
    ALIGN = 16,
};

/* In front of a record, in memory and in the file, unless all are fixed. */
struct head {
    uint64_t beside; /* in memory: where its bytes are in `bytes` */
    uint64_t n_beside;
};

/* A run of the file, and the part of it that is in memory. */
struct run {
    uint64_t at, end; /* of the file, not read yet */
    char *buffer;     /* owned while merging */
    size_t used, filled, room;
};

struct strobe_sort {
    struct strobe_sort_options options;
    char *folder;      /* owned, or NULL */
    size_t head_bytes; /* 0: there are no heads */
    size_t row_bytes;  /* head and fixed part, so that the next is aligned */
    char *rows;        /* owned: n of row_bytes */
    uint32_t n, rows_room;
    uint32_t *order; /* owned: n, while they are taken */
    char *bytes;     /* owned: what stands beside the rows */
    size_t n_bytes, bytes_room;
    int fd; /* owned; -1: all is in memory */
    uint64_t n_file;
    struct run *runs; /* owned */
    uint32_t n_runs, runs_room, n_runs_max, n_all_runs;
    char *out; /* owned: a buffer for writing */
    size_t n_out;
};

/* ---- the file ---- */

/* Read or write all of it, whatever comes between. */
static enum strobe_err transfer(int fd, char *bytes, size_t n, uint64_t at, int is_write)
{
    while (n) {
        ssize_t done = is_write ? pwrite(fd, bytes, n, (off_t)at) : pread(fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done ? strobe_err_from_errno(errno) : STROBE_ERR_IO;
        bytes += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return STROBE_OK;
}

static enum strobe_err write_at(int fd, const void *bytes, size_t n, uint64_t at)
{
    return transfer(fd, (char *)(uintptr_t)bytes, n, at, 1); /* only read from */
}

static enum strobe_err read_at(int fd, char *bytes, size_t n, uint64_t at)
{
    return transfer(fd, bytes, n, at, 0);
}

static enum strobe_err flush(struct strobe_sort *sort, int fd, uint64_t *at)
{
    enum strobe_err err = write_at(fd, sort->out, sort->n_out, *at);
    *at += sort->n_out;
    sort->n_out = 0;
    return err;
}

/* Append to the file behind *at, through the buffer. */
static enum strobe_err put(struct strobe_sort *sort, int fd, uint64_t *at, const void *bytes,
                           size_t n)
{
    enum strobe_err err = STROBE_OK;
    if (sort->n_out + n > MEMORY_MIN && (err = flush(sort, fd, at)))
        return err;
    if (n > MEMORY_MIN) {
        err = write_at(fd, bytes, n, *at);
        *at += n;
        return err;
    }
    if (n)
        memcpy(sort->out + sort->n_out, bytes, n);
    sort->n_out += n;
    return STROBE_OK;
}

/* ---- life ---- */

enum strobe_err strobe_sort_open(const struct strobe_sort_options *options,
                                 struct strobe_sort **out)
{
    STROBE_ASSERT(options->record_bytes && options->compare);
    struct strobe_sort *sort = *out = calloc(1, sizeof *sort);
    if (!sort)
        return STROBE_ERR_NOMEM;
    sort->options = *options;
    if (sort->options.memory_bytes < MEMORY_MIN)
        sort->options.memory_bytes = MEMORY_MIN;
    sort->head_bytes = options->is_fixed ? 0 : sizeof(struct head);
    sort->row_bytes = (sort->head_bytes + options->record_bytes + ALIGN - 1) / ALIGN * ALIGN;
    sort->n_runs_max = (uint32_t)(sort->options.memory_bytes / RUN_BUFFER_MIN);
    sort->fd = -1;
    sort->folder = options->folder ? strdup(options->folder) : NULL;
    if (!options->folder || sort->folder)
        return STROBE_OK;
    free(sort);
    *out = NULL;
    return STROBE_ERR_NOMEM;
}

static void free_memory(struct strobe_sort *sort)
{
    free(sort->rows);
    free(sort->bytes);
    free(sort->order);
    sort->rows = sort->bytes = NULL;
    sort->order = NULL;
    sort->n = sort->rows_room = 0;
    sort->n_bytes = sort->bytes_room = 0;
}

void strobe_sort_close(struct strobe_sort *sort)
{
    if (!sort)
        return;
    for (uint32_t i = 0; i < sort->n_runs; i++)
        free(sort->runs[i].buffer);
    free_memory(sort);
    free(sort->runs);
    free(sort->out);
    free(sort->folder);
    if (sort->fd >= 0)
        close(sort->fd);
    free(sort);
}

uint32_t strobe_sort_n_runs(const struct strobe_sort *sort)
{
    return sort->n_all_runs;
}

/* ---- in memory ---- */

static char *row_of(const struct strobe_sort *sort, uint32_t i)
{
    return sort->rows + (size_t)i * sort->row_bytes;
}

static enum strobe_err take_rows(struct strobe_sort *sort, strobe_sort_take *take, void *context)
{
    const struct strobe_sort_rows rows = {sort->rows + sort->head_bytes, sort->row_bytes, sort->n,
                                          sort->options.compare, sort->options.key};
    free(sort->order);
    enum strobe_err err = strobe_sort_order(&rows, &sort->order);
    for (uint32_t i = 0; !err && i < sort->n; i++) {
        const char *row = row_of(sort, sort->order[i]);
        struct head head = {0};
        memcpy(&head, row, sort->head_bytes);
        err = take(context, row + sort->head_bytes, head.n_beside ? sort->bytes + head.beside : "",
                   (size_t)head.n_beside);
    }
    free(sort->order);
    sort->order = NULL;
    return err;
}

/* ---- runs ---- */

struct spilling {
    struct strobe_sort *sort;
    int fd;
    uint64_t at;
};

static enum strobe_err spill_row(void *context, const void *record, const void *bytes, size_t n)
{
    struct spilling *to = context;
    struct head head = {.n_beside = n};
    enum strobe_err err = put(to->sort, to->fd, &to->at, &head, to->sort->head_bytes);
    if (!err)
        err = put(to->sort, to->fd, &to->at, record, to->sort->options.record_bytes);
    return err ? err : put(to->sort, to->fd, &to->at, bytes, n);
}

static enum strobe_err merge(struct strobe_sort *sort, strobe_sort_take *take, void *context);

/* All runs as one, in a new file. */
static enum strobe_err join_runs(struct strobe_sort *sort)
{
    struct spilling to = {.sort = sort, .fd = strobe_ready_unnamed(sort->folder)};
    if (to.fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = merge(sort, spill_row, &to);
    if (!err)
        err = flush(sort, to.fd, &to.at);
    close(sort->fd);
    sort->fd = to.fd;
    sort->runs[0] = (struct run){.end = to.at};
    sort->n_runs = 1;
    sort->n_file = to.at;
    return err;
}

/* What is in memory becomes a run. */
static enum strobe_err spill(struct strobe_sort *sort)
{
    enum strobe_err err = STROBE_OK;
    if (!sort->n)
        return STROBE_OK;
    if (!sort->out && !(sort->out = malloc(MEMORY_MIN)))
        return STROBE_ERR_NOMEM;
    if (sort->fd < 0 && (sort->fd = strobe_ready_unnamed(sort->folder)) < 0)
        return strobe_err_from_errno(errno);
    struct spilling to = {.sort = sort, .fd = sort->fd, .at = sort->n_file};
    struct run *run = STROBE_ARRAY_PUSH(sort->runs, sort->n_runs, sort->runs_room);
    if (!run)
        return STROBE_ERR_NOMEM;
    *run = (struct run){.at = sort->n_file, .end = sort->n_file};
    if ((err = take_rows(sort, spill_row, &to)) || (err = flush(sort, sort->fd, &to.at)))
        return err;
    run->end = sort->n_file = to.at;
    sort->n_all_runs++;
    sort->n = 0;
    sort->n_bytes = 0;
    if (sort->n_runs < sort->n_runs_max)
        return STROBE_OK;
    free_memory(sort); /* the buffers of the runs take its place */
    return join_runs(sort);
}

/* Have `need` bytes of a run in its buffer; one that is too short grows. */
static enum strobe_err have(struct strobe_sort *sort, struct run *run, size_t need)
{
    size_t held = run->filled - run->used;
    if (held >= need)
        return STROBE_OK;
    memmove(run->buffer, run->buffer + run->used, held);
    run->used = 0;
    run->filled = held;
    enum strobe_err err = STROBE_ARRAY_RESERVE(run->buffer, run->room, need);
    uint64_t left = run->end - run->at;
    size_t n = run->room - held < left ? run->room - held : (size_t)left;
    if (err || n < need - held)
        return err ? err : STROBE_ERR_IO;
    err = read_at(sort->fd, run->buffer + held, n, run->at);
    run->at += n;
    run->filled += n;
    return err;
}

/* The first record of a run into its buffer. *n: its bytes, 0: the run is over. */
static enum strobe_err lead(struct strobe_sort *sort, struct run *run, size_t *n)
{
    struct head head = {0};
    size_t fixed = sort->head_bytes + sort->options.record_bytes;
    *n = 0;
    if (run->used == run->filled && run->at == run->end)
        return STROBE_OK;
    enum strobe_err err = have(sort, run, fixed);
    if (err)
        return err;
    memcpy(&head, run->buffer + run->used, sort->head_bytes);
    if (head.n_beside > BESIDE_MAX)
        return STROBE_ERR_CORRUPT;
    *n = fixed + (size_t)head.n_beside;
    return have(sort, run, *n);
}

/* A run's place in the heap. Its record is copied, so that it is aligned for the caller's comparison. */
struct leader {
    struct run *run;
    size_t n;     /* of the whole record */
    char *record; /* borrowed: the fixed part */
    struct strobe_sort_key key;
};

static int is_before(const struct strobe_sort *sort, const struct leader *a, const struct leader *b)
{
    if (a->key.high != b->key.high || a->key.low != b->key.low)
        return strobe_sort_key_less(a->key, b->key);
    int order = sort->options.compare(a->record, b->record);
    return order ? order < 0 : a->run < b->run;
}

/* Put heap[at] where it belongs among those below it. */
static void sink_down(const struct strobe_sort *sort, struct leader *heap, uint32_t n, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
            if (is_before(sort, &heap[child], &heap[least]))
                least = child;
        if (least == at)
            return;
        struct leader swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

static enum strobe_err advance(struct strobe_sort *sort, struct leader *leader)
{
    enum strobe_err err = lead(sort, leader->run, &leader->n);
    if (err || !leader->n)
        return err;
    memcpy(leader->record, leader->run->buffer + leader->run->used + sort->head_bytes,
           sort->options.record_bytes);
    if (sort->options.key)
        leader->key = sort->options.key(leader->record);
    return STROBE_OK;
}

static enum strobe_err merge_heap(struct strobe_sort *sort, struct leader *heap, uint32_t n,
                                  strobe_sort_take *take, void *context)
{
    enum strobe_err err = STROBE_OK;
    size_t fixed = sort->head_bytes + sort->options.record_bytes;
    for (uint32_t i = n / 2; i-- > 0;)
        sink_down(sort, heap, n, i);
    while (n && !err) {
        struct run *run = heap[0].run;
        err = take(context, heap[0].record, run->buffer + run->used + fixed, heap[0].n - fixed);
        run->used += heap[0].n;
        if (!err)
            err = advance(sort, &heap[0]);
        if (!heap[0].n)
            heap[0] = heap[--n];
        sink_down(sort, heap, n, 0);
    }
    return err;
}

static enum strobe_err merge(struct strobe_sort *sort, strobe_sort_take *take, void *context)
{
    size_t each = sort->options.memory_bytes / sort->n_runs;
    size_t record_bytes = (sort->options.record_bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct leader *heap = calloc(sort->n_runs, sizeof *heap);
    char *records = calloc(sort->n_runs, record_bytes);
    enum strobe_err err = heap && records ? STROBE_OK : STROBE_ERR_NOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < sort->n_runs && !err; i++) {
        struct run *run = &sort->runs[i];
        run->used = run->filled = 0;
        run->room = each;
        run->buffer = malloc(each);
        heap[n] = (struct leader){.run = run, .record = records + i * record_bytes};
        err = run->buffer ? advance(sort, &heap[n]) : STROBE_ERR_NOMEM;
        n += heap[n].n > 0;
    }
    if (!err)
        err = merge_heap(sort, heap, n, take, context);
    for (uint32_t i = 0; i < sort->n_runs; i++) {
        free(sort->runs[i].buffer);
        sort->runs[i].buffer = NULL;
    }
    free(heap);
    free(records);
    return err;
}

/* ---- in and out ---- */

/* Where the bytes of the next row are: those of the row before, if they are the same. */
static enum strobe_err keep_bytes(struct strobe_sort *sort, const void *bytes, struct head *head)
{
    size_t n = (size_t)head->n_beside;
    struct head last = {0};
    if (sort->n)
        memcpy(&last, row_of(sort, sort->n - 1), sizeof last);
    if (n && last.n_beside == n && !memcmp(sort->bytes + last.beside, bytes, n)) {
        head->beside = last.beside;
        return STROBE_OK;
    }
    enum strobe_err err =
        STROBE_ARRAY_RESERVE(sort->bytes, sort->bytes_room, (uint64_t)sort->n_bytes + n);
    if (err)
        return err;
    if (n)
        memcpy(sort->bytes + sort->n_bytes, bytes, n);
    head->beside = sort->n_bytes;
    sort->n_bytes += n;
    return STROBE_OK;
}

/* Rows grow by half, so a third of their memory may be empty; sorting needs some for each. */
static int is_full(const struct strobe_sort *sort, size_t n_bytes)
{
    uint64_t rows =
        (sort->n + 1ull) * (sort->row_bytes + strobe_sort_order_bytes(sort->options.key != NULL));
    return sort->n && (rows + sort->n_bytes + n_bytes) / 2 * 3 > sort->options.memory_bytes;
}

enum strobe_err strobe_sort_add(struct strobe_sort *sort, const void *record, const void *bytes,
                                size_t n_bytes)
{
    struct head head = {.n_beside = n_bytes};
    enum strobe_err err = STROBE_OK;
    if (n_bytes > BESIDE_MAX)
        return STROBE_ERR_LIMIT;
    STROBE_ASSERT(!n_bytes || !sort->options.is_fixed);
    if (is_full(sort, n_bytes) && (err = spill(sort)))
        return err;
    if (sort->n == sort->rows_room) {
        uint64_t room = sort->rows_room;
        char *grown = strobe_array_grow(sort->rows, &room, sort->n + 1ull, UINT32_MAX - 1,
                                        sort->row_bytes, 0, &err);
        if (!grown)
            return err;
        sort->rows = grown;
        sort->rows_room = (uint32_t)room;
    }
    if (sort->head_bytes && (err = keep_bytes(sort, bytes, &head)))
        return err;
    char *row = row_of(sort, sort->n++);
    memcpy(row, &head, sort->head_bytes);
    memcpy(row + sort->head_bytes, record, sort->options.record_bytes);
    return STROBE_OK;
}

enum strobe_err strobe_sort_all(struct strobe_sort *sort, strobe_sort_take *take, void *context)
{
    if (sort->fd < 0)
        return take_rows(sort, take, context);
    enum strobe_err err = spill(sort);
    free_memory(sort);
    return err ? err : merge(sort, take, context);
}
