/* recording_session.h - the session as its recorder holds it: folder, page, lock.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_COLLECTOR_RECORDING_SESSION_H
#define STROBE_COLLECTOR_RECORDING_SESSION_H

#include <stdint.h>

#include "base/err.h"
#include "ring/map_guard.h"
#include "ring/session.h"

struct strobe_recording_session {
    char name[64];
    char dir[STROBE_PATH_MAX];
    struct strobe_session_page *page; /* shared mapping */
    struct strobe_map_guard guard; /* of the page: the struct stays where it is while it is held */
    int fd;                        /* holds the lock: closing it tells that the recorder is gone */
};

/* Make or take over the session `name`; processes that join from now on record at once when
 * `recording`. BUSY: another recorder holds it. */
enum strobe_err strobe_recording_session_begin(const char *name, const char *trace_path,
                                               uint64_t pool_bytes, uint64_t cap_bytes,
                                               uint32_t policy, uint32_t stack_depth,
                                               struct strobe_recording_session *out);

/* No process starts recording any more. */
void strobe_recording_session_end(struct strobe_recording_session *session);

/* Let go of it, and remove the folder when nothing is left in it. */
void strobe_recording_session_release(struct strobe_recording_session *session);

#endif
