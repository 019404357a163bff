/* counter_tables.c - see the header.  SPDX-License-Identifier: MIT */
#include "report/counter_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

/* Statistics over ops of one line of a table. */
struct line {
    double least, most, sum;
    double *medians; /* owned: of the ops */
    uint32_t n, room;
};

/* The lines of one device. */
struct tables {
    const struct strobe_report *report; /* borrowed */
    uint32_t n_kinds;                   /* of counters */
    struct line *values, *shares;       /* owned: by counter */
    struct line metrics[STROBE_REPORT_METRICS_MAX];
    double *cells; /* owned: values of an op's cores; n_cells fit */
    size_t n_cells;
    uint32_t n_ops;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    STROBE_ASSERT(n > 0);
    qsort(values, n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static bool add_op(struct line *line, double least, double middle, double most, double mean)
{
    double *place = STROBE_ARRAY_PUSH(line->medians, line->n, line->room);
    if (!place)
        return false;
    *place = middle;
    line->least = line->n == 1 || least < line->least ? least : line->least;
    line->most = line->n == 1 || most > line->most ? most : line->most;
    line->sum += mean;
    return true;
}

/* One counter of one op: its values are in `cells`. */
static bool add_cells(struct line *line, double *cells, size_t n)
{
    double sum = 0;
    if (!n)
        return true;
    for (size_t i = 0; i < n; i++)
        sum += cells[i];
    double middle = median(cells, n);
    return add_op(line, cells[0], middle, cells[n - 1], sum / (double)n);
}

/* The counters of an op: its values are those from `from` to `end`. */
static bool add_counters(struct tables *tables, size_t from, size_t end)
{
    const struct strobe_report_counter_value *all = tables->report->counters.values;
    for (uint32_t kind = 0; kind < tables->n_kinds; kind++) {
        size_t n = 0, n_shares = 0;
        for (size_t i = from; i < end; i++)
            if (all[i].kind == kind)
                tables->cells[n++] = all[i].value;
        if (!add_cells(&tables->values[kind], tables->cells, n))
            return false;
        for (size_t i = from; i < end; i++)
            if (all[i].kind == kind && all[i].ref > 0)
                tables->cells[n_shares++] = 100 * all[i].value / all[i].ref;
        if (!add_cells(&tables->shares[kind], tables->cells, n_shares))
            return false;
    }
    return true;
}

static bool add_metrics(struct tables *tables, uint32_t device, uint64_t run, int64_t counter)
{
    const struct strobe_report_metrics *metrics = &tables->report->metrics[device];
    struct strobe_report_op_metrics *op = malloc(sizeof *op);
    bool ok = op;
    if (op)
        strobe_report_metrics_op(metrics, run, counter, op);
    for (int i = 0; ok && i < strobe_report_metric_count(); i++) {
        const double *stats = op->stats[i];
        if (metrics->active[i] && !isnan(stats[0]) && !isnan(stats[3]))
            ok = add_op(&tables->metrics[i], stats[0], stats[1], stats[2], stats[3]);
    }
    free(op);
    return ok;
}

static bool gather(struct tables *tables, uint32_t device)
{
    const struct strobe_report_metrics *metrics = &tables->report->metrics[device];
    const struct strobe_report_counter_value *all = tables->report->counters.values;
    for (size_t from = metrics->from, end; from < metrics->to; from = end) {
        for (end = from; end < metrics->to && all[end].run == all[from].run &&
                         all[end].counter == all[from].counter;)
            end++;
        if (STROBE_ARRAY_RESERVE(tables->cells, tables->n_cells, end - from) ||
            !add_counters(tables, from, end) ||
            !add_metrics(tables, device, all[from].run, all[from].counter))
            return false;
        tables->n_ops++;
    }
    return true;
}

/* ---- text ---- */

static void put_title(struct strobe_out *out, const char *title, int64_t device, const char *first)
{
    strobe_out_format(out, "\n%s - DEVICE %lld\n%-40s %6s %15s %15s %15s %15s\n", title,
                      (long long)device, first, "Ops", "Min", "Median", "Max", "Avg");
}

static void put_line(struct strobe_out *out, const char *name, struct line *line, int digits)
{
    if (line->n)
        strobe_out_format(out, "%-40s %6u %15.*f %15.*f %15.*f %15.*f\n", name, line->n, digits,
                          line->least, digits, median(line->medians, line->n), digits, line->most,
                          digits, line->sum / line->n);
}

static void put_metric(struct strobe_out *out, int metric, struct line *line)
{
    struct strobe_out name = {0};
    strobe_report_metric_header(metric, 0, &name);
    char *cut = strstr((char *)(uintptr_t)strobe_out_string(&name), " Min");
    if (cut)
        memmove(cut, cut + 4, strlen(cut + 4) + 1);
    if (!name.error)
        put_line(out, name.at, line, 2);
    strobe_out_free(&name);
}

static void put_all(struct tables *tables, int64_t device, struct strobe_out *out)
{
    char *const *names = tables->report->counters.names;
    put_title(out, "PERFORMANCE COUNTER STATISTICS", device, "Counter Type");
    for (uint32_t i = 0; i < tables->n_kinds; i++)
        put_line(out, names[i], &tables->values[i], 1);
    put_title(out, "COUNTER UTILIZATION (%)", device, "Counter Type");
    for (uint32_t i = 0; i < tables->n_kinds; i++)
        put_line(out, names[i], &tables->shares[i], 2);
    put_title(out, "EFFICIENCY METRICS SUMMARY", device, "Metric");
    for (int i = 0; i < strobe_report_metric_count(); i++)
        put_metric(out, i, &tables->metrics[i]);
    strobe_out_format(out, "%u ops with counters\n", tables->n_ops);
}

static void free_tables(struct tables *tables)
{
    for (uint32_t i = 0; i < tables->n_kinds; i++) {
        if (tables->values)
            free(tables->values[i].medians);
        if (tables->shares)
            free(tables->shares[i].medians);
    }
    for (int i = 0; i < STROBE_REPORT_METRICS_MAX; i++)
        free(tables->metrics[i].medians);
    free(tables->values);
    free(tables->shares);
    free(tables->cells);
}

enum strobe_err strobe_report_counter_tables(const struct strobe_report *report,
                                             struct strobe_out *out)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; report->metrics && i < report->log.n_devices && !err; i++) {
        struct tables tables = {.report = report, .n_kinds = report->counters.n_names};
        if (report->metrics[i].from == report->metrics[i].to)
            continue;
        tables.values = calloc(tables.n_kinds + 1, sizeof *tables.values);
        tables.shares = calloc(tables.n_kinds + 1, sizeof *tables.shares);
        if (tables.values && tables.shares && gather(&tables, i))
            put_all(&tables, report->log.devices[i].id, out);
        else
            err = STROBE_ERR_NOMEM;
        free_tables(&tables);
    }
    return err;
}
