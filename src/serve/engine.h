/* engine.h - answers questions about one trace (docs/viewer-protocol.md). Knows nothing of sockets.
 * One thread per engine.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_ENGINE_H
#define STROBE_SERVE_ENGINE_H

#include "query/stack.h"
#include "query/tables.h"
#include "query/view.h"
#include "serve/json.h"
#include "serve/reply.h"

struct strobe_engine {
    char *path;                 /* owned */
    const char *name;           /* borrowed from path: of the file */
    const char *folder;         /* borrowed: where saved ranges go; NULL: beside the file */
    struct strobe_trace *trace; /* owned */
    struct strobe_view *view;   /* owned */
    struct strobe_tables tables;
    uint32_t *canon; /* owned: by index in trace->locs, the first with the same content + 1 */
    uint32_t n_canon, canon_room;
    uint32_t *slots; /* owned: hash table of canonical locations, index + 1 */
    uint32_t n_slots, n_distinct;
    struct strobe_stack_symbols symbols; /* read when first needed */
    uint64_t n_answers;
};

/* Open the trace at `path`. Errors as of strobe_trace_open. */
enum strobe_err strobe_engine_open(const char *path, struct strobe_engine **out);
void strobe_engine_close(struct strobe_engine *engine); /* NULL is allowed */

/* The file may have grown. *grown: it has. */
enum strobe_err strobe_engine_refresh(struct strobe_engine *engine, int *grown);

/* Answer a parsed question. What can't be answered says so in words. */
void strobe_engine_answer(struct strobe_engine *engine, const struct strobe_json *question,
                          struct strobe_reply *reply);

/* 1: a question that may take long, and should not hold up the drawing. */
int strobe_engine_is_slow(const struct strobe_json *question);

/* ---- for the answers ---- */

/* The number of a location in answers; that of a table's row (strobe_table_loc), 0: none. */
uint32_t strobe_engine_loc(struct strobe_engine *engine, uint32_t process, uint64_t id);
uint32_t strobe_engine_row_loc(struct strobe_engine *engine, uint64_t loc);

/* Times of questions and answers. */
double strobe_engine_ns(const struct strobe_engine *engine, uint64_t tick);
uint64_t strobe_engine_tick(const struct strobe_engine *engine, double ns);
double strobe_engine_duration(const struct strobe_engine *engine, uint64_t ticks);

/* The ticks of a question's from and to; all of the trace where it names none. 1: it names one. */
int strobe_engine_range(struct strobe_engine *engine, const struct strobe_json *question,
                        uint64_t *lo, uint64_t *hi);
/* The same as the ticks lo to hi that are in [from, to). */
int strobe_engine_span(struct strobe_engine *engine, const struct strobe_json *question,
                       uint64_t *lo, uint64_t *hi);

/* A whole number of the question. */
uint64_t strobe_engine_count(const struct strobe_json *question, const char *name,
                             uint64_t otherwise, uint64_t max);

/* 1: the question wants its rows in reverse. */
int strobe_engine_is_reversed(const struct strobe_json *question);

/* By index in trace->locs, 1: it has this number. To be freed; NULL without memory. */
uint8_t *strobe_engine_mark(const struct strobe_engine *engine, uint32_t number);

void strobe_answer_trace(struct strobe_engine *engine, struct strobe_reply *reply);
void strobe_answer_names(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply);
void strobe_answer_source(struct strobe_engine *engine, const struct strobe_json *question,
                          struct strobe_reply *reply);
void strobe_answer_pixels(struct strobe_engine *engine, const struct strobe_json *question,
                          struct strobe_reply *reply);
void strobe_answer_zone(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply);
void strobe_answer_step(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply);
void strobe_answer_save(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply);
void strobe_answer_notes(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply);
void strobe_answer_stats(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply);
void strobe_answer_histogram(struct strobe_engine *engine, const struct strobe_json *question,
                             struct strobe_reply *reply);
void strobe_answer_messages(struct strobe_engine *engine, const struct strobe_json *question,
                            struct strobe_reply *reply);
void strobe_answer_flows(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply);
void strobe_answer_frames(struct strobe_engine *engine, const struct strobe_json *question,
                          struct strobe_reply *reply);
void strobe_answer_instances(struct strobe_engine *engine, const struct strobe_json *question,
                             struct strobe_reply *reply);
void strobe_answer_flame(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply);
void strobe_answer_find(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply);

/* The text of an error, where a reply has no other answer. */
void strobe_answer_error(struct strobe_reply *reply, const char *why);

/* 1: `text` has `part` in it, whatever the case of ASCII letters; an empty part is in all. */
int strobe_text_has(const char *text, size_t n_text, const char *part, size_t n_part);

#endif
