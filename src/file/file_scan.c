/* file_scan.c - finding blocks without an index: forward with resynchronisation, backward from the
 * end.
 *
 * A block stands at a multiple of 8 and has a header with a right hash. A header alone is believed
 * when something sensible (a block, a trailer, the end) stands behind the block; else its payload
 * is hashed too. Where nothing is found the next multiple of 8 is tried; what was stepped over is a
 * hole. Time is bounded: bytes hashed in vain are counted, and over a limit a header is believed.
 * SPDX-License-Identifier: MIT */
#include "file/reader.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { WINDOW_BYTES = 65536 };

int strobe_file_trailer_at(const struct strobe_file *file, uint64_t offset,
                           struct strobe_file_trailer *out)
{
    if (strobe_file_pread(file, out, sizeof *out, offset) != STROBE_OK)
        return 0;
    return out->magic == STROBE_TRAILER_MAGIC && out->self == offset &&
           XXH64(out, offsetof(struct strobe_file_trailer, hash), 0) == out->hash;
}

/* 1: a block, a trailer or the end of the file stands at `offset`. */
static int sensible_at(const struct strobe_file *file, uint64_t offset)
{
    struct strobe_block_ref ref;
    struct strobe_file_trailer trailer;
    if (offset >= file->facts.n_bytes)
        return 1;
    return strobe_file_read_ref(file, offset, &ref) == STROBE_OK ||
           strobe_file_trailer_at(file, offset, &trailer);
}

static int payload_ok(struct strobe_file *file, const struct strobe_block_ref *ref)
{
    if (file->n_rechecks > 4 * file->facts.n_bytes + (64 << 20))
        return 1;
    struct strobe_block block = {0};
    enum strobe_err err = strobe_file_load(file, ref, &block);
    strobe_block_free(&block);
    if (err)
        file->n_rechecks += ref->n_bytes;
    return err == STROBE_OK;
}

static int block_at(struct strobe_file *file, uint64_t offset, struct strobe_block_ref *out)
{
    if (strobe_file_read_ref(file, offset, out) != STROBE_OK)
        return 0;
    return sensible_at(file, offset + out->n_bytes) || payload_ok(file, out);
}

/* Where to look on from `at`, past what is known to be empty. */
static uint64_t pass_empty(const struct strobe_file *file, uint64_t at)
{
    for (uint32_t i = 0; i < file->n_empty; i++)
        if (at >= file->empty[i].from && at < file->empty[i].to)
            return file->empty[i].to;
    return at;
}

/* A file that grows may get a block there yet: only of a closed one it is remembered, where that saves something. */
static void note_empty(struct strobe_file *file, uint64_t from, uint64_t to)
{
    STROBE_ASSERT(from <= to && file->n_empty <= STROBE_FILE_MAX_EMPTY);
    if (file->facts.closed && to - from >= WINDOW_BYTES && file->n_empty < STROBE_FILE_MAX_EMPTY)
        file->empty[file->n_empty++] = (struct strobe_empty){from, to};
}

/* The first offset in [at, end) where a header with a right hash stands, else `end`. */
static uint64_t resync(struct strobe_file *file, uint64_t at, uint64_t end)
{
    uint8_t *window = malloc(WINDOW_BYTES);
    uint64_t found = end, from = at = pass_empty(file, at);
    /* the last block may be whole but for its padding */
    uint64_t stop = end < file->facts.n_bytes ? end : file->facts.n_bytes;
    size_t room = 1024; /* grows, so that many false finds stay cheap */
    for (; window && at < stop && found == end; room = room < WINDOW_BYTES ? 2 * room : room) {
        size_t n = stop - at < room ? (size_t)(stop - at) : room;
        n &= ~(size_t)7;
        if (n < 8 || strobe_file_pread(file, window, n, at) != STROBE_OK)
            break;
        for (size_t i = 0; i < n && found == end; i += 8) {
            uint32_t magic;
            struct strobe_block_ref ref;
            memcpy(&magic, window + i, sizeof magic);
            if (magic == STROBE_BLOCK_MAGIC &&
                strobe_file_read_ref(file, at + i, &ref) == STROBE_OK)
                found = at + i;
        }
        at += n;
    }
    free(window);
    STROBE_ASSERT(found <= end);
    if (found > from)
        note_empty(file, from, found < at ? found : at);
    return found;
}

enum strobe_err strobe_file_scan(struct strobe_file *file, uint64_t *at, uint64_t end,
                                 uint64_t *seq, struct strobe_block_ref *out)
{
    struct strobe_file_trailer trailer;
    uint64_t here = *at, hole_at = *at;
    while (here < end) {
        if (block_at(file, here, out)) {
            if (*seq == STROBE_SEQ_UNKNOWN ? here > hole_at : out->head.seq > *seq)
                strobe_file_add_hole(file, hole_at, here - hole_at);
            *seq = out->head.seq + 1;
            STROBE_ASSERT(out->offset == here && here >= hole_at);
            *at = here + out->n_bytes;
            return STROBE_OK;
        }
        if (here == hole_at && strobe_file_trailer_at(file, here, &trailer)) {
            here += sizeof trailer;
            *at = hole_at = here;
            continue;
        }
        here = resync(file, here + 8, end);
    }
    return STROBE_ERR_END;
}

/* The last block in the file with all hashes right, looked for from the end. */
static enum strobe_err last_block(struct strobe_file *file, struct strobe_block_ref *out)
{
    uint8_t *window = malloc(WINDOW_BYTES);
    uint64_t end = file->facts.n_bytes & ~7ull;
    enum strobe_err err = window ? STROBE_ERR_END : STROBE_ERR_NOMEM;
    while (window && end > file->first_block && err == STROBE_ERR_END) {
        uint64_t at =
            end - file->first_block < WINDOW_BYTES ? file->first_block : end - WINDOW_BYTES;
        size_t n = (size_t)(end - at);
        if (strobe_file_pread(file, window, n, at) != STROBE_OK)
            memset(window, 0, n);
        for (size_t i = n; i >= 8 && err == STROBE_ERR_END; i -= 8) {
            uint32_t magic;
            memcpy(&magic, window + i - 8, sizeof magic);
            if (magic == STROBE_BLOCK_MAGIC &&
                strobe_file_read_ref(file, at + i - 8, out) == STROBE_OK && payload_ok(file, out))
                err = STROBE_OK;
        }
        end = at;
    }
    free(window);
    return err;
}

enum strobe_err strobe_file_find_end(struct strobe_file *file)
{
    struct strobe_block_ref last;
    struct strobe_file_facts *facts = &file->facts;
    facts->end = file->first_block;
    facts->next_seq = 0;
    facts->last_index = 0;
    enum strobe_err err = last_block(file, &last);
    if (err == STROBE_OK) {
        facts->end = last.offset + last.n_bytes;
        facts->next_seq = last.head.seq + 1;
        facts->last_index =
            last.head.type == STROBE_BLOCK_INDEX ? last.offset : last.head.prev_index;
    }
    facts->tail_bytes = facts->n_bytes > facts->end ? facts->n_bytes - facts->end : 0;
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_file_check(struct strobe_file *file,
                                  void (*progress)(uint64_t done, uint64_t all))
{
    struct strobe_block block = {0};
    struct strobe_block_ref ref;
    uint64_t at = file->first_block, seq = 0;
    while (strobe_file_scan(file, &at, file->facts.end, &seq, &ref) == STROBE_OK) {
        if (strobe_file_load(file, &ref, &block) != STROBE_OK)
            strobe_file_note_hole(file, &ref);
        if (progress)
            progress(at, file->facts.end);
    }
    strobe_block_free(&block);
    return STROBE_OK;
}
