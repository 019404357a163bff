/* export_tables.h - the exports that are made of tables: Parquet, JSON lines, Perfetto's protobuf.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_EXPORT_TABLES_H
#define STROBE_CLI_EXPORT_TABLES_H

/* Write the trace at `path` as folders of Parquet files below `to`, as the run of this name (NULL: that of `shown`, the
 * trace's path as it was given). 1: it went well; a failure was printed. */
int strobe_cli_write_lake(const char *path, const char *shown, const char *to, const char *run);

/* Write the trace at `path` as JSON lines, else as Perfetto's protobuf. 1: it went well; a failure was printed. */
int strobe_cli_write_rows(const char *path, const char *shown, int fd, int as_json);

#endif
