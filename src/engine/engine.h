/* engine.h - answers questions about one trace (docs/viewer-protocol.md). Knows nothing of sockets, threads or
 * files: the server and the page's WebAssembly module are built from it.
 * One thread per engine.  SPDX-License-Identifier: MIT */
#ifndef STROBE_ENGINE_ENGINE_H
#define STROBE_ENGINE_ENGINE_H

#include "base/map.h"
#include "query/ops.h"
#include "query/stack.h"
#include "query/stack_symbols.h"
#include "query/strips.h"
#include "query/tables.h"
#include "query/view.h"
#include "engine/json.h"
#include "engine/reply.h"

struct strobe_sample_tree;

/* What the engine can't know by itself. */
struct strobe_engine_host {
    /* 1: the file is still written. */
    int (*is_live)(void *context, const struct strobe_trace *trace);
    /* The text of a source file that the trace names, to be freed; NULL with *why in words. */
    char *(*read_source)(void *context, const struct strobe_trace *trace, const char *path,
                         size_t *n_bytes, const char **why);
    /* The functions at an address that no record of the trace names, as strobe_symbols_functions gives them. 0: they are not looked
     * for. NULL: never. */
    uint32_t (*name_address)(void *context, uint32_t process, uint64_t address, char *room,
                             size_t n_room);
    void *context;
};

struct strobe_engine {
    char *name;                            /* owned: of the file */
    const struct strobe_engine_host *host; /* borrowed; NULL: no files but the trace */
    struct strobe_trace *trace;            /* owned */
    struct strobe_view *view;              /* owned */
    struct strobe_tables tables;
    struct strobe_strips strips;
    uint32_t *canon; /* owned: by index in trace->locs, the first with the same content + 1 */
    uint32_t n_canon, canon_room;
    struct strobe_index firsts; /* locations that are the first with their content, by its hash */
    struct strobe_stack_symbols symbols; /* read when first needed */
    /* Of the last questions, for the next ones that want the same in another order, or the rest of it: */
    struct strobe_hits *found, *instances; /* owned; NULL: none */
    struct strobe_kept_stats *stats;       /* owned, likewise */
    struct strobe_kept_flame *flame;       /* owned, likewise */
    struct strobe_kept_regions *regions;   /* owned, likewise */
    struct strobe_kept_memory *memory;     /* owned, likewise */
    struct strobe_kept_locks *locks;       /* owned, likewise */
    struct strobe_kept_samples *samples;   /* owned, likewise */
    struct strobe_ops *ops;                /* owned: grows with the file; NULL: not asked for yet */
    uint64_t n_grown;             /* how often the file has grown: what was kept is out of date */
    uint64_t n_steps;             /* questions whose rest is kept: flame graphs and samples; */
    uint64_t n_timed, stepped_ms; /* how many of them strobe_engine_give_up knew, and since when */
};

/* Questions about an open trace, which the engine then owns (closed on failure too); `name`: of its file. */
enum strobe_err strobe_engine_open(struct strobe_trace *trace, const char *name,
                                   struct strobe_engine **out);
void strobe_engine_close(struct strobe_engine *engine); /* NULL is allowed */

/* The blocks of events can't be read yet: what they hold one by one is left out, and `read` of the trace's facts stays below 1. To be
 * called before the first question; such an engine is closed and another opened when they can. */
void strobe_engine_hold(struct strobe_engine *engine);

/* The file may have grown. *grown: it has. */
enum strobe_err strobe_engine_refresh(struct strobe_engine *engine, int *grown);

/* Nobody asks at present: what was begun for the next step of a question is given up. */
void strobe_engine_rest(struct strobe_engine *engine);

/* To be called after answers: somebody asks, but not on with what was begun. After so long that is given up, as above. 1: it was. */
int strobe_engine_give_up(struct strobe_engine *engine, uint64_t now_ms, uint64_t after_ms);

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
/* The duration of what begins at `tick`, as a list of zones has it. */
double strobe_engine_length(const struct strobe_engine *engine, uint64_t tick, uint64_t ticks);

/* The ticks of a question's from and to; all of the trace where it names none. 1: it names one. */
int strobe_engine_range(struct strobe_engine *engine, const struct strobe_json *question,
                        uint64_t *lo, uint64_t *hi);
/* The same as the ticks lo to hi that are in [from, to). */
int strobe_engine_span(struct strobe_engine *engine, const struct strobe_json *question,
                       uint64_t *lo, uint64_t *hi);

/* A whole number of the question. */
uint64_t strobe_engine_count(const struct strobe_json *question, const char *name,
                             uint64_t otherwise, uint64_t max);

/* What a question asks for, as text to compare: these members as JSON, up to NULL, and how far the file
 * had grown. To be freed; NULL without memory. */
char *strobe_engine_key(const struct strobe_engine *engine, const struct strobe_json *question,
                        const char *const *members);

/* 1: the question wants its rows in reverse. */
int strobe_engine_is_reversed(const struct strobe_json *question);

/* The functions at an address, a line feed between them, the innermost first: of the trace's records, else of the host's. The engine
 * is `context`. */
uint32_t strobe_engine_functions(void *context, uint32_t process, uint64_t address, char *room,
                                 size_t n_room);

/* By index in trace->locs, 1: it has this number. To be freed; NULL without memory. */
uint8_t *strobe_engine_mark(const struct strobe_engine *engine, uint32_t number);

void strobe_engine_answer_trace(struct strobe_engine *engine, struct strobe_reply *reply);
void strobe_engine_answer_names(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply);
void strobe_engine_answer_source(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_pixels(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_strips(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_zone(struct strobe_engine *engine, const struct strobe_json *question,
                               struct strobe_reply *reply);
void strobe_engine_answer_step(struct strobe_engine *engine, const struct strobe_json *question,
                               struct strobe_reply *reply);
void strobe_engine_answer_colors(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_stats(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply);
void strobe_engine_answer_histogram(struct strobe_engine *engine,
                                    const struct strobe_json *question, struct strobe_reply *reply);
void strobe_engine_answer_messages(struct strobe_engine *engine, const struct strobe_json *question,
                                   struct strobe_reply *reply);
void strobe_engine_answer_ops(struct strobe_engine *engine, const struct strobe_json *question,
                              struct strobe_reply *reply);
void strobe_engine_answer_cores(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply);
void strobe_engine_answer_regions(struct strobe_engine *engine, const struct strobe_json *question,
                                  struct strobe_reply *reply);
void strobe_engine_answer_memory(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_locks(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply);
void strobe_engine_answer_clocks(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_flows(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply);
void strobe_engine_answer_frames(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_images(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_image(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply);
void strobe_engine_answer_instances(struct strobe_engine *engine,
                                    const struct strobe_json *question, struct strobe_reply *reply);
void strobe_engine_answer_flame(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply);
void strobe_engine_answer_find(struct strobe_engine *engine, const struct strobe_json *question,
                               struct strobe_reply *reply);

void strobe_engine_answer_samples(struct strobe_engine *engine, const struct strobe_json *question,
                                  struct strobe_reply *reply);
void strobe_engine_answer_ghosts(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);
void strobe_engine_answer_sample(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply);

/* The text of a source file that a record names, as `text`, else `why` not. */
void strobe_engine_put_source(struct strobe_engine *engine, struct strobe_reply *reply,
                              const char *file);
/* Samples as they are, ticks of waits as ns. */
double strobe_engine_weight(const struct strobe_engine *engine,
                            const struct strobe_sample_tree *tree, uint64_t weight);
/* The machine code of a function (its index in the tree) with the samples at each place; engine->symbols must be loaded. */
void strobe_engine_put_code(struct strobe_engine *engine, const struct strobe_sample_tree *tree,
                            struct strobe_reply *reply, uint32_t function);

/* The functions at an address of a process as elements of a stack; engine->symbols must be loaded. */
void strobe_engine_put_frames(struct strobe_engine *engine, struct strobe_reply *reply,
                              uint32_t process, uint64_t address);

/* 1: zones or messages may have colours that were given at run time. */
int strobe_engine_has_colors(const struct strobe_engine *engine);

void strobe_hits_free(struct strobe_hits *hits);                    /* NULL is allowed */
void strobe_kept_stats_free(struct strobe_kept_stats *stats);       /* likewise */
void strobe_kept_flame_free(struct strobe_kept_flame *flame);       /* likewise */
void strobe_kept_regions_free(struct strobe_kept_regions *regions); /* likewise */
void strobe_kept_memory_free(struct strobe_kept_memory *memory);    /* likewise */
void strobe_kept_locks_free(struct strobe_kept_locks *locks);       /* likewise */
void strobe_kept_samples_free(struct strobe_kept_samples *samples); /* likewise */

/* The text of an error, where a reply has no other answer. */
void strobe_engine_answer_error(struct strobe_reply *reply, const char *why);

/* 1: `text` has `part` in it, whatever the case of ASCII letters; an empty part is in all. */
int strobe_text_has(const char *text, size_t n_text, const char *part, size_t n_part);

#endif
