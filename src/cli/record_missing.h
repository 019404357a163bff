/* record_missing.h - processes of the command that could not join the session.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_MISSING_H
#define STROBE_CLI_RECORD_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"

enum { STROBE_MISSING_MAX = 256 };

struct strobe_missing {
    int fd;                     /* owned: where processes call, -1: nowhere */
    char name[64];              /* of that socket, for STROBE_CALL */
    const char *dir;            /* borrowed: the session's folder */
    char root[STROBE_PATH_MAX]; /* the folder above it, of all sessions */
    uint64_t next_ns;           /* before then /proc is not looked at */
    uint64_t look_anyway_ns;    /* nor before then, while no process is new */
    uint32_t newest_pid;
    uint32_t told[STROBE_MISSING_MAX]; /* pids, as /proc has them */
    uint32_t n_told;
    uint32_t n_all;
};

/* Open the socket and set the environment of the command: STROBE_CALL, and STROBE_DIR as the recorder sees it. 0 or errno. */
int strobe_cli_missing_open(struct strobe_missing *missing, const char *session_dir);

/* Read what was called, and look at the descendants if it is time to (`look`): each process that can't join becomes an UNRECORDED
 * fact and a line on stderr, once. */
void strobe_cli_missing_look(struct strobe_missing *missing, struct strobe_collector *collector,
                             bool look);

void strobe_cli_missing_close(struct strobe_missing *missing);

#endif
