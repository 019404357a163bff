/* asker.h - answers the viewer's long questions about a trace (docs/viewer-protocol.md): query, explain, compare. They read the file
 * from end to end, as the commands of these names do, by the same code and with the same limits; so they have a thread of
 * their own, and can be stopped. The server and the page's module are built from it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_ASK_ASKER_H
#define STROBE_ASK_ASKER_H

#include <stdatomic.h>

#include "diff/diff.h"
#include "engine/json.h"
#include "engine/reply.h"
#include "explain/explain.h"
#include "sql/sql.h"

enum { STROBE_ASKER_PATH_ROOM = 4608, STROBE_ASKER_MAX_TRACES = 64 };

/* What the asker can't know by itself. */
struct strobe_asker_host {
    /* The path of another trace that a question names. 0: there is none of that name. */
    int (*find)(void *context, const char *name, char path[STROBE_ASKER_PATH_ROOM]);
    void *context;
};

/* Set `path`, the rest zero. One thread, but for `stop`. */
struct strobe_asker {
    const char *path;                     /* borrowed: of the trace that is shown */
    const struct strobe_asker_host *host; /* borrowed; NULL: there are no other traces */
    struct strobe_sql *sql;               /* owned: kept for the next question; NULL: none */
    char *sql_paths;                      /* owned: the traces that it is of, a line each */
    atomic_int stop; /* any thread: not 0 ends the question that is answered, and all that come */
};

/* 1: a question for an asker. */
int strobe_asker_knows(const struct strobe_json *question);

/* Answer a parsed question. What can't be answered says so in words. */
void strobe_asker_answer(struct strobe_asker *asker, const struct strobe_json *question,
                         struct strobe_reply *reply);

/* Nobody asks at present: close what is open. It is the end, too. */
void strobe_asker_rest(struct strobe_asker *asker);

/* ---- for the answers ---- */

void strobe_ask_answer_query(struct strobe_asker *asker, const struct strobe_json *question,
                             struct strobe_reply *reply);
void strobe_ask_answer_explain(struct strobe_asker *asker, const struct strobe_json *question,
                               struct strobe_reply *reply);
void strobe_ask_answer_compare(struct strobe_asker *asker, const struct strobe_json *question,
                               struct strobe_reply *reply);

/* The path of a trace by its name in a question, "" is the one that is shown. 0: there is none, and the reply says so. */
int strobe_ask_find(const struct strobe_asker *asker, const char *name,
                    char path[STROBE_ASKER_PATH_ROOM], struct strobe_reply *reply);

/* Say why a trace can't be read. */
void strobe_ask_say_failed(const struct strobe_asker *asker, const char *path, enum strobe_err err,
                           struct strobe_reply *reply);

#endif
