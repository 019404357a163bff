/* jsonl.h - all tables of a trace as JSON, an object per line with the name of its table: for grep, jq and loaders of logs.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_JSONL_H
#define STROBE_EXPORT_JSONL_H

#include "base/out.h"
#include "sql/columns.h"

/* Write all tables of the connection, with the columns of docs/query.md; what is NULL is left out. */
enum strobe_err strobe_jsonl_write(struct strobe_sql *sql, struct strobe_out *out);

#endif
