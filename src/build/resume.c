/* resume.c - going on with a process of a file: where it stands, for who stores that, and the way back from there.
 *
 *   file    e e e e e e e│                    the source was killed after its last block, before it stored where it stands
 *   saved   e e e│                            events of a track that it remembers
 *   again        e e e e e e e e e …          made once more; those up to the file's end are left out
 *
 * Losses likewise, by cause; they may also be behind in the file: who keeps them wrote them later.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "build/store.h"

void strobe_build_save(const struct strobe_build *build, struct strobe_build_saved *out)
{
    *out = (struct strobe_build_saved){.proc = build->proc,
                                       .n_notes = build->n_notes,
                                       .last_loc = build->last_loc,
                                       .last_string = build->last_string,
                                       .last_track = build->last_track};
    memcpy(out->lost, build->lost, sizeof out->lost);
}

void strobe_build_track_save(const struct strobe_build_track *track,
                             struct strobe_build_saved_track *out)
{
    STROBE_ASSERT(!track->n_skip || track->pos >= track->n_skip);
    *out =
        (struct strobe_build_saved_track){track->tid, track->id, track->pos - track->n_skip, {0}};
    memcpy(out->lost, track->lost, sizeof out->lost);
}

uint64_t strobe_build_resume_loss(struct strobe_build *build, struct strobe_build_track *track,
                                  uint32_t cause, uint64_t count)
{
    STROBE_ASSERT(cause < STROBE_LOSS_COUNT);
    uint64_t *lost = track ? track->lost : build->lost;
    uint64_t *skip = track ? track->skip_lost : build->skip_lost;
    lost[cause] += count;
    uint64_t known = !skip ? 0 : skip[cause] < count ? skip[cause] : count;
    if (known)
        skip[cause] -= known;
    STROBE_ASSERT(known <= count);
    return count - known;
}

/* What was lost by the point that was saved, against what the file says: the rest is put there, or left out later. */
static void settle_losses(struct strobe_build *build, const struct strobe_build_track *track,
                          const uint64_t *saved, const uint64_t *in_file, uint64_t *skip)
{
    for (uint32_t cause = 0; cause < STROBE_LOSS_COUNT; cause++) {
        uint64_t there = in_file ? in_file[cause] : 0;
        uint64_t tick = track ? track->track.last_tick : 0;
        if (saved[cause] > there)
            strobe_build_store_lose(build->store, build->proc, track ? track->id : 0, cause,
                                    saved[cause] - there, tick, tick);
        else if (skip)
            skip[cause] = there - saved[cause];
    }
}

enum strobe_err strobe_build_resume(struct strobe_build_store *store,
                                    const struct strobe_build_saved *saved, strobe_build_ask *ask,
                                    void *context, struct strobe_build **out)
{
    enum strobe_err err = strobe_build_make(store, out);
    if (err)
        return err;
    struct strobe_build *build = *out;
    build->proc = saved->proc;
    build->n_notes = saved->n_notes;
    build->last_loc = saved->last_loc;
    build->last_string = saved->last_string;
    build->last_track = saved->last_track;
    build->ask = ask;
    build->ask_context = context;
    memcpy(build->lost, saved->lost, sizeof build->lost);
    struct strobe_build_known known;
    bool is_known = ask(context, build->proc, 0, &known);
    settle_losses(build, NULL, saved->lost, is_known ? known.lost : NULL, build->skip_lost);
    return STROBE_OK;
}

/* The zones that were open in the file. Over the budget none is: their ends have no begins then. */
static void copy_stack(struct strobe_build *build, struct strobe_build_track *track,
                       const struct strobe_track *state)
{
    size_t n_bytes = state->depth * sizeof *state->stack;
    track->track.last_tick = state->last_tick;
    track->track.fiber = state->fiber;
    if (!state->depth || !strobe_build_charge(build, (int64_t)n_bytes))
        return;
    track->track.stack = malloc(n_bytes);
    if (!track->track.stack)
        return;
    memcpy(track->track.stack, state->stack, n_bytes);
    track->track.depth = track->track.cap = state->depth;
}

bool strobe_build_resume_track(struct strobe_build *build, struct strobe_build_track *track)
{
    struct strobe_build_known known;
    bool is_known = build->ask(build->ask_context, build->proc, track->id, &known);
    STROBE_ASSERT(track->id && !track->n_skip && !track->track.depth);
    if (is_known) {
        copy_stack(build, track, &known.state);
        track->n_skip = known.pos > track->pos ? known.pos - track->pos : 0;
        track->pos += track->n_skip;
        track->skip_lost = calloc(STROBE_LOSS_COUNT, sizeof *track->skip_lost);
    }
    settle_losses(build, track, track->lost, is_known ? known.lost : NULL, track->skip_lost);
    return is_known;
}

struct strobe_build_track *strobe_build_resume_thread(struct strobe_build *build,
                                                      const struct strobe_build_saved_track *saved)
{
    uint64_t *place;
    bool is_charged = strobe_build_charge(build, sizeof(struct strobe_build_track) + 64);
    if (!is_charged || strobe_map_add(&build->tracks, saved->tid, &place) || *place)
        return NULL;
    struct strobe_build_track *track = calloc(1, sizeof *track);
    if (!track) {
        strobe_map_remove(&build->tracks, saved->tid);
        return NULL;
    }
    *place = (uintptr_t)track;
    track->tid = saved->tid;
    track->id = saved->id;
    track->pos = saved->pos;
    memcpy(track->lost, saved->lost, sizeof track->lost);
    if (build->last_track < track->id)
        build->last_track = track->id;
    strobe_build_resume_track(build, track);
    return track;
}
