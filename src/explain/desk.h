/* desk.h - what the statements are made with: the trace, its path, a connection for queries, the lines so far.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPLAIN_DESK_H
#define STROBE_EXPLAIN_DESK_H

#include "base/out.h"
#include "explain/explain.h"
#include "sql/sql.h"

struct strobe_explain_desk {
    struct strobe_explain *explain;               /* borrowed */
    const struct strobe_explain_options *options; /* borrowed */
    struct strobe_trace *trace;                   /* owned */
    struct strobe_view *view;                     /* owned */
    struct strobe_sql *sql;                       /* owned */
    struct strobe_survey survey;
    struct strobe_path path;
    struct strobe_out text, query; /* of the line that is made */
    enum strobe_err err;           /* the first failure; later calls do nothing */
};

/* A place: all rows of a location of a process. */
struct strobe_explain_place {
    uint32_t process, thread, loc;
    uint64_t ticks, n_allocs, held, lock;
    uint64_t by_class[STROBE_PATH_N_CLASSES];
    struct strobe_path_place longest[STROBE_PATH_PLACES];
};

/* Add a line of desk->text and desk->query, which are empty afterwards; NULL: no memory, desk->err is set. The query is run, its
 * first number is the line's value. */
struct strobe_explain_line *strobe_explain_add(struct strobe_explain_desk *desk,
                                               enum strobe_explain_topic topic,
                                               enum strobe_explain_class class);

/* Name the place, and up to three of its zones as evidence. */
void strobe_explain_name_place(struct strobe_explain_desk *desk, struct strobe_explain_line *line,
                               const struct strobe_explain_place *place);

/* The first `max` numbers of a query's first column. Their number. */
uint32_t strobe_explain_ask(struct strobe_explain_desk *desk, const char *query, int64_t *values,
                            uint32_t max);

/* Pieces of queries: a text in quotes; "AND ts BETWEEN …" where a range was asked for. */
void strobe_explain_quote(struct strobe_out *out, const char *text);
void strobe_explain_put_range(struct strobe_explain_desk *desk, const char *column);

uint64_t strobe_explain_ns(const struct strobe_explain_desk *desk, uint64_t ticks);
/* The name of a location; "(no zone)" without one. `room` holds made-up ones. */
const char *strobe_explain_zone(const struct strobe_explain_desk *desk, uint32_t loc,
                                char room[STROBE_NAME_ROOM]);

/* causes.c: the places of a path, most time first; the caller frees them. NULL: none, or no memory. */
struct strobe_explain_place *strobe_explain_places(struct strobe_explain_desk *desk, uint32_t *n);

/* causes.c: the cause, the places, host or device. */
void strobe_explain_put_causes(struct strobe_explain_desk *desk);

/* facts.c: waits, outliers, losses, overhead, what the trace has no evidence of. */
void strobe_explain_put_facts(struct strobe_explain_desk *desk);

#endif
