/* bytes_in.h - the bytes of a file that is imported: compressed by gzip or not, from disk or from memory, in pieces, lines or whole. A compressed
 * file may stand for at most 64 MiB and 256 times its size.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_BYTES_IN_H
#define STROBE_IMPORT_BYTES_IN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    STROBE_BYTES_IN_LINE_MAX = 1 << 20, /* a longer line is cut off there */
    STROBE_BYTES_IN_WHOLE_MAX = 1 << 30,
};

struct strobe_bytes_in;

/* Open a file (base/ready.h). INVALID: it is compressed, and this program was built without zlib. */
enum strobe_err strobe_bytes_in_open(const char *path, struct strobe_bytes_in **out);
/* The same over bytes in memory, which must outlive it; these are not uncompressed. */
enum strobe_err strobe_bytes_in_over(const void *bytes, size_t n, struct strobe_bytes_in **out);
void strobe_bytes_in_close(struct strobe_bytes_in *source); /* NULL is allowed */

/* The next line, without its end, NUL-terminated, until the next call. END: that was all. CORRUPT, BOMB, IO, NOMEM. */
enum strobe_err strobe_bytes_in_line(struct strobe_bytes_in *source, char **line, size_t *n);

/* The first bytes that were not given out, at least `want` of them where the file has so many; they are still to be read. Until the next call. */
enum strobe_err strobe_bytes_in_peek(struct strobe_bytes_in *source, size_t want,
                                     const uint8_t **bytes, size_t *n);

/* Bytes that were peeked are given out: `n` of them. */
void strobe_bytes_in_skip(struct strobe_bytes_in *source, size_t n);

/* The next bytes, as many as are at hand, until the next call. END: that was all. */
enum strobe_err strobe_bytes_in_piece(struct strobe_bytes_in *source, const uint8_t **bytes,
                                      size_t *n);

/* All that is left, until the source is closed. LIMIT: more than STROBE_BYTES_IN_WHOLE_MAX. */
enum strobe_err strobe_bytes_in_whole(struct strobe_bytes_in *source, const uint8_t **bytes,
                                      size_t *n);

#endif
