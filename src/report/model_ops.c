/* model_ops.c - finds the ops in a model's markers.
 * An op is over when the master RISC of every core that took part has started and ended its FW
 * zone; the markers of one program that follow belong to its next run. Where upstream gives up (a
 * second start before an end), a new op is begun.  SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "base/array.h"
#include "report/model.h"

#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_span span;

/* A list of lists of markers, growing. */
struct builder {
    const struct strobe_report_model *model;
    struct strobe_report_model_ops *ops;
    uint32_t cap, mark_cap; /* of the list; of the op under way */
    bool failed;
};

static void new_op(struct builder *b)
{
    if (STROBE_ARRAY_RESERVE(b->ops->all, b->cap, (uint64_t)b->ops->n + 1)) {
        b->failed = true;
        return;
    }
    b->ops->all[b->ops->n++] = (struct strobe_report_times){0};
    b->mark_cap = 0;
}

static void add_mark(struct builder *b, uint32_t mark)
{
    if (b->failed || !b->ops->n)
        return;
    struct strobe_report_times *op = &b->ops->all[b->ops->n - 1];
    if (STROBE_ARRAY_RESERVE(op->marks, b->mark_cap, (uint64_t)op->n + 1)) {
        b->failed = true;
        return;
    }
    op->marks[op->n++] = mark;
}

/* An op that never got a marker is none. */
static void drop_empty(struct builder *b)
{
    if (b->ops->n && !b->ops->all[b->ops->n - 1].n) {
        b->ops->n--;
        free(b->ops->all[b->ops->n].marks);
    }
}

/* ---- groups: the markers of one program ---- */

struct group {
    uint64_t run, time;
    uint32_t order, first, last; /* list through `next` */
};

struct groups {
    struct group *all;
    uint32_t n, cap;
    uint32_t *next; /* by place in the series */
    struct strobe_map by_run;
};

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool add_to_group(struct groups *groups, uint64_t run, uint64_t time, uint32_t place)
{
    uint32_t index = (uint32_t)strobe_map_get(&groups->by_run, run, UINT32_MAX);
    groups->next[place] = UINT32_MAX;
    if (index != UINT32_MAX) {
        groups->next[groups->all[index].last] = place;
        groups->all[index].last = place;
        return true;
    }
    if (STROBE_ARRAY_RESERVE(groups->all, groups->cap, (uint64_t)groups->n + 1))
        return false;
    groups->all[groups->n] = (struct group){run, time, groups->n, place, place};
    return !strobe_map_put(&groups->by_run, run, groups->n++);
}

static bool make_groups(const struct strobe_report_model *model,
                        const struct strobe_report_times *times, struct groups *groups)
{
    *groups = (struct groups){.next = malloc((times->n + 1) * sizeof *groups->next)};
    bool ok = groups->next != NULL;
    for (uint32_t i = 0; ok && i < times->n; i++) {
        const struct strobe_report_mark *mark = &model->marks[times->marks[i]];
        ok = add_to_group(groups, mark->run, mark->time, i);
    }
    if (ok && groups->n)
        qsort(groups->all, groups->n, sizeof *groups->all, compare_groups);
    return ok;
}

static void free_groups(struct groups *groups)
{
    free(groups->all);
    free(groups->next);
    strobe_map_free(&groups->by_run);
}

/* ---- ops of a device: over all cores ---- */

enum { AWAY = 1, WAITING = 2, STARTED = 3, ENDED = 4 }; /* a core's part in the op */

static bool is_complete(const uint8_t *states, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (states[i] == WAITING || states[i] == STARTED)
            return false;
    return true;
}

static void restart(uint8_t *states, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (states[i] != AWAY)
            states[i] = WAITING;
}

static void walk_group(struct builder *b, const struct strobe_report_times *times,
                       const struct groups *groups, const struct group *group, uint8_t *states)
{
    const struct strobe_report_model *model = b->model;
    uint32_t n_cores = model->log.n_cores;
    memset(states, AWAY, n_cores);
    for (uint32_t i = group->first; i != UINT32_MAX; i = groups->next[i])
        states[model->log.series[model->marks[times->marks[i]].series]->core] = WAITING;
    for (uint32_t i = group->first; i != UINT32_MAX; i = groups->next[i]) {
        const struct strobe_report_mark *mark = &model->marks[times->marks[i]];
        const struct strobe_report_series *series = model->log.series[mark->series];
        const struct strobe_report_zone *zone = &model->log.zones[mark->zone];
        if (!mark->timer)
            continue;
        bool master = mark->name == UINT32_MAX && strobe_report_is_master(series, zone);
        bool start = master && zone->type == STROBE_REPORT_ZONE_START;
        if (start && states[series->core] != WAITING) {
            new_op(b);
            restart(states, n_cores);
        }
        if (start)
            states[series->core] = STARTED;
        bool end = master && !start && states[series->core] == STARTED;
        if (end)
            states[series->core] = ENDED;
        add_mark(b, times->marks[i]);
        if (end && is_complete(states, n_cores)) {
            new_op(b);
            restart(states, n_cores);
        }
    }
}

static enum strobe_err find_device_ops(const struct strobe_report_model *model,
                                       struct strobe_report_model_device *device)
{
    struct builder b = {.model = model, .ops = &device->ops};
    struct groups groups;
    uint8_t *states = malloc(model->log.n_cores + 1);
    b.failed = !make_groups(model, &device->tensix, &groups) || !states;
    new_op(&b);
    for (uint32_t i = 0; !b.failed && i < groups.n; i++)
        if (groups.all[i].run)
            walk_group(&b, &device->tensix, &groups, &groups.all[i], states);
    drop_empty(&b);
    free(states);
    free_groups(&groups);
    return b.failed ? STROBE_ERR_NOMEM : STROBE_OK;
}

/* ---- ops of a core: each end of the master's FW zone ---- */

static enum strobe_err find_core_ops(const struct strobe_report_model *model,
                                     struct strobe_report_model_core *core)
{
    struct builder b = {.model = model, .ops = &core->ops};
    struct groups groups;
    b.failed = !make_groups(model, &core->tensix, &groups);
    new_op(&b);
    for (uint32_t g = 0; !b.failed && g < groups.n; g++) {
        for (uint32_t i = groups.all[g].first; groups.all[g].run && i != UINT32_MAX;
             i = groups.next[i]) {
            const struct strobe_report_mark *mark = &model->marks[core->tensix.marks[i]];
            const struct strobe_report_zone *zone = &model->log.zones[mark->zone];
            if (!mark->timer)
                continue;
            add_mark(&b, core->tensix.marks[i]);
            if (zone->type == STROBE_REPORT_ZONE_END &&
                strobe_report_is_master(model->log.series[mark->series], zone))
                new_op(&b);
        }
    }
    drop_empty(&b);
    free_groups(&groups);
    return b.failed ? STROBE_ERR_NOMEM : STROBE_OK;
}

/* ---- ops of a dispatch core ---- */

struct dispatch_part {
    int64_t id;
    struct strobe_report_times times;
    uint32_t cap;
};

struct dispatch_risc {
    int64_t op;
    uint32_t command; /* into texts; UINT32_MAX: none yet */
    bool finished;
    struct dispatch_part *parts;
    uint32_t n, cap;
    struct strobe_report_times zone;
    uint32_t zone_cap;
};

static bool push(struct strobe_report_times *times, uint32_t *cap, uint32_t mark)
{
    if (STROBE_ARRAY_RESERVE(times->marks, *cap, (uint64_t)times->n + 1))
        return false;
    times->marks[times->n++] = mark;
    return true;
}

static struct dispatch_part *find_part(struct dispatch_risc *risc, int64_t id)
{
    for (uint32_t i = risc->n; i-- > 0;)
        if (risc->parts[i].id == id)
            return &risc->parts[i];
    return NULL;
}

static struct dispatch_part *part_of(struct dispatch_risc *risc, int64_t id)
{
    struct dispatch_part *part = find_part(risc, id);
    if (part)
        return part;
    if (STROBE_ARRAY_RESERVE(risc->parts, risc->cap, (uint64_t)risc->n + 1))
        return NULL;
    risc->parts[risc->n] = (struct dispatch_part){.id = id};
    return &risc->parts[risc->n++];
}

static void read_meta(struct strobe_report_model *model, struct dispatch_risc *risc,
                      const struct strobe_report_mark *mark)
{
    span meta = {model->texts.at + mark->meta, mark->meta_len}, text;
    int64_t id;
    if (!mark->meta_len)
        return;
    if (strobe_report_meta_member(meta, "workers_runtime_id", &text) &&
        strobe_report_span_int(text, &id)) {
        risc->finished = false;
        risc->op = find_part(risc, id) ? 0 : id;
    }
    if (!strobe_report_meta_member(meta, "dispatch_command_type", &text))
        return;
    char command[256];
    size_t len = text.len < sizeof command - 1 ? text.len : sizeof command - 1;
    memcpy(command, text.at, len);
    command[len] = 0;
    risc->command = (uint32_t)model->texts.len;
    strobe_out_bytes(&model->texts, command, len + 1);
    risc->finished |= strstr(command, "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL") != NULL;
    risc->op += strstr(command, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL") != NULL;
}

/* The zone ends: its two borders take the command's name, all of it goes to the op. */
static bool close_zone(struct strobe_report_model *model, struct dispatch_risc *risc)
{
    struct dispatch_part *part = part_of(risc, risc->op);
    if (!part)
        return false;
    uint32_t name = risc->command;
    if (name == UINT32_MAX) {
        name = (uint32_t)model->texts.len;
        strobe_out_char(&model->texts, 0);
    }
    model->marks[risc->zone.marks[0]].name = name;
    model->marks[risc->zone.marks[risc->zone.n - 1]].name = name;
    for (uint32_t i = 0; i < risc->zone.n; i++)
        if (!push(&part->times, &part->cap, risc->zone.marks[i]))
            return false;
    risc->zone.n = 0;
    if (risc->finished)
        risc->op = 0;
    return !model->texts.error;
}

static const struct strobe_report_mark *sorted_marks; /* for qsort; set before each use */

static int compare_parts(const void *a, const void *b)
{
    const struct dispatch_part *x = a, *y = b;
    uint64_t p = sorted_marks[x->times.marks[0]].time, q = sorted_marks[y->times.marks[0]].time;
    return p < q ? -1 : p > q;
}

static int compare_marks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sorted_marks[x].time != sorted_marks[y].time)
        return sorted_marks[x].time < sorted_marks[y].time ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Pair the two RISCs' ops in order. */
static bool pair_parts(struct strobe_report_model *model, struct strobe_report_model_core *core,
                       struct dispatch_risc riscs[2])
{
    struct builder b = {.model = model, .ops = &core->ops};
    sorted_marks = model->marks;
    for (int i = 0; i < 2; i++)
        if (riscs[i].n)
            qsort(riscs[i].parts, riscs[i].n, sizeof *riscs[i].parts, compare_parts);
    for (uint32_t i = 0; i < riscs[0].n && i < riscs[1].n; i++) {
        if (riscs[0].parts[i].id <= 0)
            continue;
        new_op(&b);
        for (int k = 0; k < 2; k++)
            for (uint32_t m = 0; m < riscs[k].parts[i].times.n; m++)
                add_mark(&b, riscs[k].parts[i].times.marks[m]);
        if (b.failed)
            return false;
        struct strobe_report_times *op = &b.ops->all[b.ops->n - 1];
        qsort(op->marks, op->n, sizeof *op->marks, compare_marks);
    }
    return !b.failed;
}

static enum strobe_err find_dispatch_ops(struct strobe_report_model *model,
                                         struct strobe_report_model_core *core)
{
    struct dispatch_risc riscs[2] = {{.command = UINT32_MAX}, {.command = UINT32_MAX}};
    bool ok = true;
    for (uint32_t i = 0; ok && i < core->tensix.n; i++) {
        uint32_t index = core->tensix.marks[i];
        const struct strobe_report_mark *mark = &model->marks[index];
        uint8_t which = model->log.series[mark->series]->risc;
        if (which > STROBE_REPORT_NCRISC)
            continue;
        ok = push(&riscs[which].zone, &riscs[which].zone_cap, index);
        read_meta(model, &riscs[which], mark);
        if (ok && model->log.zones[mark->zone].type == STROBE_REPORT_ZONE_END)
            ok = close_zone(model, &riscs[which]);
    }
    ok = ok && pair_parts(model, core, riscs);
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < riscs[i].n; k++)
            free(riscs[i].parts[k].times.marks);
        free(riscs[i].parts);
        free(riscs[i].zone.marks);
    }
    return ok ? STROBE_OK : STROBE_ERR_NOMEM;
}

static int compare_ops(const void *a, const void *b)
{
    const struct strobe_report_times *x = a, *y = b;
    uint64_t p = sorted_marks[x->marks[0]].time, q = sorted_marks[y->marks[0]].time;
    return p < q ? -1 : p > q;
}

/* The ops of all dispatch cores, by time; the lists stay their cores'. */
static enum strobe_err gather_dispatch_ops(const struct strobe_report_model *model,
                                           struct strobe_report_model_device *device)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < device->n_cores; i++)
        if (model->log.cores[device->cores[i].core].dispatch)
            n += device->cores[i].ops.n;
    device->dispatch_ops.all = malloc((n + 1) * sizeof *device->dispatch_ops.all);
    if (!device->dispatch_ops.all)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < device->n_cores; i++)
        for (uint32_t k = 0;
             model->log.cores[device->cores[i].core].dispatch && k < device->cores[i].ops.n; k++)
            device->dispatch_ops.all[device->dispatch_ops.n++] = device->cores[i].ops.all[k];
    sorted_marks = model->marks;
    if (n)
        qsort(device->dispatch_ops.all, n, sizeof *device->dispatch_ops.all, compare_ops);
    return STROBE_OK;
}

enum strobe_err strobe_report_model_find_ops(struct strobe_report_model *model)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t d = 0; !err && d < model->n_devices; d++) {
        struct strobe_report_model_device *device = &model->devices[d];
        for (uint32_t i = 0; !err && i < device->n_cores; i++)
            err = model->log.cores[device->cores[i].core].dispatch
                      ? find_dispatch_ops(model, &device->cores[i])
                      : find_core_ops(model, &device->cores[i]);
        if (!err)
            err = gather_dispatch_ops(model, device);
        if (!err)
            err = find_device_ops(model, device);
    }
    return err;
}
