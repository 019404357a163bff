/* query_format.h - rows of an answer as text: a table for people, CSV, JSON lines, Markdown.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_QUERY_FORMAT_H
#define STROBE_CLI_QUERY_FORMAT_H

#include "base/out.h"
#include "sql/sql.h"

enum strobe_query_format {
    STROBE_QUERY_TABLE,
    STROBE_QUERY_CSV,
    STROBE_QUERY_JSONL,
    STROBE_QUERY_MARKDOWN,
    STROBE_QUERY_ARROW, /* these two are no text: others write them */
    STROBE_QUERY_PARQUET,
};

/* 0: there is no format of this name. */
int strobe_query_read_format(const char *name, enum strobe_query_format *out);

/* A writer of answers; zero-initialise, set the first two, free once. Its sink: strobe_query_sink. */
struct strobe_query_writer {
    struct strobe_out *out; /* borrowed */
    enum strobe_query_format format;
    unsigned n_columns;
    struct strobe_out names; /* of the columns, a NUL behind each */
    struct strobe_out held;  /* a table's first rows: cells, a NUL behind each */
    uint8_t *is_text;        /* owned: of the columns; texts stand on the left */
    uint32_t *widths;        /* owned: of the columns, in characters */
    uint32_t n_held;
    int is_flowing; /* the widths are fixed, rows go out as they come */
    uint64_t n_answers;
};

struct strobe_sql_sink strobe_query_sink(struct strobe_query_writer *writer);
void strobe_query_writer_free(struct strobe_query_writer *writer);

#endif
