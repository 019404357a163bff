/* csv.h - reads CSV files with quotes row by row in bounded memory.
 * The rules are Python's csv module's: a quoted cell may hold separators, line ends and doubled
 * quotes; a quote inside an unquoted cell is a plain character.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_CSV_H
#define STROBE_REPORT_CSV_H

#include "base/err.h"
#include "report/text.h"

enum { STROBE_REPORT_CSV_ROW_MAX = 4 << 20, STROBE_REPORT_CSV_CELLS_MAX = 4096 };

struct strobe_report_csv {
    int fd;
    char delimiter;
    char quote;
    char *buffer; /* owned: cap bytes, those from start to end not yet taken */
    size_t cap, start, end;
    bool at_end;                      /* the file has no more bytes than the buffer */
    uint64_t next_line;               /* 1-based line of the next row */
    struct strobe_report_span *cells; /* owned: the row's cells, valid until the next row */
    int n_cells;
    uint64_t line; /* 1-based line where the row starts */
    bool cut;      /* a quote was opened and never closed: the row ends where the next begins */
};

/* Open `path`. Fails with NOTFOUND, ACCESS, IO or NOMEM; close is then still allowed. */
enum strobe_err strobe_report_csv_open(struct strobe_report_csv *csv, const char *path,
                                       char delimiter, char quote);

/* Read rows from memory instead; `bytes` is copied. */
enum strobe_err strobe_report_csv_open_memory(struct strobe_report_csv *csv, const char *bytes,
                                              size_t len, char delimiter, char quote);

/* The next row that is not blank. STROBE_ERR_END after the last. */
enum strobe_err strobe_report_csv_next(struct strobe_report_csv *csv);

/* The row's cell, empty when the row is too short. */
struct strobe_report_span strobe_report_csv_cell(const struct strobe_report_csv *csv, int index);

/* Column with this header, spaces around it ignored; -1 when absent. Call on the header row. */
int strobe_report_csv_column(const struct strobe_report_csv *csv, const char *name);

void strobe_report_csv_close(struct strobe_report_csv *csv);

#endif
