/* parquet_encode.c - see parquet_encode.h; the format document of Parquet has the rules (Encodings).  SPDX-License-Identifier: MIT */
#include "export/parquet_encode.h"

#include <string.h>

#include "base/assert.h"
#include "export/thrift.h"

enum { BLOCK = 128, PIECES = 4, PIECE = BLOCK / PIECES };

enum { EIGHT = 8, SMALL_WIDTH = 16 };

/* Values, the lowest bits first, eight at a time, which end at a byte: `width` bytes. Whole words are written, of which the next
 * eight replace what is too much: SPARE bytes behind the last are room for that. */
enum { SPARE = 16 };

static inline void put_word(unsigned char *at, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(word >> 8 * i);
}

/* Widths up to 16: four values fit a word. */
static inline __attribute__((always_inline)) unsigned char *
put_small(unsigned char *at, const uint32_t *values, uint32_t n_eights, unsigned width)
{
    for (; n_eights; n_eights--, values += EIGHT, at += width) {
        uint64_t low = values[0] | (uint64_t)values[1] << width | (uint64_t)values[2] << 2 * width |
                       (uint64_t)values[3] << 3 * width;
        uint64_t high = values[4] | (uint64_t)values[5] << width |
                        (uint64_t)values[6] << 2 * width | (uint64_t)values[7] << 3 * width;
        if (width <= SMALL_WIDTH / 2) {
            put_word(at, low | high << 4 * width);
        } else {
            unsigned __int128 all = low | (unsigned __int128)high << 4 * width;
            put_word(at, (uint64_t)all);
            put_word(at + 8, (uint64_t)(all >> 64));
        }
    }
    return at;
}

/* A loop of its own per width: shifts by constants. */
static unsigned char *put_narrow(unsigned char *at, const uint32_t *values, uint32_t n_eights,
                                 unsigned width)
{
    STROBE_ASSERT(width <= SMALL_WIDTH);
    switch (width) {
    case 1:
        return put_small(at, values, n_eights, 1);
    case 2:
        return put_small(at, values, n_eights, 2);
    case 3:
        return put_small(at, values, n_eights, 3);
    case 4:
        return put_small(at, values, n_eights, 4);
    case 5:
        return put_small(at, values, n_eights, 5);
    case 6:
        return put_small(at, values, n_eights, 6);
    case 7:
        return put_small(at, values, n_eights, 7);
    case 8:
        return put_small(at, values, n_eights, 8);
    case 9:
        return put_small(at, values, n_eights, 9);
    case 10:
        return put_small(at, values, n_eights, 10);
    case 11:
        return put_small(at, values, n_eights, 11);
    case 12:
        return put_small(at, values, n_eights, 12);
    case 13:
        return put_small(at, values, n_eights, 13);
    case 14:
        return put_small(at, values, n_eights, 14);
    case 15:
        return put_small(at, values, n_eights, 15);
    case 16:
        return put_small(at, values, n_eights, 16);
    default:
        return at;
    }
}

/* Any width. */
static unsigned char *put_eight(unsigned char *at, const uint64_t *values, unsigned width)
{
    unsigned __int128 bits = 0;
    unsigned n_bits = 0;
    for (int i = 0; i < EIGHT; i++) {
        bits |= (unsigned __int128)values[i] << n_bits;
        for (n_bits += width; n_bits >= 32; n_bits -= 32, bits >>= 32, at += 4)
            put_word(at, (uint32_t)bits);
    }
    for (; n_bits; n_bits -= 8, bits >>= 8)
        *at++ = (unsigned char)bits;
    return at;
}

static unsigned width_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

unsigned strobe_parquet_width(uint32_t max)
{
    return max ? width_of(max) : 1;
}

static unsigned char *put_piece(unsigned char *at, const uint64_t *rest, unsigned width)
{
    uint32_t narrow[PIECE];
    if (width <= SMALL_WIDTH) {
        for (unsigned i = 0; i < PIECE; i++)
            narrow[i] = (uint32_t)rest[i];
        return put_narrow(at, narrow, PIECE / EIGHT, width);
    }
    for (unsigned i = 0; i < PIECE; i += EIGHT)
        at = put_eight(at, rest + i, width);
    return at;
}

/* How differences are written. Tight (unit 1): each piece as wide as its largest takes. As symbols (4 or 8): widths are whole half bytes, and
 * `least` is the same for all blocks, so that a difference is the same half byte or byte wherever it stands. That is longer, but a packer
 * that codes bytes by how often they occur makes less of it than of bits it can't see through. */
struct manner {
    unsigned unit;
    int64_t least; /* or less, where a difference is */
};

/* What differences are like is seen by the first few. */
enum { SAMPLE = 4096 };

static struct manner choose_manner(const int64_t *values, uint32_t n)
{
    static const struct manner manners[] = {{4, 0}, {4, -8}, {8, -128}, {1, INT64_MAX}};
    static const unsigned least_fits[] = {15, 15, 12, 0}; /* of 16 pieces */
    unsigned fits[4] = {0}, n_pieces = 0, n_bits = 0, best = 0;
    for (uint32_t at = 1; at + PIECE <= n && at < SAMPLE; at += PIECE, n_pieces++) {
        int64_t least = INT64_MAX, most = INT64_MIN;
        for (unsigned i = 0; i < PIECE; i++) {
            int64_t delta = (int64_t)((uint64_t)values[at + i] - (uint64_t)values[at + i - 1]);
            least = delta < least ? delta : least;
            most = delta > most ? delta : most;
        }
        n_bits += width_of((uint64_t)most - (uint64_t)least);
        for (unsigned i = 0; i < 3; i++)
            fits[i] +=
                least >= manners[i].least && most < manners[i].least + (1 << manners[i].unit);
    }
    if (n_bits < 2 * n_pieces || !n_pieces)
        return manners[3]; /* hardly anything is left to gain */
    while (fits[best] * 16 < least_fits[best] * n_pieces)
        best++;
    return manners[best];
}

/* One block: the least difference, the widths of the pieces, their bits. */
static void put_block(struct strobe_out *out, uint64_t *deltas, unsigned n, int64_t least,
                      unsigned unit)
{
    unsigned char widths[PIECES];
    for (unsigned i = 0; i < n; i++)
        deltas[i] -= (uint64_t)least;
    if (n < BLOCK)
        memset(deltas + n, 0, (BLOCK - n) * sizeof *deltas);
    for (unsigned piece = 0; piece < PIECES; piece++) {
        uint64_t all = 0;
        for (unsigned i = 0; i < PIECE; i++)
            all |= deltas[piece * PIECE + i];
        widths[piece] = (unsigned char)((width_of(all) + unit - 1) & ~(unit - 1));
    }
    strobe_thrift_varint(out, strobe_thrift_zigzag(least));
    strobe_out_bytes(out, (const char *)widths, PIECES);
    char *room = strobe_out_need(out, BLOCK * 8 + SPARE);
    if (!room)
        return;
    unsigned char *at = (unsigned char *)room;
    for (unsigned piece = 0; piece < PIECES; piece++)
        at = put_piece(at, deltas + piece * PIECE, widths[piece]);
    out->len += (size_t)((char *)at - room);
}

void strobe_parquet_delta(struct strobe_out *out, const int64_t *values, uint32_t n, int is_packed)
{
    const struct manner tight = {1, INT64_MAX},
                        manner = is_packed ? choose_manner(values, n) : tight;
    strobe_thrift_varint(out, BLOCK);
    strobe_thrift_varint(out, PIECES);
    strobe_thrift_varint(out, n);
    strobe_thrift_varint(out, strobe_thrift_zigzag(n ? values[0] : 0));
    for (uint32_t at = 1; at < n; at += BLOCK) {
        uint64_t deltas[BLOCK];
        unsigned count = n - at < BLOCK ? n - at : BLOCK;
        uint64_t all = 0;
        for (unsigned i = 0; i < count; i++) {
            deltas[i] = (uint64_t)values[at + i] - (uint64_t)values[at + i - 1];
            all |= deltas[i] - (uint64_t)manner.least;
        }
        int64_t least = manner.least;
        for (unsigned i = 0; (int64_t)all < 0 && i < count; i++) /* some are less */
            least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
        put_block(out, deltas, count, least, manner.unit);
    }
}

void strobe_parquet_run(struct strobe_out *out, uint32_t code, uint32_t n, unsigned width)
{
    strobe_thrift_varint(out, (uint64_t)n << 1);
    for (unsigned i = 0; i < (width + 7) / 8; i++)
        strobe_out_char(out, (char)(code >> 8 * i));
}

void strobe_parquet_hybrid(struct strobe_out *out, const uint32_t *codes, uint32_t n,
                           unsigned width)
{
    uint32_t same = 0;
    while (same < n && codes[same] == codes[0])
        same++;
    if (same == n) {
        strobe_parquet_run(out, n ? codes[0] : 0, n, width);
        return;
    }
    uint64_t n_groups = ((uint64_t)n + 7) / 8;
    strobe_thrift_varint(out, n_groups << 1 | 1);
    char *room = strobe_out_need(out, n_groups * width + SPARE);
    if (!room)
        return;
    unsigned char *at = (unsigned char *)room;
    uint32_t n_whole = width <= SMALL_WIDTH ? n / EIGHT : 0;
    if (n_whole)
        at = put_narrow(at, codes, n_whole, width);
    for (uint32_t i = n_whole * EIGHT; i < n; i += EIGHT) {
        uint64_t values[EIGHT] = {0};
        for (uint32_t k = 0; k < EIGHT && i + k < n; k++)
            values[k] = codes[i + k];
        at = put_eight(at, values, width);
    }
    out->len += (size_t)((char *)at - room);
}
