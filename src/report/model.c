/* model.c - loads a device log and puts its markers in order.  SPDX-License-Identifier: MIT */
#include "report/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint32_t keep_meta(struct strobe_report_model *model, struct strobe_report_span meta)
{
    if (meta.len && meta.len == model->last_meta_len &&
        !memcmp(model->texts.at + model->last_meta, meta.at, meta.len))
        return model->last_meta;
    model->last_meta = (uint32_t)model->texts.len;
    model->last_meta_len = (uint32_t)meta.len;
    strobe_out_bytes(&model->texts, meta.at, meta.len);
    if (model->texts.error || model->texts.len > UINT32_MAX)
        model->err = model->texts.error ? STROBE_ERR_NOMEM : STROBE_ERR_LIMIT;
    return model->last_meta;
}

static bool grow(struct strobe_report_model *model)
{
    enum strobe_err err = STROBE_ARRAY_RESERVE(model->marks, model->cap, model->n + 1ull);
    if (err)
        model->err = err;
    return !err;
}

static bool take(void *context, const struct strobe_report_marker *m)
{
    struct strobe_report_model *model = context;
    if (m->zone == &model->log.loose)
        return true; /* a name beyond the limit of the table */
    if (!grow(model))
        return false;
    struct strobe_report_mark *mark = &model->marks[model->n++];
    *mark = (struct strobe_report_mark){.time = m->time,
                                        .data = m->data,
                                        .run = m->run,
                                        .trace = m->trace,
                                        .counter = m->counter,
                                        .series = m->series->index,
                                        .zone = (uint32_t)(m->zone - model->log.zones),
                                        .timer = m->timer,
                                        .meta = keep_meta(model, m->meta),
                                        .meta_len = (uint32_t)m->meta.len,
                                        .name = UINT32_MAX};
    if (m->zone->flags & STROBE_REPORT_IS_DISPATCH && m->series->risc != STROBE_REPORT_ERISC)
        model->log.cores[m->series->core].dispatch = true;
    return !model->err;
}

struct strobe_report_span strobe_report_mark_name(const struct strobe_report_model *model,
                                                  const struct strobe_report_mark *mark)
{
    if (mark->name == UINT32_MAX)
        return strobe_report_zone_name(&model->log.zones[mark->zone]);
    const char *name = model->texts.at + mark->name;
    return (struct strobe_report_span){name, strlen(name)};
}

/* ---- stable sorting ---- */

static void merge(const struct strobe_report_mark *marks, uint32_t *all, uint32_t *space,
                  uint32_t n)
{
    if (n < 2)
        return;
    uint32_t half = n / 2, i = 0, k = half, at = 0;
    merge(marks, all, space, half);
    merge(marks, all + half, space, n - half);
    if (marks[all[half - 1]].time <= marks[all[half]].time)
        return;
    while (i < half && k < n)
        space[at++] = marks[all[k]].time < marks[all[i]].time ? all[k++] : all[i++];
    while (i < half)
        space[at++] = all[i++];
    memcpy(all, space, at * sizeof *all);
}

static enum strobe_err sort(const struct strobe_report_model *model,
                            struct strobe_report_times *times)
{
    uint32_t *space = malloc((times->n + 1) * sizeof *space);
    if (!space)
        return STROBE_ERR_NOMEM;
    merge(model->marks, times->marks, space, times->n);
    free(space);
    return STROBE_OK;
}

static void append(struct strobe_report_times *to, const struct strobe_report_times *from)
{
    if (from->n)
        memcpy(to->marks + to->n, from->marks, from->n * sizeof *to->marks);
    to->n += from->n;
}

static enum strobe_err reserve(struct strobe_report_times *times, uint32_t n)
{
    times->marks = malloc((n + 1) * sizeof *times->marks);
    return times->marks ? STROBE_OK : STROBE_ERR_NOMEM;
}

/* ---- building ---- */

static enum strobe_err split_series(struct strobe_report_model *model)
{
    enum strobe_err err = STROBE_OK;
    uint32_t n_series = model->log.n_series;
    uint32_t *counts = calloc(n_series + 1, sizeof *counts);
    model->series = calloc(n_series + 1, sizeof *model->series);
    if (!counts || !model->series)
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < model->n; i++)
        counts[model->marks[i].series]++;
    for (uint32_t i = 0; !err && i < n_series; i++)
        err = reserve(&model->series[i], counts[i]);
    for (uint32_t i = 0; !err && i < model->n; i++) {
        struct strobe_report_times *times = &model->series[model->marks[i].series];
        times->marks[times->n++] = i;
    }
    for (uint32_t i = 0; !err && i < n_series; i++)
        err = sort(model, &model->series[i]);
    free(counts);
    return err;
}

static enum strobe_err build_core(struct strobe_report_model *model,
                                  struct strobe_report_model_core *core)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->log.n_series; i++)
        if (model->log.series[i]->core == core->core)
            n += model->series[i].n;
    enum strobe_err err = reserve(&core->tensix, n);
    for (uint32_t i = 0; !err && i < model->log.n_series; i++)
        if (model->log.series[i]->core == core->core)
            append(&core->tensix, &model->series[i]);
    return err ? err : sort(model, &core->tensix);
}

static enum strobe_err build_device(struct strobe_report_model *model, uint32_t index)
{
    struct strobe_report_model_device *device = &model->devices[index];
    uint32_t n = 0;
    enum strobe_err err = STROBE_OK;
    device->id = model->log.devices[index].id;
    device->cores = calloc(model->log.devices[index].n_cores + 1, sizeof *device->cores);
    if (!device->cores)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < model->log.n_cores; i++) {
        if (model->log.cores[i].device_index != index)
            continue;
        struct strobe_report_model_core *core = &device->cores[device->n_cores++];
        core->core = i;
        err = build_core(model, core);
        n += core->tensix.n;
    }
    if (!err)
        err = reserve(&device->tensix, n);
    for (uint32_t i = 0; !err && i < device->n_cores; i++)
        append(&device->tensix, &device->cores[i].tensix);
    return err ? err : sort(model, &device->tensix);
}

enum strobe_err strobe_report_model_open(struct strobe_report_model *model, const char *path,
                                         struct strobe_report_faults *faults, bool detect)
{
    *model = (struct strobe_report_model){0};
    strobe_report_log_open(&model->log, faults);
    struct strobe_report_log_options options = {.take = take, .context = model, .copy_fd = -1};
    enum strobe_err err = strobe_report_log_read(&model->log, path, &options);
    if (!err)
        err = model->err;
    if (!err)
        err = split_series(model);
    if (!err && !(model->devices = calloc(model->log.n_devices + 1, sizeof *model->devices)))
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < model->log.n_devices; i++) {
        model->n_devices++;
        err = build_device(model, i);
    }
    if (!err && detect)
        err = strobe_report_model_find_ops(model);
    return err;
}

static void free_ops(struct strobe_report_model_ops *ops)
{
    for (uint32_t i = 0; i < ops->n; i++)
        free(ops->all[i].marks);
    free(ops->all);
}

void strobe_report_model_close(struct strobe_report_model *model)
{
    for (uint32_t i = 0; i < model->n_devices; i++) {
        struct strobe_report_model_device *device = &model->devices[i];
        for (uint32_t k = 0; k < device->n_cores; k++) {
            free(device->cores[k].tensix.marks);
            free_ops(&device->cores[k].ops);
        }
        free(device->cores);
        free(device->tensix.marks);
        free_ops(&device->ops);
        free(device->dispatch_ops.all); /* its ops belong to their cores */
    }
    for (uint32_t i = 0; model->series && i < model->log.n_series; i++)
        free(model->series[i].marks);
    free(model->series);
    free(model->devices);
    free(model->marks);
    strobe_out_free(&model->texts);
    strobe_report_log_close(&model->log);
}
