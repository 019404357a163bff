/* file_pack.c - bytes into a block, and blocks into the file. How a stream may be stored: docs/file-format.md.
 * SPDX-License-Identifier: MIT */
#include "file/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "file/frame.h"

enum { HASH_LOG = 13 }; /* for inputs of 64 KiB; stays in the first cache */

enum strobe_err strobe_writer_write(const struct strobe_file_writer *w, const void *bytes, size_t n,
                                    uint64_t at)
{
    const uint8_t *from = bytes;
    while (n) {
        ssize_t done = pwrite(w->fd, from, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done ? strobe_err_from_errno(errno) : STROBE_ERR_IO;
        STROBE_ASSERT((size_t)done <= n);
        from += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return STROBE_OK;
}

ZSTD_CCtx *strobe_writer_new_zstd(void)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    uint8_t probe[256] = {0}, out[1024];
    if (!zstd)
        return NULL;
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, HASH_LOG);
    if (!ZSTD_isError(ZSTD_compress2(zstd, out, sizeof out, probe, sizeof probe)))
        return zstd;
    ZSTD_freeCCtx(zstd);
    return NULL;
}

/* Keep `n` bytes as they are unless `size` bytes of a frame, which stand at the end of the block, are fewer. */
static size_t choose(struct strobe_file_writer *w, size_t size, const uint8_t *bytes, size_t n)
{
    if (!ZSTD_isError(size) && size < n && size != 1)
        return size;
    memmove(w->out + w->n_out, bytes, n);
    return n;
}

bool strobe_writer_pack(struct strobe_file_writer *w, const uint8_t *bytes, size_t n,
                        size_t *n_stored)
{
    size_t bound = ZSTD_compressBound(n);
    if (!strobe_writer_room(w, bound))
        return false;
    uint8_t *out = w->out + w->n_out;
    STROBE_ASSERT(bytes + n <= out || bytes >= out + bound);
    size_t size = choose(w, ZSTD_compress2(w->zstd, out, bound, bytes, n), bytes, n);
    if (size < n)
        size += strobe_frame_pad(out + size, n, size);
    STROBE_ASSERT(size <= bound && strobe_frame_fits(n, size));
    w->n_out += size;
    *n_stored = size;
    return true;
}

/* ---- columns ---- */

/* How a column is compressed. Matches pay where a pattern repeats; in columns of noise they cost time
 * and bytes, and the entropy coder alone is better; where that saves next to nothing either, bytes stay as they are. Of a pattern with noise
 * in it only short matches are found, and what is between them stays as it is. Which of them a stream is, it shows by itself: every
 * PROBE_EVERY blocks all are tried. */
enum stream_mode { MODE_MATCHES, MODE_SHORT_MATCHES, MODE_ENTROPY, MODE_NONE };
enum {
    PROBE_EVERY = 32,
    PROBE_BYTES = 4096, /* a shorter one shows nothing */
    LEAST_SAVED = 6,    /* one part in so many of a column: else it is not worth the time */
};

static bool is_constant(const uint8_t *bytes, size_t n)
{
    return n > 1 && !memcmp(bytes, bytes + 1, n - 1);
}

static void set_mode(ZSTD_CCtx *zstd, enum stream_mode mode)
{
    bool is_short = mode == MODE_SHORT_MATCHES;
    /* a step over the whole block leaves no place where a match is looked for; a longer one over noise misses few */
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength,
                           mode == MODE_ENTROPY ? 1 << 17
                           : is_short           ? 2
                                                : 0);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, is_short ? 5 : 7);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, is_short ? HASH_LOG - 3 : HASH_LOG);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_literalCompressionMode,
                           is_short ? ZSTD_ps_disable : ZSTD_ps_enable);
}

static size_t compress_as(struct strobe_file_writer *w, enum stream_mode mode, uint8_t *out,
                          size_t cap, const uint8_t *bytes, size_t n)
{
    STROBE_ASSERT(mode < MODE_NONE);
    set_mode(w->zstd, mode);
    size_t size = ZSTD_compress2(w->zstd, out, cap, bytes, n);
    set_mode(w->zstd, MODE_MATCHES);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_minMatch, 0);
    return size;
}

/* The columns of a block, each in the mode that suits it. */
static size_t compress_column(struct strobe_file_writer *w, int stream, size_t cap,
                              const uint8_t *bytes, size_t n)
{
    uint8_t *out = w->out + w->n_out;
    if (n < PROBE_BYTES || w->n_streams[stream]++ % PROBE_EVERY)
        return w->modes[stream] == MODE_NONE ? n
                                             : compress_as(w, w->modes[stream], out, cap, bytes, n);
    size_t best = n - n / LEAST_SAVED + 1, size = n;
    w->modes[stream] = MODE_NONE;
    for (enum stream_mode mode = MODE_NONE; mode-- > 0;) { /* of equal ones the fastest */
        size = compress_as(w, mode, out, cap, bytes, n);
        if (ZSTD_isError(size) || size >= best)
            continue;
        best = size;
        w->modes[stream] = mode;
    }
    return size; /* that of the last one tried is there */
}

/* ---- hi by lo ---- */

/* A clock that counts in steps has few differences, and their lower halves differ already: then `hi` follows from `lo`, but for some events. */
enum {
    LEAST_EVENTS = 1024,
    EVENTS_PER_OTHER = 256, /* so many events for each that differs */
    LEARN_EVERY = 4,
    AT_ONCE = 16,
};

/* The `hi` of each `lo`: the last one seen, at every `step`th event. */
static void learn_table(uint8_t table[256], const uint8_t *lo, const uint8_t *hi, size_t n,
                        size_t step)
{
    memset(table, 0, 256);
    for (size_t i = 0; i < n; i += step)
        table[lo[i]] = hi[i];
}

/* 0: of all these events, AT_ONCE of them, `hi` follows. */
static inline uint32_t differ(const uint8_t table[256], const uint8_t *lo, const uint8_t *hi)
{
    uint32_t any = 0;
    for (size_t i = 0; i < AT_ONCE; i++)
        any |= (uint32_t)table[lo[i]] ^ hi[i];
    return any;
}

/* Bytes of the events whose `hi` does not follow; NULL: they are too many. */
static uint8_t *put_others(uint8_t *out, const uint8_t table[256], const uint8_t *lo,
                           const uint8_t *hi, size_t n, size_t *n_others)
{
    size_t last = 0, most = n / EVENTS_PER_OTHER;
    *n_others = 0;
    for (size_t i = 0; i < n; i++) {
        while (i % AT_ONCE == 0 && i + AT_ONCE < n && !differ(table, lo + i, hi + i))
            i += AT_ONCE;
        if (table[lo[i]] == hi[i])
            continue;
        if (++*n_others > most)
            return NULL;
        out = strobe_varint_put(out, i - last);
        *out++ = hi[i];
        last = i;
    }
    return out;
}

/* The table's entries that are not 0. */
static uint8_t *put_table(uint8_t *out, const uint8_t table[256])
{
    uint32_t n_used = 0, last = 0;
    for (uint32_t i = 0; i < 256; i++)
        n_used += table[i] != 0;
    out = strobe_varint_put(out, n_used);
    for (uint32_t i = 0; i < 256; i++) {
        if (!table[i])
            continue;
        *out++ = (uint8_t)(i - last);
        *out++ = table[i];
        last = i;
    }
    return out;
}

/* Whether `hi` follows from `lo` at the first events, and is not 0 nearly everywhere, which zstd stores in no time: where not, nobody has to look
 * at the others. */
static bool looks_so(const uint8_t *lo, const uint8_t *hi, size_t n)
{
    uint8_t table[256];
    size_t n_others = 0, n_set = 0;
    STROBE_ASSERT(n >= LEAST_EVENTS);
    learn_table(table, lo, hi, LEAST_EVENTS, 1);
    for (size_t i = 0; i < LEAST_EVENTS; i++) {
        n_others += table[lo[i]] != hi[i];
        n_set += hi[i] != 0;
    }
    return n_others <= LEAST_EVENTS / 16 && n_set >= LEAST_EVENTS / 16;
}

bool strobe_writer_put_hi_by_lo(struct strobe_file_writer *w, const uint8_t *lo, const uint8_t *hi,
                                size_t n, size_t *n_stored)
{
    enum { OTHER = 4, TABLE = 2 + 2 * 256 + 4 }; /* bytes at most: of one, of all else */
    uint8_t table[256];
    size_t n_others;
    if (w->is_old || n < LEAST_EVENTS || is_constant(hi, n) || !looks_so(lo, hi, n) ||
        !strobe_writer_room(w, 2 * TABLE + OTHER * (n / EVENTS_PER_OTHER)))
        return false;
    learn_table(table, lo, hi, n, LEARN_EVERY);
    uint8_t *out = w->out + w->n_out, *others = out + TABLE;
    const uint8_t *end = put_others(others, table, lo, hi, n, &n_others);
    if (!end)
        return false;
    uint8_t *at = strobe_varint_put(put_table(out, table), n_others);
    STROBE_ASSERT(at <= others && end >= others);
    memmove(at, others, (size_t)(end - others));
    *n_stored = (size_t)(at - out) + (size_t)(end - others);
    STROBE_ASSERT(*n_stored > 1 && *n_stored < n);
    w->n_out += *n_stored;
    return true;
}

bool strobe_writer_put_stream(struct strobe_file_writer *w, int stream, const uint8_t *bytes,
                              size_t n, size_t *n_stored)
{
    STROBE_ASSERT(stream >= 0 && stream < STROBE_N_STREAMS);
    *n_stored = 0;
    if (n == 0)
        return true;
    bool is_column = stream < STROBE_BIG; /* bounded by the number of events, not by its frame */
    if (is_constant(bytes, n) && (is_column || strobe_frame_fits(n, 1))) {
        if (!strobe_writer_room(w, 1))
            return false;
        w->out[w->n_out++] = bytes[0];
        *n_stored = 1;
        return true;
    }
    if (!is_column)
        return strobe_writer_pack(w, bytes, n, n_stored);
    size_t bound = ZSTD_compressBound(n);
    if (!strobe_writer_room(w, bound))
        return false;
    *n_stored = choose(w, compress_column(w, stream, bound, bytes, n), bytes, n);
    STROBE_ASSERT(*n_stored <= n);
    w->n_out += *n_stored;
    return true;
}
