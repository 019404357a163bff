/* recover.h - mending a trace: a new index and footer for a cut file, and what a dead recorder left
 * in its session's folder appended to it, every event once.  SPDX-License-Identifier: MIT */
#ifndef STROBE_COLLECTOR_RECOVER_H
#define STROBE_COLLECTOR_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_recovery {
    bool was_closed;   /* the file had its footer already */
    bool had_session;  /* the session's folder was still there */
    uint64_t n_before; /* events in the file before */
    uint64_t n_added;  /* events from the session's folder */
    uint64_t n_lost;   /* losses found on the way */
    uint64_t n_holes, hole_bytes, tail_bytes;
    uint32_t n_procs_left; /* pools found */
};

/* Mend the trace at `path` in place. `session_dir` NULL: the one that the file's head names.
 * `progress` (may be NULL) is called now and then. BUSY: its recorder is alive. */
enum strobe_err strobe_recover(const char *path, const char *session_dir,
                               void (*progress)(uint64_t done, uint64_t all),
                               struct strobe_recovery *out);

/* Whether a living recorder holds the session in that folder. */
bool strobe_session_is_held(const char *session_dir);

#endif
