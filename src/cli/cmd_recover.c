/* cmd_recover.c - strobe recover.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_recover(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("recover", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
