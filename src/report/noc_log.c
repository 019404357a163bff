/* noc_log.c - see the header.  SPDX-License-Identifier: MIT */
#include "report/noc_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

/* One row. */
struct row {
    uint64_t run, time, data;
    int64_t trace, counter;
    uint32_t series; /* in the log's table */
};

struct rows {
    struct row *all; /* owned */
    size_t n, room;
    bool out_of_memory;
};

enum strobe_noc_layout strobe_report_noc_layout(const uint64_t *words, size_t n)
{
    size_t n_oldest = 0, n_newest = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t first = words[i] & 0xff, type = words[i] >> 48 & 0xff,
                 last = words[i] >> 56 & 0xff;
        uint32_t noc = words[i] >> 32 & 0xf, noc_now = words[i] >> 40 & 0xf;
        bool is_new = first && first <= 42 && (noc_now == 1 || noc_now == 2);
        bool is_old = type && type <= 42 && !last && (noc == 1 || noc == 2);
        n_oldest += is_old && !is_new;
        n_newest += is_new && last > 1; /* bits that the form of 8 bits does not have */
    }
    return n_oldest > n_newest ? STROBE_NOC_OLDEST
           : n_newest          ? STROBE_NOC_12_BITS
                               : STROBE_NOC_8_BITS;
}

static bool collect(void *context, const struct strobe_report_marker *m)
{
    struct rows *rows = context;
    if (m->timer != STROBE_REPORT_NOC_TIMER || m->zone->type != STROBE_REPORT_TS_DATA || !m->run)
        return true;
    struct row *row = STROBE_ARRAY_PUSH(rows->all, rows->n, rows->room);
    rows->out_of_memory |= !row;
    if (row)
        *row = (struct row){.run = m->run,
                            .time = m->time,
                            .data = m->data,
                            .trace = m->trace,
                            .counter = m->counter,
                            .series = m->series->index};
    return row != NULL;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static bool is_same_run(const struct row *a, const struct row *b)
{
    return a->run == b->run && a->trace == b->trace && a->counter == b->counter;
}

static void set_entry(const struct strobe_report_log *log, const struct row *row,
                      enum strobe_noc_layout layout, struct strobe_report_noc_entry *entry)
{
    const struct strobe_report_series *series = log->series[row->series];
    struct strobe_noc_event event = strobe_noc_event_decode(row->data, layout);
    *entry = (struct strobe_report_noc_entry){.noc = event.noc, .has_noc = true};
    for (int i = 0; i < STROBE_REPORT_NOC_NUMBERS; i++)
        entry->numbers[i] = INT64_MIN;
    snprintf(entry->type, sizeof entry->type, "%s", strobe_noc_event_name(event.type));
    snprintf(entry->proc, sizeof entry->proc, "%.23s", series->name);
    bool is_multicast = strobe_noc_event_is_multicast(event.type);
    int to = is_multicast ? STROBE_REPORT_NOC_MX : STROBE_REPORT_NOC_DX;
    entry->numbers[STROBE_REPORT_NOC_SX] = series->x;
    entry->numbers[STROBE_REPORT_NOC_SY] = series->y;
    entry->numbers[STROBE_REPORT_NOC_BYTES] = event.n_bytes;
    entry->numbers[STROBE_REPORT_NOC_TIME] = (int64_t)row->time;
    if (!strobe_noc_event_has_target(&event))
        return;
    entry->numbers[to] = event.x;
    entry->numbers[to + 1] = event.y;
    if (is_multicast) {
        entry->numbers[STROBE_REPORT_NOC_LAST_X] = event.last_x;
        entry->numbers[STROBE_REPORT_NOC_LAST_Y] = event.last_y;
    }
}

/* The figures of the rows of one run. Its time is that of the op's firmware, where that is known. */
static enum strobe_err add_run(struct strobe_report_noc_ops *ops,
                               const struct strobe_report_device_ops *device,
                               const struct row *rows, size_t n, enum strobe_noc_layout layout,
                               struct strobe_report_noc_grid grid)
{
    struct strobe_report_noc_trace trace = {0};
    struct strobe_report_noc_entry entry;
    enum strobe_err err = STROBE_OK;
    uint32_t of = device->log->series[rows->series]->device_index;
    uint32_t op = strobe_report_device_ops_find(device, of, rows->run, rows->trace, rows->counter);
    STROBE_ASSERT(n > 0);
    if (op != UINT32_MAX && device->ops[op].next != UINT32_MAX)
        return STROBE_OK;
    for (size_t i = 0; i < n && !err; i++) {
        set_entry(device->log, &rows[i], layout, &entry);
        err = strobe_report_noc_trace_add(&trace, &entry);
    }
    strobe_report_noc_trace_sort(&trace);
    if (op != UINT32_MAX && device->ops[op].fw.n) {
        trace.first =
            device->ops[op].fw.first < trace.first ? device->ops[op].fw.first : trace.first;
        trace.last = device->ops[op].fw.last > trace.last ? device->ops[op].fw.last : trace.last;
    }
    struct strobe_report_noc_run *place =
        err ? NULL : STROBE_ARRAY_PUSH(ops->runs, ops->n, ops->room);
    if (!err && !place)
        err = STROBE_ERR_NOMEM;
    if (!err) {
        *place = (struct strobe_report_noc_run){
            .id = rows->run, .trace = rows->trace, .counter = rows->counter};
        grid.n_x = grid.n_x > trace.max_x ? grid.n_x : trace.max_x + 1;
        grid.n_y = grid.n_y > trace.max_y ? grid.n_y : trace.max_y + 1;
        err = strobe_report_noc_routes(&trace, &grid, &place->figures);
    }
    strobe_report_noc_trace_free(&trace);
    return err;
}

static enum strobe_noc_layout guess(const struct rows *rows)
{
    uint64_t *words = malloc((rows->n + 1) * sizeof *words);
    for (size_t i = 0; words && i < rows->n; i++)
        words[i] = rows->all[i].data;
    enum strobe_noc_layout layout =
        words ? strobe_report_noc_layout(words, rows->n) : STROBE_NOC_12_BITS;
    free(words);
    return layout;
}

enum strobe_err strobe_report_noc_log_read(struct strobe_report_noc_ops *ops,
                                           struct strobe_report_device_ops *device,
                                           const char *path, struct strobe_report_noc_grid grid)
{
    struct rows rows = {0};
    struct strobe_report_log_options options = {.take = collect, .context = &rows, .copy_fd = -1};
    struct strobe_report_faults *faults = device->log->faults;
    device->log->faults = NULL; /* noted by the first reading */
    enum strobe_err err = strobe_report_log_read(device->log, path, &options);
    device->log->faults = faults;
    if (!err && rows.out_of_memory)
        err = STROBE_ERR_NOMEM;
    if (!err && rows.n)
        qsort(rows.all, rows.n, sizeof *rows.all, compare_rows);
    enum strobe_noc_layout layout = guess(&rows);
    for (size_t from = 0, to; !err && from < rows.n; from = to) {
        for (to = from; to < rows.n && is_same_run(&rows.all[from], &rows.all[to]);)
            to++;
        err = add_run(ops, device, &rows.all[from], to - from, layout, grid);
    }
    free(rows.all);
    strobe_report_noc_ops_sort(ops);
    return err;
}
