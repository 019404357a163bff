/* cmd_sessions.c - strobe sessions.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_sessions(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("sessions", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
