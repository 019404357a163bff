/* cmd_doctor.c - strobe doctor.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

int strobe_cli_doctor(int argc, char **argv)
{
    (void)argc, (void)argv;
    strobe_cli_error("doctor", "comes with a later commit");
    return STROBE_EXIT_FAILED;
}
