/* out.h - text on its way out: one buffer, numbers by hand, quoting for CSV, JSON and HTML.
 *
 * Three sinks: memory (the buffer grows, and is the result), a file descriptor, a function. Nothing
 * returns an error: the first failure is kept in `error` and all later output is dropped, so a writer
 * looks once, at the end. Text that is quoted comes out as valid UTF-8 whatever went in.
 *
 *   struct strobe_out text = {0};            // memory
 *   strobe_out_text(&text, "n: ");
 *   strobe_out_u(&text, n);
 *   if (text.error) ...                      // text.at, text.len bytes
 *   strobe_out_free(&text);
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_OUT_H
#define STROBE_BASE_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/number.h"

enum {
    STROBE_OUT_BYTES = 1 << 18, /* buffer of a file descriptor or a function */
    STROBE_OUT_SLACK = 4096,    /* free after strobe_out_reserve */
};

/* Takes all bytes, or gives an errno. */
typedef int strobe_out_sink(void *context, const char *bytes, size_t n);

/* All zero is an empty text in memory. */
struct strobe_out {
    char *at;         /* owned: room bytes; in memory NULL while nothing was written */
    size_t len, room; /* in memory a NUL can always be put at len (strobe_out_string) */
    size_t
        max; /* in memory: bytes at the most (a number counts as STROBE_NUMBER_ROOM), 0: no bound */
    strobe_out_sink *sink; /* NULL: memory */
    void *context;         /* borrowed: the sink's */
    int fd;                /* borrowed: of strobe_out_open */
    int error;             /* errno of the first failure; 0: none */
};

/* Write to a file descriptor, which stays the caller's. 0 without memory. */
int strobe_out_open(struct strobe_out *out, int fd);

/* Write by a function. 0 without memory. */
int strobe_out_open_sink(struct strobe_out *out, strobe_out_sink *sink, void *context);

/* Hand on what waits in the buffer. Nothing happens in memory. */
void strobe_out_flush(struct strobe_out *out);

/* Flush and free. errno of the first failure, 0: none. */
int strobe_out_end(struct strobe_out *out);

/* Free without flushing; of memory, the text. All zero afterwards. */
void strobe_out_free(struct strobe_out *out);

/* In memory: forget the text; the room stays, and so does an error. */
void strobe_out_clear(struct strobe_out *out);

/* In memory: the text with a NUL behind it, until the next change; "" where there is none. */
const char *strobe_out_string(struct strobe_out *out);

/* The slow half of strobe_out_need. */
char *strobe_out_make_room(struct strobe_out *out, size_t n);

/* `n` free bytes at out->at + out->len; the caller adds to len what it wrote. At most STROBE_OUT_SLACK
 * for a file descriptor or a function, which never fail here. NULL: no memory, `error` is set. */
static inline char *strobe_out_need(struct strobe_out *out, size_t n)
{
    STROBE_ASSERT(!out->sink || n <= STROBE_OUT_SLACK);
    return n < out->room - out->len ? out->at + out->len : strobe_out_make_room(out, n);
}

/* STROBE_OUT_SLACK free bytes, of a file descriptor or a function. */
static inline char *strobe_out_reserve(struct strobe_out *out)
{
    STROBE_ASSERT(out->sink);
    return strobe_out_need(out, STROBE_OUT_SLACK);
}

void strobe_out_bytes(struct strobe_out *out, const char *bytes, size_t n);
void strobe_out_text(struct strobe_out *out, const char *text);
void strobe_out_char(struct strobe_out *out, char c);
void strobe_out_u(struct strobe_out *out, uint64_t value);
void strobe_out_i(struct strobe_out *out, int64_t value);
void strobe_out_hex(struct strobe_out *out, uint64_t value); /* with its 0x */
void strobe_out_double(struct strobe_out *out, double value);
/* For a file descriptor or a function: cut at STROBE_OUT_SLACK - 1 bytes. */
void strobe_out_format(struct strobe_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text as it is, but valid UTF-8. */
void strobe_out_utf8(struct strobe_out *out, const char *text, size_t n);

/* Text for people: one line, valid UTF-8, nothing that a terminal would obey. Control characters become '?', a NUL a blank. */
void strobe_out_terminal(struct strobe_out *out, const char *text, size_t n);

/* A field of RFC 4180: quoted where it has to be; a NUL becomes a space. */
void strobe_out_csv(struct strobe_out *out, const char *text, size_t n);

/* A JSON string with its quotes. */
void strobe_out_json(struct strobe_out *out, const char *text, size_t n);

/* Text between tags or in a quoted attribute: & < > " ' as references, a NUL as U+FFFD. */
void strobe_out_html(struct strobe_out *out, const char *text, size_t n);

#endif
