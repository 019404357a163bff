/* walk.h - one pass over the events of a trace: zones of threads, fibers and spans, and all other
 * events.
 *
 * Zones come in batches: those that end in one part, in the order of their ends; then, when all is
 * read or enough is known, those of fibers and spans, paired over all threads by time; at last
 * those still open. Zones of fibers that the trace's writer paired are not paired again where their order does not matter (walk_rows.h).
 * Memory is bounded by three blocks, what is open, and 256 K events of fibers and
 * spans that wait for their turn.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_WALK_H
#define STROBE_QUERY_WALK_H

#include "file/replay.h"
#include "query/trace.h"

enum strobe_batch_kind {
    STROBE_BATCH_THREAD = 0,
    STROBE_BATCH_FIBER = 1,
    STROBE_BATCH_SPAN = 2,
};

/* Zones of one track. Valid during the call. */
struct strobe_batch {
    enum strobe_batch_kind kind;
    uint32_t process; /* index */
    /* index; of a fiber's zone or a span: where it ended or, if open, began; with any_order maybe STROBE_IDMAP_NONE */
    uint32_t thread;
    uint64_t id; /* of the fiber or the span */
    const struct strobe_zone_row *zones;
    uint32_t n_zones;
    const uint32_t *locs;    /* by slot: index in trace->locs or STROBE_IDMAP_NONE */
    const uint64_t *loc_ids; /* by slot: its id */
    uint32_t n_slots;
    const struct strobe_note *notes;
    const struct strobe_zone_place *places; /* of the zones, with want_places; NULL: not known */
    uint64_t number; /* with want_places, of a zone of a fiber or a span: how many came before */
    /* Of a zone of a fiber or a span: the event at which it was paired, by time and by the order in the file; of an open one, the first of its fiber or id. */
    uint64_t place_tick, place_seq;
};

/* The index of a zone's location (STROBE_IDMAP_NONE: no record names it) and its id. */
uint32_t strobe_batch_loc(const struct strobe_trace *trace, const struct strobe_batch *batch,
                          const struct strobe_zone_row *zone, uint64_t *id);

/* An event that is no zone. Valid during the call. */
struct strobe_happening {
    uint32_t process, thread;
    const struct strobe_event *event;
    const uint64_t *stack; /* call stack that belongs to it, innermost first as stored */
    uint64_t n_stack;
    uint64_t fiber;                 /* that the thread ran, 0: none */
    const struct strobe_part *part; /* that it is in */
};

struct strobe_walk {
    struct strobe_trace *trace; /* borrowed */
    void *context;              /* of the sinks */
    /* Sinks; an error other than STROBE_OK ends the walk and is its result. NULL: not wanted. */
    enum strobe_err (*zones)(void *context, const struct strobe_batch *batch);
    enum strobe_err (*happens)(void *context, const struct strobe_happening *happening);
    /* Begins and ends of spans, of a process (index), in the order of the file, in place of spans; NULL: those are paired. `seq` as place_seq. */
    enum strobe_err (*span_event)(void *context, uint32_t process, const struct strobe_loose *loose,
                                  uint64_t seq);
    uint64_t
        kinds; /* that `happens` gets, bit per enum strobe_kind; CALLSTACK: events that have one */
    int (*is_over)(void *context); /* asked before each block; 1 ends the walk with LIMIT */
    /* Called after each block: no event before `tick` comes any more. NULL: not wanted. */
    enum strobe_err (*settles)(void *context, uint64_t tick);
    int want_notes;  /* texts, names, values, colours of zones */
    int want_fibers; /* zones of fibers */
    int want_spans;
    int want_nested; /* is_nested of zones */
    int want_places; /* places of zones: with by_tick those of parents may be missing */
    int want_open;   /* zones still open at the end */
    int want_kinds;  /* count events by kind */
    int any_order; /* zones of fibers may come fiber by fiber, by their begins, without a thread: faster where the writer paired them */
    int by_tick;   /* 1: zones that begin and events that happen in [tick_min, tick_max] */
    uint64_t tick_min, tick_max;
    uint64_t offset_min; /* only blocks from this offset of the file on */
    uint32_t max_loose;  /* events of fibers and spans that wait before some are paired; 0: 256 K */

    /* Results: */
    uint64_t n_events; /* events replayed */
    uint64_t n_of_kind[STROBE_KIND_COUNT];
    uint64_t n_open; /* zones of threads and fibers */
    uint64_t n_open_spans;
    uint64_t n_open_unknown; /* open zones of which nothing but their number is known */
    uint64_t n_unfinished;
    uint64_t n_no_begin;
    uint64_t n_bad_parts;           /* parts that could be read in part only */
    uint64_t tick_first, tick_last; /* of all parts, if n_events is not 0 */
};

/* A walk that shows all zones that no track has alone, beside those of threads: fibers, spans, shared threads. */
static inline struct strobe_walk
strobe_walk_of_paired(struct strobe_trace *trace, void *context,
                      enum strobe_err (*zones)(void *context, const struct strobe_batch *batch))
{
    const struct strobe_walk walk = {.trace = trace,
                                     .context = context,
                                     .zones = zones,
                                     .want_notes = 1,
                                     .want_fibers = 1,
                                     .want_spans = 1,
                                     .want_open = 1};
    return walk;
}

/* Do it. The coverage of the trace's threads is counted anew where neither a time range nor an
 * offset is given. */
enum strobe_err strobe_walk_run(struct strobe_walk *walk);

#endif
