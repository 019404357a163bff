/* cpp_report.c - the reader of cpp_device_perf_report.csv.
 * A row is one run of one program; replays of a trace give several rows for one op. Of rows with
 * the same (op, trace, session) the last counts.  SPDX-License-Identifier: MIT */
#include "report/cpp_report.h"
#include "base/array.h"
#include "report/csv.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_span span;

static_assert((int)STROBE_REPORT_CPP_N <= 32, "one bit of `known` for each value");

static const int shared[] = {
#define X(name) STROBE_REPORT_COL_##name,
    STROBE_REPORT_CPP_SHARED(X)
#undef X
};
static const char *const own[] = {
#define X(name, header) header,
    STROBE_REPORT_CPP_OWN(X)
#undef X
};
enum { N_SHARED = sizeof shared / sizeof shared[0] };

/* Places of the columns in the file. */
struct layout {
    int id, trace, session, device, arch, values[STROBE_REPORT_CPP_N];
};

int strobe_report_cpp_shared(enum strobe_report_cpp_column column)
{
    return (int)column < N_SHARED ? shared[column] : -1;
}

static void read_header(const struct strobe_report_csv *csv, struct layout *layout)
{
    layout->id = strobe_report_csv_column(csv, "GLOBAL CALL COUNT");
    layout->trace = strobe_report_csv_column(csv, "METAL TRACE ID");
    layout->session = strobe_report_csv_column(csv, "METAL TRACE REPLAY SESSION ID");
    layout->device = strobe_report_csv_column(csv, "DEVICE ID");
    layout->arch = strobe_report_csv_column(csv, "DEVICE ARCH");
    for (int i = 0; i < (int)STROBE_REPORT_CPP_N; i++)
        layout->values[i] = strobe_report_csv_column(
            csv, i < N_SHARED ? strobe_report_column_header(shared[i]) : own[i - N_SHARED]);
}

/* An integer, or a float cut to one. False for an empty cell or damage. */
static bool decode(span cell, int64_t *out, bool *damaged)
{
    char digits[64], *end;
    cell = strobe_report_span_trim(cell);
    if (!cell.len)
        return false;
    if (strobe_report_span_int(cell, out))
        return true;
    size_t len = cell.len < sizeof digits - 1 ? cell.len : sizeof digits - 1;
    memcpy(digits, cell.at, len);
    digits[len] = 0;
    double value = strtod(digits, &end);
    if (*end || !(fabs(value) < 9e18)) {
        *damaged = true;
        return false;
    }
    *out = (int64_t)value;
    return true;
}

static uint32_t intern_arch(struct strobe_report_cpp *cpp, span arch)
{
    arch = strobe_report_span_trim(arch);
    for (size_t at = 0; at < cpp->texts.len; at += strlen(cpp->texts.at + at) + 1)
        if (strobe_report_span_is(arch, cpp->texts.at + at))
            return (uint32_t)at;
    uint32_t at = (uint32_t)cpp->texts.len;
    strobe_out_bytes(&cpp->texts, arch.at, arch.len);
    strobe_out_char(&cpp->texts, 0);
    return at;
}

static uint64_t hash_of(const struct strobe_report_cpp *cpp, int64_t device, uint64_t id)
{
    return strobe_hash_pair(id, (uint64_t)device, cpp->by_op.seed);
}

uint32_t strobe_report_cpp_find(const struct strobe_report_cpp *cpp, int64_t device, uint64_t id)
{
    STROBE_INDEX_EACH (index, at, &cpp->by_op, hash_of(cpp, device, id))
        if (cpp->rows[index].device == device && cpp->rows[index].id == id)
            return index;
    return UINT32_MAX;
}

static enum strobe_err link_row(struct strobe_report_cpp *cpp, uint32_t index)
{
    struct strobe_report_cpp_row *row = &cpp->rows[index];
    strobe_index_seed(&cpp->by_op);
    uint32_t other = strobe_report_cpp_find(cpp, row->device, row->id);
    if (other == UINT32_MAX)
        return strobe_index_add(&cpp->by_op, hash_of(cpp, row->device, row->id), index);
    for (;; other = cpp->rows[other].next) {
        struct strobe_report_cpp_row *known = &cpp->rows[other];
        if (known->trace == row->trace && known->session == row->session) {
            row->next = known->next;
            *known = *row;
            cpp->n--;
            return STROBE_OK;
        }
        if (known->next == UINT32_MAX) {
            known->next = index;
            return STROBE_OK;
        }
    }
}

static struct strobe_report_cpp_row *new_row(struct strobe_report_cpp *cpp)
{
    if (STROBE_ARRAY_RESERVE(cpp->rows, cpp->cap, (uint64_t)cpp->n + 1))
        return NULL;
    return &cpp->rows[cpp->n];
}

static enum strobe_err take_row(struct strobe_report_cpp *cpp, const struct strobe_report_csv *csv,
                                const struct layout *layout, struct strobe_report_faults *faults)
{
    int64_t id, device, value;
    bool damaged = false;
    struct strobe_report_cpp_row *row = new_row(cpp);
    if (!row)
        return STROBE_ERR_NOMEM;
    *row = (struct strobe_report_cpp_row){
        .trace = -1, .session = -1, .line = csv->line, .next = UINT32_MAX};
    bool good = decode(strobe_report_csv_cell(csv, layout->id), &id, &damaged) &&
                decode(strobe_report_csv_cell(csv, layout->device), &device, &damaged);
    for (int i = 0; good && i < (int)STROBE_REPORT_CPP_N; i++)
        if (decode(strobe_report_csv_cell(csv, layout->values[i]), &value, &damaged)) {
            row->values[i] = value;
            row->known |= 1u << i;
        }
    if (good)
        decode(strobe_report_csv_cell(csv, layout->trace), &row->trace, &damaged);
    if (good)
        decode(strobe_report_csv_cell(csv, layout->session), &row->session, &damaged);
    if (!good || damaged) {
        cpp->n_aside++;
        strobe_report_fault_add(
            faults, damaged ? STROBE_REPORT_FAULT_BAD_CELL : STROBE_REPORT_FAULT_CUT_LINE,
            STROBE_REPORT_CPP_FILE, csv->line, "%d cells", csv->n_cells);
        return STROBE_OK;
    }
    row->id = (uint64_t)id;
    row->device = device;
    row->arch = intern_arch(cpp, strobe_report_csv_cell(csv, layout->arch));
    return link_row(cpp, cpp->n++);
}

enum strobe_err strobe_report_cpp_read(struct strobe_report_cpp *cpp, const char *folder,
                                       struct strobe_report_faults *faults)
{
    char path[4096];
    struct strobe_report_csv csv;
    struct layout layout;
    snprintf(path, sizeof path, "%s/" STROBE_REPORT_CPP_FILE, folder);
    enum strobe_err err = strobe_report_csv_open(&csv, path, ',', '"');
    if (!err && !(err = strobe_report_csv_next(&csv)))
        read_header(&csv, &layout);
    int n_header = csv.n_cells;
    while (!err && !(err = strobe_report_csv_next(&csv))) {
        if (csv.n_cells < n_header) { /* cut: what follows the cut is unknown */
            cpp->n_aside++;
            strobe_report_fault_add(faults, STROBE_REPORT_FAULT_CUT_LINE, STROBE_REPORT_CPP_FILE,
                                    csv.line, "%d of %d cells", csv.n_cells, n_header);
        } else {
            err = take_row(cpp, &csv, &layout, faults);
        }
    }
    strobe_report_csv_close(&csv);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

void strobe_report_cpp_free(struct strobe_report_cpp *cpp)
{
    free(cpp->rows);
    strobe_index_free(&cpp->by_op);
    strobe_out_free(&cpp->texts);
    *cpp = (struct strobe_report_cpp){0};
}
