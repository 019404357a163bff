/* cmd_report.c - strobe report: the op report.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_report(int argc, char **argv)
{
    (void)argc, (void)argv;
    return STROBE_EXIT_FAILED;
}
