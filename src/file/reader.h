/* reader.h - what the files of the reader share. Not for other rooms.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_READER_H
#define STROBE_FILE_READER_H

#include "file/file_read.h"

enum {
    STROBE_FILE_MAX_ROOTS = 65536
}; /* entries that the footer or the chain of indices start with */

/* [from, to) of a closed file, in which no block begins: read once, however often a walk passes it. */
struct strobe_empty {
    uint64_t from, to;
};
enum { STROBE_FILE_MAX_EMPTY = 16 };

struct strobe_file {
    struct strobe_source source; /* owned */
    struct strobe_file_facts facts;
    struct strobe_empty empty[STROBE_FILE_MAX_EMPTY];
    uint32_t n_empty;
    struct strobe_hole holes[STROBE_FILE_MAX_HOLES];
    size_t n_kept_holes;
    uint64_t first_block;
    uint64_t ledger_off;
    struct strobe_index_entry *roots; /* owned: what a walk starts with, in file order */
    uint32_t n_roots;
    uint64_t scan_from;  /* blocks from here on are in no index: found by scanning */
    uint64_t scan_seq;   /* number of the block at scan_from */
    uint64_t n_rechecks; /* bytes hashed for blocks that turned out wrong, to bound the time */
};

static inline uint64_t strobe_file_pad(uint64_t n)
{
    return (n + 7) & ~7ull;
}

/* Bytes of a block in the file, header and padding included. */
static inline uint64_t strobe_block_span(const struct strobe_block_head *head)
{
    return strobe_file_pad(sizeof *head + (uint64_t)head->head_bytes + head->body_bytes);
}

/* Read exactly n bytes. STROBE_ERR_END where the file ends before. */
enum strobe_err strobe_file_pread(const struct strobe_file *file, void *out, size_t n,
                                  uint64_t offset);

/* 1: a header with a right hash and lengths within the format's bounds. */
int strobe_file_head_ok(const struct strobe_block_head *head);

/* Read the header at `offset` into `out`. STROBE_ERR_CORRUPT: there is none, or it does not fit. */
enum strobe_err strobe_file_read_ref(const struct strobe_file *file, uint64_t offset,
                                     struct strobe_block_ref *out);

/* Add a hole that was not known yet. */
void strobe_file_add_hole(struct strobe_file *file, uint64_t offset, uint64_t n_bytes);

/* The entries of an INDEX block, copied out; the caller frees them. */
enum strobe_err strobe_file_read_index(const struct strobe_file *file,
                                       const struct strobe_block_ref *ref,
                                       struct strobe_index_entry **out, uint32_t *n_out);

/* Find the roots and totals: from the trailer, else from the chain of indices, else none. */
enum strobe_err strobe_file_find_roots(struct strobe_file *file);

/* Find where the blocks of a file without trailer end: facts end, next_seq, last_index, tail_bytes.
 */
enum strobe_err strobe_file_find_end(struct strobe_file *file);

/* The first block at or after *at and before `end`; *at moves past it. *seq is the number that it
 * should have: what lies between is noted as a hole where numbers are missing, or where none is
 * known. STROBE_ERR_END: none; *at stays at the last place that might become one. */
#define STROBE_SEQ_UNKNOWN UINT64_MAX
enum strobe_err strobe_file_scan(struct strobe_file *file, uint64_t *at, uint64_t end,
                                 uint64_t *seq, struct strobe_block_ref *out);

/* 1: a trailer of its own stands at `offset`. */
int strobe_file_trailer_at(const struct strobe_file *file, uint64_t offset,
                           struct strobe_file_trailer *out);

#endif
