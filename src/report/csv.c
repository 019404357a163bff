/* csv.c - the CSV reader: find the end of a row, then clean its cells in place.
 * A quote that is never closed would swallow the rest of the file. Two signs end such a row early:
 * a line that starts with a quote which does not close a cell (the next row's own), and the limit
 * on a row's size. The row is then marked as cut and reading goes on at the next line.
 * SPDX-License-Identifier: MIT */
#include "report/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/ready.h"

enum { FIRST_BUFFER = 1 << 18 };

static enum strobe_err prepare(struct strobe_report_csv *csv, size_t cap, char delimiter,
                               char quote)
{
    *csv = (struct strobe_report_csv){
        .fd = -1, .delimiter = delimiter, .quote = quote, .next_line = 1};
    csv->buffer = malloc(cap);
    csv->cells = malloc(STROBE_REPORT_CSV_CELLS_MAX * sizeof *csv->cells);
    csv->cap = cap;
    return csv->buffer && csv->cells ? STROBE_OK : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_report_csv_open(struct strobe_report_csv *csv, const char *path,
                                       char delimiter, char quote)
{
    enum strobe_err err = prepare(csv, FIRST_BUFFER, delimiter, quote);
    if (err)
        return err;
    csv->fd = strobe_ready_open(path, O_RDONLY, 0);
    return csv->fd < 0 ? strobe_err_from_errno(errno) : STROBE_OK;
}

enum strobe_err strobe_report_csv_open_memory(struct strobe_report_csv *csv, const char *bytes,
                                              size_t len, char delimiter, char quote)
{
    enum strobe_err err = prepare(csv, len + 1, delimiter, quote);
    if (err)
        return err;
    if (len)
        memcpy(csv->buffer, bytes, len);
    csv->end = len;
    csv->at_end = true;
    return STROBE_OK;
}

void strobe_report_csv_close(struct strobe_report_csv *csv)
{
    if (csv->fd >= 0)
        close(csv->fd);
    free(csv->buffer);
    free(csv->cells);
    *csv = (struct strobe_report_csv){.fd = -1};
}

/* More bytes into the buffer; the row under way moves to its front. */
static enum strobe_err fill(struct strobe_report_csv *csv)
{
    memmove(csv->buffer, csv->buffer + csv->start, csv->end - csv->start);
    csv->end -= csv->start;
    csv->start = 0;
    if (csv->end == csv->cap && STROBE_ARRAY_RESERVE(csv->buffer, csv->cap, csv->cap + 1ull))
        return STROBE_ERR_NOMEM;
    ssize_t n;
    do
        n = read(csv->fd, csv->buffer + csv->end, csv->cap - csv->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return strobe_err_from_errno(errno);
    csv->at_end = n == 0;
    csv->end += (size_t)n;
    return STROBE_OK;
}

/* Where the walk over a row is. */
enum state { AT_START, IN_PLAIN, IN_QUOTES, AFTER_QUOTE };

struct walk {
    const char *at, *end;
    enum state state;
    const char *cell; /* where the cell starts */
};

static void add_cell(struct strobe_report_csv *csv, const char *from, const char *to)
{
    if (csv->n_cells < STROBE_REPORT_CSV_CELLS_MAX)
        csv->cells[csv->n_cells++] = (struct strobe_report_span){from, (size_t)(to - from)};
}

/* True when the quote at `at` begins a line and closes no cell: it belongs to the next row. */
static bool opens_next_row(const struct strobe_report_csv *csv, const struct walk *walk)
{
    if (walk->at == walk->cell || walk->at[-1] != '\n' || walk->at + 1 >= walk->end)
        return false;
    char next = walk->at[1];
    return next != csv->delimiter && next != '\n' && next != '\r' && next != csv->quote;
}

/* Move over the inside of a quoted cell. True when the row is found to be cut. */
static bool walk_quotes(struct strobe_report_csv *csv, struct walk *walk)
{
    const char *quote = memchr(walk->at, csv->quote, (size_t)(walk->end - walk->at));
    if (!quote) {
        walk->at = walk->end;
        return false;
    }
    walk->at = quote;
    if (opens_next_row(csv, walk))
        return true;
    walk->at++;
    walk->state = AFTER_QUOTE;
    return false;
}

static bool ends_row(struct strobe_report_csv *csv, struct walk *walk, char c)
{
    if (c == csv->delimiter) {
        add_cell(csv, walk->cell, walk->at);
        walk->cell = walk->at + 1;
        walk->state = AT_START;
    } else if (c == csv->quote && walk->state != IN_PLAIN) {
        walk->state = IN_QUOTES;
    } else if (c != '\n' && c != '\r') {
        walk->state = IN_PLAIN;
    } else {
        return true;
    }
    return false;
}

/* How many bytes the row takes, its line end included; 0 when more bytes are needed. */
static size_t find_row(struct strobe_report_csv *csv, bool last)
{
    const char *from = csv->buffer + csv->start;
    struct walk walk = {from, csv->buffer + csv->end, AT_START, from};
    csv->n_cells = 0;
    csv->cut = false;
    while (walk.at < walk.end) {
        if (walk.state == IN_QUOTES) {
            if (walk_quotes(csv, &walk)) {
                csv->cut = true;
                add_cell(csv, walk.cell, walk.at - 1);
                return (size_t)(walk.at - from);
            }
            continue;
        }
        if (ends_row(csv, &walk, *walk.at)) {
            if (*walk.at == '\r' && walk.at + 1 == walk.end && !last)
                return 0;
            add_cell(csv, walk.cell, walk.at);
            bool pair = *walk.at == '\r' && walk.at + 1 < walk.end && walk.at[1] == '\n';
            return (size_t)(walk.at - from) + (pair ? 2 : 1);
        }
        walk.at++;
    }
    if (!last)
        return 0;
    csv->cut = walk.state == IN_QUOTES;
    add_cell(csv, walk.cell, walk.end);
    return (size_t)(walk.end - from);
}

/* A row whose quote is never closed: give back its first line only. */
static size_t cut_to_first_line(struct strobe_report_csv *csv)
{
    char *from = csv->buffer + csv->start;
    char *line_end = memchr(from, '\n', csv->end - csv->start);
    size_t len = line_end ? (size_t)(line_end - from) + 1 : csv->end - csv->start;
    csv->n_cells = 0;
    csv->cut = true;
    add_cell(csv, from, from + len - (line_end ? 1 : 0));
    return len;
}

/* Take the quotes off, in place: the cell never grows. */
static void clean_cell(struct strobe_report_csv *csv, struct strobe_report_span *cell)
{
    if (!cell->len || cell->at[0] != csv->quote)
        return;
    char *to = csv->buffer + (cell->at - csv->buffer);
    const char *from = cell->at + 1, *end = cell->at + cell->len;
    bool quoted = true;
    cell->at = to;
    for (; from < end; from++) {
        if (*from == csv->quote && quoted) {
            quoted = from + 1 < end && from[1] == csv->quote;
            if (!quoted)
                continue;
            from++;
        }
        *to++ = *from;
    }
    cell->len = (size_t)(to - cell->at);
}

static uint64_t count_lines(const char *at, size_t len)
{
    uint64_t n = 0;
    for (const char *end = at + len; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        n++;
    return n;
}

static enum strobe_err read_row(struct strobe_report_csv *csv, size_t *len)
{
    while (!(*len = find_row(csv, csv->at_end))) {
        if (csv->end - csv->start >= STROBE_REPORT_CSV_ROW_MAX) {
            *len = cut_to_first_line(csv);
            return STROBE_OK;
        }
        enum strobe_err err = fill(csv);
        if (err)
            return err;
        if (csv->at_end && csv->start == csv->end)
            return STROBE_ERR_END;
    }
    if (csv->cut && csv->at_end && csv->start + *len == csv->end)
        *len = cut_to_first_line(csv);
    return STROBE_OK;
}

enum strobe_err strobe_report_csv_next(struct strobe_report_csv *csv)
{
    for (;;) {
        if (csv->at_end && csv->start == csv->end)
            return STROBE_ERR_END;
        size_t len;
        enum strobe_err err = read_row(csv, &len);
        if (err)
            return err;
        csv->line = csv->next_line;
        csv->next_line += count_lines(csv->buffer + csv->start, len);
        csv->start += len;
        if (csv->n_cells == 1 && csv->cells[0].len == 0)
            continue;
        for (int i = 0; i < csv->n_cells; i++)
            clean_cell(csv, &csv->cells[i]);
        return STROBE_OK;
    }
}

struct strobe_report_span strobe_report_csv_cell(const struct strobe_report_csv *csv, int index)
{
    if (index < 0 || index >= csv->n_cells)
        return (struct strobe_report_span){"", 0};
    return csv->cells[index];
}

int strobe_report_csv_column(const struct strobe_report_csv *csv, const char *name)
{
    for (int i = 0; i < csv->n_cells; i++)
        if (strobe_report_span_is(strobe_report_span_trim(csv->cells[i]), name))
            return i;
    return -1;
}
