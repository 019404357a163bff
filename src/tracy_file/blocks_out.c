/* blocks_out.c - see blocks_out.h. Blocks look back into the one before, as readers expect: the two
 * buffers lie side by side and are used in turn.  SPDX-License-Identifier: MIT */
#include "tracy_file/blocks_out.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <unistd.h>

static void write_all(struct strobe_tracy_out *out, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n && !out->error) {
        ssize_t done = write(out->fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            out->error = errno;
            return;
        }
        at += done;
        n -= (size_t)done;
    }
}

enum strobe_err strobe_tracy_out_open(struct strobe_tracy_out *out, int fd)
{
    static const uint8_t magic[] = {'t', 'r', 253, 'P', 0, 1}; /* LZ4, one stream */
    *out = (struct strobe_tracy_out){.fd = fd};
    out->blocks = malloc(2 * STROBE_TRACY_BLOCK);
    out->stored = malloc(LZ4_COMPRESSBOUND(STROBE_TRACY_BLOCK));
    out->lz4 = LZ4_createStream();
    if (!out->blocks || !out->stored || !out->lz4) {
        strobe_tracy_out_close(out);
        return STROBE_ERR_NOMEM;
    }
    out->at = out->blocks;
    out->end = out->at + STROBE_TRACY_BLOCK;
    write_all(out, magic, sizeof magic);
    return STROBE_OK;
}

static void end_block(struct strobe_tracy_out *out)
{
    uint8_t *block = out->blocks + (size_t)out->turn * STROBE_TRACY_BLOCK;
    int n = (int)(out->at - block);
    if (n) {
        uint32_t stored =
            (uint32_t)LZ4_compress_fast_continue(out->lz4, (const char *)block, out->stored, n,
                                                 LZ4_COMPRESSBOUND(STROBE_TRACY_BLOCK), 1);
        write_all(out, &stored, sizeof stored);
        write_all(out, out->stored, stored);
        out->n_bytes += (uint64_t)n;
    }
    out->turn ^= 1;
    out->at = out->blocks + (size_t)out->turn * STROBE_TRACY_BLOCK;
    out->end = out->at + STROBE_TRACY_BLOCK;
}

void strobe_tracy_out_more(struct strobe_tracy_out *out, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    while (n) {
        size_t room = (size_t)(out->end - out->at), now = n < room ? n : room;
        memcpy(out->at, from, now);
        out->at += now;
        from += now;
        n -= now;
        if (out->at == out->end)
            end_block(out);
    }
}

int strobe_tracy_out_close(struct strobe_tracy_out *out)
{
    if (out->lz4 && out->stored && out->blocks)
        end_block(out);
    LZ4_freeStream(out->lz4);
    free(out->stored);
    free(out->blocks);
    out->lz4 = NULL;
    out->stored = NULL;
    out->blocks = NULL;
    return out->error;
}
