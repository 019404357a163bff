/* session.h - where sessions live: folders of the user's own, safe against other users' tricks.
 * Used by the traced process too: never allocates, never prints.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_SESSION_H
#define STROBE_RING_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/ring_layout.h"

enum { STROBE_PATH_MAX = 512 };
#define STROBE_DEFAULT_SESSION "default"
#define STROBE_DEFAULT_POOL    (16u << 20)

/* The folder that holds all sessions: $STROBE_DIR, else $XDG_RUNTIME_DIR/strobe where that is a folder one may
 * write to, else /dev/shm/strobe-UID, else /tmp/strobe-UID. Only the path; nothing is made. */
enum strobe_err strobe_session_root(char out[STROBE_PATH_MAX]);

/* The folder of session `name`, made (0700) where `create` says so. ACCESS where it or its parent
 * is not a folder of this user's own; its path is in `out` then too. */
enum strobe_err strobe_session_dir(const char *name, bool create, char out[STROBE_PATH_MAX]);

/* Open a file of this user's own below `dir`, following no link. The descriptor, or -1 with errno.
 */
int strobe_session_open(const char *dir, const char *file, int flags);

/* Start time of a process in clock ticks since boot (field 22 of its stat), 0 where there is none.
 * `pid`: as /proc here has it; 0: the caller itself, whatever /proc calls it. */
uint64_t strobe_session_start_time(int pid);

/* The caller's own start time; where there is no /proc, a number of this image's own from STROBE_START_OWN on. */
uint64_t strobe_session_own_start(void);

/* The clock that processes of this machine use: enum strobe_clock_kind. STROBE_CLOCK=mono forces the one. */
uint32_t strobe_session_clock(void);

/* State of a process as its stat has it: 'R', 'S', 'T' ...; 0 where there is none. */
char strobe_session_process_state(int pid);

/* Bytes of a process's file, and where its parts are. */
uint64_t strobe_ring_data_off(uint32_t n_chunks_max);
uint64_t strobe_ring_file_bytes(uint32_t n_chunks_max);

#endif
