/* query_words.h - what the prompt of strobe query completes: words of SQL, tables, columns, views.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_QUERY_WORDS_H
#define STROBE_CLI_QUERY_WORDS_H

#include <stddef.h>

/* Zero-initialise; free once. */
struct strobe_query_words {
    char **words; /* owned: in order, each once, ended by NULL */
    size_t n, room;
};

/* The words; without memory fewer, or none. */
const char *const *strobe_query_words(struct strobe_query_words *words);
void strobe_query_words_free(struct strobe_query_words *words);

#endif
