/* answer_ops.c - the ops of devices, and which of its cores one of them kept busy.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/ops.h"

enum { STEP = 1 << 21 }; /* events that one answer looks at */

/* What a question wants of the ops. */
struct filter {
    char text[256], bound[32];
    size_t n_text, n_bound;
    uint64_t device; /* track; 0: all */
    uint64_t lo, hi; /* ticks in which it begins; with is_ranged */
    int is_ranged;
};

/* A row that fits, and what it is sorted by: the largest comes first. */
struct listed {
    double key;
    uint32_t row;
};

/* ---- names ---- */

/* A row's name; `room` holds one that is made up. */
static const char *name_of(const struct strobe_engine *engine, const struct strobe_op_row *row,
                           char room[STROBE_NAME_ROOM], uint32_t *n)
{
    if (row->name)
        return strobe_texts_get(&engine->trace->texts, row->name, n);
    *n = (uint32_t)snprintf(room, STROBE_NAME_ROOM, "program %" PRIu64, row->program);
    return room;
}

/* Names of the rows of an answer, each once, in the order in which they come. */
static void put_names(const struct strobe_engine *engine, const struct listed *list, uint32_t n,
                      struct strobe_reply *reply)
{
    struct strobe_textmap names = {0};
    uint32_t *name = strobe_reply_u32(reply, "name", n), n_text;
    char room[STROBE_NAME_ROOM];
    strobe_reply_open(reply, "names", '[');
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const char *text = name_of(engine, &engine->ops->rows[list[i].row], room, &n_text);
        uint32_t n_before = names.n;
        if (strobe_textmap_add(&names, text, n_text, &name[i]))
            reply->failed = 1;
        else if (name[i] == n_before)
            strobe_reply_text(reply, "", text, n_text);
    }
    strobe_reply_close(reply, ']');
    strobe_textmap_free(&names);
}

/* ---- order ---- */

static double known(const struct strobe_op_row *row, enum strobe_device_figure figure, double value)
{
    return row->known & (uint64_t)figure ? value : NAN;
}

static double value_of(const struct strobe_engine *engine, const struct strobe_op_row *row,
                       const char *sort)
{
    if (!strcmp(sort, "kernel"))
        return known(row, STROBE_DEVICE_HAS_KERNEL, (double)row->times.kernel_ns);
    if (!strcmp(sort, "fw"))
        return known(row, STROBE_DEVICE_HAS_FW, (double)row->times.fw_ns);
    if (!strcmp(sort, "gap"))
        return known(row, STROBE_DEVICE_HAS_GAP, (double)row->times.gap_ns);
    if (!strcmp(sort, "host"))
        return known(row, STROBE_DEVICE_HAS_HOST, (double)row->times.host_ns);
    if (!strcmp(sort, "cores"))
        return known(row, STROBE_DEVICE_HAS_CORES, row->cores);
    if (!strcmp(sort, "util"))
        return known(row, STROBE_DEVICE_HAS_UTIL, row->util);
    if (!strcmp(sort, "bound"))
        return row->bound ? (double)row->bound : NAN;
    if (!strcmp(sort, "device"))
        return -(double)(engine->trace->processes[row->process].device);
    return 0; /* as they are listed */
}

/* What is not known comes last. */
static int by_key(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (isnan(x->key) != isnan(y->key))
        return isnan(x->key) ? 1 : -1;
    if (!isnan(x->key) && x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

struct named {
    const char *text;
    uint32_t n_text, at;
};

static int by_text(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    uint32_t n = x->n_text < y->n_text ? x->n_text : y->n_text;
    int order = memcmp(x->text, y->text, n);
    if (order || x->n_text != y->n_text)
        return order ? order : x->n_text < y->n_text ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Keys that sort by name, from A on: places in the list of all names. */
static int rank_names(const struct strobe_engine *engine, struct listed *list, uint32_t n)
{
    struct strobe_textmap names = {0};
    uint32_t *name = malloc((n + 1ull) * sizeof *name), n_text;
    char room[STROBE_NAME_ROOM];
    int ok = name != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        const char *text = name_of(engine, &engine->ops->rows[list[i].row], room, &n_text);
        ok = !strobe_textmap_add(&names, text, n_text, &name[i]);
    }
    struct named *sorted = ok ? malloc((names.n + 1ull) * sizeof *sorted) : NULL;
    for (uint32_t i = 0; sorted && i < names.n; i++)
        sorted[i] = (struct named){strobe_textmap_key(&names, i), names.entries[i].n_key, i};
    if (sorted && names.n)
        qsort(sorted, names.n, sizeof *sorted, by_text);
    for (uint32_t i = 0; sorted && i < names.n; i++)
        names.entries[sorted[i].at].value = i;
    for (uint32_t i = 0; sorted && i < n; i++)
        list[i].key = -(double)names.entries[name[i]].value;
    ok = sorted != NULL;
    free(sorted);
    free(name);
    strobe_textmap_free(&names);
    return ok;
}

/* ---- which ---- */

static int fits(const struct strobe_engine *engine, const struct filter *filter,
                const struct strobe_op_row *row)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = name_of(engine, row, room, &n);
    if (filter->device && strobe_track_of_process(engine, row->process) != filter->device)
        return 0;
    if (filter->is_ranged && (row->from < filter->lo || row->from > filter->hi || !row->from))
        return 0;
    if (filter->n_bound && strcmp(filter->bound, strobe_device_bound_name(row->bound)))
        return 0;
    return strobe_text_has(name, n, filter->text, filter->n_text);
}

/* The rows that a question wants, in its order. NULL without memory. */
static struct listed *list_rows(struct strobe_engine *engine, const struct strobe_json *question,
                                uint32_t *n)
{
    struct filter filter = {0};
    char sort[16] = "";
    const struct strobe_ops *ops = engine->ops;
    struct listed *list = malloc((ops->n_rows + 1ull) * sizeof *list);
    filter.n_text = strobe_json_text(question, strobe_json_member(question, 0, "filter"),
                                     filter.text, sizeof filter.text);
    filter.n_bound = strobe_json_text(question, strobe_json_member(question, 0, "bound"),
                                      filter.bound, sizeof filter.bound);
    filter.is_ranged = strobe_engine_span(engine, question, &filter.lo, &filter.hi);
    filter.device = strobe_engine_count(question, "device", 0, UINT32_MAX);
    strobe_json_text(question, strobe_json_member(question, 0, "sort"), sort, sizeof sort);
    *n = 0;
    for (uint32_t i = 0; list && i < ops->n_rows; i++)
        if (fits(engine, &filter, &ops->rows[i]))
            list[(*n)++] = (struct listed){value_of(engine, &ops->rows[i], sort), i};
    if (list && !strcmp(sort, "name") && !rank_names(engine, list, *n)) {
        free(list);
        return NULL;
    }
    if (list && *n)
        qsort(list, *n, sizeof *list, by_key);
    for (uint32_t i = 0; list && strobe_engine_is_reversed(question) && i < *n / 2; i++) {
        struct listed other = list[i];
        list[i] = list[*n - 1 - i];
        list[*n - 1 - i] = other;
    }
    return list;
}

/* ---- the answer ---- */

static void put_devices(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = engine->trace;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    strobe_reply_open(reply, "devices", '[');
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        if (!trace->processes[i].is_device)
            continue;
        const char *name = strobe_trace_process_name(trace, i, room, &n);
        strobe_reply_open(reply, "", '{');
        strobe_reply_u64(reply, "track", strobe_track_of_process(engine, i));
        strobe_reply_u64(reply, "device", trace->processes[i].device);
        strobe_reply_text(reply, "name", name, n);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

static void put_bounds(struct strobe_reply *reply)
{
    strobe_reply_open(reply, "bounds", '[');
    for (int i = 0; i < STROBE_DEVICE_BOUND_COUNT; i++)
        strobe_reply_string(reply, "", strobe_device_bound_name((enum strobe_device_bound)i));
    strobe_reply_close(reply, ']');
}

static uint32_t track_of(const struct strobe_engine *engine, const struct strobe_op_zone *zone)
{
    return zone->thread == STROBE_IDMAP_NONE ? 0 : strobe_track_of_thread(engine, zone->thread);
}

/* Where they are. */
static void put_places(struct strobe_engine *engine, const struct listed *list, uint32_t n,
                       struct strobe_reply *reply)
{
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    double *host_t0 = strobe_reply_f64(reply, "host_t0", n),
           *host_t1 = strobe_reply_f64(reply, "host_t1", n);
    uint32_t *device = strobe_reply_u32(reply, "device", n),
             *track = strobe_reply_u32(reply, "track", n);
    uint32_t *host_track = strobe_reply_u32(reply, "host_track", n),
             *host_depth = strobe_reply_u32(reply, "host_depth", n);
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const struct strobe_op_row *row = &engine->ops->rows[list[i].row];
        const struct strobe_op_zone *host = &row->host;
        int has_host = host->thread != STROBE_IDMAP_NONE;
        t0[i] = row->from ? strobe_engine_ns(engine, row->from) : NAN;
        t1[i] =
            row->from ? t0[i] + strobe_engine_length(engine, row->from, row->to - row->from) : NAN;
        host_t0[i] = has_host ? strobe_engine_ns(engine, host->begin) : NAN;
        host_t1[i] =
            has_host ? host_t0[i] + strobe_engine_length(engine, host->begin, host->ticks) : NAN;
        device[i] = row->known & STROBE_DEVICE_HAS_DEVICE
                        ? strobe_track_of_process(engine, row->process)
                        : 0;
        track[i] = track_of(engine, &row->kernels);
        host_track[i] = track_of(engine, host);
        host_depth[i] = has_host ? host->depth : 0;
    }
}

/* How long they took. */
static void put_figures(struct strobe_engine *engine, const struct listed *list, uint32_t n,
                        struct strobe_reply *reply)
{
    double *op = strobe_reply_f64(reply, "op", n), *host = strobe_reply_f64(reply, "host", n);
    double *kernel = strobe_reply_f64(reply, "kernel", n), *fw = strobe_reply_f64(reply, "fw", n);
    double *gap = strobe_reply_f64(reply, "gap", n), *util = strobe_reply_f64(reply, "util", n);
    double *cores = strobe_reply_f64(reply, "cores", n);
    uint32_t *number = strobe_reply_u32(reply, "row", n),
             *session = strobe_reply_u32(reply, "session", n);
    uint8_t *bound = strobe_reply_u8(reply, "bound", n);
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const struct strobe_op_row *row = &engine->ops->rows[list[i].row];
        const struct strobe_device_times *times = &row->times;
        op[i] = (double)row->op;
        number[i] = list[i].row;
        session[i] = (uint32_t)row->session;
        host[i] = known(row, STROBE_DEVICE_HAS_HOST, (double)times->host_ns);
        kernel[i] = known(row, STROBE_DEVICE_HAS_KERNEL, (double)times->kernel_ns);
        fw[i] = known(row, STROBE_DEVICE_HAS_FW, (double)times->fw_ns);
        gap[i] = known(row, STROBE_DEVICE_HAS_GAP, (double)times->gap_ns);
        util[i] = known(row, STROBE_DEVICE_HAS_UTIL, row->util);
        cores[i] = known(row, STROBE_DEVICE_HAS_CORES, row->cores);
        bound[i] = (uint8_t)row->bound;
    }
}

/* Go on with the list of all ops; how much of the trace it is of. */
static enum strobe_err step(struct strobe_engine *engine, double *share)
{
    *share = 0;
    if (!engine->ops && !(engine->ops = calloc(1, sizeof *engine->ops)))
        return STROBE_ERR_NOMEM;
    engine->ops->view = engine->view;
    engine->ops->tables = &engine->tables;
    enum strobe_err err = strobe_tables_update(&engine->tables);
    double read = strobe_tables_share(&engine->tables);
    if (!err && read >= 1)
        err = strobe_ops_step(engine->ops, STEP);
    *share = read >= 1 ? strobe_ops_share(engine->ops) : 0;
    return err;
}

void strobe_engine_answer_ops(struct strobe_engine *engine, const struct strobe_json *question,
                              struct strobe_reply *reply)
{
    double share;
    uint32_t n = 0;
    enum strobe_err err = step(engine, &share);
    struct listed *list = err ? NULL : list_rows(engine, question, &n);
    if (!list) {
        strobe_engine_answer_error(reply, strobe_err_text(err ? err : STROBE_ERR_NOMEM));
        return;
    }
    uint32_t limit = (uint32_t)strobe_engine_count(question, "limit", 10000, STROBE_OPS_MAX);
    int is_whole = engine->ops->is_whole && share >= 1;
    strobe_reply_bool(reply, "exact", is_whole);
    strobe_reply_number(reply, "share", share);
    strobe_reply_u64(reply, "n_ops", engine->ops->n_rows);
    strobe_reply_u64(reply, "n_rows", n);
    strobe_reply_u64(reply, "left_out", engine->ops->n_left_out);
    strobe_reply_bool(reply, "report", engine->trace->n_ops != 0);
    n = n < limit ? n : limit;
    put_bounds(reply);
    put_devices(engine, reply);
    put_names(engine, list, n, reply);
    put_places(engine, list, n, reply);
    put_figures(engine, list, n, reply);
    free(list);
}

void strobe_engine_answer_cores(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    uint64_t number = strobe_engine_count(question, "row", UINT32_MAX, UINT32_MAX);
    const struct strobe_trace *trace = engine->trace;
    struct strobe_op_part *parts = NULL;
    uint32_t n = 0;
    double share;
    enum strobe_err err = step(engine, &share);
    if (!err && engine->ops->is_whole && number >= engine->ops->n_rows)
        err = STROBE_ERR_NOTFOUND;
    if (!err && number < engine->ops->n_rows)
        err = strobe_ops_parts(engine->ops, &engine->ops->rows[number], &parts, &n);
    if (err) {
        free(parts);
        strobe_engine_answer_error(reply, err == STROBE_ERR_NOTFOUND ? "there is no such op"
                                                                     : strobe_err_text(err));
        return;
    }
    strobe_reply_bool(reply, "exact", share >= 1);
    double *kernel = strobe_reply_f64(reply, "kernel", n),
           *busy = strobe_reply_f64(reply, "busy", n);
    uint32_t *track = strobe_reply_u32(reply, "track", n), *x = strobe_reply_u32(reply, "x", n),
             *y = strobe_reply_u32(reply, "y", n);
    uint8_t *kind = strobe_reply_u8(reply, "kind", n), *risc = strobe_reply_u8(reply, "risc", n);
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[parts[i].thread];
        kernel[i] = (double)parts[i].kernel_ns;
        busy[i] = (double)parts[i].busy_ns;
        track[i] = strobe_track_of_thread(engine, parts[i].thread);
        x[i] = thread->x;
        y[i] = thread->y;
        kind[i] = thread->core_kind;
        risc[i] = thread->risc;
    }
    free(parts);
}
