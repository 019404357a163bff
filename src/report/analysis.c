/* analysis.c - runs analyses over series of markers and sums their results up.
 * SPDX-License-Identifier: MIT */
#include "report/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef struct strobe_report_span span;
typedef const struct strobe_report_model model_ref;
typedef const struct strobe_report_analysis analysis_ref;

/* ---- matching ---- */

static bool match_name(const struct strobe_report_matcher *matcher, span name, bool stems)
{
    for (int i = 0; i < STROBE_REPORT_NAMES_MAX && matcher->names[i]; i++) {
        size_t len = strlen(matcher->names[i]);
        if (strobe_report_span_is(name, matcher->names[i]))
            return true;
        if (stems && matcher->names[i][len - 1] == '*' && name.len &&
            memmem(name.at, name.len, matcher->names[i], len - 1))
            return true;
    }
    return false;
}

static bool matches(model_ref *model, const struct strobe_report_matcher *matcher,
                    const struct strobe_report_mark *mark, bool stems)
{
    const struct strobe_report_series *series = model->log.series[mark->series];
    if (strcmp(matcher->risc, "ANY") && strcmp(matcher->risc, series->name))
        return false;
    if (matcher->phase &&
        !strobe_report_span_is(strobe_report_zone_type(&model->log.zones[mark->zone]),
                               matcher->phase))
        return false;
    return match_name(matcher, strobe_report_mark_name(model, mark), stems);
}

bool strobe_report_is_event(model_ref *model, analysis_ref *analysis,
                            const struct strobe_report_mark *mark)
{
    uint8_t type = model->log.zones[mark->zone].type;
    const char *risc = model->log.series[mark->series]->name;
    return (type == STROBE_REPORT_TS_DATA || type == STROBE_REPORT_TS_EVENT) &&
           (!strcmp(analysis->start.risc, "ANY") || !strcmp(analysis->start.risc, risc));
}

/* ---- the forms ---- */

static bool add(struct strobe_report_found *found, struct strobe_report_duration duration)
{
    if (STROBE_ARRAY_RESERVE_TIGHT(found->all, found->n))
        return false;
    found->all[found->n++] = duration;
    return true;
}

static int64_t cycles_between(model_ref *model, uint32_t start, uint32_t end)
{
    return (int64_t)(model->marks[end].time - model->marks[start].time);
}

static bool first_last(model_ref *model, analysis_ref *analysis, const uint32_t *marks, uint32_t n,
                       struct strobe_report_found *found)
{
    uint32_t i = 0, k = n;
    while (i < n && !matches(model, &analysis->start, &model->marks[marks[i]], true))
        i++;
    while (i < n && --k > i)
        if (matches(model, &analysis->end, &model->marks[marks[k]], true))
            return add(found,
                       (struct strobe_report_duration){cycles_between(model, marks[i], marks[k]),
                                                       marks[i], marks[k], UINT32_MAX, UINT32_MAX});
    return true;
}

/* The markers of each core apart; cores in the order they appear. */
static bool core_first_last(model_ref *model, analysis_ref *analysis,
                            const struct strobe_report_times *times,
                            struct strobe_report_found *found)
{
    uint32_t *own = malloc((times->n + 1) * sizeof *own);
    bool *done = calloc(model->log.n_cores + 1, sizeof *done);
    bool ok = own && done;
    for (uint32_t i = 0; ok && i < times->n; i++) {
        uint32_t core = model->log.series[model->marks[times->marks[i]].series]->core, n = 0;
        if (done[core])
            continue;
        done[core] = true;
        for (uint32_t k = i; k < times->n; k++)
            if (model->log.series[model->marks[times->marks[k]].series]->core == core)
                own[n++] = times->marks[k];
        ok = first_last(model, analysis, own, n, found);
    }
    free(own);
    free(done);
    return ok;
}

static bool is_iteration(model_ref *model, const struct strobe_report_mark *mark)
{
    span name = strobe_report_mark_name(model, mark);
    return model->log.zones[mark->zone].type == STROBE_REPORT_ZONE_START &&
           (strobe_report_span_is(name, "BRISC-FW") || strobe_report_span_is(name, "DM0-FW"));
}

static bool adjacent(model_ref *model, analysis_ref *analysis,
                     const struct strobe_report_times *times, struct strobe_report_found *found)
{
    uint32_t start = UINT32_MAX, start_mark = UINT32_MAX, mark = UINT32_MAX;
    for (uint32_t i = 0; i < times->n; i++) {
        uint32_t index = times->marks[i];
        const struct strobe_report_mark *now = &model->marks[index];
        if (is_iteration(model, now))
            mark = index;
        if (start != UINT32_MAX && matches(model, &analysis->end, now, false)) {
            if (!add(found, (struct strobe_report_duration){cycles_between(model, start, index),
                                                            start, index, start_mark, mark}))
                return false;
            start = UINT32_MAX;
        } else if (matches(model, &analysis->start, now, false)) {
            start = index;
            start_mark = mark;
        }
    }
    return true;
}

static bool sum(model_ref *model, analysis_ref *analysis, const struct strobe_report_times *times,
                struct strobe_report_found *found)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < times->n; i++)
        if (matches(model, &analysis->start, &model->marks[times->marks[i]], false))
            total += model->marks[times->marks[i]].data;
    return !total ||
           add(found, (struct strobe_report_duration){(int64_t)total, UINT32_MAX, UINT32_MAX,
                                                      UINT32_MAX, UINT32_MAX});
}

/* ---- statistics ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_of(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static bool set_stats(struct strobe_report_found *found)
{
    struct strobe_report_stats *stats = &found->stats;
    double *values = malloc((found->n + 1) * sizeof *values);
    if (!values)
        return false;
    *stats = (struct strobe_report_stats){.count = found->n, .max = INT64_MIN, .min = INT64_MAX};
    stats->first = found->all[0].cycles;
    for (uint32_t i = 0; i < found->n; i++) {
        int64_t cycles = found->all[i].cycles;
        stats->sum += cycles;
        stats->max = cycles > stats->max ? cycles : stats->max;
        stats->min = cycles < stats->min ? cycles : stats->min;
        values[i] = (double)cycles;
    }
    stats->average = (double)stats->sum / (double)found->n;
    stats->median = median_of(values, found->n);
    free(values);
    return true;
}

static bool run_one(model_ref *model, analysis_ref *analysis,
                    const struct strobe_report_times *times,
                    struct strobe_report_findings *findings)
{
    struct strobe_report_found found = {.analysis = analysis};
    bool ok = true;
    switch (analysis->form) {
    case STROBE_REPORT_FIRST_LAST:
        ok = first_last(model, analysis, times->marks, times->n, &found);
        break;
    case STROBE_REPORT_CORE_FIRST_LAST:
        ok = core_first_last(model, analysis, times, &found);
        break;
    case STROBE_REPORT_ADJACENT:
        ok = adjacent(model, analysis, times, &found);
        break;
    case STROBE_REPORT_SUM:
        ok = sum(model, analysis, times, &found);
        break;
    case STROBE_REPORT_EVENT:
        break;
    }
    if (!found.n)
        return ok;
    if (!ok || STROBE_ARRAY_RESERVE_TIGHT(findings->all, findings->n) || !set_stats(&found)) {
        free(found.all);
        return false;
    }
    findings->all[findings->n++] = found;
    return true;
}

/* ---- totals of a device ---- */

/* The statistics of one analysis over all series that have it. */
struct total {
    struct strobe_report_stats stats;
    double *medians; /* owned */
    uint32_t n;
};

static bool add_total(struct total *total, const struct strobe_report_findings *findings,
                      analysis_ref *analysis)
{
    const struct strobe_report_found *found = strobe_report_findings_get(findings, analysis);
    if (!found)
        return true;
    if (STROBE_ARRAY_RESERVE_TIGHT(total->medians, total->n))
        return false;
    struct strobe_report_stats *all = &total->stats;
    all->count += found->stats.count;
    all->sum += found->stats.sum;
    all->max = !total->n || found->stats.max > all->max ? found->stats.max : all->max;
    all->min = !total->n || found->stats.min < all->min ? found->stats.min : all->min;
    total->medians[total->n++] = found->stats.median;
    return true;
}

static bool total_one(const struct strobe_report_model_device *device, analysis_ref *analysis,
                      struct strobe_report_device_findings *out)
{
    struct total total = {0};
    bool ok = add_total(&total, &out->device, analysis);
    for (uint32_t i = 0; ok && i < device->n_cores; i++)
        ok = add_total(&total, &out->cores[i], analysis);
    for (uint32_t i = 0; ok && i < device->ops.n; i++)
        ok = add_total(&total, &out->ops[i], analysis);
    for (uint32_t i = 0; ok && i < device->dispatch_ops.n; i++)
        ok = add_total(&total, &out->dispatch_ops[i], analysis);
    if (ok && total.n) {
        total.stats.average = (double)total.stats.sum / (double)total.stats.count;
        total.stats.median = median_of(total.medians, total.n);
        struct strobe_report_found *found = STROBE_ARRAY_PUSH_TIGHT(out->total.all, out->total.n);
        ok = found != NULL;
        if (ok)
            *found = (struct strobe_report_found){.analysis = analysis, .stats = total.stats};
    }
    free(total.medians);
    return ok;
}

/* ---- all of a device ---- */

static bool run_on(model_ref *model, analysis_ref *analysis,
                   const struct strobe_report_model_device *device,
                   struct strobe_report_device_findings *out)
{
    bool ok = true;
    switch (analysis->across) {
    case STROBE_REPORT_ACROSS_CORE:
        for (uint32_t i = 0; ok && i < device->n_cores; i++)
            ok = run_one(model, analysis, &device->cores[i].tensix, &out->cores[i]);
        return ok;
    case STROBE_REPORT_ACROSS_OPS:
        for (uint32_t i = 0; ok && i < device->ops.n; i++)
            ok = run_one(model, analysis, &device->ops.all[i], &out->ops[i]);
        return ok;
    case STROBE_REPORT_ACROSS_DISPATCH:
        for (uint32_t i = 0; ok && i < device->dispatch_ops.n; i++)
            ok = run_one(model, analysis, &device->dispatch_ops.all[i], &out->dispatch_ops[i]);
        return ok;
    case STROBE_REPORT_ACROSS_DEVICE:
        return run_one(model, analysis, &device->tensix, &out->device);
    }
    return ok;
}

enum strobe_err strobe_report_analyse(model_ref *model, const struct strobe_report_setup *setup,
                                      uint32_t index, struct strobe_report_device_findings *out)
{
    const struct strobe_report_model_device *device = &model->devices[index];
    *out = (struct strobe_report_device_findings){
        .cores = calloc(device->n_cores + 1, sizeof *out->cores),
        .ops = calloc(device->ops.n + 1, sizeof *out->ops),
        .dispatch_ops = calloc(device->dispatch_ops.n + 1, sizeof *out->dispatch_ops)};
    bool ok = out->cores && out->ops && out->dispatch_ops;
    for (uint32_t i = 0; ok && i < setup->n; i++)
        ok = run_on(model, setup->analyses[i], device, out);
    for (uint32_t i = 0; ok && i < setup->n; i++)
        ok = total_one(device, setup->analyses[i], out);
    return ok ? STROBE_OK : STROBE_ERR_NOMEM;
}

static void free_findings(struct strobe_report_findings *findings)
{
    for (uint32_t i = 0; i < findings->n; i++)
        free(findings->all[i].all);
    free(findings->all);
}

void strobe_report_findings_free(model_ref *model, uint32_t index,
                                 struct strobe_report_device_findings *findings)
{
    const struct strobe_report_model_device *device = &model->devices[index];
    for (uint32_t i = 0; findings->cores && i < device->n_cores; i++)
        free_findings(&findings->cores[i]);
    for (uint32_t i = 0; findings->ops && i < device->ops.n; i++)
        free_findings(&findings->ops[i]);
    for (uint32_t i = 0; findings->dispatch_ops && i < device->dispatch_ops.n; i++)
        free_findings(&findings->dispatch_ops[i]);
    free_findings(&findings->device);
    free_findings(&findings->total);
    free(findings->cores);
    free(findings->ops);
    free(findings->dispatch_ops);
}

const struct strobe_report_found *
strobe_report_findings_get(const struct strobe_report_findings *findings, analysis_ref *analysis)
{
    for (uint32_t i = 0; i < findings->n; i++)
        if (findings->all[i].analysis == analysis)
            return &findings->all[i];
    return NULL;
}

/* ---- device_stats.txt ---- */

/* "1,234,567" right-aligned in ten places. */
static void add_number(struct strobe_out *out, double value)
{
    char digits[64], grouped[96];
    int len = snprintf(digits, sizeof digits, "%.0f", fabs(value)), n = 0;
    if (value < 0 && strcmp(digits, "0"))
        grouped[n++] = '-';
    for (int i = 0; i < len; i++) {
        grouped[n++] = digits[i];
        if ((len - i) % 3 == 1 && i + 1 < len)
            grouped[n++] = ',';
    }
    grouped[n] = 0;
    strobe_out_format(out, "%10s\n", grouped);
}

static void add_stats(const struct strobe_report_found *found, struct strobe_out *out)
{
    const struct strobe_report_stats *stats = &found->stats;
    const struct {
        const char *name;
        double value;
    } rows[] = {{"Count", (double)stats->count},
                {"Average", stats->average},
                {"Max", (double)stats->max},
                {"Median", stats->median},
                {"Min", (double)stats->min},
                {"Sum", (double)stats->sum},
                {"Range", (double)(stats->max - stats->min)}};
    strobe_out_format(out, "\n=================== %s ===================\n", found->analysis->name);
    if (stats->count <= 1) {
        strobe_out_format(out, "%12s [cycles] = ", "Duration");
        add_number(out, (double)stats->max);
    }
    for (int i = 0; stats->count > 1 && i < 7; i++) {
        strobe_out_format(out, "%12s %s = ", rows[i].name, i ? "[cycles]" : "        ");
        add_number(out, rows[i].value);
    }
    strobe_out_char(out, '\n');
}

void strobe_report_stats_text(const struct strobe_report_setup *setup,
                              const struct strobe_report_device_findings *findings,
                              uint32_t n_devices, struct strobe_out *out)
{
    for (uint32_t device = 0; device < n_devices; device++)
        for (uint32_t i = 0; i < setup->n; i++) {
            const struct strobe_report_found *found =
                strobe_report_findings_get(&findings[device].total, setup->analyses[i]);
            if (found)
                add_stats(found, out);
        }
}
