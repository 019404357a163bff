/* bridge_side.c - see the header.  SPDX-License-Identifier: MIT */
#include "recorder/bridge_side.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge/bridge.h"
#include "recorder/internal.h"

enum { NO_EXIT_S = 30 }; /* TRACY_NO_EXIT=1: so long a viewer is waited for, and never for good */

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static int is_set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] == '1';
}

/* What a server did not get. */
static void say_how_it_went(const struct strobe_recorder *r, enum strobe_err err,
                            const struct strobe_bridge_session *session)
{
    char room[STROBE_BRIDGE_LEFT_OUT_ROOM];
    struct strobe_recorder_word word = {.event = STROBE_RECORDER_BRIDGE_LEFT_OUT, .err = err};
    if (err == STROBE_ERR_END)
        return;
    word.text = strobe_bridge_left_out(session, room);
    if (!err && !session->is_complete)
        word.text = "it left before the end";
    if (err || *word.text)
        strobe_recorder_say(r, word);
}

/* In the child: shows the trace until it is closed and whoever is connected has it. The exit code. */
static int serve(const struct strobe_recorder *r)
{
    struct strobe_bridge_options options = {
        .path = r->options.path,
        .port = (uint16_t)r->options.bridge_port,
        .follow = 1,
        .announce = !is_set("TRACY_NO_BROADCAST"),
        .wait_s = is_set("TRACY_NO_EXIT") ? NO_EXIT_S : 0,
        .stop = &stopped,
    };
    struct strobe_bridge *bridge;
    struct strobe_bridge_session session;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, end = {.sa_handler = stop};
    sigaction(SIGINT, &ignore, NULL); /* the recorder ends, and with it the file */
    sigaction(SIGTERM, &end, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_NAME, "strobe-bridge");
    enum strobe_err err = strobe_bridge_open(&options, &bridge);
    struct strobe_recorder_word word = {
        .event = err ? STROBE_RECORDER_NO_BRIDGE : STROBE_RECORDER_BRIDGE_LISTENS,
        .number = err ? r->options.bridge_port : strobe_bridge_port(bridge),
        .err = err,
    };
    strobe_recorder_say(r, word);
    if (err)
        return EXIT_FAILURE;
    do {
        err = strobe_bridge_serve(bridge, &session);
        say_how_it_went(r, err, &session);
    } while (!stopped && err != STROBE_ERR_END && !session.is_complete);
    strobe_bridge_close(bridge);
    return EXIT_SUCCESS;
}

pid_t strobe_recorder_bridge_start(const struct strobe_recorder *r)
{
    STROBE_ASSERT(r->options.bridge_port >= 0 && r->options.bridge_port <= UINT16_MAX);
    STROBE_ASSERT(!r->threads_run); /* a fork would leave their locks behind */
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        _exit(serve(r));
    if (pid < 0)
        strobe_recorder_say(r, (struct strobe_recorder_word){
                                   .event = STROBE_RECORDER_BRIDGE_NOT_MADE, .number = errno});
    return pid;
}

void strobe_recorder_bridge_end(pid_t bridge)
{
    int status;
    while (bridge > 0 && waitpid(bridge, &status, 0) < 0 && errno == EINTR)
        ;
}
