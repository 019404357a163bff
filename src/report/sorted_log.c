/* sorted_log.c - sorts the markers of a log without order: in memory while they fit, else in runs.
 *
 * Lines are collected up to a bound; each full collection is sorted and appended to a temporary file as a
 * run; at the end the runs are merged, each read through a small buffer. So a log of any length takes
 * the same memory. A record of a run is a struct kept and the bytes of its meta data.
 * SPDX-License-Identifier: MIT */
#include "report/sorted_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEPT_MAX = 1 << 19,       /* lines in memory: 64 MiB of them */
    META_MAX = 32 << 20,      /* bytes of their meta data */
    RUN_BUFFER_MIN = 1 << 15, /* of a run that is merged; a record must fit */
    MERGE_BYTES = 32 << 20,   /* of all these buffers, while they are not too many */
};

struct kept {
    struct strobe_report_marker marker; /* zone and meta as numbers below */
    uint32_t zone;
    uint32_t rank;
    uint64_t meta; /* where in `metas`; in a run: nothing */
};

/* A run of the file, and the part of it that is in memory. */
struct run {
    off_t at, end;
    char *buffer; /* owned */
    size_t used, filled;
};

struct collection {
    struct strobe_report_log *log; /* borrowed */
    struct kept *all;              /* owned */
    size_t n, cap;
    struct strobe_report_text metas;
    uint64_t last_meta;
    size_t last_meta_len;
    FILE *file;       /* owned: unlinked; NULL while all is in memory */
    struct run *runs; /* owned */
    uint32_t n_runs;
    size_t buffer_bytes;
    enum strobe_err err;
};

/* At the same time a zone ends before the next starts. */
static uint32_t rank_of(uint8_t type)
{
    return type == STROBE_REPORT_ZONE_END ? 0 : type == STROBE_REPORT_ZONE_START ? 2 : 1;
}

static int is_master_risc(const struct strobe_report_series *series)
{
    return series->risc == STROBE_REPORT_BRISC || series->risc == STROBE_REPORT_ERISC ||
           series->risc == STROBE_REPORT_RISC_AGG || series->risc == STROBE_REPORT_QUASAR_DM0;
}

static int compare_kept(const void *a, const void *b)
{
    const struct kept *p = a, *q = b;
    const struct strobe_report_marker *x = &p->marker, *y = &q->marker;
    if (x->series->core != y->series->core)
        return x->series->core < y->series->core ? -1 : 1;
    if (x->series != y->series) {
        int order = is_master_risc(y->series) - is_master_risc(x->series);
        return order ? order : strcmp(x->series->name, y->series->name);
    }
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* ---- collecting ---- */

/* Sort what is in memory and append it to the file. */
static void spill(struct collection *c)
{
    struct run *grown = realloc(c->runs, (c->n_runs + 1) * sizeof *grown);
    if (!grown) {
        c->err = STROBE_ERR_NOMEM;
        return;
    }
    c->runs = grown;
    if (!c->file && !(c->file = tmpfile())) {
        c->err = strobe_err_from_errno(errno);
        return;
    }
    struct run run = {.at = ftello(c->file)};
    qsort(c->all, c->n, sizeof *c->all, compare_kept);
    for (size_t i = 0; i < c->n; i++) {
        const struct kept *kept = &c->all[i];
        fwrite(kept, sizeof *kept, 1, c->file);
        fwrite(c->metas.at + kept->meta, 1, kept->marker.meta.len, c->file);
    }
    run.end = ftello(c->file);
    if (fflush(c->file) || ferror(c->file) || run.end < 0)
        c->err = strobe_err_from_errno(errno);
    c->runs[c->n_runs++] = run;
    c->n = 0;
    c->last_meta_len = 0;
    strobe_report_text_clear(&c->metas);
}

static bool grow(struct collection *c)
{
    size_t cap = c->cap ? c->cap * 2 : 4096;
    void *grown = realloc(c->all, cap * sizeof *c->all);
    if (!grown) {
        c->err = STROBE_ERR_NOMEM;
        return false;
    }
    c->all = grown;
    c->cap = cap;
    return true;
}

/* Neighbours often have the same meta data: it is kept once. */
static uint64_t keep_meta(struct collection *c, struct strobe_report_span meta)
{
    if (meta.len && meta.len == c->last_meta_len &&
        !memcmp(c->metas.at + c->last_meta, meta.at, meta.len))
        return c->last_meta;
    c->last_meta = c->metas.len;
    c->last_meta_len = meta.len;
    strobe_report_text_add(&c->metas, meta.at, meta.len);
    if (c->metas.failed)
        c->err = STROBE_ERR_NOMEM;
    return c->last_meta;
}

static bool collect(void *context, const struct strobe_report_marker *marker)
{
    struct collection *c = context;
    if (marker->zone == &c->log->loose)
        return true; /* a name beyond the limit of the table: none that the report knows */
    if (c->n >= KEPT_MAX || c->metas.len >= META_MAX)
        spill(c);
    if (c->n == c->cap && !c->err && !grow(c))
        return false;
    if (c->err)
        return false;
    struct kept *kept = &c->all[c->n++];
    *kept = (struct kept){.marker = *marker,
                          .zone = (uint32_t)(marker->zone - c->log->zones),
                          .rank = rank_of(marker->zone->type)};
    kept->meta = keep_meta(c, marker->meta);
    return !c->err;
}

/* ---- handing out ---- */

static bool give(const struct collection *c, const struct strobe_report_log_options *options,
                 const struct kept *kept, const char *meta)
{
    struct strobe_report_marker marker = kept->marker;
    marker.zone = &c->log->zones[kept->zone]; /* the table has stopped growing */
    marker.meta.at = marker.meta.len ? meta : "";
    return options->take(options->context, &marker);
}

static void hand_out_memory(struct collection *c, const struct strobe_report_log_options *options)
{
    bool more = true;
    if (c->n)
        qsort(c->all, c->n, sizeof *c->all, compare_kept);
    for (size_t i = 0; more && i < c->n; i++)
        more = give(c, options, &c->all[i], c->metas.at ? c->metas.at + c->all[i].meta : "");
}

/* Have `need` bytes of the run in its buffer. A record that is longer than the buffer makes it grow. */
static bool have(struct collection *c, struct run *run, size_t need)
{
    if (run->filled - run->used >= need)
        return true;
    if (need > c->buffer_bytes || !run->buffer) {
        size_t bytes = need > c->buffer_bytes ? need : c->buffer_bytes;
        char *grown = realloc(run->buffer, bytes);
        if (!grown) {
            c->err = STROBE_ERR_NOMEM;
            return false;
        }
        run->buffer = grown;
    }
    memmove(run->buffer, run->buffer + run->used, run->filled - run->used);
    run->filled -= run->used;
    run->used = 0;
    while (run->filled < need) {
        size_t room = (need > c->buffer_bytes ? need : c->buffer_bytes) - run->filled;
        size_t left = (size_t)(run->end - run->at);
        ssize_t n =
            pread(fileno(c->file), run->buffer + run->filled, room < left ? room : left, run->at);
        if (n <= 0) {
            c->err = n < 0 ? strobe_err_from_errno(errno) : STROBE_ERR_IO;
            return false;
        }
        run->at += n;
        run->filled += (size_t)n;
    }
    return true;
}

/* A run's place in the heap: a copy of its first record, whose meta data follows it in the buffer. */
struct leader {
    struct kept kept;
    struct run *run;
};

/* Take the run's first record as leader. False at its end, or after an error. */
static bool lead(struct collection *c, struct leader *leader)
{
    struct run *run = leader->run;
    if ((run->used == run->filled && run->at >= run->end) || !have(c, run, sizeof leader->kept))
        return false;
    memcpy(&leader->kept, run->buffer + run->used, sizeof leader->kept);
    return have(c, run, sizeof leader->kept + leader->kept.marker.meta.len);
}

static void sink_down(struct leader *heap, uint32_t n, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
            if (compare_kept(&heap[child].kept, &heap[least].kept) < 0)
                least = child;
        if (least == at)
            return;
        struct leader swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

static void merge(struct collection *c, const struct strobe_report_log_options *options)
{
    struct leader *heap = malloc(c->n_runs * sizeof *heap);
    uint32_t n = 0;
    if (!heap)
        c->err = STROBE_ERR_NOMEM;
    c->buffer_bytes = MERGE_BYTES / c->n_runs;
    if (c->buffer_bytes < RUN_BUFFER_MIN)
        c->buffer_bytes = RUN_BUFFER_MIN;
    for (uint32_t i = 0; !c->err && i < c->n_runs; i++) {
        heap[n].run = &c->runs[i];
        n += lead(c, &heap[n]);
    }
    for (uint32_t i = n / 2; i-- > 0;)
        sink_down(heap, n, i);
    while (n && !c->err) {
        struct run *run = heap[0].run;
        if (!give(c, options, &heap[0].kept, run->buffer + run->used + sizeof(struct kept)))
            break;
        run->used += sizeof(struct kept) + heap[0].kept.marker.meta.len;
        if (!lead(c, &heap[0]))
            heap[0] = heap[--n];
        sink_down(heap, n, 0);
    }
    free(heap);
}

static void release(struct collection *c)
{
    for (uint32_t i = 0; i < c->n_runs; i++)
        free(c->runs[i].buffer);
    free(c->runs);
    free(c->all);
    strobe_report_text_free(&c->metas);
    if (c->file)
        fclose(c->file);
}

enum strobe_err strobe_report_log_read_sorted(struct strobe_report_log *log, const char *path,
                                              const struct strobe_report_log_options *options)
{
    struct collection c = {.log = log};
    struct strobe_report_log_options reading = *options;
    reading.take = collect;
    reading.context = &c;
    reading.copy_fd = -1; /* made by the first reading */
    enum strobe_err err = strobe_report_log_read(log, path, &reading);
    if (!err)
        err = c.err;
    if (!err && !c.n_runs) {
        hand_out_memory(&c, options);
    } else if (!err) {
        spill(&c);
        free(c.all); /* the buffers take its place */
        c.all = NULL;
        if (!c.err)
            merge(&c, options);
        err = c.err;
    }
    release(&c);
    return err;
}
