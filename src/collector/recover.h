/* recover.h - mending a trace: a new index and footer for a cut file, and what a dead recorder left
 * in its session's folder appended to it, every event once.  SPDX-License-Identifier: MIT */
#ifndef STROBE_COLLECTOR_RECOVER_H
#define STROBE_COLLECTOR_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "build/build.h"
#include "collector/collector.h"

struct strobe_recovery {
    bool was_closed;   /* the file had its footer already */
    bool has_died;     /* its recorder: it did not end the recording itself */
    bool is_new;       /* it was made for what the session left: what its recorder wrote is gone */
    bool had_session;  /* the session's folder was still there */
    uint64_t n_before; /* events in the file before */
    uint64_t n_added;  /* events from the session's folder */
    uint64_t n_lost;   /* losses found on the way */
    uint64_t n_holes, hole_bytes, tail_bytes;
    uint32_t n_procs_left; /* pools found */
};

/* Where sources other than pools (devices' streams) put what they find in the session's folder. */
struct strobe_recover_place {
    const char *dir; /* borrowed, like all here, for the call */
    struct strobe_file_writer *writer;
    struct strobe_collector *collector; /* for numbers of processes, and losses */
    strobe_build_ask *ask;              /* what the file has */
    void *ask_context;
};
typedef enum strobe_err strobe_recover_rest(const struct strobe_recover_place *place);

/* What is done with the trace when all is in it, before its footer is written. Its error is not the recovery's. */
typedef enum strobe_err strobe_recover_last(struct strobe_file_writer *writer);

/* Mend the trace at `path` in place. `session_dir` NULL: the one that the file's head names.
 * `progress` (may be NULL) is called now and then, `rest` and `last` (likewise) once. BUSY: its recorder is alive. */
enum strobe_err strobe_recover(const char *path, const char *session_dir,
                               void (*progress)(uint64_t done, uint64_t all),
                               strobe_recover_rest *rest, strobe_recover_last *last,
                               struct strobe_recovery *out);

/* The same into a new trace at `path`, of a session whose own trace is gone. */
enum strobe_err strobe_recover_session(const char *path, const char *session_dir,
                                       strobe_recover_rest *rest, strobe_recover_last *last,
                                       struct strobe_recovery *out);

#endif
