/* block.h - the block under construction, the records that it needs, and their way to the file.
 *
 *   begin_part ─► events into block->enc ─► end_part      … as many parts as fit
 *   records into block->records                           names of what the events use
 *   put_records ─► put_events ─► losses                   in this order: a name is never behind its use
 *
 * A block that can't be written is counted as lost, part by part, and forgotten: a full disk or a full
 * file never stops who feeds it. Records that can't be written are kept for another try, up to
 * STROBE_BUILD_RECORDS_KEPT bytes; beyond that they are counted as UNNAMED. While records wait, no
 * block is written: its events would have no names.
 *
 * Memory: that of an encoder, the records, a note per part, the losses; none of it grows with the
 * trace. A block belongs to one thread; only strobe_build_block_lose is for all.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_BLOCK_H
#define STROBE_BUILD_BLOCK_H

#include "build/losses.h"

enum {
    STROBE_BUILD_RECORDS_BYTES = 1 << 20, /* records are to be put when they are as large */
    STROBE_BUILD_RECORDS_KEPT = 4 * STROBE_BUILD_RECORDS_BYTES,
};

/* A part of the block, so that a lost one can be counted track by track. */
struct strobe_build_part {
    uint32_t proc;
    uint64_t track;
    uint64_t n_events, first_tick, last_tick;
};

struct strobe_build_block {
    struct strobe_file_writer *writer;         /* borrowed: takes events */
    struct strobe_file_writer *records_writer; /* borrowed: takes records; usually the same */
    uint64_t max_file_bytes;                   /* 0: no limit */
    /* Takes over what is lost, so that one place keeps all. NULL: `losses` does */
    void (*lose)(void *arg, uint32_t proc, uint64_t track, uint32_t cause, uint64_t count,
                 uint64_t first_tick, uint64_t last_tick);
    void *arg; /* borrowed: of lose */
    struct strobe_encoder enc;
    struct strobe_records records;
    struct strobe_build_losses losses;
    struct strobe_build_part *parts; /* owned: of the block */
    uint32_t n_parts, room_parts;
    bool file_full;   /* max_file_bytes was reached; no events go to this file any more */
    bool size_limit;  /* likewise for good: the file is as long as RLIMIT_FSIZE lets it be */
    bool disk_failed; /* something could not be written: */
    enum strobe_err disk_err; /* why, the first time */
};

/* `records_writer` may be NULL: the same as `writer`. What must not fail later is allocated here. */
enum strobe_err strobe_build_block_init(struct strobe_build_block *block,
                                        struct strobe_file_writer *writer,
                                        struct strobe_file_writer *records_writer,
                                        uint64_t max_file_bytes);
/* Frees; nothing is written. Zeroes are allowed. */
void strobe_build_block_free(struct strobe_build_block *block);

/* Events go to another file from now on, records too if they shared the old one. The block is empty. */
void strobe_build_block_set_writer(struct strobe_build_block *block,
                                   struct strobe_file_writer *writer);

/* Count events as lost: in the file's totals and in the list of losses. Any thread. */
void strobe_build_block_lose(struct strobe_build_block *block, uint32_t proc, uint64_t track,
                             uint32_t cause, uint64_t count, uint64_t first_tick,
                             uint64_t last_tick);

/* Close the part that is open in block->enc (strobe_encode_begin_part), which covers `n_words` words.
 * The number of its events. */
uint64_t strobe_build_block_end_part(struct strobe_build_block *block, uint64_t n_words);

/* Write the records. `tick`: now, for the case that they are lost. */
enum strobe_err strobe_build_block_put_records(struct strobe_build_block *block, uint64_t tick);

/* Write the events, after their records; no part is open. The block is empty afterwards in any case.
 * An error: they are counted as lost. A full file is no error, nor is the process's file size limit. */
enum strobe_err strobe_build_block_put_events(struct strobe_build_block *block);

/* Write the losses that are kept here. */
enum strobe_err strobe_build_block_put_losses(struct strobe_build_block *block);

#endif
