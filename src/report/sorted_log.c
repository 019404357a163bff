/* sorted_log.c - collects, sorts and hands out the markers of a log without order.
 * SPDX-License-Identifier: MIT */
#include "report/sorted_log.h"

#include <stdlib.h>
#include <string.h>

struct kept {
    struct strobe_report_marker marker; /* zone and meta as numbers below */
    uint32_t zone;
    uint32_t meta;
};

struct collection {
    struct strobe_report_log *log;
    struct kept *all;
    size_t n, cap;
    struct strobe_report_text metas;
    uint32_t last_meta, last_meta_len;
    bool out_of_memory;
};

static uint32_t keep_meta(struct collection *c, struct strobe_report_span meta)
{
    if (meta.len && meta.len == c->last_meta_len &&
        !memcmp(c->metas.at + c->last_meta, meta.at, meta.len))
        return c->last_meta;
    c->last_meta = (uint32_t)c->metas.len;
    c->last_meta_len = (uint32_t)meta.len;
    strobe_report_text_add(&c->metas, meta.at, meta.len);
    c->out_of_memory |= c->metas.failed || c->metas.len >= UINT32_MAX;
    return c->last_meta;
}

static bool collect(void *context, const struct strobe_report_marker *marker)
{
    struct collection *c = context;
    if (marker->zone == &c->log->loose)
        return true; /* a name beyond the limit of the table: none that the report knows */
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap + c->cap / 2 : 4096;
        void *grown = realloc(c->all, cap * sizeof *c->all);
        if (!grown) {
            c->out_of_memory = true;
            return false;
        }
        c->all = grown;
        c->cap = cap;
    }
    struct kept *kept = &c->all[c->n++];
    kept->marker = *marker;
    kept->zone = (uint32_t)(marker->zone - c->log->zones);
    kept->meta = keep_meta(c, marker->meta);
    return !c->out_of_memory;
}

static int is_master_risc(const struct strobe_report_series *series)
{
    return series->risc == STROBE_REPORT_BRISC || series->risc == STROBE_REPORT_ERISC ||
           series->risc == STROBE_REPORT_RISC_AGG || series->risc == STROBE_REPORT_QUASAR_DM0;
}

/* At the same time a zone ends before the next starts. */
static int rank_of(const struct strobe_report_marker *marker)
{
    return marker->zone->type == STROBE_REPORT_ZONE_END     ? 0
           : marker->zone->type == STROBE_REPORT_ZONE_START ? 2
                                                            : 1;
}

static int compare_kept(const void *a, const void *b)
{
    const struct strobe_report_marker *x = &((const struct kept *)a)->marker;
    const struct strobe_report_marker *y = &((const struct kept *)b)->marker;
    if (x->series->core != y->series->core)
        return x->series->core < y->series->core ? -1 : 1;
    if (x->series != y->series) {
        int order = is_master_risc(y->series) - is_master_risc(x->series);
        return order ? order : strcmp(x->series->name, y->series->name);
    }
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (rank_of(x) != rank_of(y))
        return rank_of(x) - rank_of(y);
    return x->line < y->line ? -1 : x->line > y->line;
}

static void hand_out(struct collection *c, const struct strobe_report_log_options *options)
{
    bool more = true;
    for (size_t i = 0; more && i < c->n; i++) {
        struct strobe_report_marker marker = c->all[i].marker;
        marker.meta.at = marker.meta.len ? c->metas.at + c->all[i].meta : "";
        more = options->take(options->context, &marker);
    }
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
    if (!err && c.out_of_memory)
        err = STROBE_ERR_NOMEM;
    for (size_t i = 0; !err && i < c.n; i++)
        c.all[i].marker.zone = &log->zones[c.all[i].zone]; /* the table has stopped growing */
    if (!err && c.n)
        qsort(c.all, c.n, sizeof *c.all, compare_kept);
    if (!err)
        hand_out(&c, options);
    free(c.all);
    strobe_report_text_free(&c.metas);
    return err;
}
