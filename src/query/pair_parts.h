/* pair_parts.h - what the files of pair.h share.
 *
 *   pair.c         reads the trace, pairs, sorts, hands rows out in their order
 *   pair_spans.c   spans by their ids (pair_spans.h)
 *   pair_blocks.c  parts into blocks, and the list of them
 *   pair_levels.c  cells of a track, level by level
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PAIR_PARTS_H
#define STROBE_QUERY_PAIR_PARTS_H

#include "file/file_write.h"
#include "file/lod.h"
#include "file/paired.h"
#include "query/trace.h"

/* Blocks of one type. */
struct strobe_pair_blocks {
    struct strobe_paired_bytes bytes; /* of the next one */
    uint32_t n_items;
    uint64_t *offsets; /* owned: of those that were put */
    uint32_t n, room;
};

/* Parts of one list of a track; offset is the number of the block until the end. */
struct strobe_pair_list {
    struct strobe_paired_part *parts; /* owned */
    uint32_t n, room;
};

/* Rows of a part under construction. */
struct strobe_pair_rows {
    struct strobe_paired_row *rows; /* owned: STROBE_PAIRED_PART */
    uint32_t n;
    uint64_t n_before, latest;
    struct strobe_paired_note
        *notes; /* owned; texts at their offset in `texts` until the part is put */
    uint32_t n_notes, notes_room;
    char *texts; /* owned */
    size_t n_texts, texts_room;
    struct strobe_pair_list list;
};

struct strobe_pair_levels; /* cells of the track under construction */

struct strobe_pair_out {
    struct strobe_file_writer *writer; /* borrowed */
    struct strobe_trace *trace;        /* borrowed */
    struct strobe_paired_list list;
    struct strobe_pair_blocks blocks[2]; /* rows, cells */
    struct strobe_pair_rows rows[2];     /* that ended, open */
    struct strobe_pair_levels *levels;   /* owned */
    uint32_t track;                      /* under construction; UINT32_MAX: none */
};

/* ---- pair_blocks.c ---- */

enum strobe_err strobe_pair_out_open(struct strobe_pair_out *out);
void strobe_pair_out_free(struct strobe_pair_out *out);

/* A row of out->track, in their order. */
enum strobe_err strobe_pair_put_row(struct strobe_pair_out *out,
                                    const struct strobe_paired_row *row,
                                    const struct strobe_paired_note *note);

/* The track's last row was put. */
enum strobe_err strobe_pair_end_track(struct strobe_pair_out *out);

/* Cells of out->track. */
enum strobe_err strobe_pair_put_cells(struct strobe_pair_out *out, uint32_t shift,
                                      const struct strobe_paired_cell *cells, uint32_t n,
                                      struct strobe_pair_list *list);

/* Append a list's parts to those of the trace; where they begin there. NOMEM. */
enum strobe_err strobe_pair_keep_parts(struct strobe_pair_out *out, struct strobe_pair_list *list,
                                       uint32_t *first, uint32_t *n);

/* The last blocks, and the list behind them. */
enum strobe_err strobe_pair_out_finish(struct strobe_pair_out *out);

/* ---- pair_levels.c ---- */

/* What is known of a track before its rows come. */
struct strobe_pair_sums {
    uint64_t n_ended;
    uint64_t first, last; /* ticks of those that ended */
    double busy;          /* their ticks */
};

struct strobe_pair_levels *strobe_pair_levels_new(void);
void strobe_pair_levels_free(struct strobe_pair_levels *levels); /* NULL is allowed */

/* Begin a track. */
enum strobe_err strobe_pair_levels_start(struct strobe_pair_levels *levels,
                                         const struct strobe_pair_sums *sums);

/* A row that ended, by begin. `loc`: strobe_table_loc + 1. */
enum strobe_err strobe_pair_levels_add(struct strobe_pair_levels *levels,
                                       struct strobe_pair_out *out,
                                       const struct strobe_paired_row *row, uint64_t loc);

/* The last cells; the levels are those of the track in out->list then. */
enum strobe_err strobe_pair_levels_end(struct strobe_pair_levels *levels,
                                       struct strobe_pair_out *out);

#endif
