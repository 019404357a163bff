/* view.h - a trace as a viewer looks at it: which blocks there are, which LOD blocks cover them, and a bounded
 * store of decoded blocks. Grows with a file that is being written.
 * One thread per view. Costs 40 bytes per block of the file and at most STROBE_VIEW_STORED decoded ones.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_VIEW_H
#define STROBE_QUERY_VIEW_H

#include "file/lod.h"
#include "query/trace.h"

enum {
    STROBE_VIEW_STORED = 64,   /* decoded blocks that are kept */
    STROBE_VIEW_TABLES = 1024, /* tables of parts that are kept */
    STROBE_VIEW_NOTED = 64,    /* blocks that no LOD block covers, looked at for depths */
    STROBE_VIEW_NO_SUMMARY = 255,
};

/* An EVENTS block. */
struct strobe_view_block {
    uint64_t offset;
    uint64_t tick_min, tick_max;
    uint64_t kinds; /* bit per kind of its events other than zones; all ones: not known */
    uint32_t lod;   /* index + 1 of the LOD block that covers it, 0: none */
    uint32_t n_events;
};

/* An LOD block and the blocks [first, end) that it covers. */
struct strobe_view_lod {
    uint64_t offset;
    uint64_t tick_min, tick_max; /* of its blocks */
    uint32_t first, end;
};

/* What is needed again and again of a part. */
struct strobe_view_part {
    uint64_t first_tick, last_tick;
    uint64_t early_tick; /* no zone that ends in it begins before */
    uint32_t thread;
    uint32_t n_below;
    uint32_t depth; /* open zones at its start */
    uint32_t number;
    uint32_t n_depths; /* that its head tells of */
    uint32_t shift;    /* of its summary's level of detail; STROBE_VIEW_NO_SUMMARY: it has none */
};

struct strobe_view {
    struct strobe_trace *trace;       /* borrowed */
    struct strobe_view_block *blocks; /* owned: in file order */
    uint32_t n_blocks, blocks_room;
    struct strobe_view_lod *lods; /* owned: in file order */
    uint32_t n_lods, lods_room;
    uint64_t next_offset;           /* blocks before are known */
    uint64_t tick_first, tick_last; /* of all events; first > last: none */
    uint32_t *depths;               /* owned: by thread, depths that are known without events */
    uint32_t depths_room;
    uint32_t n_noted;                     /* blocks before were looked at for them */
    uint64_t clock;                       /* of the stores below */
    struct strobe_view_stored *stored;    /* owned: STROBE_VIEW_STORED */
    struct strobe_view_table *tables;     /* owned: STROBE_VIEW_TABLES */
    struct strobe_view_known *known_open; /* owned: zones that are open over many blocks */
    struct strobe_block scratch;          /* LOD blocks and heads */
    struct strobe_events scratch_events;
    uint32_t head_block; /* index + 1 of the block whose head they hold, 0: none */
    struct strobe_lod_reader lod_reader;
};

/* Look at an open trace, which must outlive the view. */
enum strobe_err strobe_view_open(struct strobe_trace *trace, struct strobe_view **out);
void strobe_view_close(struct strobe_view *view); /* NULL is allowed */

/* The file may have grown: take what is new, names too. *grown: something was. */
enum strobe_err strobe_view_refresh(struct strobe_view *view, int *grown);

/* A block with its parts, and with its streams if wanted; valid until STROBE_VIEW_STORED others were asked
 * for. NULL: damaged or no memory. */
const struct strobe_events *strobe_view_events(struct strobe_view *view, uint32_t block);

/* The head of a block, decoded into view->scratch_events; valid until the next call. */
const struct strobe_events *strobe_view_head(struct strobe_view *view, uint32_t block);

/* The parts of a block that have events, in short; valid until the next call. */
const struct strobe_view_part *strobe_view_parts(struct strobe_view *view, uint32_t block,
                                                 uint32_t *n);

/* Begin to read an LOD block (view->lod_reader); whole 0: only its coarse lanes. */
enum strobe_err strobe_view_lod(struct strobe_view *view, uint32_t lod, int whole);

/* The index of a thread by its numbers in the file, made if need be. */
uint32_t strobe_view_thread(struct strobe_view *view, uint64_t proc, uint64_t track);

/* Depths of a thread, as far as they are known without reading events; at least 1. */
uint32_t strobe_view_depths(const struct strobe_view *view, uint32_t thread);

#endif
