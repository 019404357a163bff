/* include.c - PerfettoSQL's INCLUDE PERFETTO MODULE, for statements that were written for it. Nothing is included: the views of the
 * modules below are always there (views.c).  SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sql/rewrite.h"

/* Past blanks and comments. */
static const char *skip_space(const char *at)
{
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (at[0] == '-' && at[1] == '-') {
            while (*at && *at != '\n')
                at++;
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            if (!end)
                return at;
            at = end + 2;
        } else {
            return at;
        }
    }
}

/* Past a word and what follows it; NULL: it is another. */
static const char *skip_word(const char *at, const char *word)
{
    size_t n = strlen(word);
    if (strncasecmp(at, word, n) || isalnum((unsigned char)at[n]) || at[n] == '_')
        return NULL;
    return skip_space(at + n);
}

static int is_module_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '*';
}

size_t strobe_sql_skip_include(const char *text, char *error, size_t room)
{
    static const char *const modules[] = {"slices.with_context", "sched.with_context"};
    const char *at = skip_word(skip_space(text), "include");
    if (at)
        at = skip_word(at, "perfetto");
    if (at)
        at = skip_word(at, "module");
    if (!at)
        return 0;
    const char *name = at;
    while (is_module_char(*at))
        at++;
    int n = (int)(at - name), is_known = 0;
    at = skip_space(at);
    if (!n || (*at && *at != ';'))
        return 0; /* SQLite says what is wrong with it */
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        is_known |= (int)strlen(modules[i]) == n && !strncmp(modules[i], name, (size_t)n);
    *error = 0;
    if (!is_known)
        snprintf(error, room,
                 "there is no module '%.*s': the views of slices.with_context and "
                 "sched.with_context are here, others are not",
                 n < 100 ? n : 100, name);
    return (size_t)(at - text) + (*at == ';');
}
