/* missing.h - processes of the command that could not join the session.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_MISSING_H
#define STROBE_RECORDER_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"

struct strobe_recorder;

enum { STROBE_MISSING_MAX = 256 };

struct strobe_missing {
    int fd;                                 /* owned: where processes call, -1: nowhere */
    char name[64];                          /* of that socket, for STROBE_CALL */
    const struct strobe_recorder *recorder; /* borrowed: who says it */
    const char *dir;                        /* borrowed: the session's folder */
    char root[STROBE_PATH_MAX];             /* the folder above it, of all sessions */
    uint64_t next_ns;                       /* before then /proc is not looked at */
    uint64_t look_anyway_ns;                /* nor before then, while no process is new */
    uint64_t newest;                        /* strobe_recorder_newest at the last look */
    uint32_t told[STROBE_MISSING_MAX];      /* pids, as /proc has them */
    uint32_t n_told;
    uint32_t n_all;
};

/* Open the socket and set the environment of the command: STROBE_CALL, and STROBE_DIR as the recorder sees it. 0 or errno.
 * `session_dir` is borrowed until it is closed. */
int strobe_recorder_missing_open(struct strobe_missing *missing,
                                 const struct strobe_recorder *recorder, const char *session_dir);

/* The command was started as `pid`: say whether its file runs with rights of its own, which keep it out; and if `preloaded` (what the
 * preloaded library records) is not NULL, whether nothing can be preloaded into it, or its hooks are its own. True: one of these was said. */
bool strobe_recorder_missing_command(struct strobe_missing *missing,
                                     struct strobe_collector *collector, const char *name,
                                     uint32_t pid, const char *preloaded);

/* Read what was called, and look at the descendants if it is time to (`look`): each process that can't join becomes an UNRECORDED
 * fact and is said, once. */
void strobe_recorder_missing_look(struct strobe_missing *missing,
                                  struct strobe_collector *collector, bool look);

/* Nothing happens where it is not open (fd -1). */
void strobe_recorder_missing_close(struct strobe_missing *missing);

#endif
