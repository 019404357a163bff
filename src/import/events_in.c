/* events_in.c - cuts a file of JSON into its events without building anything of it.
 *
 *   START ──'['──► ARRAY ──']' or the file's end──► over
 *     └────'{'──► OBJECT ◄──']'── EVENTS      OBJECT ──'}'──► over
 *                    └──"traceEvents": '['──────►┘
 *
 * SPDX-License-Identifier: MIT */
#include "import/events_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef STROBE_ZLIB
#include <zlib.h>
#endif

#include "base/array.h"
#include "base/ready.h"

enum {
    BUFFER_BYTES = 256 << 10,
    KEY_BYTES = 64,
    NO_BYTE = -1,
    UNPACKED_FLOOR = 64 << 20, /* a compressed file of n bytes holds at most FLOOR + RATIO * n */
    UNPACKED_RATIO = 256,
};
enum form { START, ARRAY, OBJECT, EVENTS, OVER };

struct strobe_events_in {
    int fd; /* owned; -1: from memory */
#ifdef STROBE_ZLIB
    gzFile gz; /* owned: over fd */
#endif
    uint8_t *buffer;   /* owned; NULL: from memory */
    const uint8_t *at; /* the next byte */
    const uint8_t *end;
    const uint8_t *base;
    uint64_t n_passed; /* bytes before base */
    enum strobe_err err;
    enum form form;
    char *text; /* owned: the event */
    size_t n_text, room;
    int is_kept, is_too_long;
    uint64_t n_skipped;
};

/* ---- bytes ---- */

static ssize_t read_more(struct strobe_events_in *in)
{
#ifdef STROBE_ZLIB
    int n = gzread(in->gz, in->buffer, BUFFER_BYTES), number;
    gzerror(in->gz, &number);
    if (n < 0 || (n == 0 && number == Z_BUF_ERROR)) /* cut off in the middle */
        in->err = STROBE_ERR_CORRUPT;
    uint64_t n_read = (uint64_t)gzoffset(in->gz), n_unpacked = in->n_passed + BUFFER_BYTES;
    if (n_unpacked > UNPACKED_FLOOR + UNPACKED_RATIO * n_read) {
        in->err = STROBE_ERR_BOMB;
        return 0;
    }
    return n;
#else
    ssize_t n;
    while ((n = read(in->fd, in->buffer, BUFFER_BYTES)) < 0 && errno == EINTR)
        ;
    if (n < 0)
        in->err = STROBE_ERR_IO;
    return n;
#endif
}

static int refill(struct strobe_events_in *in)
{
    ssize_t n = in->buffer && !in->err ? read_more(in) : 0;
    if (n <= 0)
        return 0;
    in->n_passed += (uint64_t)(in->end - in->base);
    in->at = in->base = in->buffer;
    in->end = in->buffer + n;
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
        in->at++;
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
        return STROBE_OK;
    }
    return pass_value(in) ? STROBE_OK : STROBE_ERR_CORRUPT;
}

/* One element of the array. OK with *n 0: it was no event. */
static enum strobe_err take_event(struct strobe_events_in *in, const char **text, size_t *n)
{
    in->is_kept = peek(in) == '{';
    in->n_text = 0;
    in->is_too_long = 0;
    int ok = pass_value(in);
    if (!in->is_kept || in->is_too_long) {
        in->n_skipped += ok;
        in->n_text = 0;
    }
    in->is_kept = 0;
    *text = in->text;
    *n = in->n_text;
    return ok ? STROBE_OK : STROBE_ERR_CORRUPT;
}

static enum strobe_err end_of_file(struct strobe_events_in *in)
{
    int may_end = in->form == ARRAY && !in->err;
    in->form = OVER;
    return may_end ? STROBE_ERR_END : in->err == STROBE_ERR_BOMB ? in->err : STROBE_ERR_CORRUPT;
}

enum strobe_err strobe_events_in_next(struct strobe_events_in *in, const char **text, size_t *n)
{
    enum strobe_err err = in->form == START ? begin(in) : STROBE_OK;
    *n = 0;
    while (!err && in->form != OVER && !*n) {
        int c = skip_space(in);
        if (c == NO_BYTE)
            return end_of_file(in);
        if (c == ',') {
            in->at++;
        } else if (c == (in->form == OBJECT ? '}' : ']')) {
            in->at++;
            in->form = in->form == EVENTS ? OBJECT : OVER;
        } else if (in->form == OBJECT) {
            err = pass_member(in);
        } else {
            err = take_event(in, text, n);
        }
    }
    if (err)
        in->form = OVER;
    err = err && in->err == STROBE_ERR_BOMB ? in->err : err; /* what it cut off is not damaged */
    return err ? err : *n ? STROBE_OK : STROBE_ERR_END;
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

enum strobe_err strobe_events_in_over(const void *bytes, size_t n_bytes,
                                      struct strobe_events_in **out)
{
    struct strobe_events_in *in = *out = calloc(1, sizeof *in);
    if (!in)
        return STROBE_ERR_NOMEM;
    in->fd = -1;
    in->at = in->base = bytes;
    in->end = in->base + n_bytes;
    return STROBE_OK;
}

static enum strobe_err open_bytes(struct strobe_events_in *in)
{
#ifdef STROBE_ZLIB
    in->gz = gzdopen(in->fd, "rb");
    if (!in->gz)
        return STROBE_ERR_NOMEM;
    in->fd = -1; /* it is the gzFile's */
    gzbuffer(in->gz, 128 << 10);
    return STROBE_OK;
#else
    uint8_t magic[2];
    int is_gzip = pread(in->fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    return is_gzip ? STROBE_ERR_INVALID : STROBE_OK;
#endif
}

enum strobe_err strobe_events_in_open(const char *path, struct strobe_events_in **out)
{
    int fd = strobe_ready_open(path, O_RDONLY, 0);
    *out = NULL;
    if (fd < 0)
        return strobe_err_from_errno(errno);
    struct strobe_events_in *in = calloc(1, sizeof *in);
    if (!in) {
        close(fd);
        return STROBE_ERR_NOMEM;
    }
    in->fd = fd;
    in->buffer = malloc(BUFFER_BYTES);
    in->at = in->end = in->base = in->buffer;
    enum strobe_err err = in->buffer ? open_bytes(in) : STROBE_ERR_NOMEM;
    if (err) {
        strobe_events_in_close(in);
        return err;
    }
    *out = in;
    return STROBE_OK;
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
#ifdef STROBE_ZLIB
    if (in->gz)
        gzclose(in->gz);
#endif
    if (in->fd >= 0)
        close(in->fd);
    free(in->buffer);
    free(in->text);
    free(in);
}
