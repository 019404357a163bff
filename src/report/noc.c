/* noc.c - reads npe_op_stats.csv.  SPDX-License-Identifier: MIT */
#include "report/noc.h"
#include "base/array.h"
#include "report/columns.h"
#include "report/csv.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct strobe_report_span span;

static uint32_t keep(struct strobe_report_noc *noc, span cell)
{
    uint32_t at = (uint32_t)noc->texts.len;
    strobe_report_text_cell(&noc->texts, cell.at, cell.len);
    strobe_out_char(&noc->texts, 0);
    return at;
}

static enum strobe_err take_row(struct strobe_report_noc *noc, const struct strobe_report_csv *csv,
                                const int columns[9], struct strobe_report_faults *faults)
{
    struct strobe_report_noc_row row = {.trace = -1, .session = -1};
    if (!strobe_report_span_uint(strobe_report_csv_cell(csv, columns[0]), &row.id)) {
        strobe_report_fault_add(faults, STROBE_REPORT_FAULT_BAD_CELL, STROBE_REPORT_NOC_FILE,
                                csv->line, "GLOBAL CALL COUNT");
        return STROBE_OK;
    }
    strobe_report_span_int(strobe_report_csv_cell(csv, columns[1]), &row.trace);
    strobe_report_span_int(strobe_report_csv_cell(csv, columns[2]), &row.session);
    for (int i = 0; i < STROBE_REPORT_NOC_CELLS; i++)
        row.cells[i] = keep(noc, strobe_report_csv_cell(csv, columns[3 + i]));
    if (STROBE_ARRAY_RESERVE_TIGHT(noc->rows, noc->n))
        return STROBE_ERR_NOMEM;
    noc->rows[noc->n] = row;
    bool ok = !noc->texts.error &&
              !strobe_index_add(&noc->by_id,
                                strobe_hash_u64(row.id, strobe_index_seed(&noc->by_id)), noc->n++);
    return ok ? STROBE_OK : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_report_noc_read(struct strobe_report_noc *noc, const char *folder,
                                       struct strobe_report_faults *faults)
{
    char path[4096];
    struct strobe_report_csv csv;
    int columns[9];
    snprintf(path, sizeof path, "%s/" STROBE_REPORT_NOC_FILE, folder);
    enum strobe_err err = strobe_report_csv_open(&csv, path, ',', '"');
    if (!err && !(err = strobe_report_csv_next(&csv))) {
        columns[0] = strobe_report_csv_column(&csv, "GLOBAL CALL COUNT");
        columns[1] = strobe_report_csv_column(&csv, "METAL TRACE ID");
        columns[2] = strobe_report_csv_column(&csv, "METAL TRACE REPLAY SESSION ID");
        for (int i = 0; i < STROBE_REPORT_NOC_CELLS; i++)
            columns[3 + i] = strobe_report_csv_column(
                &csv, strobe_report_column_header(STROBE_REPORT_COL_NOC_UTIL + i));
    }
    while (!err && !(err = strobe_report_csv_next(&csv)))
        err = take_row(noc, &csv, columns, faults);
    strobe_report_csv_close(&csv);
    return err == STROBE_ERR_END || err == STROBE_ERR_NOTFOUND ? STROBE_OK : err;
}

const struct strobe_report_noc_row *strobe_report_noc_find(const struct strobe_report_noc *noc,
                                                           uint64_t id, int64_t trace,
                                                           int64_t session)
{
    STROBE_INDEX_EACH (index, at, &noc->by_id, strobe_hash_u64(id, noc->by_id.seed))
        if (noc->rows[index].trace == trace && noc->rows[index].session == session)
            return &noc->rows[index];
    return NULL;
}

void strobe_report_noc_free(struct strobe_report_noc *noc)
{
    free(noc->rows);
    strobe_index_free(&noc->by_id);
    strobe_out_free(&noc->texts);
    *noc = (struct strobe_report_noc){0};
}
