/* parquet.h - columns as a Parquet file. Written beside its name and renamed at the close, so that nobody reads half of one.
 * Memory: one row group, and some hundred bytes per column of each that was written.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_PARQUET_H
#define STROBE_EXPORT_PARQUET_H

#include "sql/columns.h"

struct strobe_parquet;

/* A new file with the columns of the reader from number `first` on. ACCESS, NOSPACE, IO …: it can't be made. */
enum strobe_err strobe_parquet_open(const char *path, const struct strobe_columns *reader,
                                    unsigned first, struct strobe_parquet **out);

/* A row group: the rows of a batch of that reader whose numbers are given; NULL: all, in their order. */
enum strobe_err strobe_parquet_put(struct strobe_parquet *file,
                                   const struct strobe_column_batch *batch, const uint32_t *rows,
                                   uint32_t n_rows);

/* Write the end, and give the file its name. After a failure nothing is left of it. */
enum strobe_err strobe_parquet_close(struct strobe_parquet *file);
void strobe_parquet_drop(struct strobe_parquet *file); /* NULL is allowed */

/* All that is left of a reader as a file. */
enum strobe_err strobe_parquet_write(struct strobe_columns *reader, const char *path,
                                     uint64_t *n_rows);

#endif
