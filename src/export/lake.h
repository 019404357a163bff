/* lake.h - a trace as Parquet files in folders that engines over many files read (docs/lake.md):
 * DIR/run=R/host=H/TABLE.parquet, and DIR/run=R/host=H/process=P/zone.parquet for zones and values of plots.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_LAKE_H
#define STROBE_EXPORT_LAKE_H

#include "sql/columns.h"

struct strobe_lake_result {
    uint64_t n_zones, n_files, n_bytes;
    char place[256]; /* of what failed: the end of its path, or the name of a table */
};

/* Write all tables of the first trace of the connection. Files of the same run are replaced, each at once. */
enum strobe_err strobe_lake_write(struct strobe_sql *sql, const char *folder, const char *run,
                                  struct strobe_lake_result *result);

#endif
