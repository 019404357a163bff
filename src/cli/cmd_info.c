/* cmd_info.c - strobe info.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_info(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("info", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
