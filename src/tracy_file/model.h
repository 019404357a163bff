/* model.h - a trace as a .tracy file has it: tables of strings, locations, threads; rows of
 * everything else in spools. Shared by gather.c, which fills it, and write.c.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_MODEL_H
#define STROBE_TRACY_FILE_MODEL_H

#include "tracy_file/code.h"
#include "tracy_file/lanes.h"
#include "tracy_file/rare.h"
#include "tracy_file/spool.h"
#include "tracy_file/stacks.h"
#include "tracy_file/switches.h"
#include "tracy_file/write.h"
#include "query/client_facts.h"
#include "query/gpu.h"
#include "query/memory.h"
#include "query/walk.h"

enum {
    STROBE_TRACY_MAX_STATIC = 32765,  /* ids 1..32765; 32766 is for what does not fit */
    STROBE_TRACY_MAX_PAYLOAD = 32767, /* ids -1..-32767 */
    STROBE_TRACY_MAX_STRINGS = (1 << 24) - 2,
    STROBE_TRACY_MAX_LOCK_THREADS = 64,
    STROBE_TRACY_ENDLESS = -1,
};
#define STROBE_TRACY_NO_STRING UINT32_MAX

/* A zone; children are a list in the order of their begins. */
struct strobe_tracy_zone_row {
    int64_t begin, end;
    uint32_t extra;
    uint32_t first, next; /* rows + 1, 0: none */
    uint32_t n_children;
    int16_t loc;
};

struct strobe_tracy_list {
    uint32_t first, last, n;
};

struct strobe_tracy_model_thread {
    uint64_t tid;
    uint32_t process;
    uint32_t name; /* string, STROBE_TRACY_NO_STRING: none */
    uint8_t is_fiber;
    uint32_t lane; /* of a device's processor: its context + 1; 0: it is none */
    uint64_t n_zones;
    struct strobe_tracy_list *pending; /* owned: by depth, zones whose parent has not ended */
    uint32_t pending_room;
    uint64_t first_message, n_messages; /* in model->message_ids */
    uint64_t n_kernel_samples;
    int32_t group;
    uint64_t fiber; /* that runs on it, while gathering; 0: none */
    int64_t fiber_since;
};

struct strobe_tracy_model_loc {
    uint32_t name, function, file, line, color;
};

struct strobe_tracy_message_row {
    int64_t time;
    uint32_t text, thread, color;
    uint32_t order;
    uint32_t stack;
    uint8_t source, severity; /* source 1: Tracy itself */
};

struct strobe_tracy_point_row {
    int64_t time;
    double value;
    uint64_t order;
    uint32_t plot;
};

struct strobe_tracy_model_plot {
    uint32_t name;
    uint8_t type, format, step, fill;
    uint32_t color;
};

struct strobe_tracy_frame_row {
    int64_t start, end;
    uint32_t set;
    int32_t image;
};

struct strobe_tracy_model_frames {
    uint32_t name; /* STROBE_TRACY_NO_STRING: the main set */
    uint8_t is_continuous;
    uint64_t open; /* row + 1 of the span that has not ended */
};

struct strobe_tracy_lock_row {
    int64_t time;
    uint64_t order;
    uint32_t lock;
    uint32_t thread;
    int16_t loc;
    uint8_t type;
};

struct strobe_tracy_model_lock {
    uint32_t process;
    uint64_t id;
    int64_t gone;
};

struct strobe_tracy_image_row {
    uint64_t at; /* in model->image_bytes */
    uint32_t n_bytes;
    uint16_t width, height;
    uint8_t flip;
    uint64_t frame;
};

struct strobe_tracy_extra_row {
    uint32_t text, name; /* strings, or STROBE_TRACY_NO_STRING */
    uint32_t color, stack;
};

/* A zone of a GPU context. */
struct strobe_tracy_gpu_row {
    int64_t cpu_begin, cpu_end; /* end: STROBE_TRACY_ENDLESS: none */
    int64_t gpu_begin, gpu_end; /* as in query/gpu.h */
    uint64_t tid;
    uint32_t loc;    /* of the trace; as soon as it has a name, that of the file, of 16 bits */
    uint32_t parent; /* row, STROBE_IDMAP_NONE: none */
    uint32_t n_children;
    uint32_t stack;
};

struct strobe_tracy_gpu_note {
    uint32_t row;
    uint64_t note;
    double value;
};

/* Zeroes; strobe_tracy_gpu_free. */
struct strobe_tracy_gpu {
    struct strobe_spool rows; /* by context, in the order of their begins */
    uint64_t *firsts;         /* owned: row with which a context begins, and one for the end */
    uint32_t n_firsts, firsts_room;
    struct strobe_tracy_gpu_note *notes; /* owned: in the order of their events */
    uint32_t n_notes, notes_room;
    uint64_t n_parents; /* rows with children */
};

struct strobe_tracy_model {
    uint64_t n_pending;         /* rows of all threads' pending */
    uint64_t tid_step;          /* that made the last id of a thread one of a kind */
    struct strobe_trace *trace; /* borrowed */
    enum strobe_tracy_layout layout;
    struct strobe_tracy_folds *folds;
    struct strobe_client_facts facts;
    struct strobe_tracy_gpu gpu;
    struct strobe_memory memory;
    int64_t last_time, joined;
    uint32_t first_process;

    struct strobe_texts texts;
    struct strobe_idmap strings; /* text id to index */

    struct strobe_tracy_model_loc *locs; /* owned */
    uint32_t n_locs, locs_room;
    struct strobe_idmap loc_keys; /* (name | line, rest) */
    uint32_t *loc_of_key;         /* owned */
    uint32_t loc_of_key_room;
    uint32_t *loc_of; /* owned: by index in trace->locs, loc + 1 */
    uint32_t loc_of_room;
    uint32_t unknown_loc; /* + 1 */
    uint64_t *zones_of;   /* owned: 65536, zones per id as uint16_t */
    uint64_t *gpu_zones_of;

    struct strobe_idmap extras;                /* a hash of what is in the row */
    struct strobe_tracy_extra_row *extra_rows; /* owned: by index in extras */
    uint32_t extra_rows_room;

    struct strobe_tracy_model_thread *threads; /* owned */
    uint32_t threads_room;
    struct strobe_idmap thread_ids; /* (0, thread) and (process | fibers, id) */
    struct strobe_idmap tids;
    uint64_t n_fibers;

    struct strobe_spool zones, opens, messages, message_ids, points, frames, lock_events, images,
        image_bytes, app_infos;
    uint64_t n_parents; /* zones with children, but for lanes' */

    struct strobe_idmap plot_ids; /* (process, id) */
    struct strobe_tracy_model_plot *plots;
    uint32_t plots_room;
    struct strobe_idmap set_ids; /* (process * 2 + continuous, id) */
    struct strobe_tracy_model_frames *sets;
    uint32_t sets_room;
    struct strobe_idmap lock_ids; /* (process, id) */
    struct strobe_tracy_model_lock *locks;
    uint32_t locks_room;
    struct strobe_tracy_stacks stacks;
    struct strobe_tracy_switches switches;
    struct strobe_tracy_code code;
    struct strobe_tracy_rare rare;
    struct strobe_tracy_lanes lanes;
};

/* Fill a zeroed model; free it after a failure too. */
enum strobe_err strobe_tracy_gather(struct strobe_trace *trace, const char *folder,
                                    struct strobe_tracy_folds *folds,
                                    struct strobe_tracy_model *model);
void strobe_tracy_model_free(struct strobe_tracy_model *model);

/* The GPU zones of the model's trace; stacks were gathered. In bounded memory but for notes. */
enum strobe_err strobe_tracy_gpu_gather(struct strobe_tracy_model *model, const char *folder);
void strobe_tracy_gpu_free(struct strobe_tracy_gpu *gpu);

/* Index of a string; STROBE_TRACY_NO_STRING: there are too many. */
uint32_t strobe_tracy_model_string(struct strobe_tracy_model *model, const char *text, size_t n);
/* With the name of its process in front, for processes other than the first. */
uint32_t strobe_tracy_model_name(struct strobe_tracy_model *model, uint32_t process,
                                 const char *text, size_t n);
/* The 16-bit id of a location; where it does not fit, *name is the string that it should have. */
int16_t strobe_tracy_model_loc(struct strobe_tracy_model *model, uint32_t loc, uint32_t *name);
/* Index of a zone's extra; 0: none, or no memory. */
uint32_t strobe_tracy_model_extra(struct strobe_tracy_model *model,
                                  const struct strobe_tracy_extra_row *extra);
/* Index of a thread, of a fiber; STROBE_IDMAP_NONE without memory. */
uint32_t strobe_tracy_model_thread(struct strobe_tracy_model *model, uint32_t thread);
uint32_t strobe_tracy_model_fiber(struct strobe_tracy_model *model, uint32_t process,
                                  uint64_t fiber);
/* The 16-bit number of a thread of the model. */
uint16_t strobe_tracy_model_number(struct strobe_tracy_model *model, uint32_t thread);

/* A time of the file: never negative. */
static inline int64_t strobe_tracy_when(struct strobe_tracy_model *model, uint32_t process,
                                        uint64_t tick, int64_t own)
{
    int64_t time = strobe_client_ns(&model->facts, process, tick, own);
    return time < 0 ? 0 : time;
}

#endif
