/* cmd_tracy_bridge.c - strobe tracy-bridge: shows a trace to a Tracy server.
 * SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/bridge.h"
#include "cli/cli.h"
#include "cli/input.h"

static const char help[] =
    "usage: strobe tracy-bridge [options] [FILE]\n"
    "\n"
    "Shows a trace to a Tracy server (viewer or capture) that connects, as if it were a traced\n"
    "program: at the protocol that the server asks for, on loopback only. FILE is a .strobe "
    "trace;\n"
    "without one, the newest in this folder. Ends when the server has all of it.\n"
    "\n"
    "  -p, --port N      listen there; default: 8086, or the next that is free\n"
    "  --follow          FILE is being recorded: show what is added, end with the recording\n"
    "  --wait S          give up when no server came after S seconds; default: wait for good\n"
    "  --protocol N      the protocol to announce; default: 82 (any from 55 on is spoken)\n"
    "  --no-broadcast    do not announce (TRACY_NO_BROADCAST=1 means the same)\n"
    "  --keep            go on after a server has left; until Ctrl-C\n"
    "\n"
    "examples:\n"
    "  strobe tracy-bridge run.strobe      # then start Tracy and click on the client it lists\n"
    "  strobe tracy-bridge -p 9000 run.strobe & tracy-capture -p 9000 -o run.tracy\n";

enum { FOLLOW = 256, WAIT, PROTOCOL, NO_BROADCAST, KEEP };

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

struct options {
    struct strobe_bridge_options bridge;
    int keep;
};

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"port", 1, NULL, 'p'},  {"follow", 0, NULL, FOLLOW},
        {"wait", 1, NULL, WAIT}, {"protocol", 1, NULL, PROTOCOL},
        {"keep", 0, NULL, KEEP}, {"no-broadcast", 0, NULL, NO_BROADCAST},
        {"help", 0, NULL, 'h'},  {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "hp:", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        } else if (c == 'p') {
            options->bridge.port = (uint16_t)atoi(optarg);
        } else if (c == FOLLOW) {
            options->bridge.follow = 1;
        } else if (c == WAIT) {
            options->bridge.wait_s = atoi(optarg);
        } else if (c == PROTOCOL) {
            options->bridge.protocol = (uint32_t)atoi(optarg);
        } else if (c == NO_BROADCAST) {
            options->bridge.announce = 0;
        } else if (c == KEEP) {
            options->keep = 1;
        } else {
            return STROBE_EXIT_USAGE;
        }
    }
    return -1;
}

/* One server. 1: go on with the next. */
static int serve(struct strobe_bridge *bridge, const struct options *options, int *code)
{
    struct strobe_bridge_session session;
    enum strobe_err err = strobe_bridge_serve(bridge, &session);
    if (err == STROBE_ERR_END) {
        if (!stopped && !options->bridge.follow)
            strobe_cli_error("tracy-bridge", "no Tracy server came");
        *code = options->bridge.follow || stopped ? STROBE_EXIT_OK : STROBE_EXIT_FAILED;
        return 0;
    }
    if (err == STROBE_ERR_VERSION || err == STROBE_ERR_INVALID) {
        strobe_cli_error("tracy-bridge", err == STROBE_ERR_VERSION
                                             ? "a server with an unknown protocol was sent away"
                                             : "something that is no Tracy server was sent away");
        return !stopped;
    }
    if (err) {
        strobe_cli_fail("tracy-bridge", options->bridge.path, err);
        *code = STROBE_EXIT_FAILED;
        return 0;
    }
    fprintf(stderr,
            "strobe tracy-bridge: %s %" PRIu64 " zones, %" PRIu64 " events, protocol %" PRIu32 "\n",
            session.is_complete ? "a server took" : "a server left after", session.n_zones,
            session.n_events, session.protocol);
    char room[STROBE_BRIDGE_LEFT_OUT_ROOM];
    if (*strobe_bridge_left_out(&session, room))
        fprintf(stderr, "strobe tracy-bridge: %s\n", room);
    *code = session.is_complete ? STROBE_EXIT_OK : STROBE_EXIT_FAILED;
    return (options->keep || (options->bridge.follow && !session.is_complete)) && !stopped;
}

int strobe_cli_tracy_bridge(int argc, char **argv)
{
    const char *quiet = getenv("TRACY_NO_BROADCAST");
    struct options options = {
        .bridge = {.announce = !(quiet && quiet[0] == '1'), .wait_s = -1, .stop = &stopped}};
    char room[STROBE_PATH_ROOM];
    struct strobe_bridge *bridge;
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    options.bridge.path = strobe_cli_find_trace("tracy-bridge", argc, argv, optind, room);
    if (!options.bridge.path)
        return STROBE_EXIT_FAILED;
    struct strobe_trace *trace =
        options.bridge.follow ? NULL
                              : strobe_cli_open_trace("tracy-bridge", options.bridge.path, 0);
    if (!options.bridge.follow && !trace)
        return STROBE_EXIT_FAILED;
    strobe_trace_close(trace);
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    enum strobe_err err = strobe_bridge_open(&options.bridge, &bridge);
    if (err) {
        strobe_cli_error("tracy-bridge", "can't listen on port %u: %s",
                         options.bridge.port ? options.bridge.port : 8086, strobe_err_text(err));
        return STROBE_EXIT_FAILED;
    }
    fprintf(stderr, "strobe tracy-bridge: waiting for a Tracy server on 127.0.0.1:%u\n",
            strobe_bridge_port(bridge));
    code = STROBE_EXIT_OK;
    while (serve(bridge, &options, &code))
        ;
    strobe_bridge_close(bridge);
    return code;
}
