/* cmd_record.c - strobe record.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_record(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("record", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
