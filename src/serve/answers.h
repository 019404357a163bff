/* answers.h - what the server answers about a trace: the engine's questions (engine/engine.h), and those that need the
 * machine's files: save, notes.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_ANSWERS_H
#define STROBE_SERVE_ANSWERS_H

#include <stdbool.h>

#include "engine/engine.h"
#include "query/symbols.h"

/* An open trace and its places. One thread. */
struct strobe_served {
    struct strobe_engine *engine;   /* owned */
    struct strobe_engine_host host; /* of the engine */
    struct strobe_symbols *symbols; /* owned: of a trace that is still written; NULL: none yet */
    const char *path;               /* borrowed: of the trace */
    const char *folder;             /* borrowed: where saved ranges go */
    bool has_new_notes;             /* an answer kept them: the other pages are to be told */
};

/* Open the trace at `path`. Errors as of strobe_trace_open. `out` must stay where it is until it is closed. */
enum strobe_err strobe_served_open(const char *path, const char *folder, struct strobe_served *out);
void strobe_served_close(struct strobe_served *served); /* all zero is allowed */

/* As of the engine. */
void strobe_served_answer(struct strobe_served *served, const struct strobe_json *question,
                          struct strobe_reply *reply);
int strobe_served_is_slow(const struct strobe_json *question);

/* ---- for answers.c ---- */

void strobe_serve_answer_save(struct strobe_served *served, const struct strobe_json *question,
                              struct strobe_reply *reply);
void strobe_serve_answer_notes(struct strobe_served *served, const struct strobe_json *question,
                               struct strobe_reply *reply);

#endif
