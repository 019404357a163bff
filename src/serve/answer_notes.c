/* answer_notes.c - the notes that people made on the trace, kept beside its file.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/notes.h"
#include "serve/answers.h"

/* 1: the text is a JSON array. */
static int is_list(const char *text, size_t n_bytes)
{
    struct strobe_json *json = malloc(sizeof *json);
    int is =
        json && strobe_json_parse(json, text, n_bytes) && json->values[0].type == STROBE_JSON_ARRAY;
    free(json);
    return is;
}

static enum strobe_err keep(struct strobe_served *served, const struct strobe_json *question,
                            uint32_t set)
{
    char *text = malloc(STROBE_NOTES_MAX_BYTES + 1);
    if (!text)
        return STROBE_ERR_NOMEM;
    size_t n = strobe_json_text(question, set, text, STROBE_NOTES_MAX_BYTES + 1);
    enum strobe_err err =
        is_list(text, n) ? strobe_notes_write(served->path, text, n) : STROBE_ERR_FORMAT;
    free(text);
    return err;
}

/* 1: `over` is missing, or names the state in which the notes are. Between two questions of one page
 * another one may have set them: what a page has not seen it must not overwrite. */
static int is_state(const struct strobe_json *question, const char *text)
{
    char state[24];
    uint32_t over = strobe_json_member(question, 0, "over");
    snprintf(state, sizeof state, "%" PRIx64, strobe_notes_state(text));
    return !over || strobe_json_is(question, over, state);
}

void strobe_answer_notes(struct strobe_served *served, const struct strobe_json *question,
                         struct strobe_reply *reply)
{
    uint32_t set = strobe_json_member(question, 0, "set");
    char *text = NULL;
    enum strobe_err err = strobe_notes_read(served->path, &text);
    int is_kept = !err && set && is_state(question, text);
    if (is_kept && !(err = keep(served, question, set))) {
        free(text);
        err = strobe_notes_read(served->path, &text);
    }
    if (err) {
        strobe_answer_error(reply, strobe_err_text(err));
    } else {
        strobe_reply_string(reply, "notes", text ? text : "[]");
        strobe_reply_key(reply, "state");
        strobe_reply_printf(reply, "\"%" PRIx64 "\"", strobe_notes_state(text));
        strobe_reply_bool(reply, "kept", is_kept);
    }
    free(text);
}
