/* query_words.c - see query_words.h. Tables and columns come from the list that --tables prints.  SPDX-License-Identifier: MIT */
#include "cli/query_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sql/sql.h"

static const char *const fixed[] = {"SELECT",
                                    "FROM",
                                    "WHERE",
                                    "GROUP BY",
                                    "ORDER BY",
                                    "HAVING",
                                    "LIMIT",
                                    "OFFSET",
                                    "JOIN",
                                    "LEFT JOIN",
                                    "USING",
                                    "WITH",
                                    "MATERIALIZED",
                                    "RECURSIVE",
                                    "DISTINCT",
                                    "BETWEEN",
                                    "LIKE",
                                    "GLOB",
                                    "COALESCE",
                                    "COUNT",
                                    "SUM",
                                    "MIN",
                                    "MAX",
                                    "AVG",
                                    "CASE",
                                    "WHEN",
                                    "THEN",
                                    "ELSE",
                                    "END",
                                    "CAST",
                                    "OVER",
                                    "PARTITION BY",
                                    "UNION ALL",
                                    "DESC",
                                    "EXTRACT_ARG",
                                    "INCLUDE PERFETTO MODULE",
                                    ".tables",
                                    "slice",
                                    "thread_slice",
                                    "process_slice",
                                    "thread_or_process_slice",
                                    "thread_track",
                                    "process_track",
                                    "args",
                                    "instant",
                                    "counters",
                                    "sched_slice",
                                    "sched_with_thread_process",
                                    "thread_state",
                                    "slowest",
                                    "hottest",
                                    "open_zone",
                                    "leak"};

static void add(struct strobe_query_words *words, const char *text, size_t n)
{
    char *word = n ? strndup(text, n) : NULL;
    char **place = word ? STROBE_ARRAY_PUSH(words->words, words->n, words->room) : NULL;
    if (place)
        *place = word;
    else
        free(word);
}

/* The first word of each "name type". */
static void add_columns(struct strobe_query_words *words, const char *columns)
{
    while (*columns) {
        columns += strspn(columns, " ,");
        size_t n = strcspn(columns, " ,");
        add(words, columns, n);
        columns += strcspn(columns, ",");
    }
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *const *strobe_query_words(struct strobe_query_words *words)
{
    static const char *const none[] = {NULL};
    const char *name, *columns, *help;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(words, fixed[i], strlen(fixed[i]));
    for (unsigned i = 0; (name = strobe_sql_table(i, &columns, &help)); i++) {
        add(words, name, strlen(name));
        add_columns(words, columns);
    }
    if (!words->n)
        return none;
    qsort(words->words, words->n, sizeof *words->words, compare);
    size_t n = 1;
    for (size_t i = 1; i < words->n; i++) {
        if (strcmp(words->words[i], words->words[n - 1]))
            words->words[n++] = words->words[i];
        else
            free(words->words[i]);
    }
    words->n = n;
    if (STROBE_ARRAY_RESERVE(words->words, words->room, n + 1))
        return none;
    words->words[n] = NULL;
    return (const char *const *)words->words;
}

void strobe_query_words_free(struct strobe_query_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->words[i]);
    free(words->words);
}
