/* json_read.h - reads JSON token by token, from memory or from a source that gives it in pieces, so
 * that a file of any size streams through one buffer. Bytes come from strangers: depth, length of a
 * string and total are bounded, nothing recurses, and everything but the grammar of RFC 8259 is
 * an error, with line and column.
 *
 *   strobe_json_read_memory(&reader, text, n, NULL)            or   _read_source(&reader, read, file, NULL)
 *   while (!(err = strobe_json_read_next(&reader, &token)) && token != STROBE_TOKEN_END)
 *       ...                                   OBJECT KEY value KEY value OBJECT_END, ARRAY value ARRAY_END
 *   strobe_json_read_close(&reader)
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_JSON_READ_H
#define STROBE_BASE_JSON_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    STROBE_JSON_DEPTH_LIMIT = 1024,      /* options may ask for less, not for more */
    STROBE_JSON_STRING_LIMIT = 16 << 20, /* where options say nothing */
};

enum strobe_json_token {
    STROBE_TOKEN_END, /* the one value of the text is over, and nothing but space came after it */
    STROBE_TOKEN_OBJECT,
    STROBE_TOKEN_OBJECT_END,
    STROBE_TOKEN_ARRAY,
    STROBE_TOKEN_ARRAY_END,
    STROBE_TOKEN_KEY,
    STROBE_TOKEN_STRING,
    STROBE_TOKEN_NUMBER,
    STROBE_TOKEN_TRUE,
    STROBE_TOKEN_FALSE,
    STROBE_TOKEN_NULL,
};

enum strobe_json_flag {
    STROBE_JSON_NAN = 1, /* NaN, Infinity and -Infinity are numbers, as for Python */
    STROBE_JSON_ANY_BYTES =
        2, /* strings keep bytes that are no UTF-8, and halves of surrogate pairs (as 3 bytes) */
    STROBE_JSON_MORE_COMMAS =
        4 /* commas may stand twice and at the end, as Chrome's traces have them */
};

/* All zero: the defaults. */
struct strobe_json_options {
    unsigned flags;
    uint32_t max_depth; /* 0: 100 */
    size_t
        max_string; /* bytes of a string or number as they stand in the text; 0: STROBE_JSON_STRING_LIMIT */
    uint64_t max_bytes; /* of the whole text; 0: no bound */
};

/* Put at most `room` bytes at `out`, *n of them; *n = 0: that was all. */
typedef enum strobe_err strobe_json_source(void *context, char *out, size_t room, size_t *n);

struct strobe_json_reader {
    /* The token. Text of a KEY or STRING: decoded, valid UTF-8, without NUL at its end (but a \u0000 may be in it); of a NUMBER: as
     * it stands there. Until the next call. */
    const char *text;
    size_t n_text;
    int is_integer;        /* a NUMBER without point and exponent */
    uint32_t depth;        /* objects and arrays that are open */
    const char *complaint; /* after an error: what was expected or is too much; static */

    /* The reader's own. */
    struct strobe_json_options options;
    strobe_json_source *source; /* NULL: all is in memory */
    void *context;              /* borrowed */
    char *buffer;               /* owned: of a source; NULL: memory */
    size_t buffer_room;
    const char *start, *at, *end; /* bytes at hand; start is at offset n_passed */
    uint64_t n_passed, n_lines;   /* before start */
    uint64_t line_at;             /* offset of the line that start is in */
    char *decoded;                /* owned: a string that had escapes */
    size_t decoded_room;
    int is_over; /* the source gave all */
    int state;
    enum strobe_err err; /* the first one; it stays */
    uint64_t integer;    /* magnitude */
    int is_negative, is_exact;
    uint8_t is_object[STROBE_JSON_DEPTH_LIMIT / 8]; /* a bit for each that is open */
};

/* `bytes` must outlive the reader. */
void strobe_json_read_memory(struct strobe_json_reader *reader, const char *bytes, size_t n,
                             const struct strobe_json_options *options);
/* NOMEM. */
enum strobe_err strobe_json_read_source(struct strobe_json_reader *reader,
                                        strobe_json_source *source, void *context,
                                        const struct strobe_json_options *options);
void strobe_json_read_close(struct strobe_json_reader *reader);

/* The next token. FORMAT: it is no JSON. CORRUPT: it ends too early. LIMIT: over a bound. NOMEM; and what the source gives.
 * After an error the same error again. */
enum strobe_err strobe_json_read_next(struct strobe_json_reader *reader,
                                      enum strobe_json_token *token);

/* Go past the value that `token`, just read, begins: to its end, where it is an object or array. */
enum strobe_err strobe_json_read_skip(struct strobe_json_reader *reader,
                                      enum strobe_json_token token);

/* The NUMBER just read. 0: it is no whole number, or does not fit; every one that fits is exact. */
int strobe_json_read_u64(const struct strobe_json_reader *reader, uint64_t *out);
int strobe_json_read_i64(const struct strobe_json_reader *reader, int64_t *out);
/* Nearest double; 0: it is infinite or not a number. */
int strobe_json_read_double(const struct strobe_json_reader *reader, double *out);

/* 1: the text of the token is this. */
int strobe_json_read_is(const struct strobe_json_reader *reader, const char *text);

/* Decode `text`, n bytes of what stands between the quotes of a string, into `out`: of flags STROBE_JSON_ANY_BYTES counts, and
 * with it `out` has n bytes, else 3 * n. *n_read: the bytes that were read, fewer where one is no escape or is cut off. The
 * bytes written; no NUL is added. */
size_t strobe_json_decode(unsigned flags, const char *text, size_t n, char *out, size_t *n_read);

/* Where the reader is; after an error, where that is. Line and column count from 1, columns in bytes. */
uint64_t strobe_json_read_offset(const struct strobe_json_reader *reader);
void strobe_json_read_where(const struct strobe_json_reader *reader, uint64_t *line,
                            uint64_t *column);

#endif
