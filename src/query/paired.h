/* paired.h - rows of zones that no track has alone, in memory or in PAIRED blocks of the file, read as they are needed.
 * One thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PAIRED_H
#define STROBE_QUERY_PAIRED_H

#include "file/lod.h"
#include "file/paired.h"
#include "query/trace.h"

/* A location of any process as one number, ordered by process, then id. */
#define STROBE_TABLE_NO_LOC (1ull << 63)
static inline uint64_t strobe_table_loc(uint32_t process, uint64_t id)
{
    return (uint64_t)process << 40 | (id & ((1ull << 40) - 1));
}
static inline uint32_t strobe_table_loc_process(uint64_t loc)
{
    return (uint32_t)(loc >> 40);
}
static inline uint64_t strobe_table_loc_id(uint64_t loc)
{
    return loc & ((1ull << 40) - 1);
}

/* A zone that is known one by one: of a track that is paired over all threads. */
struct strobe_pixel_row {
    uint64_t begin, end; /* end UINT64_MAX: open at the end of the trace */
    uint64_t loc;        /* id; of tables: strobe_table_loc */
    uint32_t depth;
    uint32_t note; /* of tables: index + 1 in their notes, 0: none */
    uint64_t self; /* of tables: ticks */
};

enum { STROBE_PAIRED_KEPT = 4 }; /* parts that stay decoded */

/* The paired tracks of a file. */
struct strobe_paired {
    struct strobe_trace *trace; /* borrowed */
    struct strobe_paired_list list;
    struct strobe_paired_body body;    /* of the block at: */
    uint64_t body_offset;              /* 0: none */
    struct strobe_paired_slot *slots;  /* owned: STROBE_PAIRED_KEPT */
    struct strobe_paired_row *decoded; /* owned: STROBE_PAIRED_PART */
    struct strobe_paired_cell *cells;  /* owned: likewise */
    uint64_t clock;
    uint64_t n_bad; /* parts that could not be read: damage */
};

/* NOTFOUND: the file has none; NOMEM. */
enum strobe_err strobe_paired_open(struct strobe_trace *trace, struct strobe_paired **out);
void strobe_paired_close(struct strobe_paired *paired); /* NULL is allowed */

/* Who takes rows as the file has them, of one part at a time; valid during the call. An error ends it. */
typedef enum strobe_err strobe_paired_take(void *context, const struct strobe_paired_track *track,
                                           const struct strobe_paired_row *rows, uint32_t n_rows,
                                           const struct strobe_paired_note *notes);

/* The rows of a track that ended, or those that are open, and began from `lo` to `hi`, in their order. CORRUPT: some can't be read; those
 * before them were handed out. */
enum strobe_err strobe_paired_each(struct strobe_paired *paired, uint32_t track, int is_open,
                                   uint64_t lo, uint64_t hi, strobe_paired_take *take,
                                   void *context);

/* Where rows are. */
struct strobe_rows_place {
    const struct strobe_pixel_row *rows; /* borrowed: in memory */
    uint32_t n;
    struct strobe_paired *paired; /* borrowed: in the file; NULL: in memory */
    uint32_t track;               /* of paired->list */
    uint8_t is_flat; /* in memory, and each that ended did so before the next one began */
};

static inline int strobe_rows_any(const struct strobe_rows_place *place)
{
    return place->rows || place->paired;
}

/* A walk over rows in their order: those that ended, by begin and depth, then those that are open, likewise. Zero-initialise all but
 * the first line. */
struct strobe_row_walk {
    const struct strobe_rows_place *place; /* borrowed */
    uint64_t lo,
        hi; /* rows that can have nothing in these ticks are left out: of the file part by part, of flat ones all */
    int is_back; /* the other way round */
    enum { STROBE_ROWS_ALL, STROBE_ROWS_ENDED, STROBE_ROWS_OPEN } only;
    uint32_t max_parts; /* of the file, 0: all; then is_cut is set and the walk is over */
    uint32_t step;      /* parts that were passed: set it to go on there */
    int is_cut;
    const struct strobe_pixel_row *rows; /* borrowed: in memory */
    uint32_t part;                       /* of the file: number in the list */
    uint32_t n, at, n_read;
    uint64_t before; /* number of its first row */
    const struct strobe_paired_note
        *note; /* of the last row, where it is in the file; NULL: none */
};

/* The next row, until any other is asked for; NULL: no more. Walks may rest, and several may go on side by side. *number (may be NULL): which one it is, ended ones first. */
const struct strobe_pixel_row *strobe_row_walk_next(struct strobe_row_walk *walk, uint32_t *number);

/* A row by its number, valid likewise, with what the program said of it where it is in the file (*note NULL: nothing).
 * NULL: it can't be read. */
const struct strobe_pixel_row *strobe_rows_get(const struct strobe_rows_place *place,
                                               uint32_t number,
                                               const struct strobe_paired_note **note);

/* The coarsest level whose shift is not above `shift`; NULL: none, take the rows. */
const struct strobe_paired_level *strobe_paired_level_for(const struct strobe_rows_place *place,
                                                          uint32_t shift);

/* Cells of a level from `lo` to `hi`, buckets of that level, in order, one by one to `take`. */
enum strobe_err strobe_paired_cells(const struct strobe_rows_place *place,
                                    const struct strobe_paired_level *level, uint64_t lo,
                                    uint64_t hi,
                                    void (*take)(void *context, const struct strobe_lod_cell *cell),
                                    void *context);

#endif
