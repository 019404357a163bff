/* gzip.c - see gzip.h.  SPDX-License-Identifier: MIT */
#include "export/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef STROBE_ZLIB
#include <zlib.h>
#endif

enum { GZIP_WINDOW = 15 + 16 /* the largest, with gzip's head */, GZIP_MEMORY = 8 };

struct strobe_gzip {
    int fd; /* borrowed */
#ifdef STROBE_ZLIB
    z_stream stream;
    unsigned char room[1 << 16];
#endif
};

static int write_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n;) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno != EINTR)
            return errno;
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

#ifdef STROBE_ZLIB
static int pack(struct strobe_gzip *gzip, const char *bytes, size_t n, int flush)
{
    z_stream *stream = &gzip->stream;
    int error = 0;
    stream->next_in = (unsigned char *)(uintptr_t)bytes;
    stream->avail_in = (unsigned)n;
    do {
        stream->next_out = gzip->room;
        stream->avail_out = sizeof gzip->room;
        deflate(stream, flush);
        error = write_all(gzip->fd, gzip->room, sizeof gzip->room - stream->avail_out);
    } while (!error && !stream->avail_out);
    return error;
}
#endif

static int sink(void *context, const char *bytes, size_t n)
{
#ifdef STROBE_ZLIB
    int error = 0;
    for (size_t piece; n && !error; bytes += piece, n -= piece) {
        piece = n < (1u << 30) ? n : (1u << 30);
        error = pack(context, bytes, piece, Z_NO_FLUSH);
    }
    return error;
#else
    return write_all(((struct strobe_gzip *)context)->fd, bytes, n);
#endif
}

struct strobe_gzip *strobe_gzip_open(struct strobe_out *out, int fd)
{
    struct strobe_gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->fd = fd;
#ifdef STROBE_ZLIB
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
#endif
    if (strobe_out_open_sink(out, sink, gzip))
        return gzip;
#ifdef STROBE_ZLIB
    deflateEnd(&gzip->stream);
#endif
    free(gzip);
    return NULL;
}

int strobe_gzip_close(struct strobe_gzip *gzip, struct strobe_out *out)
{
    int error = strobe_out_end(out);
#ifdef STROBE_ZLIB
    if (!error)
        error = pack(gzip, NULL, 0, Z_FINISH);
    deflateEnd(&gzip->stream);
#endif
    free(gzip);
    return error;
}
