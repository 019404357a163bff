/* file_read.h - reading a trace file: open, totals, blocks in file order.
 * Trusts no byte: every length is bounded, every hash is checked before a block is handed out, what
 * is damaged is skipped and counted. Its bytes come from a source (source.h). Memory and time of opening do not depend on the file's size where it was closed in good
 * order. Events and records inside a block: file/decode.h. Format: docs/file-format.md. A reader
 * and its iterators belong to one thread; loading blocks (strobe_file_load) may be done by many
 * threads at once.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_FILE_READ_H
#define STROBE_FILE_FILE_READ_H

#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "file/source.h"
#include "wire/file_layout.h"
#include "wire/kinds.h"
#include "wire/ring_layout.h"

struct strobe_file; /* an open trace */

enum {
    STROBE_FILE_MAX_HOLES = 1024, /* holes remembered one by one; more are only counted */
    STROBE_FILE_MAX_LEVELS = 8,   /* of indices */
};

/* A run of bytes between blocks that holds none. */
struct strobe_hole {
    uint64_t offset;
    uint64_t n_bytes;
};

/* What the footer says, or zeros with has_totals 0. */
struct strobe_trace_totals {
    int has_totals;
    uint64_t n_of_kind[STROBE_KIND_COUNT]; /* a zone's begin counts as 63, its end as 0 */
    uint64_t n_lost[STROBE_LOSS_COUNT];    /* by enum strobe_loss; larger causes are in the last */
    uint64_t n_procs;
    uint64_t n_threads;
    uint64_t tick_first;
    uint64_t tick_last;
};

/* What opening finds out. Valid until the reader is closed. */
struct strobe_file_facts {
    uint32_t version;
    uint64_t created_ns; /* CLOCK_REALTIME */
    uint64_t sync_ns;
    uint8_t uuid[16];
    char session[769]; /* NUL-terminated */
    char schema[3193]; /* NUL-terminated */
    uint64_t n_bytes;  /* size of the file when opened or refreshed */
    int head_damaged;  /* 1: the file head has a wrong hash; created_ns to schema are empty */
    int closed;        /* 1: trailer and footer are there and right */
    uint64_t end; /* offset just after the last valid block and its padding: a writer that goes on
                     truncates here (a closed file: after the footer block, before the trailer) */
    uint64_t next_seq;   /* seq of the last valid block + 1 */
    uint64_t last_index; /* offset of the last INDEX block at or before the end, 0: none */
    uint64_t tail_bytes; /* bytes after `end` that are no block (a closed file: 0) */
    uint64_t n_holes;    /* found so far, by opening, iterating and loading */
    uint64_t hole_bytes;
    struct strobe_trace_totals totals;
};

/* A block's place and header. */
struct strobe_block_ref {
    uint64_t offset;
    uint64_t n_bytes; /* header and padding included */
    struct strobe_block_head head;
};

/* Which blocks an iterator gives. All zero: every EVENTS and RECORDS block. */
struct strobe_block_filter {
    uint8_t type;      /* 0: EVENTS and RECORDS */
    int by_tick;       /* 1: only blocks that may hold something in [tick_min, tick_max] */
    uint64_t tick_min; /* blocks of RECORDS are not filtered by tick */
    uint64_t tick_max;
    uint64_t offset_min; /* only blocks from this offset on */
    int with_lod;        /* 1: LOD blocks, too */
    int with_paired;     /* 1: PAIRED and PAIRED_LOD blocks, too */
    int unread; /* 1: headers are not read where an index tells what matters: offset, n_bytes,
                            type, ticks, n_items */
};

/* A loaded block. Zero-initialise before the first load; reuse it, free it once. */
struct strobe_block {
    struct strobe_block_ref ref;
    const uint8_t *head; /* borrowed from buffers: decompressed head */
    size_t n_head;
    const uint8_t *body; /* borrowed from buffers: stored body; NULL if only the head was loaded */
    size_t n_body;
    uint8_t *stored; /* owned */
    size_t stored_room;
    uint8_t *raw; /* owned */
    size_t raw_room;
    void *zstd; /* owned: ZSTD_DCtx */
};

struct strobe_block_iter; /* a walk over the blocks */

/* Open a trace. STROBE_ERR_FORMAT: not a trace; STROBE_ERR_VERSION: made by a newer Strobe;
 * STROBE_ERR_CORRUPT: its head is damaged beyond use. Close with strobe_file_close. */
enum strobe_err strobe_file_open(const char *path, struct strobe_file **out);

/* As strobe_file_open, over a file descriptor that the reader then owns (closed on failure too). */
enum strobe_err strobe_file_open_fd(int fd, struct strobe_file **out);

/* As strobe_file_open, over a source that the reader then owns (closed on failure too). */
enum strobe_err strobe_file_open_source(const struct strobe_source *source,
                                        struct strobe_file **out);

/* Single blocks here and there will be loaded: nothing is to be read ahead. */
void strobe_file_expect_jumps(struct strobe_file *file);

/* NULL is allowed. */
void strobe_file_close(struct strobe_file *file);

/* Valid until close; holes are added as they are found. */
const struct strobe_file_facts *strobe_file_facts(const struct strobe_file *file);

/* The i-th hole found so far, NULL past the last that was remembered. */
const struct strobe_hole *strobe_file_hole(const struct strobe_file *file, size_t i);

/* Look again at a file that may have grown or been closed meanwhile: facts are renewed, iterators
 * go on where they were. */
enum strobe_err strobe_file_refresh(struct strobe_file *file);

/* Walk over every block, header and payload hashes, to the end; holes and missing numbers (seq) are
 * counted in the facts. Takes as long as reading the file does: `progress` (NULL: nobody) hears of each block, in bytes. */
enum strobe_err strobe_file_check(struct strobe_file *file,
                                  void (*progress)(uint64_t done, uint64_t all));

/* The two slots of the reserved ledger: the records of the one that counts, for
 * strobe_record_walk_over (decode.h). STROBE_ERR_END: it is empty. `out` has
 * STROBE_FILE_LEDGER_SLOT bytes. */
enum strobe_err strobe_file_ledger(struct strobe_file *file, uint8_t *out, size_t *n_bytes);

/* Begin a walk in file order. The iterator must be ended before the file is closed. */
enum strobe_err strobe_file_iterate(struct strobe_file *file,
                                    const struct strobe_block_filter *filter,
                                    struct strobe_block_iter **out);

/* The next block's place. STROBE_ERR_END: no more (of a growing file: refresh, then try again).
 * Damage never ends a walk: it is skipped and counted. */
enum strobe_err strobe_file_next(struct strobe_block_iter *iter, struct strobe_block_ref *out);

/* As strobe_file_next, and loads the block whole; blocks with a wrong payload hash are holes. */
enum strobe_err strobe_file_next_block(struct strobe_block_iter *iter, struct strobe_block *block);

/* The block at an offset that a walk gave. STROBE_ERR_CORRUPT: there is none. Thread: any. */
enum strobe_err strobe_file_find(const struct strobe_file *file, uint64_t offset,
                                 struct strobe_block_ref *out);

/* Progress of a walk: the offset in the file that it has reached. */
uint64_t strobe_file_tell(const struct strobe_block_iter *iter);

void strobe_file_end_iterate(struct strobe_block_iter *iter);

/* Read a block whole and check its hashes. STROBE_ERR_CORRUPT: a hole (the caller notes it with
 * strobe_file_note_hole). Thread: any, with a block of its own. */
enum strobe_err strobe_file_load(const struct strobe_file *file, const struct strobe_block_ref *ref,
                                 struct strobe_block *block);

/* Read only the head of a block: no payload hash is checked, so what it says may be damage that
 * decoding does not notice. Thread: any, with a block of its own. */
enum strobe_err strobe_file_load_head(const struct strobe_file *file,
                                      const struct strobe_block_ref *ref,
                                      struct strobe_block *block);

/* Count a block that could not be used. */
void strobe_file_note_hole(struct strobe_file *file, const struct strobe_block_ref *ref);

void strobe_block_free(struct strobe_block *block);

#endif
