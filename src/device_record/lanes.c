/* lanes.c - the processors of a device's cores as tracks: zones, marks, losses.
 *
 * What a lane made waits (nest.h) until two things are known: which zones were open (a table), and how the device's clock went
 * (a knot). Then it is handed on with ticks of the trace, as soon as there is enough of it: the parts of a block are large then, which
 * is what makes them cheap to write and to read. A flush hands on all that is known. A lane that waits for too much is handed on with
 * what is known. How much that is depends on the number of lanes: all of them together have a fixed amount of memory.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device/counter_names.h"
#include "device_record/internal.h"

enum { ZONES = 256 }; /* that a lane takes before it looks at how many wait */

/* ---- from cycles to ticks ---- */

/* Who takes the steps of a nest. */
struct taking {
    struct strobe_device_trace *trace;
    struct strobe_device_track *lane;
    uint32_t core, number;       /* of the lane over all cores, from 1 */
    int64_t offset;              /* from its cycles to common time */
    uint64_t flow;               /* of the launch that is to be handed on */
    const char *program;         /* borrowed: its name */
    struct strobe_nest_zone sum; /* the first half of one; kind 0: none */
};

/* What the ids of the device's sites are. */
static enum strobe_device_name_of site_of(const struct strobe_device_trace *t)
{
    return t->is_classic ? STROBE_DEVICE_NAME_CLASSIC : STROBE_DEVICE_NAME_SITE;
}

/* The location of a site that zones have. */
static uint64_t give_loc(void *context, uint32_t id)
{
    struct strobe_device_trace *t = ((struct taking *)context)->trace;
    return strobe_device_loc(t, id, site_of(t));
}

/* The piece of the clock's map that a time is in, in cycles of the lane. A time before the first piece, or one that can't be, stands alone. */
static struct strobe_nest_line give_line(void *context, uint64_t cycles)
{
    const struct taking *taking = context;
    int64_t time = (int64_t)((uint64_t)taking->offset + cycles), from, until;
    struct strobe_clock_map_run run = strobe_clock_map_run(&taking->trace->clock.map, time);
    const struct strobe_clock_map_piece *piece = &run.piece;
    STROBE_ASSERT(strobe_clock_map_has(&run, time));
    from = run.from > piece->time ? run.from : piece->time;
    bool is_far = __builtin_sub_overflow(from, taking->offset, &from);
    if (__builtin_sub_overflow(run.until, taking->offset, &until))
        until = taking->offset < 0 ? INT64_MAX : INT64_MIN;
    if (is_far || time < piece->time || (int64_t)cycles < from || (int64_t)cycles >= until)
        return (struct strobe_nest_line){
            .from = cycles, .until = cycles + 1, .tick = strobe_clock_map_run_tick(&run, time)};
    return (struct strobe_nest_line){.from = from > 0 ? (uint64_t)from : 0,
                                     .until = (uint64_t)until,
                                     .shift = (uint64_t)taking->offset - (uint64_t)piece->time,
                                     .tick = piece->tick,
                                     .mult = piece->mult};
}

/* A counter of a core: a plot of its own. Its type is where others have their program. */
static void emit_counter(struct taking *taking, const struct strobe_nest_zone *mark, uint64_t tick)
{
    struct strobe_device_trace *t = taking->trace;
    STROBE_ASSERT(taking->core < t->n_cores); /* its lane has a track */
    const struct strobe_device_core_facts *core = &t->cores[taking->core].facts;
    const char *counter = strobe_device_counter_name(mark->program);
    char name[96];
    int n = snprintf(name, sizeof name, "%s core %u,%u", counter ? counter : "counter",
                     core->core_yx & 0xffff, core->core_yx >> 16);
    uint64_t numbers[] = {strobe_build_string(t->build, name, (size_t)n), mark->end & UINT32_MAX};
    strobe_build_event(t->build, taking->lane->track, tick, STROBE_KIND_PLOT_INT, numbers, NULL, 0);
}

static void emit_mark(struct taking *taking, const struct strobe_nest_zone *mark, uint64_t tick)
{
    struct strobe_device_trace *t = taking->trace;
    if (mark->kind == STROBE_NEST_DATA && mark->id == STROBE_ID_COUNTER) {
        emit_counter(taking, mark, tick);
        return;
    }
    uint64_t loc = strobe_device_loc(t, mark->id, site_of(t));
    STROBE_ASSERT(mark->kind == STROBE_NEST_EVENT || mark->kind == STROBE_NEST_DATA);
    if (mark->kind == STROBE_NEST_EVENT) {
        /* a zone of no length: it has a name, a place in lists and a count, which a text would not have */
        struct strobe_zone_step steps[] = {{tick, loc, 0}, {tick, STROBE_STEP_END, 0}};
        strobe_build_steps(t->build, taking->lane->track, steps, 2);
        return;
    }
    strobe_build_zone_begin(t->build, taking->lane->track, tick, loc);
    strobe_build_event(t->build, taking->lane->track, tick, STROBE_KIND_ZONE_VALUE, &mark->end,
                       NULL, 0);
    strobe_build_zone_end(t->build, taking->lane->track, tick);
}

/* Zones that the device added up instead of sending them: one mark for all of a site. */
static void emit_sum(struct taking *taking, const struct strobe_nest_zone *range, uint64_t tick)
{
    struct strobe_build *build = taking->trace->build;
    struct strobe_build_track *track = taking->lane->track;
    const struct strobe_nest_zone *sum = &taking->sum;
    uint64_t count = sum->program, loc;
    char text[96];
    int n =
        snprintf(text, sizeof text, "%" PRIu64 " zones, %" PRIu64 " cycles, least %u, greatest %u",
                 count, sum->end, (uint32_t)range->end, (uint32_t)(range->end >> 32));
    STROBE_ASSERT(sum->id == range->id && n > 0 && (size_t)n < sizeof text);
    loc = strobe_device_loc(taking->trace, sum->id, STROBE_DEVICE_NAME_SUM);
    strobe_build_zone_begin(build, track, tick, loc);
    strobe_build_event(build, track, tick, STROBE_KIND_ZONE_VALUE, &count, NULL, 0);
    strobe_build_event(build, track, tick, STROBE_KIND_ZONE_TEXT, NULL, text, (size_t)n);
    strobe_build_zone_end(build, track, tick);
}

static void take_mark(void *context, const struct strobe_nest_zone *mark, uint64_t tick)
{
    struct taking *taking = context;
    if (mark->kind == STROBE_NEST_SUM)
        taking->sum = *mark;
    else if (mark->kind == STROBE_NEST_SUM_RANGE)
        emit_sum(taking, mark, tick);
    else
        emit_mark(taking, mark, tick);
}

/* The way of nearly all that a device sends: a run goes to the encoder. */
static void take_steps(void *context, const struct strobe_zone_step *steps, size_t n_steps)
{
    struct taking *taking = context;
    STROBE_ASSERT(taking->trace->clock.map.n_pieces &&
                  taking->lane->track); /* times can be mapped */
    strobe_build_steps(taking->trace->build, taking->lane->track, steps, n_steps);
}

/* The flow from a program's launch ends in the outermost zone whose program was just announced, if it is the first to run it. */
static bool find_launch(void *context, uint32_t program)
{
    struct taking *taking = context;
    taking->flow =
        strobe_device_take_flow(taking->trace, program, taking->number, &taking->program);
    return taking->flow;
}

static void take_launch(void *context, uint64_t tick)
{
    struct taking *taking = context;
    struct strobe_build *build = taking->trace->build;
    struct strobe_build_track *track = taking->lane->track;
    size_t n = strlen(taking->program);
    STROBE_ASSERT(taking->flow);
    if (n)
        strobe_build_event(build, track, tick, STROBE_KIND_ZONE_TEXT, NULL, taking->program, n);
    strobe_build_event(build, track, tick, STROBE_KIND_FLOW_END, &taking->flow, NULL, 0);
}

/* The clock has no map yet and something must be handed on: the latest host time of the stream must do. */
static void need_clock(struct strobe_device_trace *t, uint32_t core, uint64_t cycles)
{
    if (strobe_device_axis_guess(&t->clock, core, cycles, t->last_ns))
        strobe_device_note_clock(t);
}

/* Zones of a lane that may wait at most: its share of what all may. */
static uint32_t lane_most(const struct strobe_device_trace *t)
{
    uint32_t share = STROBE_DEVICE_WAITING / (t->n_lanes ? t->n_lanes : 1);
    return share < STROBE_DEVICE_LANE_LEAST  ? STROBE_DEVICE_LANE_LEAST
           : share > STROBE_DEVICE_LANE_MOST ? STROBE_DEVICE_LANE_MOST
                                             : share;
}

/* So many are handed on with the next table, also where the clock is not known up to there. */
static uint32_t lane_limit(const struct strobe_device_trace *t)
{
    return lane_most(t) / 4 * 3;
}

static void advance(struct strobe_device_trace *t, struct strobe_device_track *lane, uint32_t core,
                    uint32_t risc, uint64_t until, const struct strobe_nest_zone *open,
                    uint32_t n_open)
{
    STROBE_ASSERT(core < t->n_cores && t->cores[core].lanes[risc] == lane);
    if (lane->nest.n_waiting || n_open)
        need_clock(t, core, lane->nest.n_waiting ? lane->nest.waiting[0].start : open[0].start);
    if (!t->clock.map.n_pieces)
        return;
    struct taking taking = {
        .trace = t,
        .lane = lane,
        .core = core,
        .number = 1 + core * STROBE_DEVICE_RISCS + risc,
        .offset = strobe_device_axis_common(&t->clock, core, 0),
    };
    const struct strobe_nest_taker taker = {give_line,   give_loc,  take_steps, find_launch,
                                            take_launch, take_mark, &taking,    t->near};
    strobe_nest_advance(&lane->nest, until, open, n_open, &taker);
    if (lane->nest.latest)
        strobe_clock_map_see(&t->clock.map, (int64_t)((uint64_t)taking.offset + lane->nest.latest));
    strobe_nest_shrink(&lane->nest, lane_most(t) + ZONES);
}

/* What the last table makes sure, as far as the clock is known; all of it where `limit` zones wait. */
static void use_table(struct strobe_device_trace *t, struct strobe_device_track *lane,
                      uint32_t core, uint32_t risc, uint32_t limit)
{
    if (!lane->has_table || strobe_device_axis_ready(&t->clock) == INT64_MIN)
        return;
    STROBE_ASSERT(lane->n_table <= STROBE_DEVICE_TABLE);
    int64_t offset = strobe_device_axis_common(&t->clock, core, 0);
    int64_t ready = strobe_device_axis_ready(&t->clock) - offset; /* in cycles of the core */
    uint64_t until = lane->table_time;
    if ((int64_t)until > ready && lane->nest.n_waiting < limit)
        until = ready < 0 ? 0 : (uint64_t)ready;
    if (until)
        advance(t, lane, core, risc, until, lane->table, lane->n_table);
}

void strobe_device_lanes_hand_on(struct strobe_device_trace *t)
{
    for (uint32_t i = 0; i < t->n_cores * STROBE_DEVICE_RISCS; i++) {
        uint32_t core = i / STROBE_DEVICE_RISCS, risc = i % STROBE_DEVICE_RISCS;
        struct strobe_device_track *lane = t->cores[core].lanes[risc];
        if (lane) /* what would not wait until the clock is known anyway need not be saved first */
            use_table(t, lane, core, risc, lane_limit(t) / 4);
    }
}

/* ---- what the stream says ---- */

void strobe_device_lanes_refuse(struct strobe_device_trace *t, uint64_t n)
{
    uint64_t tick = t->options.host.tick_at(t->options.host.context, t->last_ns);
    strobe_build_lose(t->build, NULL, STROBE_LOSS_REFUSED, n, tick);
}

/* Too much waits, for want of tables or of a clock: the older half is handed on. What is open at a table, and began in that half, is open at its end; what closed in between is here. */
static void relieve(struct strobe_device_trace *t, struct strobe_device_track *lane, uint32_t core,
                    uint32_t risc)
{
    if (lane->nest.n_waiting < lane_most(t))
        return;
    uint64_t until = lane->nest.waiting[lane->nest.n_waiting / 2].start;
    if (lane->has_table && lane->table_time > until) {
        advance(t, lane, core, risc, until, lane->table, lane->n_table);
        return;
    }
    if (lane->has_table) { /* it is of use only now */
        advance(t, lane, core, risc, lane->table_time, lane->table, lane->n_table);
        lane->has_table = false;
    }
    advance(t, lane, core, risc, until, NULL, 0);
}

static void see_time(struct strobe_device_track *lane, uint64_t cycles)
{
    lane->latest = cycles > lane->latest ? cycles : lane->latest;
}

static void on_zones(void *context, const struct strobe_device_lane *at,
                     const struct strobe_device_zone *zones, size_t n_zones)
{
    struct strobe_device_trace *t = context;
    struct strobe_device_track *lane = strobe_device_lanes_track(t, at);
    for (size_t done = 0; lane && done < n_zones;) {
        size_t n = n_zones - done < ZONES ? n_zones - done : ZONES;
        lane->nest.most = lane_most(t) + ZONES;
        if (strobe_nest_add_closed(&lane->nest, zones + done, n))
            strobe_device_lanes_refuse(t, n);
        else
            lane->n_zones += n;
        done += n;
        see_time(lane, zones[done - 1].end); /* they come in the order of their ends */
        relieve(t, lane, at->core, at->risc);
    }
    STROBE_ASSERT(zones || !n_zones);
    if (!lane)
        strobe_device_lanes_refuse(t, n_zones);
}

/* One record, and a mark for each of its values. */
static void add_mark(struct strobe_device_trace *t, const struct strobe_device_lane *at,
                     const struct strobe_device_mark *mark, enum strobe_nest_kind kind)
{
    struct strobe_device_track *lane = strobe_device_lanes_track(t, at);
    bool is_counter = mark->id == STROBE_ID_COUNTER && mark->n_values == 2;
    struct strobe_nest_zone all[STROBE_DATA_MAX_WORDS / 2];
    uint32_t n = 0;
    do {
        all[n] = (struct strobe_nest_zone){mark->time, mark->n_values ? mark->values[n] : 0,
                                           mark->id, kind, mark->program};
    } while (++n < mark->n_values && n < STROBE_DATA_MAX_WORDS / 2 && !is_counter);
    if (is_counter)
        all[0].program = (uint32_t)mark->values[1];
    if (!lane || strobe_nest_add(&lane->nest, all, n)) {
        strobe_device_lanes_refuse(t, 1);
        return;
    }
    lane->n_marks++;
    see_time(lane, mark->time);
    relieve(t, lane, at->core, at->risc);
}

void strobe_device_lanes_add(struct strobe_device_trace *t, const struct strobe_device_lane *at,
                             const struct strobe_nest_zone *zones, uint32_t n_zones, uint64_t until)
{
    struct strobe_device_track *lane = strobe_device_lanes_known(t, at);
    STROBE_ASSERT(lane && lane->buffer);
    for (uint32_t done = 0; done < n_zones;) {
        uint32_t limit = lane_limit(t), n = n_zones - done < limit ? n_zones - done : limit;
        if (strobe_nest_add(&lane->nest, zones + done, n))
            strobe_device_lanes_refuse(t, n);
        done += n;
        relieve(t, lane, at->core, at->risc);
    }
    lane->n_table = 0;
    lane->has_table = true;
    lane->table_time = until;
    use_table(t, lane, at->core, at->risc, lane_limit(t));
}

static void on_event(void *context, const struct strobe_device_lane *at,
                     const struct strobe_device_mark *mark)
{
    add_mark(context, at, mark, STROBE_NEST_EVENT);
}

static void on_data(void *context, const struct strobe_device_lane *at,
                    const struct strobe_device_mark *mark)
{
    add_mark(context, at, mark, STROBE_NEST_DATA);
}

static void on_drop(void *context, const struct strobe_device_lane *at, uint32_t count)
{
    struct strobe_device_trace *t = context;
    struct strobe_device_track *lane = strobe_device_lanes_track(t, at);
    uint64_t tick = t->options.host.tick_at(t->options.host.context, t->last_ns);
    strobe_build_lose(t->build, lane ? lane->track : NULL, STROBE_LOSS_DEVICE_FULL, count, tick);
    if (lane)
        lane->n_dropped += count;
}

/* The earliest time that something can have which comes from a lane now and has none of its own: behind all that came, and that was handed on. Of a lane
 * that sent nothing: when its core's clock was read last. */
static uint64_t time_now(const struct strobe_device_trace *t,
                         const struct strobe_device_track *lane, uint32_t core)
{
    const struct strobe_device_axis *clock = &t->clock;
    uint64_t time = lane->latest;
    if (lane->has_table && lane->table_time > time)
        time = lane->table_time;
    if (lane->nest.out > time && lane->nest.out < UINT64_MAX - 1)
        time = lane->nest.out;
    if (time)
        return time;
    const struct strobe_device_core_clock *at =
        core < clock->n_cores && clock->cores[core].band.is_there ? &clock->cores[core]
                                                                  : &clock->own;
    return at->band.is_there && at->band.cycles > 0 ? (uint64_t)at->band.cycles : 0;
}

/* It waits as the zones do that it stands behind. */
static void on_sum(void *context, const struct strobe_device_lane *at,
                   const struct strobe_device_sum *sum)
{
    struct strobe_device_trace *t = context;
    struct strobe_device_track *lane = strobe_device_lanes_track(t, at);
    uint64_t time = lane ? time_now(t, lane, at->core) : 0;
    struct strobe_nest_zone both[] = {
        {time, sum->sum, sum->id, STROBE_NEST_SUM, sum->count},
        {time, (uint64_t)sum->max << 32 | sum->min, sum->id, STROBE_NEST_SUM_RANGE, sum->program}};
    if (!lane || strobe_nest_add(&lane->nest, both, 2)) {
        strobe_device_lanes_refuse(t, sum->count);
        return;
    }
    lane->n_summed += sum->count;
    see_time(lane, time);
    relieve(t, lane, at->core, at->risc);
}

static void on_open(void *context, const struct strobe_device_lane *at, uint64_t cycles,
                    bool is_final, const struct strobe_device_open *open, size_t n_open)
{
    struct strobe_device_trace *t = context;
    struct strobe_device_track *lane =
        n_open ? strobe_device_lanes_track(t, at) : strobe_device_lanes_known(t, at);
    if (!lane)
        return;
    if (lane->nest.n_waiting >= lane_limit(t))
        use_table(t, lane, at->core, at->risc, lane_limit(t));
    lane->n_table = 0;
    lane->has_table = true;
    lane->table_time = cycles;
    for (size_t i = 0; i < n_open && i < STROBE_DEVICE_TABLE; i++)
        lane->table[lane->n_table++] = (struct strobe_nest_zone){open[i].start, STROBE_NEST_OPEN,
                                                                 open[i].id, STROBE_NEST_ZONE, 0};
    if (is_final)
        advance(t, lane, at->core, at->risc, UINT64_MAX - 1, lane->table, lane->n_table);
}

void strobe_device_lanes_damaged(struct strobe_device_trace *t, const struct strobe_device_lane *at,
                                 bool gap)
{
    struct strobe_device_track *lane = strobe_device_lanes_track(t, at);
    if (lane && gap)
        lane->has_gap = true;
    else if (lane)
        lane->is_damaged = true;
}

/* Why records of a lane are missing that it did not drop itself. */
static uint32_t cause_of(const struct strobe_device_trace *t,
                         const struct strobe_device_track *lane)
{
    bool no_frames = t->n_bad[STROBE_DEVICE_BAD_FRAME] || t->n_bad[STROBE_DEVICE_BAD_FIELD];
    if (lane->is_damaged || (lane->has_gap && no_frames))
        return STROBE_LOSS_DAMAGED;
    return lane->has_gap ? STROBE_LOSS_POOL_FULL : STROBE_LOSS_UNFINISHED;
}

/* What the device counted, against what came: the rest never left it, or was lost on its way. */
static void settle_total(struct strobe_device_trace *t, struct strobe_device_track *lane)
{
    uint64_t tick = t->options.host.tick_at(t->options.host.context, t->last_ns);
    if (lane->total_dropped > lane->n_dropped)
        strobe_build_lose(t->build, lane->track, STROBE_LOSS_DEVICE_FULL,
                          lane->total_dropped - lane->n_dropped, tick);
    uint64_t dropped =
        lane->total_dropped > lane->n_dropped ? lane->total_dropped : lane->n_dropped;
    uint64_t known = lane->n_zones + lane->n_marks + lane->n_summed + dropped;
    STROBE_ASSERT(dropped >= lane->n_dropped && lane->track);
    if (lane->total_emitted != UINT64_MAX && lane->total_emitted > known) {
        uint32_t cause = cause_of(t, lane);
        strobe_build_lose(t->build, lane->track, cause, lane->total_emitted - known, tick);
        t->n_unmatched += cause == STROBE_LOSS_UNFINISHED ? lane->total_emitted - known : 0;
    }
    lane->is_damaged = lane->has_gap = false;
    lane->n_zones = lane->n_marks = lane->n_summed = lane->n_dropped = 0;
    lane->total_emitted = lane->total_dropped = 0;
}

static void on_total(void *context, const struct strobe_device_lane *at,
                     const struct strobe_device_total *total, bool is_bye)
{
    struct strobe_device_trace *t = context;
    bool made_nothing = total->emitted == 0 && !total->dropped;
    struct strobe_device_track *lane =
        made_nothing ? strobe_device_lanes_known(t, at) : strobe_device_lanes_track(t, at);
    (void)is_bye; /* the last frame has the lanes of some cores, those before it the others' */
    if (!lane)
        return;
    lane->total_emitted = total->emitted;
    lane->total_dropped = total->dropped;
}

void strobe_device_lanes_settle(struct strobe_device_trace *t)
{
    for (uint32_t i = 0; i < t->n_cores * STROBE_DEVICE_RISCS; i++) {
        struct strobe_device_track *lane =
            t->cores[i / STROBE_DEVICE_RISCS].lanes[i % STROBE_DEVICE_RISCS];
        if (lane)
            settle_total(t, lane);
    }
}

void strobe_device_lanes_calls(struct strobe_device_calls *calls)
{
    calls->zones = on_zones;
    calls->event = on_event;
    calls->data = on_data;
    calls->sum = on_sum;
    calls->drop = on_drop;
    calls->open = on_open;
    calls->total = on_total;
    calls->classic = strobe_device_classic_take;
}

/* ---- begins and ends ---- */

void strobe_device_lanes_begin_again(struct strobe_device_trace *t, uint32_t core, uint32_t risc)
{
    struct strobe_device_track *lane = t->cores[core].lanes[risc];
    STROBE_ASSERT(core < t->n_cores && lane->track);
    for (uint32_t i = 0; i < lane->nest.n_stack && t->clock.map.n_pieces; i++) {
        const struct strobe_nest_zone *zone = &lane->nest.stack[i];
        int64_t time = strobe_device_axis_common(&t->clock, core, zone->start);
        strobe_build_zone_begin(t->build, lane->track, strobe_device_axis_tick(&t->clock, time),
                                strobe_device_loc(t, zone->id, site_of(t)));
    }
}

static void end_lane(struct strobe_device_trace *t, uint32_t core, uint32_t risc)
{
    struct strobe_device_track *lane = t->cores[core].lanes[risc];
    STROBE_ASSERT(lane && lane->track);
    if (lane->buffer)
        strobe_device_classic_open(lane);
    advance(t, lane, core, risc, UINT64_MAX - 1, lane->table, lane->has_table ? lane->n_table : 0);
    t->n_late += lane->nest.n_late;
    lane->n_table = 0;
    lane->has_table = false;
    lane->latest = 0;
    strobe_nest_free(&lane->nest);
}

static void end_lanes(struct strobe_device_trace *t)
{
    if (strobe_device_axis_end(&t->clock))
        strobe_device_note_clock(t);
    for (uint32_t core = 0; core < t->n_cores; core++)
        for (uint32_t risc = 0; risc < STROBE_DEVICE_RISCS; risc++)
            if (t->cores[core].lanes[risc])
                end_lane(t, core, risc);
}

/* The lane goes on behind a reset. Zones that were open stay so for good: what comes now is on a thread of its own. */
static void reset_lane(struct strobe_device_trace *t, uint32_t core, uint32_t risc)
{
    struct strobe_device_track *lane = t->cores[core].lanes[risc];
    STROBE_ASSERT(!lane->nest.n_waiting && !lane->nest.n_stack); /* its lane was ended */
    settle_total(t, lane);
    if (!strobe_build_track_depth(lane->track))
        return;
    lane->n_resets++;
    strobe_device_lanes_new_track(t, lane, &t->cores[core], core, risc);
}

void strobe_device_lanes_reset(struct strobe_device_trace *t)
{
    end_lanes(t);
    for (uint32_t i = 0; i < t->n_cores * STROBE_DEVICE_RISCS; i++)
        if (t->cores[i / STROBE_DEVICE_RISCS].lanes[i % STROBE_DEVICE_RISCS])
            reset_lane(t, i / STROBE_DEVICE_RISCS, i % STROBE_DEVICE_RISCS);
    strobe_build_note(t->build, "device %u was reset: its clocks began anew", t->options.device);
    strobe_device_note_skew(t); /* those of the epoch that ends */
    strobe_device_axis_reset(&t->clock);
}

void strobe_device_lanes_end(struct strobe_device_trace *t)
{
    end_lanes(t);
    strobe_device_classic_end(t);
    if (t->n_late)
        strobe_build_note(t->build,
                          "device %u: %" PRIu64
                          " zones were known too late to stand around those in them",
                          t->options.device, t->n_late);
    if (t->n_unmatched)
        strobe_build_note(t->build, "device %u: %" PRIu64 " records never left it",
                          t->options.device, t->n_unmatched);
}

void strobe_device_lanes_free(struct strobe_device_trace *t)
{
    for (uint32_t core = 0; core < t->n_cores; core++)
        for (uint32_t risc = 0; risc < STROBE_DEVICE_RISCS; risc++) {
            struct strobe_device_track *lane = t->cores[core].lanes[risc];
            if (lane) {
                strobe_nest_free(&lane->nest);
                free(lane->buffer);
            }
            free(lane);
        }
    free(t->cores);
    t->cores = NULL;
    t->n_cores = 0;
}
