/* sorted_log.c - sorts the markers of a log without order, in bounded memory: base/sort.h, with a
 * marker as the record and its meta data beside it.  SPDX-License-Identifier: MIT */
#include "report/sorted_log.h"

#include <string.h>

#include "base/sort.h"

enum { MEMORY_BYTES = 100 << 20 };

struct kept {
    struct strobe_report_marker marker; /* zone and meta as numbers below, and beside it */
    uint32_t zone;
    uint32_t rank;
};

struct sorting {
    struct strobe_report_log *log;                   /* borrowed */
    const struct strobe_report_log_options *options; /* borrowed */
    struct strobe_sort *sort;                        /* owned */
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

static bool collect(void *context, const struct strobe_report_marker *marker)
{
    struct sorting *s = context;
    if (marker->zone == &s->log->loose)
        return true; /* a name beyond the limit of the table: none that the report knows */
    struct kept kept = {.marker = *marker,
                        .zone = (uint32_t)(marker->zone - s->log->zones),
                        .rank = rank_of(marker->zone->type)};
    s->err = strobe_sort_add(s->sort, &kept, marker->meta.at, marker->meta.len);
    return !s->err;
}

static enum strobe_err give(void *context, const void *record, const void *meta, size_t n_meta)
{
    const struct sorting *s = context;
    struct kept kept;
    memcpy(&kept, record, sizeof kept);
    kept.marker.zone = &s->log->zones[kept.zone]; /* the table has stopped growing */
    kept.marker.meta = (struct strobe_report_span){n_meta ? meta : "", n_meta};
    return s->options->take(s->options->context, &kept.marker) ? STROBE_OK : STROBE_ERR_END;
}

enum strobe_err strobe_report_log_read_sorted(struct strobe_report_log *log, const char *path,
                                              const struct strobe_report_log_options *options)
{
    static const struct strobe_sort_options how = {
        .record_bytes = sizeof(struct kept), .memory_bytes = MEMORY_BYTES, .compare = compare_kept};
    struct sorting s = {.log = log, .options = options};
    struct strobe_report_log_options reading = *options;
    reading.take = collect;
    reading.context = &s;
    reading.copy_fd = -1; /* made by the first reading */
    enum strobe_err err = strobe_sort_open(&how, &s.sort);
    if (!err)
        err = strobe_report_log_read(log, path, &reading);
    if (!err)
        err = s.err;
    if (!err)
        err = strobe_sort_all(s.sort, give, &s);
    strobe_sort_close(s.sort);
    return err == STROBE_ERR_END ? STROBE_OK : err; /* the taker had enough */
}
