/* prompt.h - a line of a terminal that can be edited: history by the arrows, words completed by Tab. Where stdin or stderr is no
 * terminal, lines are read as they come.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_PROMPT_H
#define STROBE_CLI_PROMPT_H

#include <stddef.h>

#include "base/out.h"

/* Zero-initialise, set the first two, close once. */
struct strobe_prompt {
    const char *const *words; /* borrowed: what Tab knows; ended by NULL */
    const char *history_path; /* borrowed: where the history is kept; NULL: nowhere */
    char **history;           /* owned: oldest first */
    size_t n_history, history_room;
    struct strobe_out line;
    size_t at; /* the cursor, in bytes */
    int has_history;
};

/* The next line, without its end, until the next call; `shown` stands before it, on stderr. NULL: there are no more, or Ctrl-D was
 * typed at an empty line. Ctrl-C gives an empty line, and *is_cancelled. */
const char *strobe_prompt_read(struct strobe_prompt *prompt, const char *shown, int *is_cancelled);

/* Remember a line, here and in the file. */
void strobe_prompt_remember(struct strobe_prompt *prompt, const char *line);

void strobe_prompt_close(struct strobe_prompt *prompt);

#endif
