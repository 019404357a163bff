/* path_rows.h - what a path has spent, kept until the zone is known that it was spent in.
 * Backwards, a zone is known when its begin is reached, or the end of one inside it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPLAIN_PATH_ROWS_H
#define STROBE_EXPLAIN_PATH_ROWS_H

#include "explain/path.h"

enum { STROBE_PATH_PENDING = 6 };

/* Of one thread, since its last edge of a zone (backwards). All zero: nothing. */
struct strobe_path_pending {
    struct {
        uint64_t ticks, held, lock;
        uint8_t class;
    } parts[STROBE_PATH_PENDING];
    uint32_t n_parts;
    uint64_t n_allocs;
};

void strobe_path_charge(struct strobe_path_pending *pending, enum strobe_path_class class,
                        uint64_t ticks, uint64_t lock, int is_held);

/* Put it into the rows of a zone. NOMEM. */
enum strobe_err strobe_path_settle(struct strobe_path *path, struct strobe_path_pending *pending,
                                   uint32_t process, uint32_t thread, uint32_t loc, uint64_t begin,
                                   struct strobe_index *index);

/* Note a stretch, backwards: it is one with the one behind it, where that goes on. Of more than STROBE_PATH_STRETCHES the short ones
 * are left out. NOMEM. */
enum strobe_err strobe_path_note(struct strobe_path *path,
                                 const struct strobe_path_stretch *stretch);

void strobe_path_sort(struct strobe_path *path);

#endif
