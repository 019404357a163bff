/* mcp_run.h - a command of ours as a child whose output is kept, within bounds.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_MCP_RUN_H
#define STROBE_CLI_MCP_RUN_H

#include "base/out.h"

enum {
    STROBE_MCP_MAX_BYTES = 1 << 20, /* of an answer; the rest is cut off, and that is said */
    STROBE_MCP_MAX_INPUT = 60000,   /* what a child reads fits into a pipe at once */
    STROBE_MCP_SECONDS = 60,
};

/* Run `strobe words…` (words[0] is "strobe", NULL at the end) with `input` (NULL: none) as its stdin; what it prints, errors
 * included, is added to `out`. Its exit code; -1: it could not be started, took too long or was ended, and `out` says so. */
int strobe_mcp_run_command(const char *const *words, const char *input, struct strobe_out *out);

#endif
