/* chosen.h - functions that the user asked for by `strobe record --zone`. Also runs in traced programs: nothing is allocated.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_CHOSEN_H
#define STROBE_SAMPLE_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a function is wanted by the patterns, a line each: "FUNCTION", "FILE:FUNCTION", with ! before it: not. `module` is a file's
 * path, `name` as in the file. Without one that asks for something, everything is wanted. */
bool strobe_chosen_function(const char *patterns, const char *module, const char *name);

/* Whether a pattern names this file before its colon. */
bool strobe_chosen_file(const char *patterns, const char *module);
/* Whether a mark "PROVIDER:NAME" is wanted: by "FILE:PROVIDER:NAME" alone. */
bool strobe_chosen_mark(const char *patterns, const char *module, const char *mark);

/* "_ZN5scope4nameEi" as "scope::name"; a template, an operator or whatever else it does not know ends it. Its bytes; 0: it is no such
 * name. */
size_t strobe_chosen_scopes(const char *symbol, char *out, size_t room);

#endif
