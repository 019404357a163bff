/* cmd_csv.c - strobe csv.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_csv(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("csv", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
