/* stats_paired.c - zones that no track has alone, added up by the rows that the trace's writer made of them (query/pair.h): neither
 * events are read for them nor is anything paired.
 *
 * Rows do not say on which thread a zone ended, and zones that are no rows are in no sum: where threads are chosen, the events are
 * read. The sums are those of a walk (query/walk.h) to the last digit.  SPDX-License-Identifier: MIT */
#include "query/paired.h"
#include "query/stats.h"

enum { NEAR = 256 }; /* locations whose rows are found at once */

struct adding {
    struct strobe_stats *stats; /* borrowed, as is the next */
    const struct strobe_stats_options *options;
    struct near {
        uint64_t proc, loc;
        uint32_t process, row; /* row + 1; 0: none */
    } near[NEAR];
};

/* 1: rows have what these options ask for. */
static int can_serve(const struct strobe_trace *trace, const struct strobe_stats_options *options)
{
    int by_thread = options->threads && (options->spans || trace->has_twins || !options->has_fiber);
    return strobe_file_facts(trace->file)->totals.has_totals && !by_thread &&
           !(options->by_tick && !options->spans && trace->has_twins);
}

struct strobe_paired *strobe_stats_paired_open(struct strobe_trace *trace,
                                               const struct strobe_stats_options *options)
{
    struct strobe_paired *paired;
    if (!can_serve(trace, options) || strobe_paired_open(trace, &paired))
        return NULL;
    if (!paired->list.n_left_out && (paired->list.knows_nested || options->spans))
        return paired;
    strobe_paired_close(paired);
    return NULL;
}

/* The row of a location; NULL without memory. */
static struct near *near_of(struct adding *adding, uint64_t proc, uint64_t loc)
{
    struct near *near = &adding->near[loc % NEAR];
    if (near->row && near->proc == proc && near->loc == loc)
        return near;
    struct strobe_trace *trace = adding->stats->trace;
    uint32_t process = strobe_trace_process(trace, proc);
    if (process == STROBE_IDMAP_NONE)
        return NULL;
    uint32_t row =
        strobe_stats_row_of(adding->stats, process, strobe_trace_loc(trace, process, loc), loc);
    *near = (struct near){proc, loc, process, row + 1};
    return row == UINT32_MAX ? NULL : near;
}

static int is_left_out(const struct strobe_stats_options *options,
                       const struct strobe_paired_track *track, uint32_t process)
{
    if (track->kind == STROBE_PAIRED_FIBER && options->has_fiber)
        return !options->has_fiber(options->context, process, track->id);
    return options->processes && process < options->n_processes && !options->processes[process];
}

static enum strobe_err take_rows(void *context, const struct strobe_paired_track *track,
                                 const struct strobe_paired_row *rows, uint32_t n_rows,
                                 const struct strobe_paired_note *notes)
{
    struct adding *adding = context;
    (void)notes;
    for (uint32_t i = 0; i < n_rows; i++) {
        const struct near *near = near_of(adding, rows[i].proc, rows[i].loc);
        if (!near)
            return STROBE_ERR_NOMEM;
        if (!is_left_out(adding->options, track, near->process) &&
            !strobe_stats_add(&adding->stats->rows[near->row - 1], rows[i].end - rows[i].begin,
                              rows[i].self, rows[i].is_nested))
            return STROBE_ERR_NOMEM;
    }
    return STROBE_OK;
}

enum strobe_err strobe_stats_add_paired(struct strobe_stats *stats,
                                        const struct strobe_stats_options *options,
                                        struct strobe_paired *paired)
{
    struct adding adding = {stats, options, {{0}}};
    uint64_t lo = options->by_tick ? options->tick_min : 0;
    uint64_t hi = options->by_tick ? options->tick_max : UINT64_MAX;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < paired->list.n_tracks && !err; i++) {
        uint32_t kind = paired->list.tracks[i].kind;
        int is_wanted = options->spans
                            ? kind == STROBE_PAIRED_SPANS
                            : kind == STROBE_PAIRED_FIBER || kind == STROBE_PAIRED_THREAD;
        if (is_wanted)
            err = strobe_paired_each(paired, i, 0, lo, hi, take_rows, &adding);
    }
    return err;
}
