/* save.h - a stretch of a trace as a trace of its own.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_SAVE_H
#define STROBE_QUERY_SAVE_H

#include "query/view.h"

/* Write all records and those blocks of events that overlap [lo, hi] to a new file. STROBE_ERR_BUSY: there is one of that
 * name. What was begun is removed on failure. */
enum strobe_err strobe_save_range(struct strobe_view *view, uint64_t lo, uint64_t hi,
                                  const char *path, uint64_t *n_bytes);

#endif
