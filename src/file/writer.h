/* writer.h - what the files of a trace's writer share. Inside src/file only.
 *
 *   file_pack.c    bytes into the block under construction, compressed where that pays
 *   file_write.c   blocks in their order, and the index that lists them
 *   file_ends.c    both ends of a file: head and footer; going on with a file
 *
 * A block is made in three steps, under the writer's lock: strobe_writer_start, bytes appended to `out`,
 * strobe_writer_finish_block, which hashes, writes and lists it. SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_WRITER_H
#define STROBE_FILE_WRITER_H

#include <pthread.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/file_write.h"

enum { STROBE_WRITER_LEVELS = 8, STROBE_WRITER_CAUSES = STROBE_LOSS_COUNT };

struct strobe_writer_level {
    struct strobe_index_entry *entries; /* owned: not yet listed by an INDEX of this level */
    uint64_t n, cap;
};

struct strobe_file_writer {
    pthread_mutex_t
        lock; /* held by each public call: the buffers below serve one block at a time */
    int fd;
    int folder;   /* the file's own, until its name is on the disk; -1: it is, or can't be opened */
    uint64_t end; /* where the next block goes: a multiple of 8 */
    uint64_t seq;
    uint64_t prev_index;
    bool relists;   /* blocks that older INDEX blocks list are listed anew: recovery */
    uint64_t limit; /* how long the file may get (RLIMIT_FSIZE) */
    uint64_t ledger_seq;
    bool ledger_is_synced;    /* the slot that was written last: the other one may be overwritten */
    struct ZSTD_CCtx_s *zstd; /* owned */
    uint8_t *out;             /* owned: the block under construction */
    size_t n_out, cap_out;
    bool is_old;                          /* of version 1: columns are stored as that knows them */
    uint8_t modes[STROBE_N_STREAMS];      /* how the columns are compressed */
    uint32_t n_streams[STROBE_N_STREAMS]; /* compressed so far */
    struct strobe_writer_level levels[STROBE_WRITER_LEVELS];
    struct strobe_lod *lod; /* owned: of the blocks since the last LOD block */
    struct strobe_file_totals totals;
};

/* ---- file_pack.c ---- */

/* The context of the compression, its tables made now so that they can't fail later. NULL without memory. */
struct ZSTD_CCtx_s *strobe_writer_new_zstd(void);

/* Room for `n` more bytes in the block under construction. False without memory. */
static inline bool strobe_writer_room(struct strobe_file_writer *w, size_t n)
{
    STROBE_ASSERT(w->n_out <= w->cap_out);
    return !STROBE_ARRAY_RESERVE(w->out, w->cap_out, (uint64_t)w->n_out + n);
}

/* Append bytes, compressed to one bounded frame where that is shorter. *n_stored: how many were appended; `n` of them: they are
 * as they were. The bytes may lie in the block's own buffer, behind ZSTD_compressBound(n) bytes of room. False without memory. */
bool strobe_writer_pack(struct strobe_file_writer *w, const uint8_t *bytes, size_t n,
                        size_t *n_stored);

/* Append a stream of events in the cheapest of its three forms. False without memory. */
bool strobe_writer_put_stream(struct strobe_file_writer *w, int stream, const uint8_t *bytes,
                              size_t n, size_t *n_stored);

/* Append the column `hi` of `n` events as what follows from `lo` (STROBE_EVENTS_HI_BY_LO). False: it does not, or there is no memory, and nothing was
 * appended. */
bool strobe_writer_put_hi_by_lo(struct strobe_file_writer *w, const uint8_t *lo, const uint8_t *hi,
                                size_t n, size_t *n_stored);

/* Write all bytes at a place of the file. */
enum strobe_err strobe_writer_write(const struct strobe_file_writer *w, const void *bytes, size_t n,
                                    uint64_t at);

/* ---- file_write.c ---- */

/* Begin a block: there is room for its header. */
static inline void strobe_writer_start(struct strobe_file_writer *w)
{
    w->n_out = sizeof(struct strobe_block_head);
    STROBE_ASSERT(w->n_out <= w->cap_out && w->end % 8 == 0);
}

/* Write the block that was made, its head filled but for magic, numbers and hashes, and list it. */
enum strobe_err strobe_writer_finish_block(struct strobe_file_writer *w,
                                           struct strobe_block_head head, uint64_t n_events,
                                           uint64_t n_zones);

/* List a block. */
enum strobe_err strobe_writer_add_entry(struct strobe_file_writer *w, uint32_t level,
                                        const struct strobe_index_entry *entry);

/* Write what the blocks since the last LOD block look like from afar. Where that can't be done there is none:
 * readers do without. */
void strobe_writer_put_lod(struct strobe_file_writer *w);

#endif
