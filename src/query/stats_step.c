/* stats_step.c - see stats_step.h.  SPDX-License-Identifier: MIT */
#include "query/stats_step.h"

enum { HEAD_EVENTS = 1024 }; /* so many events are as much work as a head */

struct stepping {
    struct strobe_stats *stats;                 /* borrowed */
    const struct strobe_stats_options *options; /* borrowed */
    struct strobe_replay replay;
};

/* A part without summary is replayed; strobe_view_glance has another room than the head has. */
static enum strobe_err step_part(struct stepping *stepping, struct strobe_view *view,
                                 uint32_t block, const struct strobe_part *part, uint32_t number)
{
    struct strobe_trace *trace = view->trace;
    uint32_t thread = strobe_view_thread(view, part->proc, part->track);
    if (thread == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    uint32_t process = trace->threads[thread].process;
    if (strobe_stats_leaves_out(stepping->options, process, thread))
        return STROBE_OK;
    if (part->summary)
        return strobe_stats_add_summary(stepping->stats, stepping->options, part, process);
    const struct strobe_events *whole = part->n_events ? strobe_view_glance(view, block) : NULL;
    if (!whole || number >= whole->n_parts)
        return part->n_events ? STROBE_ERR_CORRUPT : STROBE_OK;
    part = &whole->parts[number];
    stepping->stats->n_decoded_parts++;
    enum strobe_err err =
        strobe_replay_part(whole, part, &trace->schema, 0, NULL, &stepping->replay);
    err = strobe_stats_add_zones(stepping->stats, &stepping->replay, part, process, err);
    return err ? err : strobe_stats_take_nested(stepping->stats, part, process);
}

/* 1: a fiber runs in the block. The masks of LOD blocks tell; the events of those that none covers. */
static int block_has_fibers(struct strobe_view *view, uint32_t block)
{
    uint64_t kinds = strobe_view_block(view, block).kinds;
    if (kinds != ~0ull)
        return kinds >> STROBE_KIND_FIBER_ENTER & 1;
    const struct strobe_events *whole = strobe_view_glance(view, block);
    for (uint32_t i = 0; whole && i < whole->n_parts; i++)
        if (strobe_stats_runs_fibers(whole, &whole->parts[i]))
            return 1;
    return 0;
}

/* The replayed zones that begin in the range. */
static void keep_in_range(const struct strobe_stats_options *options, struct strobe_replay *replay)
{
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < replay->n_zones; i++)
        if (replay->zones[i].begin >= options->tick_min &&
            replay->zones[i].begin <= options->tick_max)
            replay->zones[n_kept++] = replay->zones[i];
    replay->n_zones = n_kept;
}

/* A block that lies across an end of the range: all of it is replayed. */
static enum strobe_err step_across(struct stepping *stepping, struct strobe_view *view,
                                   uint32_t block, int *has_fibers)
{
    struct strobe_trace *trace = view->trace;
    const struct strobe_events *whole = strobe_view_glance(view, block);
    for (uint32_t i = 0; whole && i < whole->n_parts; i++) {
        const struct strobe_part *part = &whole->parts[i];
        uint32_t thread = strobe_view_thread(view, part->proc, part->track);
        if (thread == STROBE_IDMAP_NONE)
            return STROBE_ERR_NOMEM;
        *has_fibers |= strobe_stats_runs_fibers(whole, part);
        uint32_t process = trace->threads[thread].process;
        if (strobe_stats_leaves_out(stepping->options, process, thread))
            continue;
        stepping->stats->n_decoded_parts++;
        enum strobe_err err = strobe_replay_part(whole, part, &trace->schema, STROBE_REPLAY_NESTED,
                                                 NULL, &stepping->replay);
        stepping->stats->lacks_inclusive |= !part->knows_nested;
        keep_in_range(stepping->options, &stepping->replay);
        err = strobe_stats_add_zones(stepping->stats, &stepping->replay, part, process, err);
        if (err == STROBE_ERR_NOMEM)
            return err;
        stepping->stats->n_bad_parts += err != STROBE_OK;
    }
    return STROBE_OK;
}

/* A block whose zones are all wanted. */
static enum strobe_err step_inside(struct stepping *stepping, struct strobe_view *view,
                                   uint32_t block, int *has_fibers)
{
    *has_fibers = block_has_fibers(view, block);
    const struct strobe_events *events = strobe_view_head(view, block);
    for (uint32_t i = 0; events && !*has_fibers && i < events->n_parts; i++) {
        if (events->parts[i].fiber)
            *has_fibers = 1;
        enum strobe_err err = step_part(stepping, view, block, &events->parts[i], i);
        if (err == STROBE_ERR_NOMEM)
            return err;
        stepping->stats->n_bad_parts += err != STROBE_OK;
    }
    return STROBE_OK;
}

/* One block; what it cost, in heads. The ticks of a block are those of its events and of the begins of the zones that end in it. */
static uint32_t step_block(struct stepping *stepping, struct strobe_view *view, uint32_t number,
                           int *has_fibers, enum strobe_err *err)
{
    const struct strobe_stats_options *options = stepping->options;
    struct strobe_view_block block = strobe_view_block(view, number);
    if (!options->by_tick ||
        (block.tick_min >= options->tick_min && block.tick_max <= options->tick_max)) {
        *err = step_inside(stepping, view, number, has_fibers);
        return 1;
    }
    *err = step_across(stepping, view, number, has_fibers);
    return 1 + block.n_events / HEAD_EVENTS;
}

int strobe_stats_may_step(const struct strobe_trace *trace,
                          const struct strobe_stats_options *options)
{
    struct strobe_stats_options whole = *options;
    whole.by_tick = 0;
    return strobe_stats_is_summed(trace, &whole);
}

enum strobe_err strobe_stats_step(struct strobe_view *view,
                                  const struct strobe_stats_options *options, uint32_t most,
                                  struct strobe_stats_steps *steps)
{
    struct stepping stepping = {&steps->stats, options, {0}};
    enum strobe_err err = STROBE_OK;
    steps->stats.trace = view->trace;
    for (uint32_t n = 0; n < most && !err && !steps->has_fibers;) {
        uint32_t block = options->by_tick ? strobe_view_next(view, steps->next_block,
                                                             options->tick_min, options->tick_max)
                                          : steps->next_block;
        if (block >= view->n_blocks) {
            steps->next_block = view->n_blocks;
            break;
        }
        steps->next_block = block + 1;
        n += step_block(&stepping, view, block, &steps->has_fibers, &err);
    }
    steps->stats.has_inclusive = !steps->stats.lacks_inclusive;
    for (uint32_t i = 0; !err && i < steps->stats.n_rows; i++)
        strobe_stats_set_percentiles(&steps->stats.rows[i]);
    strobe_replay_free(&stepping.replay);
    return err;
}
