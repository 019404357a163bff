/* sample_tree.h - the stack samples of a range, step by step: paths of functions merged, functions by the samples in them, source lines by
 * the samples on them. The counts are those of strobe_samples_run. Or, `is_off`, the time that threads waited, by the last stack that was
 * sampled before: then all counts are ticks.
 * Zero-initialise, set what is wanted, step until is_whole; free once.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_SAMPLE_TREE_H
#define STROBE_QUERY_SAMPLE_TREE_H

#include "query/flame.h"
#include "query/stack_symbols.h"

enum {
    STROBE_SAMPLE_TREE_STACKS =
        1 << 15, /* different stacks that are counted before they are added */
    STROBE_SAMPLE_TREE_LINES = 1 << 16,
};

/* Ticks in which samples of a thread are wanted. By thread and begin; they do not overlap. */
struct strobe_sample_span {
    uint32_t thread; /* index; of joined threads that of the first */
    uint64_t begin, end;
};

/* A function: all that has its name. */
struct strobe_sample_function {
    uint32_t name, file, image; /* in the tree's texts */
    uint32_t line;              /* of its first sample; 0: not known */
    uint64_t self, total; /* samples in it alone, and in what it called; a recursion counts once */
    uint64_t last;        /* number of the last stack that counted */
};

struct strobe_sample_line {
    uint32_t function; /* index */
    uint32_t line;
    uint64_t self, total;
    uint64_t last;
};

/* An address that stacks have, with the samples at it. */
struct strobe_sample_place {
    uint32_t process;
    uint64_t address;
    uint64_t self, total; /* where it is the innermost one, and in all; a recursion counts once */
};

struct strobe_sample_tree {
    struct strobe_view *view;             /* borrowed */
    struct strobe_stack_symbols *symbols; /* borrowed: loaded here */
    /* NULL, or names of an address that no record names: as strobe_symbols_functions; 0: none. */
    uint32_t (*name)(void *context, uint32_t process, uint64_t address, char *room, size_t n_room);
    void *context;
    int is_off;
    uint64_t lo, hi;
    const uint8_t *threads; /* borrowed until the step's end: by index; NULL: all */
    uint32_t n_threads;
    const struct strobe_sample_span *spans; /* borrowed until the step's end; NULL: all */
    uint32_t n_spans;

    struct strobe_flame flame; /* set is_up; its locations are indices of functions + 1 */
    struct strobe_texts texts;
    struct strobe_idmap ids;                  /* (0, name): index in functions */
    struct strobe_sample_function *functions; /* owned */
    uint32_t functions_room;
    struct strobe_idmap line_ids;     /* (function, line): index in lines */
    struct strobe_sample_line *lines; /* owned */
    uint32_t lines_room;
    uint64_t n_samples;                /* is_off: waits */
    uint64_t weight;                   /* of all: samples, or ticks */
    struct strobe_sample_names *names; /* owned: functions by address, and stacks that wait */
    uint32_t next_block;
    int is_whole;
};

/* Look at blocks until they have so many events. NOMEM. */
enum strobe_err strobe_sample_tree_step(struct strobe_sample_tree *tree, uint64_t most_events);
/* How much of the range's blocks was looked at: 0 to 1. */
double strobe_sample_tree_share(const struct strobe_sample_tree *tree);
void strobe_sample_tree_free(struct strobe_sample_tree *tree);

/* The functions of a stack, the outermost first: indices + 1 in tree->functions. How many there are, at most `room`. For trees of names alone: set view,
 * symbols (loaded) and name. */
uint32_t strobe_sample_tree_path(struct strobe_sample_tree *tree, uint32_t process,
                                 const uint64_t *addresses, uint32_t n, uint32_t *path,
                                 uint32_t room);

/* The addresses that have a function (its index) among theirs; UINT32_MAX: all that were seen. How many; *out is to be freed. NULL and 0
 * without memory. */
uint32_t strobe_sample_tree_places(const struct strobe_sample_tree *tree, uint32_t function,
                                   struct strobe_sample_place **out);

/* ---- one sample ---- */

struct strobe_sample_found {
    uint64_t tick, cpu;
    uint32_t thread;
    uint64_t *addresses; /* owned by the caller: the innermost first */
    uint32_t n, room;
};

/* The sample of a thread (or of those that are one with it) that is nearest to a tick, within `slack`. 0: none; the last one before it
 * where two are as near. Zero-initialise `out`, free its addresses. */
int strobe_sample_find(struct strobe_view *view, uint32_t thread, uint64_t tick, uint64_t slack,
                       struct strobe_sample_found *out);

#endif
