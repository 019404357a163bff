/* fuzz_sql.c - statements of any bytes, over a small trace that has everything: each is answered or refused, in bounded time
 * and memory, and every value of an answer can be read.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "seeds.h"
#include "sql/sql.h"

static struct strobe_sql *sql;
static volatile uint64_t touched; /* keeps the reads of results */

static void close_sql(void)
{
    strobe_sql_close(sql);
}

static void open_sql(void)
{
    static const char *const path = STROBE_FUZZ_SEEDS "/file/all.strobe";
    const struct strobe_sql_limits limits = {.timeout_ms = 20, .heap_bytes = 32 << 20};
    unsigned failed;
    if (sql)
        return;
    if (strobe_sql_open(&path, 1, &limits, &failed, &sql)) {
        fprintf(stderr, "fuzz_sql: no trace\n");
        abort();
    }
    atexit(close_sql);
}

static enum strobe_err see_head(void *context, const char *const *names, unsigned n_columns)
{
    (void)context;
    for (unsigned i = 0; i < n_columns; i++)
        touched += strlen(names[i]);
    return STROBE_OK;
}

static enum strobe_err see_row(void *context, const struct strobe_sql_value *values,
                               unsigned n_columns)
{
    unsigned *n_rows = context;
    for (unsigned i = 0; i < n_columns; i++) {
        touched += (uint64_t)values[i].type;
        for (size_t k = 0; values[i].type == STROBE_SQL_TEXT && k < values[i].n; k++)
            touched += (unsigned char)values[i].text[k];
    }
    return ++*n_rows < 200 ? STROBE_OK
                           : STROBE_ERR_END; /* enough: cursors close in the middle, too */
}

static enum strobe_err see_end(void *context, uint64_t n_rows)
{
    (void)context;
    touched += n_rows;
    return STROBE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    unsigned n_rows = 0;
    const struct strobe_sql_sink sink = {&n_rows, see_head, see_row, see_end};
    open_sql();
    char *text = malloc(n + 1);
    memcpy(text, data, n);
    text[n] = 0;
    enum strobe_err err = strobe_sql_run(sql, text, &sink);
    if ((err == STROBE_ERR_INVALID || err == STROBE_ERR_LIMIT) && !*strobe_sql_error(sql))
        abort(); /* refused without a word */
    free(text);
    return 0;
}
