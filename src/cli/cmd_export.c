/* cmd_export.c - strobe export.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_export(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("export", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
