/* export_tracy.h - writes a trace as a .tracy file and tells what was folded.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_EXPORT_TRACY_H
#define STROBE_CLI_EXPORT_TRACY_H

#include "tracy_file/write.h"

/* Write it to `fd`, called `to`; what the format could not take is told on stderr. 0: it failed, and
 * the reason was told. */
int strobe_cli_write_tracy(const char *command, struct strobe_trace *trace, int fd, const char *to,
                           enum strobe_tracy_layout layout, struct strobe_tracy_folds *folds);

#endif
