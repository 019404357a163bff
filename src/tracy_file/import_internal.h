/* import_internal.h - what the files of the import share. Inside src/tracy_file only.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_IMPORT_INTERNAL_H
#define STROBE_TRACY_FILE_IMPORT_INTERNAL_H

#include "build/build.h"
#include "query/texts.h"
#include "tracy_file/content.h"
#include "tracy_file/import.h"

/* A run of a fiber on a thread. */
struct fiber_run {
    uint64_t fiber; /* its thread id in the file */
    int64_t start, end;
    uint64_t carrier;
};

struct held_message {
    struct strobe_tracy_message message;
    uint8_t is_told;
};

struct memory_event {
    int64_t time;
    uint64_t order;
    uint64_t address, size;
    uint32_t callstack;
    uint16_t thread;
    uint8_t is_free;
};

struct foreign {
    uint64_t tid;
    struct strobe_tracy_text process, thread;
    uint8_t is_told;
};

struct import {
    struct strobe_tracy_content content;
    struct strobe_tracy_import *out;             /* borrowed */
    const struct strobe_tracy_import_taps *taps; /* borrowed; NULL: none */
    struct strobe_build_store *store;            /* owned */
    struct strobe_build *build;                  /* owned */
    uint64_t main_tid;                           /* whose track takes what has no thread */

    /* from the first walk */
    uint64_t *stack_frames; /* owned: of all call stacks */
    size_t n_stack_frames, stack_frames_room;
    uint64_t *stack_at; /* owned: n_stacks + 1 offsets */
    size_t n_stacks, stack_at_room;
    struct fiber_run *runs; /* owned: by fiber and start */
    size_t n_runs, runs_room;
    uint64_t *fibers; /* owned: thread ids */
    size_t n_fibers, fibers_room;
    int64_t init_end, joined; /* of the main frames: 2nd mark, 3rd on demand */
    uint64_t n_start_marks;   /* marks of the main frames that no client sent */

    /* while walking */
    uint64_t *loc_ids;                /* owned: 65536 */
    struct strobe_build_track *track; /* of the thread that is read */
    uint64_t tid;
    int is_fiber;
    size_t run, run_end; /* runs of the fiber that is read */
    int in_run;
    struct held_message *messages; /* owned: by id */
    size_t n_messages, messages_room;
    int messages_sorted;
    uint64_t frame_name; /* string id */
    int frame_is_main, frame_is_continuous;
    uint64_t n_main_frames;
    int32_t *image_frame; /* owned: frame of an image + 1 */
    int64_t *image_time;  /* owned */
    size_t image_frame_room, image_time_room, n_images;
    uint64_t n_sections;
    struct strobe_build_track *gpu_track;
    uint64_t n_contexts, gpu_tid, gpu_thread, n_queries, *query_of; /* owned: 65536 */
    int64_t gpu_last;
    uint64_t plot, pool;
    struct memory_event *memory; /* owned: of the pool that is read */
    size_t n_memory, memory_room;
    struct foreign *foreign; /* owned */
    size_t n_foreign, foreign_room;
    struct strobe_idmap switch_ids; /* (thread, hash of time and stack) of samples at switches */
    uint32_t *n_of_switch;          /* owned: so many that were not met again */
    uint32_t n_of_switch_room;
};

static inline uint64_t strobe_tracy_tick(int64_t time)
{
    return STROBE_TRACY_IMPORT_BASE + (uint64_t)time;
}

/* An address of a call stack. Those of a kernel have lost their two upper bits in a file; the uppermost is set where it is none
 * but a number that stands for a script's frame. */
static inline uint64_t strobe_tracy_address(uint64_t frame)
{
    return frame >> 62 ? frame : frame | (frame & 3ull << 60) << 2;
}

/* The trace's id of a location of the file. */
uint64_t strobe_tracy_import_loc(struct import *import, int16_t loc);
/* The track of a thread of the file; its name is told at the first use. NULL: too many. */
struct strobe_build_track *strobe_tracy_import_track(struct import *import, uint64_t tid,
                                                     int64_t time);
/* A call stack goes before the event that it belongs to. */
void strobe_tracy_import_stack(struct import *import, struct strobe_build_track *track,
                               int64_t time, uint32_t stack);

/* import_events.c: what is neither zone nor thread. */
void strobe_tracy_import_set_events(struct strobe_tracy_visitor *visitor);
enum strobe_err strobe_tracy_import_finish(struct import *import);

#endif
