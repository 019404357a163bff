/* lod.h - merged levels of detail: what the parts of some hundred EVENTS blocks look like from afar,
 * per track and depth, as one LOD block (docs/file-format.md, "LOD").
 *
 * Writing: the encoder logs what each part looks like (struct strobe_lod_log); when the block with the parts
 * is in the file, the writer adds the log to its sums (struct strobe_lod), and every so often writes them out.
 * All memory is bounded: where there is too much, buckets get wider, and tracks beyond a limit make that
 * there is no LOD block, which is never wrong: readers fall back to the parts.
 * Reading: bounded like everything in file/decode.h.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_LOD_H
#define STROBE_FILE_LOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/varint.h"
#include "file/file_read.h"
#include "wire/file_layout.h"

enum {
    STROBE_LOD_MAX_TRACKS = 8192,   /* more: no LOD block */
    STROBE_LOD_MAX_CELLS = 1 << 16, /* of all lanes; more: wider buckets */
    STROBE_LOD_LANE_CELLS = 1024,   /* of one lane, at most */
    STROBE_LOD_COARSE_CELLS = 64,   /* of one lane in the head */
    STROBE_LOD_PART_CELLS = 16,     /* of one depth of a part in the log, for each 8,192 events */
    STROBE_LOD_OPEN = 64,           /* open zones that are listed for a track */
    STROBE_LOD_MAX_MASKS = 1024,
};

/* A bucket of one depth of one track. */
struct strobe_lod_cell {
    uint64_t bucket; /* tick >> shift */
    uint64_t busy;
    uint64_t longest;
    uint64_t loc; /* id + 1 of the longest zone's location, 0: none */
    uint64_t end; /* tick at which the longest ended; 0: not known */
    uint32_t count;
    uint32_t depth;
};

/* 1: the end of a bucket's longest zone is stored: at this level or a coarser one the zone is drawn by itself. */
static inline int strobe_lod_has_end(uint64_t longest, uint32_t shift)
{
    return longest >> shift != 0;
}

/* The longest zone of a bucket. */
struct strobe_lod_longest {
    uint64_t ticks, loc, end; /* as in a cell */
};

/* 1: the first of two is the longest of both buckets together, whatever the order in which buckets are added. */
static inline int strobe_lod_is_longest(struct strobe_lod_longest a, struct strobe_lod_longest b)
{
    if (!a.loc || !b.loc || a.ticks != b.ticks)
        return a.loc && (!b.loc || a.ticks > b.ticks);
    return a.loc == b.loc ? a.end && (!b.end || a.end < b.end) : a.loc < b.loc;
}

/* Add a bucket to one that holds it. */
static inline void strobe_lod_merge(struct strobe_lod_cell *into,
                                    const struct strobe_lod_cell *from)
{
    struct strobe_lod_longest a = {from->longest, from->loc, from->end};
    struct strobe_lod_longest b = {into->longest, into->loc, into->end};
    into->count += from->count;
    into->busy += from->busy;
    if (!strobe_lod_is_longest(a, b))
        return;
    into->longest = a.ticks;
    into->loc = a.loc;
    into->end = a.end;
}

struct strobe_lod_open {
    uint64_t loc;
    uint64_t begin;
};

/* One part as the encoder saw it. Its cells and open zones follow those of the parts before. */
struct strobe_lod_part {
    uint64_t proc, track;
    uint64_t gap_from; /* last tick of the track's part before; first_tick where there is none */
    uint64_t first_tick, last_tick;
    uint32_t n_events, n_zones;
    uint32_t start_depth, low, end_depth;
    uint32_t shift;
    uint32_t n_cells, n_open;
};

/* The parts of the block under construction. Zero-initialise; free once. */
struct strobe_lod_log {
    struct strobe_lod_part *parts; /* owned */
    struct strobe_lod_cell *cells; /* owned */
    struct strobe_lod_open *open;  /* owned */
    uint32_t n_parts, parts_room, n_cells, cells_room, n_open, open_room;
    bool failed; /* no memory: this block is in no LOD block */
};

/* Room for one more part with so many cells and open zones; false: none, and `failed` is set. */
bool strobe_lod_log_reserve(struct strobe_lod_log *log, uint32_t n_cells, uint32_t n_open);
void strobe_lod_log_reset(struct strobe_lod_log *log);
void strobe_lod_log_free(struct strobe_lod_log *log);

struct strobe_lod; /* the sums of a writer */

struct strobe_lod *strobe_lod_new(void); /* NULL without memory */
void strobe_lod_free(struct strobe_lod *lod);

/* Add a block that was written at `offset`; `mask` has a bit per kind of event in it. */
void strobe_lod_add(struct strobe_lod *lod, const struct strobe_lod_log *log, uint64_t offset,
                    uint64_t mask);

/* A block that can't be added was written: until the next reset there is no LOD. */
void strobe_lod_spoil(struct strobe_lod *lod);

/* Forget all: the next block that is added is the first. */
void strobe_lod_reset(struct strobe_lod *lod);

/* Head and body of the LOD block (with ends: STROBE_LOD_ENDS), uncompressed. The caller frees both. STROBE_ERR_END: nothing to write. */
enum strobe_err strobe_lod_write(struct strobe_lod *lod, uint8_t **head, size_t *n_head,
                                 uint8_t **body, size_t *n_body, uint32_t *n_tracks);

/* ---- reading ---- */

/* What an LOD block says of one track. */
struct strobe_lod_track {
    uint64_t proc, track;
    uint64_t n_parts, n_events, n_zones;
    uint64_t first_tick, last_tick;
    uint64_t low;        /* least depth that was reached */
    uint64_t depth;      /* open zones at its end */
    uint32_t fine_shift; /* of its fine lanes */
    uint32_t n_open;
    struct strobe_lod_open open[STROBE_LOD_OPEN]; /* the outermost of them */
};

struct strobe_lod_mask {
    uint64_t offset; /* of a block */
    uint64_t kinds;
};

/* A loaded LOD block being read, track by track. Zero-initialise; free once. */
struct strobe_lod_reader {
    struct strobe_bytes head, body;
    struct strobe_bytes head_ends, body_ends;  /* of blocks without: empty */
    uint64_t first_offset, n_blocks, n_tracks; /* of the block */
    uint64_t n_left;                           /* tracks still to come */
    struct strobe_lod_mask *masks;             /* owned: blocks with other events than zones */
    uint32_t n_masks;
    uint8_t *raw; /* owned: the body, decompressed */
    size_t raw_room;
    void *zstd; /* owned: ZSTD_DCtx */
    int has_fine;
};

/* The lanes of one track: a number of depths, each with its cells. */
struct strobe_lod_lanes {
    struct strobe_bytes in;   /* the first depth */
    struct strobe_bytes ends; /* of the longest zones of the cells that have one */
    uint32_t shift, n_depths;
    uint64_t base;
};

/* Begin. A block loaded with strobe_file_load_head has the coarse lanes only. */
enum strobe_err strobe_lod_start(struct strobe_lod_reader *reader,
                                 const struct strobe_block *block);

/* The next track, with its coarse and (where loaded) fine lanes; STROBE_ERR_END after the last. */
enum strobe_err strobe_lod_next(struct strobe_lod_reader *reader, struct strobe_lod_track *track,
                                struct strobe_lod_lanes *coarse, struct strobe_lod_lanes *fine);

/* The cells of all depths, in order; STROBE_ERR_END after the last. `state` starts as zeros. */
struct strobe_lod_at {
    uint32_t depth, n_left, started;
    uint64_t bucket;
};
enum strobe_err strobe_lod_cell(struct strobe_lod_lanes *lanes, struct strobe_lod_at *state,
                                struct strobe_lod_cell *out);

void strobe_lod_reader_free(struct strobe_lod_reader *reader);

struct strobe_part;

/* The level of detail of one part's summary. `loc` of its cells is an index in the part's list + 1. */
struct strobe_part_lod {
    struct strobe_bytes in, ends;
    uint32_t shift, n_depths;
    uint64_t base;
    struct strobe_lod_at at;
};

/* Begin. STROBE_ERR_NOTFOUND: the part has no summary. */
enum strobe_err strobe_part_lod_start(const struct strobe_part *part, struct strobe_part_lod *lod);
/* The next bucket of the next depth; STROBE_ERR_END after the last. */
enum strobe_err strobe_part_lod_next(struct strobe_part_lod *lod, uint32_t *depth,
                                     struct strobe_lod_cell *out);

#endif
