/* cmd_report.h - what the files of strobe report share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_CMD_REPORT_H
#define STROBE_CLI_CMD_REPORT_H

#include "cli/cli.h"
#include "report/folders.h"

enum { STROBE_EXIT_FAULTS = 3 }; /* the report is made; --strict and there were faults */

/* Where tt-metal leaves its artifacts: the environment's folder, else the usual one. */
void strobe_cli_report_default_dir(char path[STROBE_REPORT_PATH]);

/* strobe report --device-stats: statistics of the device log. */
int strobe_cli_report_device_stats(int argc, char **argv);

/* strobe report --by-region: what ran inside named regions of a trace. */
int strobe_cli_report_regions(int argc, char **argv);

/* strobe report --device-streams: the device's files of a program that was killed. */
int strobe_cli_report_streams(int argc, char **argv);

/* strobe report --compare: are two reports equal? */
int strobe_cli_report_compare(int argc, char **argv);

#endif
