/* fuzz_tables.c - traces of any bytes as tables: of every input one table as columns, and of every other one a statement over what
 * zones carry as a file of Arrow. Which ones depends on the input alone. Every column must be as columns.h says.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "export/arrow_file.h"
#include "made.h"
#include "packed.h"
#include "seeds.h"

enum { MAX_BATCHES = 20 };

static volatile uint64_t touched; /* keeps the reads */

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_tables: %s\n", what);
    abort();
}

static void check_texts(const struct strobe_column_texts *texts, uint32_t n)
{
    must(texts->offsets && texts->offsets[0] == 0, "texts without a begin");
    for (uint32_t i = 0; i < n; i++)
        must(texts->offsets[i] <= texts->offsets[i + 1], "texts out of order");
    for (int32_t i = 0; i < texts->offsets[n]; i++)
        touched += (unsigned char)texts->bytes[i];
}

static void check_column(const struct strobe_column *column, uint32_t n_rows)
{
    uint32_t n_nulls = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        n_nulls += (uint32_t)strobe_column_is_null(column, i);
    must(n_nulls == column->n_nulls, "a wrong count of NULL");
    if (column->type == STROBE_COLUMN_TEXT)
        check_texts(&column->texts, n_rows);
    if (column->type != STROBE_COLUMN_ENUM)
        return;
    check_texts(&column->texts, column->texts.n);
    for (uint32_t i = 0; i < n_rows; i++)
        if (!strobe_column_is_null(column, i))
            must(((uint32_t *)column->values)[i] < column->texts.n, "a code without a text");
}

static void read_table(struct strobe_sql *sql, const char *table)
{
    struct strobe_columns_ask ask = STROBE_COLUMNS_ALL(table);
    struct strobe_columns *reader;
    struct strobe_column_batch *batch;
    ask.max_rows = 500;
    if (strobe_columns_open(sql, &ask, &reader))
        return;
    for (int i = 0; i < MAX_BATCHES && !strobe_columns_next(reader, &batch); i++) {
        for (unsigned k = 0; k < batch->n_columns; k++)
            check_column(&batch->columns[k], batch->n_rows);
        strobe_column_batch_free(batch);
    }
    strobe_columns_close(reader);
}

static int forget(void *context, const char *bytes, size_t n)
{
    (void)context;
    touched += n ? (unsigned char)bytes[n - 1] : 0;
    return 0;
}

static void write_table(struct strobe_sql *sql, const char *statement)
{
    struct strobe_columns *reader = NULL;
    struct strobe_out out;
    uint64_t n_rows;
    enum strobe_err err = strobe_columns_query(sql, statement, 500, &reader);
    if (!err && strobe_out_open_sink(&out, forget, NULL)) {
        strobe_arrow_file_write(reader, &out, &n_rows);
        strobe_out_end(&out);
    }
    must(err != STROBE_ERR_INVALID || *strobe_sql_error(sql), "refused without a word");
    strobe_columns_close(reader);
}

/* The table of a number, of as many as there are. */
static const char *pick(uint64_t choice)
{
    const char *columns, *help;
    unsigned n = 0;
    while (strobe_sql_table(n, &columns, &help))
        n++;
    return strobe_sql_table((unsigned)(choice % n), &columns, &help);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const statements[] = {
        "SELECT id, EXTRACT_ARG(id, 'value'), EXTRACT_ARG(id, 'args.a') FROM zone LIMIT 200",
        "SELECT * FROM thread_or_process_slice LIMIT 200",
        "SELECT * FROM thread_state LIMIT 200",
        "SELECT * FROM flow LEFT JOIN lock_wait LIMIT 200",
        "SELECT name, count(*), sum(dur), sum(self) FROM zone GROUP BY name",
        "SELECT * FROM op LEFT JOIN frame LIMIT 200",
    };
    const struct strobe_sql_limits limits = {.timeout_ms = 2000, .heap_bytes = 32 << 20};
    const char *paths[] = {made_path()};
    uint64_t choice = XXH64(data, n, 5);
    struct strobe_sql *sql;
    unsigned failed;
    data = packed_open(data, &n);
    made_put(data, n);
    if (!strobe_sql_open(paths, 1, &limits, &failed, &sql)) {
        read_table(sql, pick(choice));
        if (choice >> 60 & 1)
            write_table(sql,
                        statements[(choice >> 32) % (sizeof statements / sizeof statements[0])]);
        strobe_sql_close(sql);
    }
    return 0;
}
