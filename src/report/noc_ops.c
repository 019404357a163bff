/* noc_ops.c - see the header.  SPDX-License-Identifier: MIT */
#include "report/noc_ops.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/ready.h"

struct strobe_report_noc_grid strobe_report_noc_grid_of(const char *arch)
{
    static const struct {
        const char *name;
        struct strobe_report_noc_grid grid;
    } known[] = {{"wormhole", {10, 12, 32}}, {"blackhole", {17, 12, 64}}, {"sim", {0, 0, 64}}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(arch, known[i].name))
            return known[i].grid;
    return (struct strobe_report_noc_grid){.bytes_per_cycle = 32};
}

/* ---- files ---- */

static bool take_number(const char **at, const char *word, uint64_t *number)
{
    const char *found = strstr(*at, word);
    char *end;
    if (!found)
        return false;
    *number = strtoull(found + strlen(word), &end, 10);
    *at = end;
    return end > found + strlen(word);
}

/* noc_trace_dev<n>[_<op>]_ID<id>[_traceID<trace << 32 | counter>][_run<n>].json. The op's name may have any of these words. */
static bool read_name(const char *name, struct strobe_report_noc_run *run)
{
    const char *at = name, *last = NULL;
    uint64_t number;
    size_t n = strlen(name);
    *run = (struct strobe_report_noc_run){.trace = -1, .counter = -1};
    if (strncmp(name, "noc_trace_dev", 13) != 0 || n < 5 || strcmp(name + n - 5, ".json") != 0)
        return false;
    while ((at = strstr(at, "_ID")))
        last = at++;
    if (!last || !take_number(&last, "_ID", &run->id))
        return false;
    if (take_number(&last, "_traceID", &number)) {
        run->trace = (int64_t)(number >> 32);
        run->counter = (int64_t)(uint32_t)number;
    } else if (take_number(&last, "_run", &number)) {
        run->execution = (uint32_t)number;
    }
    return true;
}

static enum strobe_err read_file(struct strobe_report_noc_ops *ops, const char *folder,
                                 const char *name, struct strobe_report_noc_grid grid,
                                 struct strobe_report_faults *faults)
{
    struct strobe_report_noc_trace trace = {0};
    struct strobe_report_noc_run run;
    char path[4096];
    if (!read_name(name, &run) ||
        (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return STROBE_OK;
    enum strobe_err err = strobe_report_noc_trace_read(&trace, path);
    if (err && err != STROBE_ERR_NOMEM)
        strobe_report_fault_add(faults, STROBE_REPORT_FAULT_NOC_FILE, name, 0, "%s",
                                strobe_err_text(err));
    if (err == STROBE_ERR_NOMEM) {
        strobe_report_noc_trace_free(&trace);
        return err;
    }
    grid.n_x = grid.n_x > trace.max_x ? grid.n_x : trace.max_x + 1;
    grid.n_y = grid.n_y > trace.max_y ? grid.n_y : trace.max_y + 1;
    err = strobe_report_noc_routes(&trace, &grid, &run.figures);
    strobe_report_noc_trace_free(&trace);
    struct strobe_report_noc_run *place =
        err ? NULL : STROBE_ARRAY_PUSH(ops->runs, ops->n, ops->room);
    if (!place)
        return STROBE_ERR_NOMEM;
    *place = run;
    return STROBE_OK;
}

static int compare_runs(const void *a, const void *b)
{
    const struct strobe_report_noc_run *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    return x->execution < y->execution ? -1 : x->execution > y->execution;
}

void strobe_report_noc_ops_sort(struct strobe_report_noc_ops *ops)
{
    if (ops->n)
        qsort(ops->runs, ops->n, sizeof *ops->runs, compare_runs);
}

enum strobe_err strobe_report_noc_ops_read(struct strobe_report_noc_ops *ops, const char *folder,
                                           struct strobe_report_noc_grid grid,
                                           struct strobe_report_faults *faults)
{
    enum strobe_err err = STROBE_OK;
    DIR *entries =
        strobe_ready_has(folder) ? opendir(folder) : NULL; /* a confined import has no folder */
    struct dirent *entry;
    STROBE_ASSERT(grid.n_x <= STROBE_REPORT_NOC_SIDE && grid.n_y <= STROBE_REPORT_NOC_SIDE);
    while (!err && entries && (entry = readdir(entries)))
        err = read_file(ops, folder, entry->d_name, grid, faults);
    if (entries)
        closedir(entries);
    strobe_report_noc_ops_sort(ops);
    return err;
}

const struct strobe_report_noc_figures *
strobe_report_noc_ops_find(const struct strobe_report_noc_ops *ops, uint64_t id, int64_t trace,
                           int64_t counter, uint32_t execution)
{
    struct strobe_report_noc_run key = {
        .id = id, .trace = trace, .counter = counter, .execution = execution};
    const struct strobe_report_noc_run *run =
        ops->n ? bsearch(&key, ops->runs, ops->n, sizeof key, compare_runs) : NULL;
    return run ? &run->figures : NULL;
}

void strobe_report_noc_ops_free(struct strobe_report_noc_ops *ops)
{
    free(ops->runs);
    *ops = (struct strobe_report_noc_ops){0};
}

/* ---- text ---- */

void strobe_report_noc_own_header(struct strobe_out *out)
{
#define X(name) strobe_out_text(out, name ",");
    STROBE_REPORT_NOC_OWN(X)
#undef X
}

void strobe_report_noc_own_cells(const struct strobe_report_noc_figures *it, struct strobe_out *out)
{
    if (!it)
        strobe_out_text(out, ",,,,,,");
    else
        strobe_out_format(out, "%llu,%llu,%.2f,%.3f,%.2f,%.2f,",
                          (unsigned long long)it->n_transfers, (unsigned long long)it->n_bytes,
                          it->hops, 100 * it->mean_use, 100 * it->max_use, 100 * it->waiting);
}

void strobe_report_noc_ops_write(const struct strobe_report_noc_ops *ops, struct strobe_out *out)
{
    strobe_out_text(out, "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,RUN,");
    strobe_report_noc_own_header(out);
    strobe_out_text(out, "NOC MULTICAST BYTES\r\n");
    for (uint32_t i = 0; i < ops->n; i++) {
        const struct strobe_report_noc_run *run = &ops->runs[i];
        strobe_out_format(out, "%llu,", (unsigned long long)run->id);
        if (run->trace >= 0)
            strobe_out_format(out, "%lld,%lld,", (long long)run->trace, (long long)run->counter);
        else
            strobe_out_text(out, ",,");
        strobe_out_format(out, "%u,", run->execution);
        strobe_report_noc_own_cells(&run->figures, out);
        strobe_out_format(out, "%llu\r\n", (unsigned long long)run->figures.n_multicast_bytes);
    }
}
