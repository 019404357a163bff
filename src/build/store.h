/* store.h - what build.c and build_events.c share: the process, and what they need of the store.
 * Inside src/build only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_STORE_H
#define STROBE_BUILD_STORE_H

#include "base/map.h"
#include "build/block.h"
#include "build/build.h"

struct strobe_build_track {
    struct strobe_track track;
    uint64_t tid;
    uint64_t id;                      /* number in the process, from 1 */
    uint64_t pos;                     /* events so far: a "word" of such a track is one event */
    uint64_t n_over;                  /* innermost open zones that were refused */
    uint64_t n_skip;                  /* events that the file has already: resume.c */
    uint64_t lost[STROBE_LOSS_COUNT]; /* so far, by cause */
    uint64_t *skip_lost; /* owned: of those, how many the file has already; NULL: none */
};

enum {
    STROBE_BUILD_CACHE_FIRST = 16,
    STROBE_BUILD_CACHE_MOST =
        4096, /* contents remembered per process, of locations and of strings */
    STROBE_BUILD_N_GPU = 256,
};

/* Contents by hash, each in the one place that it may have; larger where many miss it. */
struct strobe_build_cache {
    struct strobe_build_cached {
        uint64_t hash;
        uint64_t id;
    } * rows; /* owned: n_rows */
    uint32_t n_rows, n_missed;
};

struct strobe_build_fiber {
    uint64_t id;
    uint64_t *locs; /* owned: cap entries, depth of them in use */
    uint32_t depth, cap;
    uint64_t n_over; /* open zones that were refused */
};

struct strobe_build {
    struct strobe_build_store *store; /* borrowed: outlives the build */
    uint32_t proc;
    uint32_t n_notes;
    uint64_t last_loc, last_string, last_track;
    uint64_t unknown_loc;              /* of zones whose begin was not seen; 0: not needed yet */
    struct strobe_map tracks;          /* by tid: struct strobe_build_track *, owned */
    struct strobe_build_track **gpu;   /* owned: STROBE_BUILD_N_GPU; NULL: none yet */
    struct strobe_build_fiber *fibers; /* owned */
    uint32_t n_fibers, cap_fibers;
    int64_t n_charged; /* bytes of the budget */
    struct strobe_build_cache locs, strings;
    uint64_t lost[STROBE_LOSS_COUNT], skip_lost[STROBE_LOSS_COUNT]; /* of no track, as in a track */
    strobe_build_ask *ask; /* what the file has already: resume.c; NULL: nothing */
    void *ask_context;     /* borrowed: for ask */
};

/* Whether the next event of the track is in the file already; if so it counts as made. */
static inline bool strobe_build_is_skipped(struct strobe_build_track *track)
{
    if (!track->n_skip)
        return false;
    track->n_skip--;
    return true;
}

/* A track of a process that is gone on with: leave out what the file has of it. False: it has nothing. */
bool strobe_build_resume_track(struct strobe_build *build, struct strobe_build_track *track);
/* How many of `count` losses the file lacks. */
uint64_t strobe_build_resume_loss(struct strobe_build *build, struct strobe_build_track *track,
                                  uint32_t cause, uint64_t count);

/* Letters of every kind, by number. */
extern const char *const strobe_build_letters[STROBE_FACT_COUNT];

/* An empty process, charged to the store. */
enum strobe_err strobe_build_make(struct strobe_build_store *store, struct strobe_build **out);

/* Take bytes of the process's budget, or false. */
bool strobe_build_charge(struct strobe_build *build, int64_t n_bytes);

/* The encoder with a part of `track` open and room for an event. */
struct strobe_encoder *strobe_build_store_part(struct strobe_build_store *store, uint32_t proc,
                                               struct strobe_build_track *track);
/* The same if its part has an event and room for one more, which is never in another part; else NULL.
 */
struct strobe_encoder *strobe_build_store_same_part(struct strobe_build_store *store,
                                                    const struct strobe_build_track *track);
void strobe_build_store_end_part(struct strobe_build_store *store);

/* Records under construction, written before the block that may need them. */
struct strobe_records *strobe_build_store_records(struct strobe_build_store *store);
/* STROBE_SIDE_BYTES / 4 bytes for the fields of one event. */
uint8_t *strobe_build_store_scratch(struct strobe_build_store *store);

uint32_t strobe_build_store_new_proc(struct strobe_build_store *store);
void strobe_build_store_count_thread(struct strobe_build_store *store);

#endif
