/* record_bridge.c - see the header.  SPDX-License-Identifier: MIT */
#include "cli/record_bridge.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge/bridge.h"
#include "cli/cli.h"

enum { NO_EXIT_S = 30 }; /* TRACY_NO_EXIT=1: so long a viewer is waited for, and never for good */

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

int strobe_cli_bridge_port(const char *value)
{
    char *end;
    if (!value)
        return 0;
    long port = strtol(value, &end, 10);
    return *end || end == value || port < 1 || port > 65535 ? -2 : (int)port;
}

/* 1: the usual ports; any other number: that one. */
int strobe_cli_bridge_port_of_environment(void)
{
    const char *value = getenv("STROBE_TRACY_BRIDGE");
    if (!value || !*value || !strcmp(value, "0"))
        return -1;
    return strcmp(value, "1") ? strobe_cli_bridge_port(value) : 0;
}

static int is_set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] == '1';
}

/* In the child: shows the trace until it is closed and whoever is connected has it. */
static int serve(const char *path, int port, bool quiet)
{
    struct strobe_bridge_options options = {
        .path = path,
        .port = (uint16_t)port,
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
    if (err) {
        strobe_cli_error("record", "no bridge for Tracy: port %d: %s", port ? port : 8086,
                         strobe_err_text(err));
        return STROBE_EXIT_FAILED;
    }
    if (!quiet)
        fprintf(stderr, "strobe record: a Tracy server may connect to 127.0.0.1:%u\n",
                strobe_bridge_port(bridge));
    do
        err = strobe_bridge_serve(bridge, &session);
    while (!stopped && err != STROBE_ERR_END && !session.is_complete);
    strobe_bridge_close(bridge);
    return STROBE_EXIT_OK;
}

pid_t strobe_cli_bridge_start(const char *path, int port, bool quiet)
{
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        _exit(serve(path, port, quiet));
    if (pid < 0)
        strobe_cli_error("record", "no bridge for Tracy: %s", strerror(errno));
    return pid;
}

void strobe_cli_bridge_end(pid_t bridge)
{
    int status;
    while (bridge > 0 && waitpid(bridge, &status, 0) < 0 && errno == EINTR)
        ;
}
