/* paired.h - PAIRED and PAIRED_LOD blocks: zones of GPU contexts, fibers, spans and shared threads as rows, what they
 * look like from afar, and the list of both. docs/file-format.md, "PAIRED and PAIRED_LOD", is normative.
 *
 *   paired_write.c   rows, cells and lists into bytes
 *   paired_read.c    back; trusts no byte
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_PAIRED_H
#define STROBE_FILE_PAIRED_H

#include "base/err.h"
#include "base/varint.h"
#include "file/decode.h"
#include "file/file_read.h"
#include "wire/file_layout.h"

/* What the program said of a row's zone. Bits of `has`: */
enum {
    STROBE_SAID_TEXT = 1,
    STROBE_SAID_NAME = 2,
    STROBE_SAID_VALUE = 4,
    STROBE_SAID_COLOR = 8,
    STROBE_ROW_NESTED = 16, /* beside them in the file: of the row */
};
struct strobe_paired_note {
    const char *text, *name; /* borrowed */
    uint32_t n_text, n_name;
    uint64_t value;
    uint32_t color;
    uint32_t has;
};

struct strobe_paired_row {
    uint64_t begin, end; /* end UINT64_MAX: open at the end of the trace */
    uint64_t self;
    uint64_t proc; /* number of the process that its location is of */
    uint64_t loc;
    uint32_t depth;
    uint32_t note;     /* index + 1 in the part's notes, 0: none */
    uint8_t is_nested; /* at its end, one of its location was open below it */
};

struct strobe_paired_cell {
    uint64_t bucket;
    uint64_t count, busy;
    uint64_t longest, proc, loc, end; /* of the longest zone, if count is not 0 */
    uint32_t depth;
};

/* Where a part is. */
struct strobe_paired_part {
    uint64_t offset;   /* of its block */
    uint32_t at;       /* in the block's raw bytes */
    uint32_t n;        /* rows or cells */
    uint64_t first;    /* begin of the first row, or first bucket */
    uint64_t last;     /* latest end (open rows: `first`), or last bucket */
    uint64_t n_before; /* rows of its kind in the parts before; of cells 0 */
};

struct strobe_paired_level {
    uint32_t shift;
    uint32_t first_part, n_parts; /* in the list's parts */
};

struct strobe_paired_track {
    uint32_t kind; /* enum strobe_paired_kind */
    uint32_t n_depths;
    uint64_t proc, track, id, sub;
    uint64_t n_ended, n_open;
    uint32_t first_ended, n_ended_parts; /* in the list's parts, as are the next two */
    uint32_t first_open, n_open_parts;
    uint32_t first_level, n_levels; /* in the list's levels, finest first */
};

/* Zero-initialise; free once. */
struct strobe_paired_list {
    uint64_t n_left_out;
    int knows_nested; /* 0: of an older writer; is_nested of rows and the next two mean nothing */
    uint64_t n_unfinished, n_no_begin; /* of fibers and shared threads: no rows are made of these */
    struct strobe_paired_track *tracks; /* owned */
    uint32_t n_tracks, tracks_room;
    struct strobe_paired_part *parts; /* owned */
    uint32_t n_parts, parts_room;
    struct strobe_paired_level *levels; /* owned */
    uint32_t n_levels, levels_room;
};
void strobe_paired_list_free(struct strobe_paired_list *list);

/* ---- writing ---- */

/* Bytes of a block under construction. Zero-initialise; free once. */
struct strobe_paired_bytes {
    uint8_t *bytes; /* owned */
    size_t n, room;
};
void strobe_paired_bytes_free(struct strobe_paired_bytes *out);

/* What stands in front of a part. */
struct strobe_paired_head {
    uint64_t track; /* its number in the list */
    uint64_t proc;  /* of the track */
    uint32_t n;
    uint32_t shift;     /* of cells */
    uint64_t first_row; /* of rows, as is the next */
    int is_open;
};

/* Append a part. NOMEM: nothing was appended. */
enum strobe_err strobe_paired_put_rows(struct strobe_paired_bytes *out,
                                       const struct strobe_paired_head *head,
                                       const struct strobe_paired_row *rows,
                                       const struct strobe_paired_note *notes);
enum strobe_err strobe_paired_put_cells(struct strobe_paired_bytes *out,
                                        const struct strobe_paired_head *head,
                                        const struct strobe_paired_cell *cells);
enum strobe_err strobe_paired_put_list(struct strobe_paired_bytes *out,
                                       const struct strobe_paired_list *list);

/* ---- reading ---- */

/* The raw bytes of a block's body, in a buffer that is used again. Zero-initialise; free once. */
struct strobe_paired_body {
    struct strobe_block block;
    struct strobe_unpacked unpacked;
};
void strobe_paired_body_free(struct strobe_paired_body *body);

/* Load the block at an offset, which must be of this type. CORRUPT, NOMEM. */
enum strobe_err strobe_paired_load(const struct strobe_file *file, uint64_t offset,
                                   enum strobe_block_type type, struct strobe_paired_body *out);

/* A part's rows: `part->n` of them at `rows`, notes in an array that grows. Texts stay in the body. CORRUPT, NOMEM. */
struct strobe_paired_notes {
    struct strobe_paired_note *notes; /* owned */
    uint32_t n, room;
};
enum strobe_err strobe_paired_get_rows(const struct strobe_paired_body *body,
                                       const struct strobe_paired_part *part, uint64_t proc,
                                       struct strobe_paired_row *rows,
                                       struct strobe_paired_notes *notes);
enum strobe_err strobe_paired_get_cells(const struct strobe_paired_body *body,
                                        const struct strobe_paired_part *part, uint64_t proc,
                                        struct strobe_paired_cell *cells);

/* A list of its raw bytes, in a file of `n_file` bytes. NOTFOUND: of another version; CORRUPT, NOMEM. Free what was read. */
enum strobe_err strobe_paired_get_list(const uint8_t *bytes, size_t n, uint64_t n_file,
                                       struct strobe_paired_list *out);

/* The list of a trace. NOTFOUND: it has none that counts. */
enum strobe_err strobe_paired_find(struct strobe_file *file, struct strobe_paired_list *out);

#endif
