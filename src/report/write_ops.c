/* write_ops.c - writes ops_perf_results.csv.
 * Columns: the fixed head, the tensors that occur, trace and kernel columns, the kernel sizes that
 * occur, the model and NoC columns, the counters that occur, the child calls by name. All lines end
 * with CR LF, as Python's csv module ends them.  SPDX-License-Identifier: MIT */
#include "report/write.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COL(name) STROBE_REPORT_COL_##name
enum { FLUSH_AT = 1 << 17 };

typedef struct strobe_out text;

enum strobe_err strobe_report_out_open(struct strobe_report_out *out, const char *path)
{
    *out = (struct strobe_report_out){
        .fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    return out->fd < 0 ? strobe_err_from_errno(errno) : STROBE_OK;
}

void strobe_report_out_flush(struct strobe_report_out *out, bool end)
{
    if (out->text.len < FLUSH_AT && !end)
        return;
    for (size_t at = 0; !out->err && at < out->text.len;) {
        ssize_t n = write(out->fd, out->text.at + at, out->text.len - at);
        if (n < 0 && errno != EINTR)
            out->err = strobe_err_from_errno(errno);
        at += n > 0 ? (size_t)n : 0;
    }
    strobe_out_clear(&out->text);
}

enum strobe_err strobe_report_out_close(struct strobe_report_out *out)
{
    strobe_report_out_flush(out, true);
    if (out->text.error && !out->err)
        out->err = STROBE_ERR_NOMEM;
    if (out->fd >= 0 && close(out->fd) && !out->err)
        out->err = strobe_err_from_errno(errno);
    strobe_out_free(&out->text);
    return out->err;
}

/* What the columns are, found before the first row is written. */
struct shape {
    const struct strobe_report *report;
    const struct strobe_report_write_options *options;
    uint32_t n_inputs, n_outputs;
    uint32_t *sizes; /* owned: kernel size columns in their order */
    uint32_t n_sizes;
    uint32_t *size_place; /* owned: by size column, its place; UINT32_MAX: not used */
    uint32_t *children;   /* owned: child names in their order */
    uint32_t n_children;
    int metric_columns[STROBE_REPORT_METRICS_MAX * STROBE_REPORT_STATS]; /* metric * 4 + stat */
    int n_metric_columns;
};

/* ---- which columns ---- */

static const char *const size_classes[] = {"TENSIX DM", "TENSIX COMPUTE", "ACTIVE ETH DM",
                                           "IDLE ETH DM"};

/* "TENSIX DM 0 MAX KERNEL SIZE [B]": rank of the class, then the index. */
static int64_t size_rank(const char *header)
{
    const char *end = strstr(header, " MAX KERNEL SIZE [B]"), *space = end;
    while (space > header && space[-1] != ' ')
        space--;
    size_t class_len = space > header ? (size_t)(space - header - 1) : 0;
    int rank = 0;
    while (rank < 4 && (strlen(size_classes[rank]) != class_len ||
                        memcmp(size_classes[rank], header, class_len)))
        rank++;
    return (int64_t)rank << 32 | (uint32_t)atoi(space);
}

static void sort_sizes(struct shape *shape)
{
    char **headers = shape->report->host.descs.size_headers;
    for (uint32_t i = 1; i < shape->n_sizes; i++)
        for (uint32_t k = i;
             k > 0 && size_rank(headers[shape->sizes[k]]) < size_rank(headers[shape->sizes[k - 1]]);
             k--) {
            uint32_t swap = shape->sizes[k];
            shape->sizes[k] = shape->sizes[k - 1];
            shape->sizes[k - 1] = swap;
        }
    for (uint32_t i = 0; i < shape->n_sizes; i++)
        shape->size_place[shape->sizes[i]] = i;
}

static void find_tensors_and_sizes(struct shape *shape)
{
    const struct strobe_report_host *host = &shape->report->host;
    bool *done = calloc(host->descs.n + 1, sizeof *done);
    for (uint32_t i = 0; done && i < host->n_ops; i++) {
        uint32_t index = host->ops[i].desc;
        if (index == UINT32_MAX || done[index])
            continue;
        done[index] = true;
        const struct strobe_report_desc *desc = host->descs.all[index];
        shape->n_inputs = desc->n_inputs > shape->n_inputs ? desc->n_inputs : shape->n_inputs;
        shape->n_outputs = desc->n_outputs > shape->n_outputs ? desc->n_outputs : shape->n_outputs;
        for (uint32_t k = 0; k < desc->n_sizes; k++)
            if (shape->size_place[desc->sizes[k].column] == UINT32_MAX) {
                shape->size_place[desc->sizes[k].column] = 0;
                shape->sizes[shape->n_sizes++] = desc->sizes[k].column;
            }
    }
    free(done);
    sort_sizes(shape);
}

static void find_children(struct shape *shape)
{
    const struct strobe_report_host *host = &shape->report->host;
    bool *used = calloc(host->n_child_names + 1, sizeof *used);
    for (uint32_t i = 0; used && i < host->n_children; i++)
        used[host->children[i].name] = true;
    for (uint32_t i = 0; used && i < host->n_child_names; i++) {
        if (!used[i])
            continue;
        uint32_t k = shape->n_children++;
        for (; k > 0 && strcmp(host->child_names[i], host->child_names[shape->children[k - 1]]) < 0;
             k--)
            shape->children[k] = shape->children[k - 1];
        shape->children[k] = i;
    }
    free(used);
}

/* A counter column is there when any row has a value for it, be it NaN. */
static void find_metrics(struct shape *shape)
{
    const struct strobe_report *report = shape->report;
    bool on[STROBE_REPORT_METRICS_MAX * STROBE_REPORT_STATS] = {false};
    struct strobe_report_walk walk;
    struct strobe_report_figures figures;
    strobe_report_walk_open(&walk, report);
    for (uint32_t i = 0; report->metrics && i < report->n_rows; i++) {
        strobe_report_walk_row(&walk, &report->rows[i], &figures);
        if (!figures.metrics)
            continue;
        uint32_t device = report->device.ops[report->rows[i].device_op].device;
        for (int k = 0; k < strobe_report_metric_count() * STROBE_REPORT_STATS; k++) {
            bool grid = k < 3 * STROBE_REPORT_STATS && k % STROBE_REPORT_STATS == 3;
            if (report->metrics[device].active[k / STROBE_REPORT_STATS])
                on[k] = on[k] || !grid || !isnan(figures.grid[k / STROBE_REPORT_STATS]);
        }
    }
    strobe_report_walk_close(&walk);
    for (int k = 0; k < strobe_report_metric_count() * STROBE_REPORT_STATS; k++)
        if (on[k])
            shape->metric_columns[shape->n_metric_columns++] = k;
}

static enum strobe_err find_shape(struct shape *shape)
{
    const struct strobe_report_host *host = &shape->report->host;
    shape->sizes = calloc(host->descs.n_size_headers + 1, sizeof *shape->sizes);
    shape->size_place = malloc((host->descs.n_size_headers + 1) * sizeof *shape->size_place);
    shape->children = calloc(host->n_child_names + 1, sizeof *shape->children);
    if (!shape->sizes || !shape->size_place || !shape->children)
        return STROBE_ERR_NOMEM;
    memset(shape->size_place, 0xff, (host->descs.n_size_headers + 1) * sizeof *shape->size_place);
    find_tensors_and_sizes(shape);
    find_children(shape);
    find_metrics(shape);
    return STROBE_OK;
}

/* ---- the columns of Quasar ---- */

static bool is_dropped(enum strobe_report_column column)
{
    return (column >= COL(NCRISC) && column <= COL(ERISC)) || column == COL(LATENCY_DM);
}

/* The two columns that stand in a column's place; their first, or -1. */
static int replacement(enum strobe_report_column column)
{
    return column == COL(BRISC)         ? (int)COL(Q_DM_KERNEL)
           : column == COL(FW_DURATION) ? (int)COL(Q_DM_FW)
           : column == COL(LATENCY)     ? (int)COL(Q_LATENCY_DM)
                                        : -1;
}

/* Calls `add` for each fixed column from `from` to `to`, as this report has them. */
static void each_column(const struct shape *shape, int from, int to,
                        void (*add)(void *context, enum strobe_report_column column), void *context)
{
    for (int i = from; i < to; i++) {
        int other = shape->report->is_quasar ? replacement(i) : -1;
        if (other >= 0) {
            add(context, other);
            add(context, other + 1);
        } else if (!shape->report->is_quasar || !is_dropped(i)) {
            add(context, i);
        }
    }
}

/* ---- the header ---- */

struct header {
    const struct shape *shape;
    text *out;
};

static const char *older_name(enum strobe_report_column column)
{
    switch (column) {
    case COL(COMPUTE_SOURCE):
        return "COMPUTE KERNEL PATH";
    case COL(MOVEMENT_SOURCE):
        return "DATAMOVEMENT KERNEL PATH";
    case COL(MOVEMENT_HASH):
        return "DATAMOVEMENT KERNEL HASH";
    default:
        return strobe_report_column_header(column);
    }
}

static void add_header(void *context, enum strobe_report_column column)
{
    struct header *header = context;
    strobe_out_text(header->out, header->shape->options->older_names
                                     ? older_name(column)
                                     : strobe_report_column_header(column));
    strobe_out_char(header->out, ',');
}

static void add_tensor_headers(text *out, const char *word, uint32_t n)
{
    static const char *const fields[] = {"W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]",
                                         "X_PAD[LOGICAL]", "LAYOUT",         "DATATYPE",
                                         "MEMORY"};
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < STROBE_REPORT_TENSOR_CELLS; k++)
            strobe_out_format(out, "%s_%u_%s,", word, i, fields[k]);
}

/* The row so far ends with a ',' too many. */
static void end_row(text *out)
{
    if (out->len)
        out->len--;
    strobe_out_text(out, "\r\n");
}

static void write_header(const struct shape *shape, text *out)
{
    struct header header = {shape, out};
    const struct strobe_report_host *host = &shape->report->host;
    each_column(shape, 0, COL(TRACE_ID), add_header, &header);
    add_tensor_headers(out, "INPUT", shape->n_inputs);
    add_tensor_headers(out, "OUTPUT", shape->n_outputs);
    each_column(shape, COL(TRACE_ID), COL(PM_IDEAL), add_header, &header);
    for (uint32_t i = 0; i < shape->n_sizes; i++)
        strobe_out_format(out, "%s,", host->descs.size_headers[shape->sizes[i]]);
    each_column(shape, COL(PM_IDEAL), COL(Q_DM_KERNEL), add_header, &header);
    if (shape->report->noc_ops.n)
        strobe_report_noc_own_header(out);
    for (int i = 0; i < shape->n_metric_columns; i++) {
        strobe_report_metric_header(shape->metric_columns[i] / STROBE_REPORT_STATS,
                                    shape->metric_columns[i] % STROBE_REPORT_STATS, out);
        strobe_out_char(out, ',');
    }
    for (uint32_t i = 0; i < shape->n_children; i++) {
        const char *name = host->child_names[shape->children[i]];
        strobe_out_format(out, "%s_TT_HOST_FUNC [ns],", name);
    }
    if (shape->options->mlir)
        strobe_out_text(out, "LOC,CONST_EVAL_OP,PROGRAM_METADATA,");
    end_row(out);
}

/* ---- one row ---- */

struct cells {
    const struct shape *shape;
    text *out;
    const struct strobe_report_row *row;
    const struct strobe_report_op *op;     /* NULL: a signpost */
    const struct strobe_report_desc *desc; /* NULL: nothing is known */
    const struct strobe_report_figures *figures;
    const struct strobe_report_noc_row *noc;         /* tt-npe's; NULL: no figures */
    const struct strobe_report_noc_figures *own_noc; /* ours; NULL: likewise */
};

static void add_desc_cell(const struct cells *cells, struct strobe_report_cell cell)
{
    strobe_out_bytes(cells->out, cells->desc->text.at + cell.at, cell.len);
}

/* Header and message of a signpost: the text after its keyword, split at the first line end. */
static void add_signpost(const struct cells *cells, bool header)
{
    const struct strobe_report *report = cells->shape->report;
    const struct strobe_report_signpost *signpost = &report->host.signposts[cells->row->item];
    const char *at = report->host.texts.at + signpost->at, *end = at + signpost->len, *next;
    if (report->options.compatible) {
        while ((next = memmem(at, (size_t)(end - at), ": ", 2)))
            at = next + 2;
    } else {
        at = memmem(at, (size_t)(end - at), "TT_SIGNPOST", 11);
        at += 11;
        at += at < end && *at == ':';
        at += at < end && *at == ' ';
    }
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (header) {
        strobe_report_text_cell(cells->out, at, (size_t)((line_end ? line_end : end) - at));
    } else if (line_end) {
        at = line_end + 1;
        const char *second = memchr(at, '\n', (size_t)(end - at));
        strobe_report_text_cell(cells->out, at, (size_t)((second ? second : end) - at));
    }
}

static void add_signpost_cell(const struct cells *cells, enum strobe_report_column column)
{
    if (column == COL(OP_CODE))
        add_signpost(cells, true);
    else if (column == COL(OP_TYPE))
        strobe_out_text(cells->out, "signpost");
    else if (column == COL(ATTRIBUTES))
        add_signpost(cells, false);
    else if (column == COL(HOST_START) && cells->figures->values[column] >= 0)
        strobe_out_i(cells->out, cells->figures->values[column]);
}

/* Cells that neither the description nor the numbers give. */
static void add_other_cell(const struct cells *cells, enum strobe_report_column column)
{
    const struct strobe_report *report = cells->shape->report;
    if (column == COL(DEVICE_ARCH) && cells->row->cpp != UINT32_MAX)
        strobe_out_text(cells->out, report->cpp.texts.at + report->cpp.rows[cells->row->cpp].arch);
    else if (column == COL(CACHE_HIT) && cells->op->cache_hit >= 0)
        strobe_out_text(cells->out, cells->op->cache_hit ? "True" : "False");
    else if (column == COL(PM_UTIL) && cells->figures->has_pm_util)
        strobe_report_text_double(cells->out, cells->figures->pm_util);
    else if (column == COL(DEVICE_ID) && cells->op->device != STROBE_REPORT_NONE)
        strobe_out_i(cells->out, cells->op->device);
    else if (column >= COL(NOC_UTIL) && column <= COL(NPE_IMPACT) && cells->noc)
        strobe_out_text(cells->out,
                        report->noc.texts.at + cells->noc->cells[column - COL(NOC_UTIL)]);
    else if (column == COL(NOC_UTIL) && cells->own_noc)
        strobe_out_format(cells->out, "%.1f", 100 * cells->own_noc->mean_use);
    else if (column == COL(NOC_MCAST) && cells->own_noc)
        strobe_out_format(cells->out, "%.1f", 100 * cells->own_noc->multicast_use);
}

static void add_cell(void *context, enum strobe_report_column column)
{
    const struct cells *cells = context;
    if (!cells->op)
        add_signpost_cell(cells, column);
    else if (strobe_report_figure_known(cells->figures, column))
        strobe_out_i(cells->out, cells->figures->values[column]);
    else if (cells->desc && cells->desc->cells[column].len)
        add_desc_cell(cells, cells->desc->cells[column]);
    else
        add_other_cell(cells, column);
    strobe_out_char(cells->out, ',');
}

static void add_tensors(const struct cells *cells, bool inputs)
{
    const struct strobe_report_desc *desc = cells->desc;
    uint32_t n = inputs ? cells->shape->n_inputs : cells->shape->n_outputs;
    uint32_t have = !desc ? 0 : inputs ? desc->n_inputs : desc->n_outputs;
    uint32_t from = !desc || inputs ? 0 : desc->n_inputs;
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < STROBE_REPORT_TENSOR_CELLS; k++) {
            if (i < have)
                add_desc_cell(cells, desc->tensors[(from + i) * STROBE_REPORT_TENSOR_CELLS + k]);
            strobe_out_char(cells->out, ',');
        }
}

static void add_sizes(const struct cells *cells)
{
    for (uint32_t i = 0; i < cells->shape->n_sizes; i++) {
        for (uint32_t k = 0; cells->desc && k < cells->desc->n_sizes; k++)
            if (cells->desc->sizes[k].column == cells->shape->sizes[i])
                add_desc_cell(cells, cells->desc->sizes[k].cell);
        strobe_out_char(cells->out, ',');
    }
}

static void add_metrics(const struct cells *cells)
{
    const struct strobe_report *report = cells->shape->report;
    const struct strobe_report_figures *figures = cells->figures;
    for (int i = 0; i < cells->shape->n_metric_columns; i++) {
        int metric = cells->shape->metric_columns[i] / STROBE_REPORT_STATS;
        int stat = cells->shape->metric_columns[i] % STROBE_REPORT_STATS;
        bool grid = metric < 3 && stat == 3;
        bool active =
            figures->metrics &&
            report->metrics[report->device.ops[cells->row->device_op].device].active[metric];
        if (active && !grid)
            strobe_report_text_double(cells->out, figures->metrics->stats[metric][stat]);
        else if (active && !isnan(figures->grid[metric]))
            strobe_report_text_double(cells->out, figures->grid[metric]);
        strobe_out_char(cells->out, ',');
    }
}

static void add_children(const struct cells *cells)
{
    const struct strobe_report_host *host = &cells->shape->report->host;
    for (uint32_t i = 0; i < cells->shape->n_children; i++) {
        for (uint32_t k = cells->op ? cells->op->child : UINT32_MAX; k != UINT32_MAX;
             k = host->children[k].next)
            if (host->children[k].name == cells->shape->children[i])
                strobe_out_i(cells->out, host->children[k].ns);
        strobe_out_char(cells->out, ',');
    }
}

static void add_mlir(const struct cells *cells)
{
    static const char *const defaults[] = {"loc(unknown)", "false", "{}"};
    for (int i = 0; i < 3 && cells->shape->options->mlir; i++) {
        uint32_t at = cells->op ? cells->op->mlir[i] : UINT32_MAX;
        const char *value =
            at == UINT32_MAX ? defaults[i] : cells->shape->report->host.texts.at + at;
        strobe_report_text_cell(cells->out, value, strlen(value));
        strobe_out_char(cells->out, ',');
    }
}

static void write_row(const struct shape *shape, text *out, const struct strobe_report_row *row,
                      const struct strobe_report_figures *figures)
{
    const struct strobe_report *report = shape->report;
    struct cells cells = {.shape = shape, .out = out, .row = row, .figures = figures};
    if (row->kind != STROBE_REPORT_ROW_SIGNPOST) {
        cells.op = &report->host.ops[row->item];
        if (cells.op->desc != UINT32_MAX)
            cells.desc = report->host.descs.all[cells.op->desc];
        if (report->noc.n)
            cells.noc =
                strobe_report_noc_find(&report->noc, cells.op->id, row->trace, row->session);
        cells.own_noc =
            strobe_report_noc_ops_find(&report->noc_ops, cells.op->id, row->trace, row->session, 0);
    }
    each_column(shape, 0, COL(TRACE_ID), add_cell, &cells);
    add_tensors(&cells, true);
    add_tensors(&cells, false);
    each_column(shape, COL(TRACE_ID), COL(PM_IDEAL), add_cell, &cells);
    add_sizes(&cells);
    each_column(shape, COL(PM_IDEAL), COL(Q_DM_KERNEL), add_cell, &cells);
    if (report->noc_ops.n)
        strobe_report_noc_own_cells(cells.own_noc, out);
    add_metrics(&cells);
    add_children(&cells);
    add_mlir(&cells);
    end_row(out);
}

enum strobe_err strobe_report_write_ops(const struct strobe_report *report, const char *path,
                                        const struct strobe_report_write_options *options)
{
    struct shape shape = {.report = report, .options = options};
    struct strobe_report_out out;
    struct strobe_report_walk walk;
    struct strobe_report_figures figures;
    enum strobe_err err = find_shape(&shape);
    if (!err)
        err = strobe_report_out_open(&out, path);
    if (!err) {
        strobe_report_walk_open(&walk, report);
        write_header(&shape, &out.text);
        for (uint32_t i = 0; i < report->n_rows; i++) {
            strobe_report_walk_row(&walk, &report->rows[i], &figures);
            if (!report->rows[i].is_left_out)
                write_row(&shape, &out.text, &report->rows[i], &figures);
            strobe_report_out_flush(&out, false);
        }
        strobe_report_walk_close(&walk);
        err = strobe_report_out_close(&out);
    }
    free(shape.sizes);
    free(shape.size_place);
    free(shape.children);
    return err;
}
