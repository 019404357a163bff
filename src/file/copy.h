/* copy.h - blocks of one trace put into another: the one way in which a part of a trace becomes a trace of its own, and in
 * which traces become one. A range that is exported or saved (query/cut.h), traces that are merged (query/merge.h) and the
 * flight recorder's spool go through here.
 *
 * Blocks are copied as they are: times, ids and bytes stay. Where processes are left out, blocks that they share with others
 * are made anew of the parts that stay, and records of those that stay; what was left out is nowhere in the result. Where processes get other numbers, the heads
 * of blocks are made anew; the events are copied as they are. Damaged
 * blocks are left out, as every reader does with them. INDEX and FOOTER blocks are never copied: the writer makes an index
 * of its own; LOD blocks where that is asked for, with the new places of their blocks.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_COPY_H
#define STROBE_FILE_COPY_H

#include "file/file_read.h"
#include "file/file_write.h"
#include "file/retime.h"

/* All zero: every block of EVENTS and RECORDS. */
struct strobe_copy_options {
    uint8_t type; /* STROBE_BLOCK_EVENTS or _RECORDS: only these; 0: both */
    int by_tick;  /* of EVENTS only blocks that may hold something in [tick_min, tick_max] */
    uint64_t tick_min, tick_max;
    int (*keeps)(void *context, uint64_t proc); /* 0: leave the process out; NULL: all stay */
    int (*keeps_track)(void *context, uint64_t proc,
                       uint64_t track); /* with `keeps`: 0: leave the thread out; NULL: all stay */
    void *context;                      /* borrowed: of the calls */
    uint64_t
        proc_shift; /* added to the number of each process: traces that are put together; not with `keeps` */
    int no_clock; /* leave out what the trace says of its clock, its host and its session's files */
    const struct strobe_retime
        *retime; /* borrowed: events and records get ticks of another clock; NULL: they stay */
    int (*has_own_clock)(
        void *context,
        uint64_t proc); /* with `retime`: a process that has CLOCK_MAP records; they are left out */
    int lod;    /* LOD blocks, too: of all blocks, as they are or with other numbers of processes */
    int counts; /* count events by kind in the writer's totals, for a file that gets a footer; with by_tick, leave out parts
                 * outside of the range too, so that no track has gaps */
};

/* Copy blocks to the end of `to`, in the order of the file. NOMEM, errors of reading, errors of
 * strobe_file_put_block; what was copied before stays. One thread has the reader and the writer to itself. */
enum strobe_err strobe_copy_blocks(struct strobe_file *from,
                                   const struct strobe_copy_options *options,
                                   struct strobe_file_writer *to);

#endif
