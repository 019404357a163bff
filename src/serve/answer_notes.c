/* answer_notes.c - the notes that people made on the trace, kept beside its file.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/notes.h"
#include "serve/answers.h"

enum { STATE_BYTES = 24 };

/* 1: the text is a JSON array. */
static int is_list(const char *text, size_t n_bytes)
{
    struct strobe_json json = {0};
    int is =
        strobe_json_parse(&json, text, n_bytes) && strobe_json_is_array(&json, STROBE_JSON_WHOLE);
    strobe_json_free(&json);
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

static void put_state(char state[STATE_BYTES], const char *text)
{
    snprintf(state, STATE_BYTES, "%" PRIx64, strobe_notes_state(text));
}

/* 1: `over` is missing, or names the state in which the notes are. Between two questions of one page
 * another one may have set them: what a page has not seen it must not overwrite. */
static int is_state(const struct strobe_json *question, const char *text)
{
    char state[STATE_BYTES];
    uint32_t over = strobe_json_member(question, 0, "over");
    put_state(state, text);
    return !over || strobe_json_is(question, over, state);
}

void strobe_serve_answer_notes(struct strobe_served *served, const struct strobe_json *question,
                               struct strobe_reply *reply)
{
    uint32_t set = strobe_json_member(question, 0, "set");
    char *text = NULL, state[STATE_BYTES];
    enum strobe_err err = strobe_notes_read(served->path, &text);
    int is_kept = !err && set && is_state(question, text);
    if (is_kept && !(err = keep(served, question, set))) {
        free(text);
        served->has_new_notes = true;
        err = strobe_notes_read(served->path, &text);
    }
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
    } else {
        strobe_reply_string(reply, "notes", text ? text : "[]");
        put_state(state, text);
        strobe_reply_string(reply, "state", state);
        strobe_reply_bool(reply, "kept", is_kept);
    }
    free(text);
}
