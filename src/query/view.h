/* view.h - a trace as a viewer looks at it: which blocks there are, which LOD blocks cover them, and a bounded
 * store of decoded blocks. Grows with a file that is being written.
 * One thread per view. Blocks have numbers in file order. Those that an LOD block covers are listed when they are asked
 * for, so that what is held of a growing file is a line per LOD block, STROBE_VIEW_PAGES such lists, the newest blocks,
 * and at most STROBE_VIEW_STORED decoded ones.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_VIEW_H
#define STROBE_QUERY_VIEW_H

#include "file/lod.h"
#include "query/trace.h"

enum {
    STROBE_VIEW_PAGES = 8,       /* lists of blocks under an LOD block that are kept */
    STROBE_VIEW_STORED = 64,     /* decoded blocks that are kept, */
    STROBE_VIEW_BYTES = 4 << 20, /* and their memory; the newest are kept in any case: */
    STROBE_VIEW_NEWEST = 4,
    STROBE_VIEW_TABLES = 1024,   /* tables of parts that are kept, */
    STROBE_VIEW_PARTS = 1 << 16, /* and their parts */
    STROBE_VIEW_NOTED = 64,      /* blocks that no LOD block covers, looked at for depths */
    STROBE_VIEW_NO_SUMMARY = 255,
};

#define STROBE_VIEW_NO_BLOCK UINT32_MAX

/* An EVENTS block. */
struct strobe_view_block {
    uint64_t offset;
    uint64_t tick_min, tick_max;
    uint64_t kinds; /* bit per kind of its events other than zones; all ones: not known */
    uint32_t n_events;
};

/* An LOD block and the blocks [first, end) that it covers. */
struct strobe_view_lod {
    uint64_t offset;
    uint64_t first_offset;       /* of its first block */
    uint64_t tick_min, tick_max; /* of its blocks, as are the next two */
    uint64_t kinds;
    uint64_t n_events;
    uint32_t first, end;
    uint32_t n_loose; /* blocks before it that no LOD block covers */
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
    struct strobe_trace *trace; /* borrowed */
    uint32_t n_blocks;
    uint64_t n_events;               /* of all blocks */
    struct strobe_view_block *loose; /* owned: blocks that no LOD block covers, in file order */
    uint32_t n_loose, loose_room;
    struct strobe_view_lod *lods; /* owned: in file order */
    uint32_t n_lods, lods_room;
    struct strobe_view_page *pages; /* owned: STROBE_VIEW_PAGES */
    struct strobe_block page_head;  /* of the LOD block whose page is made */
    struct strobe_lod_reader page_reader;
    uint64_t next_offset;           /* blocks before are known */
    uint64_t tick_first, tick_last; /* of all events; first > last: none */
    uint32_t *depths;               /* owned: by thread, depths that are known without events */
    uint32_t depths_room;
    uint32_t n_noted;                     /* blocks before were looked at for them */
    uint64_t clock;                       /* of the stores below */
    struct strobe_view_stored *stored;    /* owned: STROBE_VIEW_STORED, and one for glances */
    void *zstd[2];                        /* owned: decoders of whichever block is decoded */
    struct strobe_view_table *tables;     /* owned: STROBE_VIEW_TABLES, and one that is not kept */
    uint64_t table_parts;                 /* that they have room for */
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

/* ---- the list of blocks (view_blocks.c) ---- */

/* Take the blocks that the file has from view->next_offset on. */
enum strobe_err strobe_view_list(struct strobe_view *view);
void strobe_view_unlist(struct strobe_view *view); /* frees the list */

/* A block by its number. One that can't be listed again is out of every range of ticks. */
struct strobe_view_block strobe_view_block(struct strobe_view *view, uint32_t block);

/* The LOD block that covers a block: its index + 1; 0: none. */
uint32_t strobe_view_lod_of(const struct strobe_view *view, uint32_t block);

/* The first block at or after `from`, or the last one before `from`, that may have something in the ticks lo to hi;
 * STROBE_VIEW_NO_BLOCK: none. */
uint32_t strobe_view_next(struct strobe_view *view, uint32_t from, uint64_t lo, uint64_t hi);
uint32_t strobe_view_prev(struct strobe_view *view, uint32_t from, uint64_t lo, uint64_t hi);

/* ---- what is in them ---- */

/* A block with its parts, and with its streams if wanted; valid until STROBE_VIEW_NEWEST others were asked
 * for. NULL: damaged or no memory. */
const struct strobe_events *strobe_view_events(struct strobe_view *view, uint32_t block);

/* The same for those who look at each block once: valid until the next call, and no other is given up for it. */
const struct strobe_events *strobe_view_glance(struct strobe_view *view, uint32_t block);

/* The head of a block, decoded into view->scratch_events; valid until the next call. */
const struct strobe_events *strobe_view_head(struct strobe_view *view, uint32_t block);

/* The parts of a block that have events, in short; valid until the next call. */
const struct strobe_view_part *strobe_view_parts(struct strobe_view *view, uint32_t block,
                                                 uint32_t *n);

/* Begin to read an LOD block (view->lod_reader); whole 0: only its coarse lanes. */
enum strobe_err strobe_view_lod(struct strobe_view *view, uint32_t lod, int whole);

/* The index of a thread by its numbers in the file, made if need be. */
uint32_t strobe_view_thread(struct strobe_view *view, uint64_t proc, uint64_t track);

/* A thread has so many depths at least. */
void strobe_view_note_depth(struct strobe_view *view, uint32_t thread, uint64_t n_depths);

/* Depths of a thread, as far as they are known without reading events; at least 1. */
uint32_t strobe_view_depths(const struct strobe_view *view, uint32_t thread);

#endif
