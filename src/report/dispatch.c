/* dispatch.c - takes the dispatch cores' markers apart by op.
 * BRISC (dispatch) and NCRISC (its subordinate) are walked apart. A zone is all markers up to a
 * ZONE_END; meta data inside it name the command and, now and then, the op that the commands from
 * here on belong to. The two RISCs' ops are paired in order.  SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "base/array.h"
#include "report/dispatch.h"

#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_span span;

static const char send_go[] = "CQ_DISPATCH_CMD_SEND_GO_SIGNAL";
static const char notify_go[] = "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL";

struct kept {
    uint64_t time;
    int64_t op;       /* workers_runtime_id in the meta data; -1: none */
    uint32_t command; /* dispatch_command_type: into texts; UINT32_MAX: none */
    uint32_t core, line;
    uint8_t subordinate, is_end;
    uint8_t named; /* its own zone name contains "CQ_DISPATCH_" */
    uint8_t goes;  /* its own zone name is the go signal's */
};

struct dispatch_op {
    int64_t id;
    uint64_t first_time;
    struct strobe_report_range range;
};

struct walk {
    int64_t op;
    uint32_t command;
    bool finished;
    size_t zone_from; /* first marker of the zone under way; SIZE_MAX: none */
    struct dispatch_op *ops;
    uint32_t n, cap;
    struct strobe_map by_id;
};

struct dispatch {
    struct strobe_report_log *log;
    struct kept *all;
    size_t n, cap;
    struct strobe_out texts;
    bool out_of_memory;
};

static void decode_meta(struct dispatch *d, span meta, struct kept *kept)
{
    span text;
    if (meta.len && strobe_report_meta_member(meta, "workers_runtime_id", &text))
        strobe_report_span_int(text, &kept->op);
    if (meta.len && strobe_report_meta_member(meta, "dispatch_command_type", &text)) {
        kept->command = (uint32_t)d->texts.len;
        strobe_out_bytes(&d->texts, text.at, text.len);
        strobe_out_char(&d->texts, 0);
        d->out_of_memory |= d->texts.error;
    }
}

static bool collect(void *context, const struct strobe_report_marker *m)
{
    struct dispatch *d = context;
    if (!d->log->cores[m->series->core].dispatch || m->series->risc > STROBE_REPORT_NCRISC)
        return true;
    if (STROBE_ARRAY_RESERVE(d->all, d->cap, (uint64_t)d->n + 1)) {
        d->out_of_memory = true;
        return false;
    }
    span name = strobe_report_zone_name(m->zone);
    struct kept *kept = &d->all[d->n++];
    *kept = (struct kept){.time = m->time,
                          .op = -1,
                          .command = UINT32_MAX,
                          .core = m->series->core,
                          .line = (uint32_t)d->n,
                          .subordinate = m->series->risc == STROBE_REPORT_NCRISC,
                          .is_end = m->zone->type == STROBE_REPORT_ZONE_END,
                          .named = strobe_report_span_has(name, "CQ_DISPATCH_"),
                          .goes = strobe_report_span_is(name, send_go)};
    decode_meta(d, m->meta, kept);
    return !d->out_of_memory;
}

static int compare_kept(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    if (x->subordinate != y->subordinate)
        return x->subordinate - y->subordinate;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static struct dispatch_op *find_op(struct walk *walk, int64_t id)
{
    uint32_t index = (uint32_t)strobe_map_get(&walk->by_id, (uint64_t)id, UINT32_MAX);
    return index == UINT32_MAX ? NULL : &walk->ops[index];
}

static struct dispatch_op *add_op(struct dispatch *d, struct walk *walk, int64_t id, uint64_t time)
{
    if (STROBE_ARRAY_RESERVE(walk->ops, walk->cap, (uint64_t)walk->n + 1)) {
        d->out_of_memory = true;
        return NULL;
    }
    d->out_of_memory |= strobe_map_put(&walk->by_id, (uint64_t)id, walk->n) != STROBE_OK;
    walk->ops[walk->n] = (struct dispatch_op){.id = id, .first_time = time};
    return &walk->ops[walk->n++];
}

/* Is this the marker that the RISC's figure is made of? The command renames the zone's two ends. */
static bool counts(const struct dispatch *d, const struct walk *walk, const struct kept *kept,
                   bool is_border)
{
    if (!is_border)
        return kept->subordinate ? kept->goes : kept->named;
    const char *command = walk->command == UINT32_MAX ? "" : d->texts.at + walk->command;
    return kept->subordinate ? !strcmp(command, send_go) : strstr(command, "CQ_DISPATCH_") != NULL;
}

static void book_zone(struct dispatch *d, struct walk *walk, size_t end)
{
    struct dispatch_op *op = find_op(walk, walk->op);
    if (!op)
        op = add_op(d, walk, walk->op, d->all[walk->zone_from].time);
    for (size_t i = walk->zone_from; op && i <= end; i++) {
        uint64_t time = d->all[i].time;
        if (!counts(d, walk, &d->all[i], i == walk->zone_from || i == end))
            continue;
        if (!op->range.n++)
            op->range.first = op->range.last = time;
        op->range.last = time > op->range.last ? time : op->range.last;
    }
}

static void walk_marker(struct dispatch *d, struct walk *walk, size_t index)
{
    const struct kept *kept = &d->all[index];
    if (walk->zone_from == SIZE_MAX)
        walk->zone_from = index;
    if (kept->op >= 0) {
        walk->finished = false;
        walk->op = find_op(walk, kept->op) ? 0 : kept->op; /* only its first run */
    }
    if (kept->command != UINT32_MAX) {
        walk->command = kept->command;
        const char *command = d->texts.at + walk->command;
        walk->finished = walk->finished || strstr(command, notify_go);
        walk->op += strstr(command, send_go) != NULL;
    }
    if (!kept->is_end)
        return;
    book_zone(d, walk, index);
    walk->zone_from = SIZE_MAX;
    if (walk->finished)
        walk->op = 0;
}

static int compare_ops(const void *a, const void *b)
{
    const struct dispatch_op *x = a, *y = b;
    return x->first_time < y->first_time ? -1 : x->first_time > y->first_time;
}

/* The first run of a program on a device. */
static struct strobe_report_device_op *find_device_op(struct strobe_report_device_ops *ops,
                                                      uint32_t device, int64_t id)
{
    uint32_t index = strobe_report_device_ops_find(ops, device, (uint64_t)id, -1, -1);
    for (uint32_t i = 0; index == UINT32_MAX && i < ops->n; i++)
        if (ops->ops[i].device == device && ops->ops[i].run == (uint64_t)id)
            index = i;
    return index == UINT32_MAX ? NULL : &ops->ops[index];
}

static void attach(struct strobe_report_device_ops *ops, struct walk walks[2], uint32_t core,
                   bool has_traces)
{
    uint32_t n = walks[0].n < walks[1].n ? walks[0].n : walks[1].n;
    for (int i = 0; i < 2; i++)
        if (walks[i].n)
            qsort(walks[i].ops, walks[i].n, sizeof *walks[i].ops, compare_ops);
    for (uint32_t i = 0; i < n; i++) {
        int64_t id = walks[0].ops[i].id;
        struct strobe_report_device_op *op =
            id > 0 ? find_device_op(ops, ops->log->cores[core].device_index, id) : NULL;
        if (id > 0 && !op && !has_traces && ops->faults)
            strobe_report_fault_add(ops->faults, STROBE_REPORT_FAULT_DISPATCH,
                                    STROBE_REPORT_DEVICE_FILE, 0, "op %lld", (long long)id);
        for (int k = 0; op && k < 2; k++)
            if (walks[k].ops[i].range.n >= 2) {
                op->dispatch[k] = walks[k].ops[i].range.last - walks[k].ops[i].range.first;
                op->has_dispatch[k] = true;
            }
    }
}

static void walk_core(struct dispatch *d, struct strobe_report_device_ops *ops, size_t from,
                      size_t to, bool has_traces)
{
    struct walk walks[2] = {{.command = UINT32_MAX, .zone_from = SIZE_MAX},
                            {.command = UINT32_MAX, .zone_from = SIZE_MAX}};
    for (size_t i = from; i < to && !d->out_of_memory; i++)
        walk_marker(d, &walks[d->all[i].subordinate], i);
    attach(ops, walks, d->all[from].core, has_traces);
    for (int i = 0; i < 2; i++) {
        free(walks[i].ops);
        strobe_map_free(&walks[i].by_id);
    }
}

enum strobe_err strobe_report_dispatch_attach(struct strobe_report_device_ops *ops,
                                              const char *path, bool has_traces)
{
    struct dispatch d = {.log = ops->log};
    struct strobe_report_log_options options = {.take = collect, .context = &d, .copy_fd = -1};
    struct strobe_report_faults *faults = ops->log->faults;
    ops->log->faults = NULL; /* noted by the first reading */
    enum strobe_err err = strobe_report_log_read(ops->log, path, &options);
    ops->log->faults = faults;
    if (!err && d.n)
        qsort(d.all, d.n, sizeof *d.all, compare_kept);
    for (size_t from = 0, to; !err && from < d.n; from = to) {
        for (to = from; to < d.n && d.all[to].core == d.all[from].core; to++)
            ;
        walk_core(&d, ops, from, to, has_traces);
    }
    if (d.out_of_memory)
        err = STROBE_ERR_NOMEM;
    free(d.all);
    strobe_out_free(&d.texts);
    return err;
}
