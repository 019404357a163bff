/* args.h - what a zone carries, one by one: its value, its text, the members of a text that is an object of JSON.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_ARGS_H
#define STROBE_SQL_ARGS_H

#include "file/replay.h"
#include "sql/sql.h"

/* One of them. Texts live during the call. */
struct strobe_sql_arg {
    const char *key; /* "value", "text", "args.member", "args.list[0]" */
    size_t n_key;
    enum strobe_sql_type type; /* INT, REAL or TEXT */
    int is_bool;               /* INT: 0 or 1 */
    int64_t i;
    double d;
    const char *text;
    size_t n_text;
};

/* Whom strobe_sql_args_each calls; an error ends it and is its result. */
struct strobe_sql_arg_sink {
    void *context;
    enum strobe_err (*take)(void *context, const struct strobe_sql_arg *arg);
};

/* All that a note says; NOMEM. */
enum strobe_err strobe_sql_args_each(const struct strobe_note *note,
                                     const struct strobe_sql_arg_sink *sink);

#endif
