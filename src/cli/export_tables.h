/* export_tables.h - the exports that are made of tables: Parquet, and what is written as one stream.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_EXPORT_TABLES_H
#define STROBE_CLI_EXPORT_TABLES_H

#include "base/out.h"
#include "sql/sql.h"

/* Write the trace at `path` as folders of Parquet files below `to`, as the run of this name (NULL: that of `shown`, the
 * trace's path as it was given). 1: it went well; a failure was printed. */
int strobe_cli_write_lake(const char *path, const char *shown, const char *to, const char *run);

typedef enum strobe_err strobe_cli_rows_writer(struct strobe_sql *sql, struct strobe_out *out);

/* Write the trace at `path` by a writer of rows. 1: it went well; a failure was printed. */
int strobe_cli_write_rows(const char *path, const char *shown, int fd,
                          strobe_cli_rows_writer *write_rows);

#endif
