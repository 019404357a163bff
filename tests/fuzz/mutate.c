/* mutate.c - the trace is taken apart into blocks, one of them is damaged (its header, its head, a
 * stream, its records, its index), and all is put together again with right offsets and right
 * hashes. Some copies get raw damage instead, without any mending.  SPDX-License-Identifier: MIT */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/varint.h"
#include "packed.h"
#include "seeds.h"
#include "wire/file_layout.h"

enum { MAX_BLOCKS = 512, RAW_MAX = 1 << 22 };

struct piece {
    struct strobe_block_head head;
    uint64_t offset; /* in the seed */
    struct mutate_bytes stored_head, stored_body;
};

struct pieces {
    uint8_t front[STROBE_FILE_FIRST_BLOCK];
    struct piece *piece; /* owned */
    size_t n;
    int has_trailer;
    struct strobe_file_trailer trailer;
};

void mutate_append(struct mutate_bytes *to, const void *data, size_t n)
{
    if (to->n + n > to->room) {
        to->room = 2 * (to->n + n) + 64;
        to->bytes = realloc(to->bytes, to->room);
        if (!to->bytes)
            abort();
    }
    if (n)
        memcpy(to->bytes + to->n, data, n);
    to->n += n;
}

uint64_t mutate_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    return n ? mutate_random(state) % n : 0;
}

/* A number that likes edges. */
static uint64_t odd_number(uint64_t *state)
{
    static const uint64_t edges[] = {0,          1,         2,          63,        64,
                                     127,        128,       255,        256,       65535,
                                     65536,      1 << 20,   1 << 24,    INT32_MAX, UINT32_MAX,
                                     1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX};
    uint64_t pick = mutate_random(state);
    if (pick & 1)
        return edges[(pick >> 8) % (sizeof edges / sizeof edges[0])];
    return mutate_random(state) >> (pick >> 8) % 64;
}

static void replace(struct mutate_bytes *in, size_t at, size_t n_old, const void *data,
                    size_t n_new)
{
    struct mutate_bytes out = {0};
    n_old = n_old > in->n - at ? in->n - at : n_old;
    mutate_append(&out, in->bytes, at);
    mutate_append(&out, data, n_new);
    mutate_append(&out, in->bytes + at + n_old, in->n - at - n_old);
    free(in->bytes);
    *in = out;
}

static size_t varint_at(const struct mutate_bytes *in, size_t at)
{
    size_t n = 1;
    while (n < 10 && at + n < in->n && in->bytes[at + n - 1] & 0x80)
        n++;
    return n;
}

/* One small damage; with keep_size the length stays. */
static void damage(struct mutate_bytes *in, uint64_t *state, int keep_size)
{
    if (!in->n)
        return;
    size_t at = below(state, in->n), n = below(state, 16) + 1;
    uint8_t varint[STROBE_VARINT_MAX];
    size_t n_varint = (size_t)(strobe_varint_put(varint, odd_number(state)) - varint);
    switch (below(state, keep_size ? 4 : 8)) {
    case 0:
        in->bytes[at] ^= (uint8_t)(1u << below(state, 8));
        break;
    case 1:
        in->bytes[at] = (uint8_t)mutate_random(state);
        break;
    case 2:
        memset(in->bytes + at, (int)below(state, 256), n < in->n - at ? n : in->n - at);
        break;
    case 3:
        memcpy(in->bytes + at, varint, n_varint < in->n - at ? n_varint : in->n - at);
        break;
    case 4:
        replace(in, at, varint_at(in, at), varint, n_varint);
        break;
    case 5:
        replace(in, at, n, NULL, 0);
        break;
    case 6:
        replace(in, at, 0, varint, n_varint);
        break;
    default:
        in->n = at;
    }
}

static void damage_some(struct mutate_bytes *in, uint64_t *state, int keep_size)
{
    for (uint64_t n = below(state, 4) + 1; n; n--)
        damage(in, state, keep_size);
}

/* Made once: to make one takes longer than to use it. */
static ZSTD_DCtx *decoder(void)
{
    static ZSTD_DCtx *made;
    return made ? made : (made = ZSTD_createDCtx());
}

static ZSTD_CCtx *encoder(void)
{
    static ZSTD_CCtx *made;
    return made ? made : (made = ZSTD_createCCtx());
}

/* What is behind a stored stream of `raw` bytes; 0: it can't be told. */
static int unpack(const uint8_t *stored, size_t n_stored, size_t raw, struct mutate_bytes *out)
{
    if (raw > RAW_MAX)
        return 0;
    uint8_t *bytes = malloc(raw + 1);
    size_t got = raw;
    if (!raw)
        got = 0;
    else if (n_stored == raw)
        memcpy(bytes, stored, raw);
    else if (n_stored == 1)
        memset(bytes, stored[0], raw);
    else
        got = ZSTD_decompressDCtx(decoder(), bytes, raw, stored, n_stored);
    if (got == raw)
        mutate_append(out, bytes, raw);
    free(bytes);
    return got == raw;
}

/* Store bytes: compressed if that is asked for and differs in size, else as they are. */
static void pack(const struct mutate_bytes *raw, int compress, struct mutate_bytes *out)
{
    size_t room = ZSTD_compressBound(raw->n);
    uint8_t *bytes = malloc(room);
    size_t n = compress ? ZSTD_compressCCtx(encoder(), bytes, room, raw->bytes, raw->n, 1) : raw->n;
    if (compress && !ZSTD_isError(n) && n != raw->n && n != 1)
        mutate_append(out, bytes, n);
    else
        mutate_append(out, raw->bytes, raw->n);
    free(bytes);
}

static void take_apart(const struct mutate_bytes *seed, struct pieces *out)
{
    size_t at = STROBE_FILE_FIRST_BLOCK;
    memcpy(out->front, seed->bytes, sizeof out->front);
    out->piece = calloc(MAX_BLOCKS, sizeof *out->piece);
    while (at + sizeof(struct strobe_block_head) <= seed->n && out->n < MAX_BLOCKS) {
        struct piece *piece = &out->piece[out->n];
        memcpy(&piece->head, seed->bytes + at, sizeof piece->head);
        uint64_t n_payload = (uint64_t)piece->head.head_bytes + piece->head.body_bytes;
        if (piece->head.magic != STROBE_BLOCK_MAGIC ||
            n_payload > seed->n - at - sizeof piece->head)
            break;
        piece->offset = at;
        const uint8_t *payload = seed->bytes + at + sizeof piece->head;
        mutate_append(&piece->stored_head, payload, piece->head.head_bytes);
        mutate_append(&piece->stored_body, payload + piece->head.head_bytes,
                      piece->head.body_bytes);
        at +=
            (sizeof piece->head + piece->head.head_bytes + piece->head.body_bytes + 7) & ~(size_t)7;
        out->n++;
    }
    if (at + sizeof out->trailer <= seed->n) {
        memcpy(&out->trailer, seed->bytes + at, sizeof out->trailer);
        out->has_trailer = out->trailer.magic == STROBE_TRAILER_MAGIC;
    }
}

static void free_pieces(struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->n; i++) {
        free(pieces->piece[i].stored_head.bytes);
        free(pieces->piece[i].stored_body.bytes);
    }
    free(pieces->piece);
}

/* One field of the head by its place among the numbers: most of the first part's have a meaning of their own. */
static void damage_number(struct mutate_bytes *in, uint64_t *state)
{
    uint8_t varint[STROBE_VARINT_MAX];
    size_t n_varint = (size_t)(strobe_varint_put(varint, odd_number(state)) - varint), at = 0;
    for (uint64_t field = below(state, 24); field && at < in->n; field--)
        at += varint_at(in, at);
    if (at < in->n)
        replace(in, at, varint_at(in, at), varint, n_varint);
}

static void damage_stored_head(struct piece *piece, uint64_t *state)
{
    struct mutate_bytes raw = {0}, stored = {0};
    size_t n_raw = piece->head.head_raw ? piece->head.head_raw : piece->stored_head.n;
    if (!unpack(piece->stored_head.bytes, piece->stored_head.n, n_raw, &raw))
        return;
    if (below(state, 3))
        damage_some(&raw, state, (int)below(state, 2));
    else
        damage_number(&raw, state);
    pack(&raw, (int)below(state, 2), &stored);
    piece->head.head_raw = stored.n == raw.n ? 0 : (uint32_t)raw.n;
    free(piece->stored_head.bytes);
    free(raw.bytes);
    piece->stored_head = stored;
}

/* Damage one of the streams (or the records) of a body whose table of sizes has n_streams rows. */
static void damage_body(struct piece *piece, uint64_t *state, size_t n_streams)
{
    struct mutate_bytes body = {0};
    size_t n_table = 8 * n_streams, at = n_table, which = below(state, n_streams);
    uint32_t size[STROBE_N_STREAMS][2];
    if (piece->stored_body.n < n_table)
        return;
    memcpy(size, piece->stored_body.bytes, n_table);
    mutate_append(&body, size, n_table);
    for (size_t i = 0; i < n_streams; i++) {
        struct mutate_bytes raw = {0}, stored = {0};
        const uint8_t *from = piece->stored_body.bytes + at;
        if (size[i][1] > piece->stored_body.n - at)
            break;
        at += size[i][1];
        if (i != which || !unpack(from, size[i][1], size[i][0], &raw)) {
            mutate_append(&body, from, size[i][1]);
            continue;
        }
        damage_some(&raw, state, n_streams > 1 && below(state, 4));
        pack(&raw, (int)below(state, 2), &stored);
        size[i][0] = (uint32_t)raw.n;
        size[i][1] = (uint32_t)stored.n;
        mutate_append(&body, stored.bytes, stored.n);
        free(raw.bytes);
        free(stored.bytes);
    }
    if (below(state, 16) == 0)
        size[which][below(state, 2)] = (uint32_t)odd_number(state);
    memcpy(body.bytes, size, n_table);
    free(piece->stored_body.bytes);
    piece->stored_body = body;
}

static void damage_header(struct piece *piece, uint64_t *state)
{
    uint64_t value = odd_number(state);
    switch (below(state, 9)) {
    case 0:
        piece->head.type = (uint8_t)below(state, 6);
        break;
    case 1:
        piece->head.level = (uint8_t)below(state, 10);
        break;
    case 2:
        piece->head.seq = below(state, 2) ? value : piece->head.seq + below(state, 4);
        break;
    case 3:
        piece->head.head_raw = (uint32_t)value;
        break;
    case 4:
        piece->head.n_items = (uint32_t)value;
        break;
    case 5:
        piece->head.tick_min = value;
        break;
    case 6:
        piece->head.tick_max = value;
        break;
    case 7:
        piece->head.prev_index = below(state, 2) ? value : piece->head.prev_index + 8;
        break;
    default:
        piece->head.flags = (uint16_t)value;
    }
}

static void damage_piece(struct pieces *pieces, uint64_t *state)
{
    struct piece *piece = &pieces->piece[below(state, pieces->n)];
    uint64_t how = below(state, 8);
    if (how == 0)
        damage_header(piece, state);
    else if (piece->head.type == STROBE_BLOCK_EVENTS && how < 4)
        damage_stored_head(piece, state);
    else if (piece->head.type == STROBE_BLOCK_EVENTS)
        damage_body(piece, state, STROBE_N_STREAMS);
    else if (piece->head.type == STROBE_BLOCK_RECORDS)
        damage_body(piece, state, 1);
    else
        damage_some(&piece->stored_body, state, (int)below(state, 2));
}

/* File head and ledger. */
static void damage_front(struct pieces *pieces, uint64_t *state)
{
    struct mutate_bytes part = {0};
    size_t at = below(state, 2) ? 896 : 0; /* the schema, or all of the head */
    size_t n = at ? 1200 : STROBE_FILE_HEAD_BYTES - 8;
    if (below(state, 3) == 0) {
        at = STROBE_FILE_HEAD_BYTES;
        n = 256;
    }
    mutate_append(&part, pieces->front + at, n);
    damage_some(&part, state, 1);
    memcpy(pieces->front + at, part.bytes, n);
    free(part.bytes);
}

static void mend_front(uint8_t *front)
{
    uint64_t hash = XXH64(front, STROBE_FILE_HEAD_BYTES - 8, 0);
    memcpy(front + STROBE_FILE_HEAD_BYTES - 8, &hash, sizeof hash);
    for (int i = 0; i < 2; i++) {
        uint8_t *slot = front + STROBE_FILE_HEAD_BYTES + i * STROBE_FILE_LEDGER_SLOT;
        struct strobe_ledger_slot head;
        memcpy(&head, slot, sizeof head);
        if (head.n_bytes <= STROBE_FILE_LEDGER_SLOT - sizeof head)
            head.hash = XXH64(slot + sizeof head, head.n_bytes, 0);
        memcpy(slot, &head, sizeof head);
    }
}

/* The new place of what was at an offset; unknown ones stay as they are. */
static uint64_t moved(const struct pieces *pieces, const uint64_t *new_offset, uint64_t offset)
{
    for (size_t i = 0; i < pieces->n; i++)
        if (pieces->piece[i].offset == offset)
            return new_offset[i];
    return offset;
}

static void move_entries(const struct pieces *pieces, const uint64_t *new_offset, uint8_t *bytes,
                         size_t n_bytes)
{
    for (size_t at = 0; at + sizeof(struct strobe_index_entry) <= n_bytes;
         at += sizeof(struct strobe_index_entry)) {
        struct strobe_index_entry entry;
        memcpy(&entry, bytes + at, sizeof entry);
        for (size_t i = 0; i < pieces->n; i++) {
            const struct piece *piece = &pieces->piece[i];
            if (piece->offset == entry.offset)
                entry.bytes =
                    (uint32_t)(sizeof piece->head + piece->stored_head.n + piece->stored_body.n);
        }
        entry.offset = moved(pieces, new_offset, entry.offset);
        memcpy(bytes + at, &entry, sizeof entry);
    }
}

static void move_footer(const struct pieces *pieces, const uint64_t *new_offset,
                        struct mutate_bytes *body)
{
    struct strobe_bytes in = strobe_bytes_over(body->bytes, body->n);
    for (int table = 0; table < 2; table++)
        for (uint64_t n = strobe_get_varint(&in); n && !in.bad; n--) {
            strobe_get_varint(&in);
            strobe_get_varint(&in);
        }
    for (int i = 0; i < 4; i++)
        strobe_get_varint(&in);
    for (uint64_t n = strobe_get_varint(&in); n && !in.bad; n--) {
        uint64_t n_entries = strobe_get_varint(&in);
        if (n_entries > MAX_BLOCKS)
            return;
        const uint8_t *entries =
            strobe_get_bytes(&in, n_entries * sizeof(struct strobe_index_entry));
        if (entries)
            move_entries(pieces, new_offset, body->bytes + (entries - body->bytes),
                         n_entries * sizeof(struct strobe_index_entry));
    }
}

static void put_piece(struct pieces *pieces, struct piece *piece, const uint64_t *new_offset,
                      struct mutate_bytes *out)
{
    static const uint8_t zeros[8];
    if (piece->head.type == STROBE_BLOCK_INDEX)
        move_entries(pieces, new_offset, piece->stored_body.bytes, piece->stored_body.n);
    else if (piece->head.type == STROBE_BLOCK_FOOTER)
        move_footer(pieces, new_offset, &piece->stored_body);
    struct mutate_bytes payload = {0};
    mutate_append(&payload, piece->stored_head.bytes, piece->stored_head.n);
    mutate_append(&payload, piece->stored_body.bytes, piece->stored_body.n);
    piece->head.head_bytes = (uint32_t)piece->stored_head.n;
    piece->head.body_bytes = (uint32_t)piece->stored_body.n;
    piece->head.prev_index = moved(pieces, new_offset, piece->head.prev_index);
    piece->head.payload_hash = XXH64(payload.bytes, payload.n, 0);
    piece->head.header_hash =
        XXH64(&piece->head, offsetof(struct strobe_block_head, header_hash), 0);
    mutate_append(out, &piece->head, sizeof piece->head);
    mutate_append(out, payload.bytes, payload.n);
    mutate_append(out, zeros, -out->n & 7);
    free(payload.bytes);
}

static void put_together(struct pieces *pieces, uint64_t *state, struct mutate_bytes *out)
{
    uint64_t *new_offset = calloc(pieces->n + 1, sizeof *new_offset);
    uint64_t at = STROBE_FILE_FIRST_BLOCK;
    for (size_t i = 0; i < pieces->n; i++) {
        const struct piece *piece = &pieces->piece[i];
        new_offset[i] = at;
        at += (sizeof piece->head + piece->stored_head.n + piece->stored_body.n + 7) & ~7ull;
    }
    mend_front(pieces->front);
    mutate_append(out, pieces->front, sizeof pieces->front);
    for (size_t i = 0; i < pieces->n; i++)
        put_piece(pieces, &pieces->piece[i], new_offset, out);
    if (pieces->has_trailer) {
        struct strobe_file_trailer *trailer = &pieces->trailer;
        trailer->footer = moved(pieces, new_offset, trailer->footer);
        if (below(state, 64) == 0)
            trailer->footer = odd_number(state);
        trailer->self = out->n;
        trailer->hash = XXH64(trailer, offsetof(struct strobe_file_trailer, hash), 0);
        mutate_append(out, trailer, sizeof *trailer);
    }
    free(new_offset);
}

/* Damage without mending: bits, cuts, holes, and parts of another trace. */
static void damage_raw(const struct mutate_bytes *seed, const struct mutate_bytes *other,
                       uint64_t *state, struct mutate_bytes *out)
{
    mutate_append(out, seed->bytes, seed->n);
    for (uint64_t n = below(state, 4) + 1; n; n--) {
        size_t from = below(state, 8) ? STROBE_FILE_FIRST_BLOCK : 0;
        size_t at = from < out->n ? from + below(state, out->n - from) : 0;
        size_t length = below(state, 4096), there = below(state, other->n) & ~(size_t)7;
        length = length < out->n - at ? length : out->n - at;
        switch (below(state, 5)) {
        case 0:
            out->bytes[at] ^= (uint8_t)(1u << below(state, 8));
            break;
        case 1:
            memset(out->bytes + at, 0, length);
            break;
        case 2:
            out->n = at + 1;
            break;
        case 3:
            length = length < other->n - there ? length : other->n - there;
            memcpy(out->bytes + at, other->bytes + there, length);
            break;
        default:
            at &= ~(size_t)7;
            replace(out, at, 0, other->bytes + there,
                    other->n - there < 65536 ? other->n - there : 65536);
        }
    }
}

void mutate_trace(const struct mutate_bytes *seed, const struct mutate_bytes *other,
                  uint64_t *state, struct mutate_bytes *out)
{
    out->n = 0;
    if (below(state, 6) == 0) {
        damage_raw(seed, other, state, out);
        return;
    }
    struct pieces pieces = {0};
    take_apart(seed, &pieces);
    if (below(state, 12) == 0)
        damage_front(&pieces, state);
    else
        for (uint64_t n = below(state, 3) + 1; n && pieces.n; n--)
            damage_piece(&pieces, state);
    if (below(state, 8) == 0)
        pieces.has_trailer = 0;
    put_together(&pieces, state, out);
    free_pieces(&pieces);
}

static size_t give(const struct mutate_bytes *made, uint8_t *data, size_t room)
{
    size_t n = packed_make(made->bytes, made->n, data, room);
    free(made->bytes);
    return n;
}

/* One in sixteen gets any damage at all; what is no trace any more, too. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static struct mutate_bytes last; /* what came before, to splice from */
    size_t n = size;
    const uint8_t *trace = packed_open(data, &n);
    struct mutate_bytes now = {(uint8_t *)(uintptr_t)trace, n, n}, made = {0};
    uint64_t state = seed;
    if (n <= STROBE_FILE_FIRST_BLOCK || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, room);
    if (!last.n || seed % 8 == 1) {
        last.n = 0;
        mutate_append(&last, trace, n);
    }
    mutate_trace(&now, &last, &state, &made);
    return give(&made, data, room);
}
