/* cmd_stats.c - strobe stats.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_stats(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("stats", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
