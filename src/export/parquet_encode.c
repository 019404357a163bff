/* parquet_encode.c - see parquet_encode.h; the format document of Parquet has the rules (Encodings).  SPDX-License-Identifier: MIT */
#include "export/parquet_encode.h"

#include "export/thrift.h"

enum { BLOCK = 128, PIECES = 4, PIECE = BLOCK / PIECES };

/* Bits, the lowest first. */
struct packer {
    unsigned char *at; /* borrowed */
    unsigned __int128 bits;
    unsigned n_bits;
};

static inline void pack(struct packer *packer, uint64_t value, unsigned width)
{
    packer->bits |= (unsigned __int128)value << packer->n_bits;
    packer->n_bits += width;
    while (packer->n_bits >= 8) {
        *packer->at++ = (unsigned char)packer->bits;
        packer->bits >>= 8;
        packer->n_bits -= 8;
    }
}

static unsigned width_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

unsigned strobe_parquet_width(uint32_t max)
{
    return max ? width_of(max) : 1;
}

/* One block: the least difference, the widths of the pieces, their bits. */
static void put_block(struct strobe_out *out, const uint64_t *deltas, unsigned n, int64_t least)
{
    unsigned char widths[PIECES] = {0};
    uint64_t rest[BLOCK] = {0};
    for (unsigned i = 0; i < n; i++) {
        rest[i] = deltas[i] - (uint64_t)least;
        unsigned width = width_of(rest[i]);
        if (width > widths[i / PIECE])
            widths[i / PIECE] = (unsigned char)width;
    }
    strobe_thrift_varint(out, strobe_thrift_zigzag(least));
    strobe_out_bytes(out, (const char *)widths, PIECES);
    char *room = strobe_out_need(out, BLOCK * 8 + 16);
    if (!room)
        return;
    struct packer packer = {.at = (unsigned char *)room};
    for (unsigned piece = 0; piece < PIECES; piece++)
        for (unsigned i = 0; widths[piece] && i < PIECE; i++)
            pack(&packer, rest[piece * PIECE + i], widths[piece]);
    STROBE_ASSERT(!packer.n_bits); /* 32 values of any width end at a byte */
    out->len += (size_t)((char *)packer.at - room);
}

void strobe_parquet_delta(struct strobe_out *out, const int64_t *values, uint32_t n)
{
    strobe_thrift_varint(out, BLOCK);
    strobe_thrift_varint(out, PIECES);
    strobe_thrift_varint(out, n);
    strobe_thrift_varint(out, strobe_thrift_zigzag(n ? values[0] : 0));
    for (uint32_t at = 1; at < n; at += BLOCK) {
        uint64_t deltas[BLOCK];
        unsigned count = n - at < BLOCK ? n - at : BLOCK;
        int64_t least = INT64_MAX;
        for (unsigned i = 0; i < count; i++) {
            deltas[i] = (uint64_t)values[at + i] - (uint64_t)values[at + i - 1];
            least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
        }
        put_block(out, deltas, count, least);
    }
}

void strobe_parquet_hybrid(struct strobe_out *out, const uint32_t *codes, uint32_t n,
                           unsigned width)
{
    uint32_t same = 0;
    while (same < n && codes[same] == codes[0])
        same++;
    if (same == n) {
        strobe_thrift_varint(out, (uint64_t)n << 1);
        for (unsigned i = 0; i < (width + 7) / 8; i++)
            strobe_out_char(out, (char)((n ? codes[0] : 0) >> 8 * i));
        return;
    }
    uint64_t n_groups = ((uint64_t)n + 7) / 8;
    strobe_thrift_varint(out, n_groups << 1 | 1);
    char *room = strobe_out_need(out, n_groups * width + 16);
    if (!room)
        return;
    struct packer packer = {.at = (unsigned char *)room};
    for (uint64_t i = 0; i < n_groups * 8; i++)
        pack(&packer, i < n ? codes[i] : 0, width);
    out->len += (size_t)((char *)packer.at - room);
}
