/* compare.c - compares two reports cell by cell, numbers as numbers.  SPDX-License-Identifier: MIT
 */
#include "report/compare.h"
#include "base/array.h"
#include "report/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_span span;

enum { COMMON_MIN = 12, SHOWN = 10, KEYS = 3 };
static const char *const keys[KEYS] = {"GLOBAL CALL COUNT", "METAL TRACE ID",
                                       "METAL TRACE REPLAY SESSION ID"};

/* A whole CSV file; cells are offsets into one text, ended by NUL. */
struct sheet {
    struct strobe_out text;
    uint32_t *cells; /* owned: n_rows * n_columns */
    uint32_t n_columns, n_rows;
    size_t cap;      /* cells that there is room for */
    uint32_t *order; /* owned: rows that count, sorted */
    uint32_t n_order;
};

static uint32_t keep(struct sheet *sheet, span cell)
{
    uint32_t at = (uint32_t)sheet->text.len;
    strobe_out_bytes(&sheet->text, cell.at, cell.len);
    strobe_out_char(&sheet->text, 0);
    return at;
}

static enum strobe_err add_row(struct sheet *sheet, const struct strobe_report_csv *csv)
{
    if (!sheet->n_columns)
        sheet->n_columns = (uint32_t)csv->n_cells;
    if (STROBE_ARRAY_RESERVE(sheet->cells, sheet->cap, (sheet->n_rows + 1ull) * sheet->n_columns))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < sheet->n_columns; i++)
        sheet->cells[(size_t)sheet->n_rows * sheet->n_columns + i] =
            keep(sheet, strobe_report_csv_cell(csv, (int)i));
    sheet->n_rows++;
    return sheet->text.error ? STROBE_ERR_NOMEM : STROBE_OK;
}

static enum strobe_err load(struct sheet *sheet, const char *path)
{
    struct strobe_report_csv csv;
    enum strobe_err err = strobe_report_csv_open(&csv, path, ',', '"');
    while (!err && !(err = strobe_report_csv_next(&csv)))
        err = add_row(sheet, &csv);
    strobe_report_csv_close(&csv);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

static void unload(struct sheet *sheet)
{
    strobe_out_free(&sheet->text);
    free(sheet->cells);
    free(sheet->order);
}

/* Row 0 is the header. */
static const char *cell(const struct sheet *sheet, uint32_t row, uint32_t column)
{
    return sheet->text.at + sheet->cells[(size_t)row * sheet->n_columns + column];
}

static uint32_t find_column(const struct sheet *sheet, const char *name)
{
    for (uint32_t i = 0; i < sheet->n_columns; i++)
        if (!strcmp(cell(sheet, 0, i), name))
            return i;
    return UINT32_MAX;
}

static bool is_missing(const char *text)
{
    return !*text || !strcmp(text, "-");
}

static bool is_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end;
}

/* ---- order ---- */

static const struct sheet *sorted_sheet; /* for qsort; set by sort_rows alone */
static uint32_t sorted_columns[KEYS];

/* Numbers by value, missing first. */
static int compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (int i = 0; i < KEYS; i++) {
        double p, q;
        if (sorted_columns[i] == UINT32_MAX)
            continue;
        bool has_p = is_number(cell(sorted_sheet, x, sorted_columns[i]), &p);
        bool has_q = is_number(cell(sorted_sheet, y, sorted_columns[i]), &q);
        if (has_p != has_q)
            return has_p ? 1 : -1;
        if (has_p && p != q)
            return p < q ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

static bool counts(const struct sheet *sheet, uint32_t row, uint32_t column, bool is_cpp)
{
    double value;
    if (column == UINT32_MAX)
        return true;
    bool has = is_number(cell(sheet, row, column), &value);
    return is_cpp ? !has || value != 0 : has;
}

static enum strobe_err sort_rows(struct sheet *sheet, const struct sheet *other, bool is_cpp)
{
    uint32_t column = find_column(sheet, is_cpp ? keys[0] : "DEVICE FW DURATION [ns]");
    sheet->order = malloc((sheet->n_rows + 1) * sizeof *sheet->order);
    if (!sheet->order)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 1; i < sheet->n_rows; i++)
        if (counts(sheet, i, column, is_cpp))
            sheet->order[sheet->n_order++] = i;
    for (int i = 0; i < KEYS; i++)
        sorted_columns[i] =
            find_column(other, keys[i]) == UINT32_MAX ? UINT32_MAX : find_column(sheet, keys[i]);
    sorted_sheet = sheet;
    if (sheet->n_order)
        qsort(sheet->order, sheet->n_order, sizeof *sheet->order, compare_rows);
    return STROBE_OK;
}

/* ---- comparing ---- */

static bool is_equal(const char *a, const char *b)
{
    double x, y;
    if (is_missing(a) || is_missing(b))
        return is_missing(a) && is_missing(b);
    if (is_number(a, &x) && is_number(b, &y))
        return x == y || (isnan(x) && isnan(y));
    return !strcmp(a, b);
}

static bool is_key(const char *name)
{
    for (int i = 0; i < KEYS; i++)
        if (!strcmp(keys[i], name))
            return true;
    return false;
}

static uint64_t compare_column(const struct sheet *a, const struct sheet *b, uint32_t x, uint32_t y,
                               uint64_t shown, struct strobe_out *out)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < a->n_order; i++) {
        const char *left = cell(a, a->order[i], x), *right = cell(b, b->order[i], y);
        if (is_equal(left, right))
            continue;
        if (shown + n++ < SHOWN)
            strobe_out_format(out, "  row %u, %s: %s and %s\n", i, cell(a, 0, x), left, right);
    }
    return n;
}

static enum strobe_report_verdict compare_sheets(const struct sheet *a, const struct sheet *b,
                                                 bool only_ids, struct strobe_out *out)
{
    uint64_t n = 0;
    if (a->n_order != b->n_order) {
        strobe_out_format(out, "%u rows and %u rows\n", a->n_order, b->n_order);
        return STROBE_REPORT_DIFFERENT;
    }
    for (uint32_t i = 0; i < a->n_columns; i++) {
        uint32_t other = find_column(b, cell(a, 0, i));
        if (other != UINT32_MAX && (!only_ids || is_key(cell(a, 0, i))))
            n += compare_column(a, b, i, other, n, out);
    }
    if (n)
        strobe_out_format(out, "%llu cells differ\n", (unsigned long long)n);
    return n ? STROBE_REPORT_DIFFERENT : STROBE_REPORT_EQUAL;
}

static uint32_t count_common(const struct sheet *a, const struct sheet *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_columns; i++)
        n += find_column(b, cell(a, 0, i)) != UINT32_MAX;
    return n;
}

enum strobe_err strobe_report_compare(const char *report, const char *cpp, bool only_ids,
                                      enum strobe_report_verdict *verdict, struct strobe_out *out)
{
    struct sheet a = {0}, b = {0};
    enum strobe_err err = load(&a, report);
    if (!err)
        err = load(&b, cpp);
    *verdict = STROBE_REPORT_SKIPPED;
    uint32_t n = !err && a.n_rows > 1 && b.n_rows > 1 ? count_common(&a, &b) : 0;
    if (n && n < COMMON_MIN) {
        strobe_out_format(out, "only %u common columns\n", n);
        *verdict = STROBE_REPORT_TOO_FEW;
    } else if (n) {
        err = sort_rows(&a, &b, false);
        if (!err)
            err = sort_rows(&b, &a, true);
        if (!err)
            *verdict = compare_sheets(&a, &b, only_ids, out);
    }
    unload(&a);
    unload(&b);
    return err;
}
