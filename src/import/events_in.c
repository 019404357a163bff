/* events_in.c - cuts a file of JSON into its events without building anything of it. An event that is plain JSON and lies in one piece of the file is
 * read where it is (json_scan.h); any other is copied, by its brackets, and then looked at.
 *
 *   START ──'['──► ARRAY ──']' or the file's end──► over
 *     └────'{'──► OBJECT ◄──']'── EVENTS      OBJECT ──'}'──► over
 *                    └──"traceEvents": '['──────►┘
 *
 * SPDX-License-Identifier: MIT */
#include "import/events_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/bytes_in.h"
#include "import/json_scan.h"

enum { KEY_BYTES = 64, NO_BYTE = -1 };
enum form { START, ARRAY, OBJECT, EVENTS, OVER };

struct strobe_events_in {
    struct strobe_bytes_in *source; /* owned */
    const uint8_t *at;              /* the next byte of the piece */
    const uint8_t *end;
    const uint8_t *base;
    uint64_t n_passed; /* bytes before base */
    enum strobe_err err;
    int has_events; /* the object has the member */
    enum form form;
    char *text; /* owned: the event */
    size_t n_text, room;
    int is_kept, is_too_long;
    uint64_t n_skipped;
    uint64_t base_ns; /* baseTimeNanoseconds */
};

/* ---- bytes ---- */

static int refill(struct strobe_events_in *in)
{
    const uint8_t *piece;
    size_t n;
    enum strobe_err err = in->err ? in->err : strobe_bytes_in_piece(in->source, &piece, &n);
    if (err) {
        in->err = err == STROBE_ERR_END ? STROBE_OK : err;
        return 0;
    }
    in->n_passed += (uint64_t)(in->end - in->base);
    in->at = in->base = piece;
    in->end = piece + n;
    return 1;
}

static int peek(struct strobe_events_in *in)
{
    return in->at < in->end || refill(in) ? *in->at : NO_BYTE;
}

static void keep(struct strobe_events_in *in, const uint8_t *from, const uint8_t *to)
{
    size_t n = (size_t)(to - from);
    if (!in->is_kept || in->is_too_long)
        return;
    if (STROBE_ARRAY_RESERVE_MAX(in->text, in->room, in->n_text + n, STROBE_EVENT_MAX_BYTES)) {
        in->is_too_long = 1;
        return;
    }
    memcpy(in->text + in->n_text, from, n);
    in->n_text += n;
}

static int get(struct strobe_events_in *in)
{
    int c = peek(in);
    if (c == NO_BYTE)
        return c;
    keep(in, in->at, in->at + 1);
    in->at++;
    return c;
}

static int skip_space(struct strobe_events_in *in)
{
    int c;
    while ((c = peek(in)) == ' ' || c == '\t' || c == '\n' || c == '\r')
        in->at++;
    return c;
}

/* ---- values ---- */

/* The rest of a string whose first quote was taken. 0: it has no end. */
static int pass_string(struct strobe_events_in *in)
{
    int is_escaped = 0;
    while (peek(in) != NO_BYTE) {
        const uint8_t *from = in->at, *at = from;
        for (; at < in->end; at++) {
            if (is_escaped)
                is_escaped = 0;
            else if (*at == '\\')
                is_escaped = 1;
            else if (*at == '"')
                break;
        }
        int is_end = at < in->end;
        in->at = at + is_end;
        keep(in, from, in->at);
        if (is_end)
            return 1;
    }
    return 0;
}

/* An array or an object, by its brackets: a run of bytes at a time, up to a string or the last bracket. */
static int pass_nested(struct strobe_events_in *in)
{
    uint64_t depth = 0;
    while (peek(in) != NO_BYTE) {
        const uint8_t *from = in->at, *at = from;
        uint8_t c = 0;
        while (at < in->end && c != '"') {
            c = *at++;
            depth += c == '{' || c == '[';
            if ((c == '}' || c == ']') && !--depth)
                break;
        }
        in->at = at;
        keep(in, from, at);
        if (c == '"' ? !pass_string(in) : !depth)
            return c != '"';
    }
    return 0;
}

static int pass_word(struct strobe_events_in *in)
{
    int c, n = 0;
    while ((c = peek(in)) != NO_BYTE && !strchr(",]} \t\r\n", c)) {
        get(in);
        n++;
    }
    return n > 0;
}

static int pass_value(struct strobe_events_in *in)
{
    int c = skip_space(in);
    if (c == '{' || c == '[')
        return pass_nested(in);
    if (c != '"')
        return pass_word(in);
    get(in);
    return pass_string(in);
}

/* ---- the two forms ---- */

static enum strobe_err begin(struct strobe_events_in *in)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf}; /* of UTF-8 */
    for (size_t i = 0; i < sizeof mark && peek(in) == mark[i]; i++)
        in->at++;
    int c = skip_space(in);
    if (c != '[' && c != '{')
        return in->err ? in->err : STROBE_ERR_FORMAT;
    in->at++;
    in->form = c == '[' ? ARRAY : OBJECT;
    return STROBE_OK;
}

/* A member's value, if it is a whole number; 0: another one. The value is passed either way. */
static int pass_number(struct strobe_events_in *in, uint64_t *out)
{
    uint64_t number = 0;
    in->is_kept = 1;
    in->n_text = 0;
    int ok = pass_value(in);
    in->is_kept = 0;
    for (size_t i = 0; i < in->n_text && number != UINT64_MAX; i++)
        number = in->text[i] < '0' || in->text[i] > '9' || number > UINT64_MAX / 16
                     ? UINT64_MAX
                     : number * 10 + (uint64_t)(in->text[i] - '0');
    *out = number == UINT64_MAX ? 0 : number;
    return ok;
}

/* A member of the object: step over it, or into the events. */
static enum strobe_err pass_member(struct strobe_events_in *in)
{
    char key[KEY_BYTES] = "";
    in->is_kept = 1;
    in->n_text = 0;
    in->is_too_long = 0;
    int ok = get(in) == '"' && pass_string(in);
    in->is_kept = 0;
    if (!ok || skip_space(in) != ':')
        return STROBE_ERR_CORRUPT;
    in->at++;
    if (in->n_text < sizeof key)
        memcpy(key, in->text, in->n_text);
    if (!strcmp(key, "\"traceEvents\"") && skip_space(in) == '[') {
        in->at++;
        in->form = EVENTS;
        in->has_events = 1;
        return STROBE_OK;
    }
    if (!strcmp(key, "\"baseTimeNanoseconds\""))
        return pass_number(in, &in->base_ns) ? STROBE_OK : STROBE_ERR_CORRUPT;
    return pass_value(in) ? STROBE_OK : STROBE_ERR_CORRUPT;
}

/* An event that can be read where it is. 0: it can't. */
static int scan_event(struct strobe_events_in *in, struct strobe_event_in *event)
{
    const char *at = (const char *)in->at;
    const char *after =
        strobe_json_scan(at, (const char *)in->end, event->fields, &event->n_fields);
    if (!after || after - at > STROBE_EVENT_MAX_BYTES)
        return 0;
    event->text = (struct strobe_json_text){at, (size_t)(after - at)};
    in->at = (const uint8_t *)after;
    return 1;
}

/* One element of the array. OK with no text: it was no event. */
static enum strobe_err take_event(struct strobe_events_in *in, struct strobe_event_in *event)
{
    if (scan_event(in, event))
        return STROBE_OK;
    in->is_kept = peek(in) == '{';
    in->n_text = 0;
    in->is_too_long = 0;
    int ok = pass_value(in);
    if (!in->is_kept || in->is_too_long) {
        in->n_skipped += ok;
        in->n_text = 0;
    }
    in->is_kept = 0;
    event->text = (struct strobe_json_text){in->text, in->n_text};
    if (ok && in->n_text)
        event->n_fields = strobe_json_fields(event->text, event->fields);
    return ok ? STROBE_OK : STROBE_ERR_CORRUPT;
}

static enum strobe_err end_of_file(struct strobe_events_in *in)
{
    int may_end = in->form == ARRAY && !in->err;
    in->form = OVER;
    return may_end ? STROBE_ERR_END : in->err == STROBE_ERR_BOMB ? in->err : STROBE_ERR_CORRUPT;
}

enum strobe_err strobe_events_in_next(struct strobe_events_in *in, struct strobe_event_in *event)
{
    enum strobe_err err = in->form == START ? begin(in) : STROBE_OK;
    event->text.n = 0;
    while (!err && in->form != OVER && !event->text.n) {
        int c = skip_space(in);
        if (c == NO_BYTE)
            return end_of_file(in);
        if (c == ',') {
            in->at++;
        } else if (c == (in->form == OBJECT ? '}' : ']')) {
            in->at++;
            err = in->form == OBJECT && !in->has_events ? STROBE_ERR_FORMAT : STROBE_OK;
            in->form = in->form == EVENTS ? OBJECT : OVER;
        } else if (in->form == OBJECT) {
            err = pass_member(in);
        } else {
            err = take_event(in, event);
        }
    }
    if (err)
        in->form = OVER;
    err = err && in->err == STROBE_ERR_BOMB ? in->err : err; /* what it cut off is not damaged */
    return err ? err : event->text.n ? STROBE_OK : STROBE_ERR_END;
}

uint64_t strobe_events_in_base_ns(const struct strobe_events_in *in)
{
    return in->base_ns;
}

uint64_t strobe_events_in_offset(const struct strobe_events_in *in)
{
    return in->n_passed + (uint64_t)(in->at - in->base);
}

uint64_t strobe_events_in_n_skipped(const struct strobe_events_in *in)
{
    return in->n_skipped;
}

/* ---- opening ---- */

static enum strobe_err open_over(enum strobe_err err, struct strobe_bytes_in *source,
                                 struct strobe_events_in **out)
{
    struct strobe_events_in *in = *out = err ? NULL : calloc(1, sizeof *in);
    if (err)
        return err;
    if (!in) {
        strobe_bytes_in_close(source);
        return STROBE_ERR_NOMEM;
    }
    in->source = source;
    return STROBE_OK;
}

enum strobe_err strobe_events_in_over(const void *bytes, size_t n_bytes,
                                      struct strobe_events_in **out)
{
    struct strobe_bytes_in *source = NULL;
    enum strobe_err err = strobe_bytes_in_over(bytes, n_bytes, &source);
    return open_over(err, source, out);
}

enum strobe_err strobe_events_in_open(const char *path, struct strobe_events_in **out)
{
    struct strobe_bytes_in *source = NULL;
    enum strobe_err err = strobe_bytes_in_open(path, &source);
    return open_over(err, source, out);
}

void strobe_events_in_drop(struct strobe_events_in *in)
{
    free(in->text);
    in->text = NULL;
    in->n_text = in->room = 0;
}

void strobe_events_in_close(struct strobe_events_in *in)
{
    if (!in)
        return;
    strobe_bytes_in_close(in->source);
    free(in->text);
    free(in);
}
