/* chosen_run.h - what the commands share that print rows of a chosen part of one trace: memory, locks.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_CHOSEN_RUN_H
#define STROBE_CLI_CHOSEN_RUN_H

#include "cli/choice.h"
#include "query/heap_rows.h"
#include "query/symbols.h"

/* How many rows are wanted. */
struct strobe_cli_top {
    uint64_t n;
    int is_set; /* by --top */
};

/* Read --top. 0: it is no number, and that was printed. */
int strobe_cli_top_set(const char *command, const char *text, struct strobe_cli_top *top);

/* So many of `n` rows: all of them for programs, where nothing else was said. */
uint64_t strobe_cli_top_of(const struct strobe_cli_top *top, int for_programs, uint64_t n);

/* Open the trace that the command line names (optind), choose, run; the exit code. */
typedef int strobe_cli_chosen_work(const void *settings, struct strobe_trace *trace,
                                   const char *path, const struct strobe_cli_chosen *chosen);
int strobe_cli_chosen_run(const char *command, int argc, char **argv,
                          const struct strobe_cli_choice *choice, strobe_cli_chosen_work *work,
                          const void *settings);

/* Names of addresses for rows with stacks; the symbols must outlive them. */
struct strobe_heap_names strobe_cli_stack_names(struct strobe_symbols *symbols);

#endif
