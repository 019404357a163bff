/* out.h - how a command ends its output.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_OUT_H
#define STROBE_CLI_OUT_H

#include <stdio.h>

#include "base/out.h"

/* strobe_out_end, as an exit code: a broken pipe fails in silence, other errors are told. */
int strobe_out_close(struct strobe_out *out, const char *command);

/* A name to a stream, as strobe_out_terminal has it. */
void strobe_cli_put_name(FILE *stream, const char *name, size_t n);

/* The end of a list of rows: JSON's brackets, or how many rows were left out. 0: nothing follows, the rows are for machines. */
int strobe_cli_end_rows(struct strobe_out *out, int json, int csv, uint64_t n_left);

#endif
