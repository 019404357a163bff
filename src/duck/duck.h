/* duck.h - DuckDB over the tables of a trace, where its library is on the machine: never linked, never required.
 *
 * The tables are those of sql.h. `FROM zone` calls a function that reads columns (sql/columns.h) of the file, only the wanted ones;
 * nothing is copied beforehand. Bounded as SQLite is: SELECT alone, a time, a memory, no file, no extension, no setting. Integers
 * divide and NULLs sort as SQLite has them.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DUCK_DUCK_H
#define STROBE_DUCK_DUCK_H

#include "sql/sql.h"

struct strobe_duck;

/* Open DuckDB over the traces of `sql`, which must outlive it; `limits` as of strobe_sql_open. NOT_FOUND: there is no library, or not
 * one that fits; strobe_duck_error has the words of every failure, and *out is to be closed after one too. */
enum strobe_err strobe_duck_open(struct strobe_sql *sql, const char *const *paths, unsigned n_paths,
                                 const struct strobe_sql_limits *limits, struct strobe_duck **out);
void strobe_duck_close(struct strobe_duck *duck); /* NULL is allowed */

/* As strobe_sql_run. The answer is held in memory, within the limit. */
enum strobe_err strobe_duck_run(struct strobe_duck *duck, const char *text,
                                const struct strobe_sql_sink *sink);
const char *strobe_duck_error(const struct strobe_duck *duck);
const char *strobe_duck_version(const struct strobe_duck *duck); /* "v1.5.6" */

/* End a run, from a signal handler too: LIMIT. */
void strobe_duck_stop(struct strobe_duck *duck);

#endif
