/* perfetto_packets.c - a file of packets, each with its length before it; those that were compressed together become packets again.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <zstd.h>
#ifdef STROBE_ZLIB
#include <zlib.h>
#endif

#include "base/array.h"
#include "base/varint.h"
#include "import/perfetto_parts.h"

enum {
    HEAD_BYTES = 20, /* of a packet: its key and its length */
    STEP = 1 << 16,
};

/* ---- unpacking ---- */

/* Room for the next STEP bytes behind n; 0: it is too much. */
static int make_room(struct strobe_perfetto *perfetto, size_t n)
{
    return !STROBE_ARRAY_RESERVE_MAX(perfetto->unpacked, perfetto->unpacked_room, n + STEP,
                                     STROBE_PERFETTO_PACKET_MAX + STEP);
}

#ifdef STROBE_ZLIB
static size_t inflate_all(struct strobe_perfetto *perfetto, const uint8_t *bytes, size_t n_bytes)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)n_bytes};
    size_t n = 0;
    int code = inflateInit(&stream);
    if (code != Z_OK)
        return 0;
    while (code == Z_OK && make_room(perfetto, n)) {
        stream.next_out = perfetto->unpacked + n;
        stream.avail_out = STEP;
        code = inflate(&stream, Z_NO_FLUSH);
        n += STEP - stream.avail_out;
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END ? n : 0;
}
#else
static size_t inflate_all(struct strobe_perfetto *perfetto, const uint8_t *bytes, size_t n_bytes)
{
    (void)perfetto;
    (void)bytes;
    (void)n_bytes;
    return 0;
}
#endif

static size_t unpack_zstd(struct strobe_perfetto *perfetto, const uint8_t *bytes, size_t n_bytes)
{
    ZSTD_inBuffer in = {bytes, n_bytes, 0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t n = 0, left = 1;
    while (stream && left && !ZSTD_isError(left) && make_room(perfetto, n)) {
        ZSTD_outBuffer out = {perfetto->unpacked + n, STEP, 0};
        size_t at = in.pos;
        left = ZSTD_decompressStream(stream, &out, &in);
        n += out.pos;
        if (!out.pos && in.pos == at)
            break;
    }
    ZSTD_freeDStream(stream);
    return left ? 0 : n;
}

/* ---- packets ---- */

/* Packets that lie behind each other in memory. */
static enum strobe_err take_run(struct strobe_perfetto *perfetto, strobe_perfetto_take *take,
                                const uint8_t *bytes, size_t n)
{
    struct strobe_protobuf run = strobe_protobuf_over(bytes, n);
    enum strobe_err err = STROBE_OK;
    while (!err && strobe_protobuf_next(&run))
        if (run.field == STROBE_PERFETTO_PACKET && run.bytes)
            err = take(perfetto, run.bytes, (size_t)run.number);
    if (run.is_bad)
        strobe_timeline_leave_out(perfetto->timeline, "compressed packets are damaged", 1);
    return err;
}

/* What is in a packet: nothing else is in one that is compressed. Compressed ones within compressed ones do not exist. */
static enum strobe_err take_packet(struct strobe_perfetto *perfetto, strobe_perfetto_take *take,
                                   const uint8_t *bytes, size_t n)
{
    struct strobe_protobuf packet = strobe_protobuf_over(bytes, n);
    while (strobe_protobuf_next(&packet)) {
        if ((packet.field != STROBE_PACKET_DEFLATE && packet.field != STROBE_PACKET_ZSTD) ||
            !packet.bytes)
            continue;
        size_t n_packed = (size_t)packet.number;
        size_t n_unpacked = packet.field == STROBE_PACKET_ZSTD
                                ? unpack_zstd(perfetto, packet.bytes, n_packed)
                                : inflate_all(perfetto, packet.bytes, n_packed);
        if (n_unpacked)
            return take_run(perfetto, take, perfetto->unpacked, n_unpacked);
        strobe_timeline_leave_out(perfetto->timeline, "compressed packets can't be unpacked", 1);
        return STROBE_OK;
    }
    return take(perfetto, bytes, n);
}

/* Bytes to step over, which need not be held. CORRUPT: there are less. */
static enum strobe_err pass(struct strobe_bytes_in *source, uint64_t n)
{
    const uint8_t *bytes;
    size_t n_here;
    while (n) {
        enum strobe_err err = strobe_bytes_in_peek(source, 1, &bytes, &n_here);
        if (err || !n_here)
            return err ? err : STROBE_ERR_CORRUPT;
        n_here = n_here < n ? n_here : (size_t)n;
        strobe_bytes_in_skip(source, n_here);
        n -= n_here;
    }
    return STROBE_OK;
}

/* The next packet's place and length; *n_head: bytes before it. END: that was all. */
static enum strobe_err next_packet(struct strobe_bytes_in *source, uint64_t *n_head, uint64_t *n)
{
    const uint8_t *bytes;
    size_t n_here;
    enum strobe_err err = strobe_bytes_in_peek(source, HEAD_BYTES, &bytes, &n_here);
    if (err || !n_here)
        return err ? err : STROBE_ERR_END;
    struct strobe_bytes head = strobe_bytes_over(bytes, n_here);
    uint64_t key = strobe_get_varint(&head);
    *n = strobe_get_varint(&head);
    *n_head = n_here - strobe_bytes_left(&head);
    int is_packet = !head.bad && key == (STROBE_PERFETTO_PACKET << 3 | STROBE_PROTOBUF_BYTES);
    return is_packet && *n <= INT64_MAX ? STROBE_OK : STROBE_ERR_CORRUPT;
}

static enum strobe_err walk(struct strobe_perfetto *perfetto, struct strobe_bytes_in *source,
                            strobe_perfetto_take *take, uint64_t *offset)
{
    uint64_t n_head, n;
    const uint8_t *bytes;
    size_t n_here;
    enum strobe_err err;
    for (*offset = 0; !(err = next_packet(source, &n_head, &n)); *offset += n_head + n) {
        if (n > STROBE_PERFETTO_PACKET_MAX) {
            strobe_timeline_leave_out(perfetto->timeline, "packets over 64 MiB were left out", 1);
            err = pass(source, n_head + n);
            if (err)
                return err;
            continue;
        }
        err = strobe_bytes_in_peek(source, (size_t)(n_head + n), &bytes, &n_here);
        if (!err && n_here < n_head + n)
            err = STROBE_ERR_CORRUPT;
        if (!err)
            err = take_packet(perfetto, take, bytes + n_head, (size_t)n);
        if (err)
            return err;
        strobe_bytes_in_skip(source, (size_t)(n_head + n));
    }
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_perfetto_packets(struct strobe_perfetto *perfetto,
                                        strobe_perfetto_take *take, uint64_t *offset)
{
    struct strobe_bytes_in *source;
    enum strobe_err err = perfetto->path
                              ? strobe_bytes_in_open(perfetto->path, &source)
                              : strobe_bytes_in_over(perfetto->bytes, perfetto->n_bytes, &source);
    if (err)
        return err;
    err = walk(perfetto, source, take, offset);
    strobe_bytes_in_close(source);
    return err;
}
