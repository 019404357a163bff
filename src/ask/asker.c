/* asker.c - which question is whose, and the traces that questions name.  SPDX-License-Identifier: MIT */
#include "ask/asker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *ask;
    void (*answer)(struct strobe_asker *, const struct strobe_json *, struct strobe_reply *);
} answers[] = {{"query", strobe_ask_answer_query},
               {"explain", strobe_ask_answer_explain},
               {"compare", strobe_ask_answer_compare}};

/* The index of a question, -1: it is none of ours. */
static int find_answer(const struct strobe_json *question)
{
    uint32_t ask = strobe_json_member(question, 0, "ask");
    for (size_t i = 0; ask && i < sizeof answers / sizeof answers[0]; i++)
        if (strobe_json_is(question, ask, answers[i].ask))
            return (int)i;
    return -1;
}

int strobe_asker_knows(const struct strobe_json *question)
{
    return find_answer(question) >= 0;
}

void strobe_asker_answer(struct strobe_asker *asker, const struct strobe_json *question,
                         struct strobe_reply *reply)
{
    int i = find_answer(question);
    if (i < 0)
        strobe_reply_string(reply, "error", "there is no such question");
    else
        answers[i].answer(asker, question, reply);
}

void strobe_asker_rest(struct strobe_asker *asker)
{
    strobe_sql_close(asker->sql);
    asker->sql = NULL;
    free(asker->sql_paths);
    asker->sql_paths = NULL;
}

int strobe_ask_find(const struct strobe_asker *asker, const char *name,
                    char path[STROBE_ASKER_PATH_ROOM], struct strobe_reply *reply)
{
    if (!*name &&
        (size_t)snprintf(path, STROBE_ASKER_PATH_ROOM, "%s", asker->path) < STROBE_ASKER_PATH_ROOM)
        return 1;
    if (*name && asker->host && asker->host->find(asker->host->context, name, path))
        return 1;
    strobe_reply_string(reply, "error", "there is no such trace in the folder");
    strobe_reply_string(reply, "trace", name);
    return 0;
}

void strobe_ask_say_failed(const struct strobe_asker *asker, const char *path, enum strobe_err err,
                           struct strobe_reply *reply)
{
    char words[512];
    const char *slash = strrchr(path, '/');
    int is_stopped = atomic_load(&asker->stop);
    snprintf(words, sizeof words, "%.256s: %s", slash ? slash + 1 : path, strobe_err_text(err));
    strobe_reply_string(reply, "error", is_stopped ? "stopped" : words);
}
