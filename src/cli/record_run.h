/* record_run.h - one recording, from the session's folder to the last lines.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_RUN_H
#define STROBE_CLI_RECORD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/ring_layout.h"
#include "ring/session.h"
#include "tracy/host.h"

struct strobe_record_options {
    char path[1024]; /* absolute */
    char **command;  /* NULL: attach */
    uint32_t pid;
    const char *session;
    const char
        *python; /* what interpreters trace: functions, lines, off; NULL: as the environment says */
    bool serve;  /* a program started us for itself: stay until its session is empty */
    bool quiet;
    bool live;    /* show it in the viewer while it is made */
    int ready_fd; /* a byte goes there when all is ready, -1: nobody waits */
    uint64_t for_ns;
    uint64_t pool_bytes, max_file_bytes;
    uint32_t policy;
    uint64_t flight_ns, after_ns;
    char trigger_zone[128];
    uint64_t trigger_ns;
    bool no_tracy;
    int bridge_port;       /* 0: any of the usual ones, -1: no bridge */
    const char *tracy[64]; /* borrowed: n_tracy clients to be asked, HOST:PORT */
    uint32_t n_tracy;
    enum strobe_tracy_announced tracy_announced;
    uint16_t tracy_announce_port; /* 0: Tracy's own */
};

/* Record. The exit code. */
int strobe_cli_record_run(const struct strobe_record_options *options);

#endif
