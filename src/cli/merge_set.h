/* merge_set.h - traces that become one: those that were named, those of a folder, the ranks of a job.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_MERGE_SET_H
#define STROBE_CLI_MERGE_SET_H

#include "query/merge.h"

/* The name of a job's merged trace beside its ranks; a folder's traces are merged without it. */
#define STROBE_MERGE_RANKS "ranks.strobe"

/* All zero: none. */
struct strobe_merge_set {
    char **paths; /* owned, and each of them */
    char **names; /* owned, and each of them: what it is called; NULL: by its path */
    struct strobe_trace **traces; /* owned: open while they are merged */
    uint32_t n, paths_room, names_room, traces_room;
    uint32_t n_again; /* files that were named once more: each is in it once */
};

/* Add a file, or all traces of a folder, by name. 0: a folder without one, or no memory. */
int strobe_merge_set_add(struct strobe_merge_set *set, const char *path);

/* Add a trace that was made of the file `name` for this alone: strobe_merge_set_free removes it. 0: no memory. */
int strobe_merge_set_add_made(struct strobe_merge_set *set, const char *path, const char *name);

/* Open and merge them. *failed: the index of one that can't be read, set->n: none; else as strobe_merge_write. */
enum strobe_err strobe_merge_set_write(struct strobe_merge_set *set, const char *out,
                                       struct strobe_merge_result *result, uint32_t *failed);
void strobe_merge_set_free(struct strobe_merge_set *set);

/* The ranks of a folder as its STROBE_MERGE_RANKS, made anew where one of them is younger. 1: it is there; 0: the folder has
 * fewer than two ranks (rank-….strobe), or they are no one trace. */
int strobe_merge_set_ranks(const char *folder);

#endif
