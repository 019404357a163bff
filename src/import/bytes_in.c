/* bytes_in.c - see bytes_in.h.  SPDX-License-Identifier: MIT */
#include "import/bytes_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef STROBE_ZLIB
#include <zlib.h>
#endif

#include "base/array.h"
#include "base/assert.h"
#include "base/ready.h"

enum { PIECE = 256 << 10, UNPACKED_FLOOR = 64 << 20, UNPACKED_RATIO = 256 };

struct strobe_bytes_in {
    int fd; /* owned; -1: from memory, or zlib's */
#ifdef STROBE_ZLIB
    gzFile gz; /* owned */
#endif
    const uint8_t *memory; /* borrowed; NULL: a file */
    uint8_t *buffer;       /* owned */
    size_t n, at, room;    /* bytes in it, and the first that was not given out */
    uint64_t n_unpacked;
    int is_over;
    char *line; /* owned */
    size_t line_room;
};

/* Bytes to `out`; *n 0: that was all. */
static enum strobe_err read_some(struct strobe_bytes_in *source, uint8_t *out, size_t room,
                                 size_t *n)
{
    *n = 0;
#ifdef STROBE_ZLIB
    int got = gzread(source->gz, out, (unsigned)room), number;
    gzerror(source->gz, &number);
    if (got < 0 || (got == 0 && number == Z_BUF_ERROR)) /* cut off in the middle */
        return STROBE_ERR_CORRUPT;
    source->n_unpacked += (uint64_t)got;
    if (source->n_unpacked > UNPACKED_FLOOR + UNPACKED_RATIO * (uint64_t)gzoffset(source->gz))
        return STROBE_ERR_BOMB;
#else
    ssize_t got;
    while ((got = read(source->fd, out, room)) < 0 && errno == EINTR)
        ;
    if (got < 0)
        return strobe_err_from_errno(errno);
#endif
    *n = (size_t)got;
    return STROBE_OK;
}

/* More bytes behind those that were not given out. END: there are none. */
static enum strobe_err fill(struct strobe_bytes_in *source)
{
    size_t n;
    if (source->memory || source->is_over)
        return STROBE_ERR_END;
    if (source->at) {
        memmove(source->buffer, source->buffer + source->at, source->n - source->at);
        source->n -= source->at;
        source->at = 0;
    }
    if (STROBE_ARRAY_RESERVE(source->buffer, source->room, source->n + PIECE))
        return STROBE_ERR_NOMEM;
    enum strobe_err err = read_some(source, source->buffer + source->n, PIECE, &n);
    source->n += n;
    source->is_over = !err && !n;
    return err ? err : n ? STROBE_OK : STROBE_ERR_END;
}

static const uint8_t *bytes_of(const struct strobe_bytes_in *source)
{
    return source->memory ? source->memory : source->buffer;
}

static enum strobe_err give_line(struct strobe_bytes_in *source, size_t n, size_t n_end,
                                 char **line, size_t *n_line)
{
    size_t n_kept = n < STROBE_BYTES_IN_LINE_MAX ? n : STROBE_BYTES_IN_LINE_MAX;
    if (STROBE_ARRAY_RESERVE(source->line, source->line_room, n_kept + 1))
        return STROBE_ERR_NOMEM;
    if (n_kept)
        memcpy(source->line, bytes_of(source) + source->at, n_kept);
    if (n_kept && source->line[n_kept - 1] == '\r')
        n_kept--;
    source->line[n_kept] = 0;
    source->at += n + n_end;
    *line = source->line;
    *n_line = n_kept;
    return STROBE_OK;
}

enum strobe_err strobe_bytes_in_line(struct strobe_bytes_in *source, char **line, size_t *n)
{
    size_t from = 0; /* bytes that were looked at */
    for (;;) {
        size_t left = source->n - source->at;
        const uint8_t *at = left ? bytes_of(source) + source->at : NULL;
        const uint8_t *end = left > from ? memchr(at + from, '\n', left - from) : NULL;
        if (end)
            return give_line(source, (size_t)(end - at), 1, line, n);
        if (left >= 2 * STROBE_BYTES_IN_LINE_MAX) { /* no text: its rest is another line */
            return give_line(source, left, 0, line, n);
        }
        from = left;
        enum strobe_err err = fill(source);
        if (err == STROBE_ERR_END && left)
            return give_line(source, left, 0, line, n);
        if (err)
            return err;
    }
}

enum strobe_err strobe_bytes_in_peek(struct strobe_bytes_in *source, size_t want,
                                     const uint8_t **bytes, size_t *n)
{
    enum strobe_err err = STROBE_OK;
    while (!err && source->n - source->at < want)
        err = fill(source);
    *n = source->n - source->at;
    *bytes = *n ? bytes_of(source) + source->at : (const uint8_t *)"";
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

void strobe_bytes_in_skip(struct strobe_bytes_in *source, size_t n)
{
    STROBE_ASSERT(n <= source->n - source->at);
    source->at += n;
}

enum strobe_err strobe_bytes_in_piece(struct strobe_bytes_in *source, const uint8_t **bytes,
                                      size_t *n)
{
    enum strobe_err err = source->at < source->n ? STROBE_OK : fill(source);
    if (err)
        return err;
    *bytes = bytes_of(source) + source->at;
    *n = source->n - source->at;
    source->at = source->n;
    return STROBE_OK;
}

enum strobe_err strobe_bytes_in_whole(struct strobe_bytes_in *source, const uint8_t **bytes,
                                      size_t *n)
{
    enum strobe_err err = STROBE_OK;
    while (!err && source->n - source->at <= STROBE_BYTES_IN_WHOLE_MAX)
        err = fill(source);
    *n = source->n - source->at;
    *bytes = *n ? bytes_of(source) + source->at : (const uint8_t *)"";
    return !err ? STROBE_ERR_LIMIT : err == STROBE_ERR_END ? STROBE_OK : err;
}

/* ---- opening ---- */

enum strobe_err strobe_bytes_in_over(const void *bytes, size_t n, struct strobe_bytes_in **out)
{
    struct strobe_bytes_in *source = *out = calloc(1, sizeof *source);
    if (!source)
        return STROBE_ERR_NOMEM;
    source->fd = -1;
    source->memory = bytes ? bytes : (const uint8_t *)"";
    source->n = n;
    return STROBE_OK;
}

static enum strobe_err open_bytes(struct strobe_bytes_in *source)
{
#ifdef STROBE_ZLIB
    source->gz = gzdopen(source->fd, "rb");
    if (!source->gz)
        return STROBE_ERR_NOMEM;
    source->fd = -1; /* it is the gzFile's */
    gzbuffer(source->gz, 128 << 10);
    return STROBE_OK;
#else
    uint8_t magic[2];
    int is_gzip = pread(source->fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    return is_gzip ? STROBE_ERR_INVALID : STROBE_OK;
#endif
}

enum strobe_err strobe_bytes_in_open(const char *path, struct strobe_bytes_in **out)
{
    int fd = strobe_ready_open(path, O_RDONLY, 0);
    *out = NULL;
    if (fd < 0)
        return strobe_err_from_errno(errno);
    struct strobe_bytes_in *source = calloc(1, sizeof *source);
    if (!source) {
        close(fd);
        return STROBE_ERR_NOMEM;
    }
    source->fd = fd;
    enum strobe_err err = open_bytes(source);
    if (err)
        strobe_bytes_in_close(source);
    else
        *out = source;
    return err;
}

void strobe_bytes_in_close(struct strobe_bytes_in *source)
{
    if (!source)
        return;
#ifdef STROBE_ZLIB
    if (source->gz)
        gzclose(source->gz);
#endif
    if (source->fd >= 0)
        close(source->fd);
    free(source->buffer);
    free(source->line);
    free(source);
}
