#include "cli/cmd_report.h"
int strobe_cli_report_device_stats(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
int strobe_cli_report_compare(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
