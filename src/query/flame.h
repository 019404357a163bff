/* flame.h - zones merged by the path of locations that leads to them: for flame graphs and call trees.
 * Made step by step, so that no question takes long: zero-initialise, set what is wanted, step until is_whole, add the
 * tables' rows; choose whenever there is something to show; free once.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_FLAME_H
#define STROBE_QUERY_FLAME_H

#include "query/pixels.h"
#include "query/view.h"

enum { STROBE_FLAME_MAX_NODES = 200000 };

struct strobe_flame_node {
    uint32_t parent; /* index + 1, 0: none */
    uint32_t loc;
    uint32_t depth;
    uint64_t count, total, self; /* ticks */
};

struct strobe_flame {
    struct strobe_view *view; /* borrowed */
    uint64_t lo, hi;          /* zones that begin in [lo, hi] */
    const uint8_t *threads;   /* borrowed until the step's end: by index; NULL: all */
    uint32_t n_threads;
    int is_up; /* paths from the zone to its outermost parent; times are self times */
    void *context;
    uint32_t (*number)(void *context, uint32_t process, uint64_t loc);
    uint32_t (*row_number)(void *context, uint64_t loc); /* of a table's row */

    struct strobe_flame_node *nodes; /* owned: parents before children */
    uint32_t n_nodes, nodes_room;
    struct strobe_index by_path; /* of nodes, by parent and location */
    uint32_t n_levels;           /* only so many are kept, as all have too many paths; 0: all */
    uint64_t n_left_out;         /* paths that were met and are not in the nodes */
    uint64_t total;              /* ticks of all roots, by strobe_flame_choose */

    struct strobe_open_list *open; /* owned: by thread, its zones that are open at the next block */
    uint32_t n_open, open_room;
    uint32_t next_block;            /* blocks before were looked at */
    struct strobe_flame_rows *rows; /* owned: of the table that is looked at; NULL: none */
    uint8_t is_begun;
    uint8_t is_whole; /* all blocks of the range were */
};

/* Zones of threads; those with several tracks are left out. Looks at blocks until they have so many events. */
enum strobe_err strobe_flame_step(struct strobe_flame *flame, uint64_t most_events);

/* How much of the range's blocks was looked at: 0 to 1. */
double strobe_flame_share(const struct strobe_flame *flame);

/* Begin with the zones of a table that nest: once it is whole, and once each. They stay where they are until flame->rows is NULL. */
enum strobe_err strobe_flame_start_rows(struct strobe_flame *flame,
                                        const struct strobe_rows_place *place);

/* Go on with them, at most *most rows, which are taken off it. flame->rows is NULL after the last. */
enum strobe_err strobe_flame_step_rows(struct strobe_flame *flame, uint64_t *most);

/* The `limit` paths with the most time, and those that lead to them: nodes, n_nodes, n_left_out, n_levels and total of *out, to
 * be freed too. */
enum strobe_err strobe_flame_choose(const struct strobe_flame *flame, uint32_t limit,
                                    struct strobe_flame *out);
/* Add what was seen `weight` times: the names of its path, the outermost first, at most 512 of them. All along the path have it in their
 * count and total, the innermost (`is_up`: the root, which is the innermost) in self. NOMEM. */
enum strobe_err strobe_flame_add_path(struct strobe_flame *flame, const uint32_t *locs, uint32_t n,
                                      uint64_t weight);
void strobe_flame_free(struct strobe_flame *flame);

#endif
