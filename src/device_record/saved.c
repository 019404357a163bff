/* saved.c - where a device stands, as bytes for a successor: docs are the structs below, in this order; host byte order, each piece padded to 8.
 *
 *   OFFSET      WHAT
 *   0           struct head
 *   …           struct strobe_device_axis without its pointers; its cores' clocks
 *   …           n_locs keys and locations; n_slots programs; n_flows launches
 *   …           n_cores coordinates; n_lanes states of the decoder; n_facts facts of cores
 *   …           n_tracks times: struct track, then the zones that wait, then those that are open
 *
 * They are read on the machine that made them, by the same Strobe or not at all (layout). All the same every count is compared with what is
 * there, and every number of a place with what it may be.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "device_record/internal.h"

struct head {
    uint64_t n_locs;
    uint32_t n_slots, n_flows, free_flow, n_clocks;
    uint32_t n_lanes, n_facts, n_tracks, n_riscs, epoch;
    uint8_t has_hello, has_bye, has_buffers, is_virtual;
    uint64_t last_ns, n_lost_flows, n_late, n_unmatched;
    uint64_t n_bad[STROBE_DEVICE_N_BAD];
    uint64_t pools[STROBE_DEVICE_POOLS];
    struct strobe_device_saved_stream stream;
    struct strobe_build_saved build;
};

struct loc {
    uint64_t key, loc;
};

struct slot {
    uint64_t number;
    struct strobe_device_slot slot;
};

struct facts {
    uint32_t number, has_facts;
    struct strobe_device_core_facts facts;
};

struct track {
    uint32_t core, risc, n_waiting, n_stack, n_table, has_table;
    uint64_t out, n_late, table_time, latest, n_zones, n_marks, n_summed, n_dropped, total_emitted,
        total_dropped, n_resets, is_damaged, has_gap;
    struct strobe_build_saved_track build;
    struct strobe_nest_zone table[STROBE_DEVICE_TABLE];
};

uint32_t strobe_device_trace_layout(void)
{
    size_t sizes[] = {sizeof(struct head),
                      sizeof(struct strobe_device_axis),
                      sizeof(struct strobe_device_core_clock),
                      sizeof(struct slot),
                      sizeof(struct strobe_device_flow),
                      sizeof(struct strobe_device_saved),
                      sizeof(struct facts),
                      sizeof(struct track),
                      sizeof(struct strobe_nest_zone)};
    uint32_t layout = 3; /* counts changes that no size shows */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        layout = layout * 31 + (uint32_t)sizes[i];
    return layout;
}

/* ---- out ---- */

static void put(struct strobe_out *out, const void *bytes, size_t n_bytes)
{
    static const char zeros[8];
    STROBE_ASSERT(bytes || !n_bytes);
    if (n_bytes)
        strobe_out_bytes(out, (const char *)bytes, n_bytes);
    if (n_bytes % 8)
        strobe_out_bytes(out, zeros, 8 - n_bytes % 8);
}

static void put_axis(struct strobe_out *out, const struct strobe_device_axis *clock)
{
    struct strobe_device_axis copy = *clock;
    STROBE_ASSERT(clock->cores || !clock->n_cores);
    memset(&copy.host, 0, sizeof copy.host);
    copy.cores = NULL;
    put(out, &copy, sizeof copy);
    put(out, clock->cores, clock->n_cores * sizeof *clock->cores);
}

static void put_tables(struct strobe_out *out, const struct strobe_device_trace *t)
{
    for (uint32_t i = 0; i < t->locs.n; i++) {
        struct loc loc = {t->locs.entries[i].key, t->locs.entries[i].value};
        put(out, &loc, sizeof loc);
    }
    for (uint32_t i = 0; i < STROBE_DEVICE_PROGRAMS; i++)
        if (t->programs[i].lane) {
            struct slot slot;
            memset(&slot, 0, sizeof slot);
            slot.number = i;
            slot.slot = t->programs[i];
            put(out, &slot, sizeof slot);
        }
    put(out, t->flows, t->n_flows * sizeof *t->flows);
}

static void put_facts(struct strobe_out *out, const struct strobe_device_trace *t)
{
    for (uint32_t i = 0; i < t->n_cores; i++) {
        struct facts facts = {i, t->cores[i].has_facts, t->cores[i].facts};
        put(out, &facts, sizeof facts);
    }
}

static void put_track(struct strobe_out *out, const struct strobe_device_track *lane, uint32_t core,
                      uint32_t risc)
{
    struct track track;
    memset(&track, 0, sizeof track);
    track = (struct track){.core = core,
                           .risc = risc,
                           .n_waiting = lane->nest.n_waiting,
                           .n_stack = lane->nest.n_stack,
                           .n_table = lane->n_table,
                           .has_table = lane->has_table,
                           .out = lane->nest.out,
                           .n_late = lane->nest.n_late,
                           .table_time = lane->table_time,
                           .latest = lane->latest,
                           .n_zones = lane->n_zones,
                           .n_marks = lane->n_marks,
                           .n_summed = lane->n_summed,
                           .n_dropped = lane->n_dropped,
                           .total_emitted = lane->total_emitted,
                           .total_dropped = lane->total_dropped,
                           .n_resets = lane->n_resets,
                           .is_damaged = lane->is_damaged,
                           .has_gap = lane->has_gap};
    STROBE_ASSERT(lane->track && lane->n_table <= STROBE_DEVICE_TABLE);
    strobe_build_track_save(lane->track, &track.build);
    memcpy(track.table, lane->table, sizeof track.table);
    put(out, &track, sizeof track);
    put(out, lane->nest.waiting, lane->nest.n_waiting * sizeof *lane->nest.waiting);
    put(out, lane->nest.stack, lane->nest.n_stack * sizeof *lane->nest.stack);
}

static struct head head_of(const struct strobe_device_trace *t)
{
    struct head head;
    memset(&head, 0, sizeof head);
    head.n_locs = t->locs.n;
    head.n_flows = t->n_flows;
    head.free_flow = t->free_flow;
    head.n_clocks = t->clock.n_cores;
    head.n_facts = t->n_cores;
    head.n_riscs = t->n_riscs;
    head.epoch = t->epoch;
    head.has_hello = t->has_hello;
    head.has_bye = t->has_bye;
    head.has_buffers = t->has_buffers;
    head.is_virtual = t->is_virtual;
    head.last_ns = t->last_ns;
    head.n_lost_flows = t->n_lost_flows;
    head.n_late = t->n_late;
    head.n_unmatched = t->n_unmatched;
    memcpy(head.n_bad, t->n_bad, sizeof head.n_bad);
    memcpy(head.pools, t->pools, sizeof head.pools);
    for (uint32_t i = 0; i < STROBE_DEVICE_PROGRAMS; i++)
        head.n_slots += t->programs[i].lane != 0;
    for (uint32_t i = 0; i < t->n_cores * STROBE_DEVICE_RISCS; i++)
        head.n_tracks += t->cores[i / STROBE_DEVICE_RISCS].lanes[i % STROBE_DEVICE_RISCS] != NULL;
    STROBE_ASSERT(head.n_slots <= STROBE_DEVICE_PROGRAMS && head.n_flows <= STROBE_DEVICE_FLOWS);
    strobe_build_save(t->build, &head.build);
    return head;
}

void strobe_device_trace_save(struct strobe_device_trace *t, struct strobe_out *out)
{
    strobe_device_stream_flush(t->stream); /* what waits for its confirmation is not in the state */
    struct head head = head_of(t);
    head.n_lanes = strobe_device_stream_save(t->stream, NULL, 0);
    strobe_device_stream_save_cores(t->stream, &head.stream, NULL, 0);
    struct strobe_device_saved *lanes = calloc(head.n_lanes + 1, sizeof *lanes);
    uint32_t *cores = calloc(head.stream.n_cores + 1, sizeof *cores);
    if (lanes && cores) {
        strobe_device_stream_save(t->stream, lanes, head.n_lanes);
        strobe_device_stream_save_cores(t->stream, &head.stream, cores, head.stream.n_cores);
        put(out, &head, sizeof head);
        put_axis(out, &t->clock);
        put_tables(out, t);
        put(out, cores, head.stream.n_cores * sizeof *cores);
        put(out, lanes, head.n_lanes * sizeof *lanes);
        put_facts(out, t);
        for (uint32_t i = 0; i < t->n_cores * STROBE_DEVICE_RISCS; i++) {
            uint32_t core = i / STROBE_DEVICE_RISCS, risc = i % STROBE_DEVICE_RISCS;
            if (t->cores[core].lanes[risc])
                put_track(out, t->cores[core].lanes[risc], core, risc);
        }
    }
    free(lanes);
    free(cores);
}

/* ---- in ---- */

struct reader {
    const uint8_t *at;
    size_t n_bytes;
    bool bad;
};

/* The next `n` items; NULL: they are not there. */
static const void *take(struct reader *in, uint64_t n, size_t item_bytes)
{
    const uint8_t *at = in->at;
    if (in->bad || n > in->n_bytes / item_bytes) {
        in->bad = true;
        return NULL;
    }
    size_t n_bytes = ((size_t)n * item_bytes + 7) & ~(size_t)7;
    if (n_bytes > in->n_bytes) {
        in->bad = true;
        return NULL;
    }
    STROBE_ASSERT(n_bytes % 8 == 0 && n_bytes >= (size_t)n * item_bytes);
    in->at += n_bytes;
    in->n_bytes -= n_bytes;
    return at;
}
#define TAKE(in, n, tag) ((const struct tag *)take(in, n, sizeof(struct tag)))

static enum strobe_err load_axis(struct strobe_device_trace *t, const struct head *head,
                                 struct reader *in)
{
    const struct strobe_device_axis *axis = TAKE(in, 1, strobe_device_axis);
    const struct strobe_device_core_clock *cores =
        TAKE(in, head->n_clocks, strobe_device_core_clock);
    if (in->bad || axis->n_cores != head->n_clocks)
        return STROBE_ERR_CORRUPT;
    t->clock = *axis;
    t->clock.host = t->options.host;
    t->clock.cores = calloc((size_t)head->n_clocks + 1, sizeof *cores);
    t->clock.n_cores = t->clock.cores ? head->n_clocks : 0;
    if (!t->clock.cores)
        return STROBE_ERR_NOMEM;
    memcpy(t->clock.cores, cores, head->n_clocks * sizeof *cores);
    return STROBE_OK;
}

static enum strobe_err load_tables(struct strobe_device_trace *t, const struct head *head,
                                   struct reader *in, bool same_file)
{
    const struct loc *locs = TAKE(in, head->n_locs, loc);
    const struct slot *slots = TAKE(in, head->n_slots, slot);
    const struct strobe_device_flow *flows = TAKE(in, head->n_flows, strobe_device_flow);
    if (in->bad || head->n_flows > STROBE_DEVICE_FLOWS || head->free_flow > head->n_flows)
        return STROBE_ERR_CORRUPT;
    for (uint64_t i = 0; same_file && i < head->n_locs; i++)
        if (strobe_map_put(&t->locs, locs[i].key, locs[i].loc))
            return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < head->n_slots; i++) {
        struct strobe_device_slot slot = slots[i].slot;
        if (slots[i].number >= STROBE_DEVICE_PROGRAMS || slot.first_flow > head->n_flows ||
            slot.last_flow > head->n_flows)
            return STROBE_ERR_CORRUPT;
        slot.name[sizeof slot.name - 1] = 0;
        t->programs[slots[i].number] = slot;
    }
    for (uint32_t i = 0; i < head->n_flows; i++)
        if (flows[i].next > head->n_flows)
            return STROBE_ERR_CORRUPT;
    memcpy(t->flows, flows, head->n_flows * sizeof *flows);
    t->n_flows = head->n_flows;
    t->free_flow = head->free_flow;
    return STROBE_OK;
}

static enum strobe_err load_stream(struct strobe_device_trace *t, const struct head *head,
                                   struct reader *in)
{
    const uint32_t *cores = take(in, head->stream.n_cores, sizeof *cores);
    const struct strobe_device_saved *lanes = TAKE(in, head->n_lanes, strobe_device_saved);
    const struct facts *facts = in->bad ? NULL : (const void *)in->at;
    if (in->bad)
        return STROBE_ERR_CORRUPT;
    enum strobe_err err = strobe_device_stream_load_cores(t->stream, &head->stream, cores);
    for (uint32_t i = 0; !err && i < head->n_facts; i++) {
        facts = TAKE(in, 1, facts);
        if (!facts || facts->number >= head->n_facts)
            return STROBE_ERR_CORRUPT;
        struct strobe_device_core_facts core = facts->facts;
        core.index = facts->number;
        if (facts->has_facts)
            strobe_device_lanes_core(t, &core);
    }
    return err ? err : strobe_device_stream_load(t->stream, lanes, head->n_lanes);
}

static enum strobe_err load_nest(struct strobe_nest *nest, const struct track *track,
                                 struct reader *in)
{
    const struct strobe_nest_zone *waiting = TAKE(in, track->n_waiting, strobe_nest_zone);
    const struct strobe_nest_zone *stack = TAKE(in, track->n_stack, strobe_nest_zone);
    if (in->bad)
        return STROBE_ERR_CORRUPT;
    nest->waiting = calloc((size_t)track->n_waiting + 1, sizeof *waiting);
    nest->stack = calloc((size_t)track->n_stack + 1, sizeof *stack);
    if (!nest->waiting || !nest->stack)
        return STROBE_ERR_NOMEM;
    memcpy(nest->waiting, waiting, track->n_waiting * sizeof *waiting);
    memcpy(nest->stack, stack, track->n_stack * sizeof *stack);
    STROBE_ASSERT(!nest->n_waiting && !nest->n_stack); /* a new one */
    nest->n_waiting = nest->waiting_room = track->n_waiting;
    nest->n_stack = nest->stack_room = track->n_stack;
    nest->out = track->out;
    nest->n_late = track->n_late;
    return STROBE_OK;
}

/* A lane's track: of the same file as it was, of another one a new one. */
static struct strobe_device_track *make_track(struct strobe_device_trace *t,
                                              const struct track *track, bool same_file)
{
    STROBE_ASSERT(track->core < t->n_cores && track->risc < STROBE_DEVICE_RISCS); /* checked */
    struct strobe_device_place *core = &t->cores[track->core];
    struct strobe_device_lane at = {track->core, track->risc, core->facts.core_yx};
    if (!same_file)
        return strobe_device_lanes_track(t, &at);
    struct strobe_device_track *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->track = strobe_build_resume_thread(t->build, &track->build);
    if (!lane->track) {
        free(lane);
        return NULL;
    }
    t->n_lanes++;
    return core->lanes[track->risc] = lane;
}

static enum strobe_err load_track(struct strobe_device_trace *t, struct reader *in, bool same_file)
{
    const struct track *track = TAKE(in, 1, track);
    if (!track || track->core >= t->n_cores || track->risc >= STROBE_DEVICE_RISCS ||
        track->n_table > STROBE_DEVICE_TABLE || t->cores[track->core].lanes[track->risc])
        return STROBE_ERR_CORRUPT;
    struct strobe_device_track *lane = make_track(t, track, same_file);
    if (!lane)
        return STROBE_ERR_NOMEM;
    lane->n_table = track->n_table;
    lane->has_table = track->has_table;
    lane->table_time = track->table_time;
    lane->latest = track->latest;
    memcpy(lane->table, track->table, sizeof lane->table);
    lane->n_zones = track->n_zones;
    lane->n_marks = track->n_marks;
    lane->n_summed = track->n_summed;
    lane->n_dropped = track->n_dropped;
    lane->total_emitted = track->total_emitted;
    lane->total_dropped = track->total_dropped;
    lane->n_resets = (uint32_t)track->n_resets;
    lane->is_damaged = track->is_damaged;
    lane->has_gap = track->has_gap;
    enum strobe_err err = load_nest(&lane->nest, track, in);
    if (!err && !same_file)
        strobe_device_lanes_begin_again(t, track->core, track->risc);
    return err;
}

static void load_head(struct strobe_device_trace *t, const struct head *head, bool same_file)
{
    t->n_riscs = head->n_riscs;
    t->epoch = head->epoch;
    t->has_bye = head->has_bye;
    t->last_ns = head->last_ns;
    t->is_resumed = head->has_hello;
    t->is_virtual = head->is_virtual;
    if (!same_file)
        return;
    t->has_hello = head->has_hello;
    t->has_buffers = head->has_buffers;
    t->n_lost_flows = head->n_lost_flows;
    t->n_late = head->n_late;
    t->n_unmatched = head->n_unmatched;
    memcpy(t->n_bad, head->n_bad, sizeof t->n_bad);
    memcpy(t->pools, head->pools, sizeof t->pools);
}

enum strobe_err strobe_device_saved_load(struct strobe_device_trace *t,
                                         const struct strobe_device_left *left)
{
    struct reader in = {left->bytes, left->n_bytes, false};
    const struct head *head = TAKE(&in, 1, head);
    if (!head)
        return STROBE_ERR_CORRUPT;
    bool same_file = left->ask != NULL;
    load_head(t, head, same_file);
    enum strobe_err err = same_file ? strobe_build_resume(t->options.store, &head->build, left->ask,
                                                          left->context, &t->build)
                                    : STROBE_OK;
    if (!err)
        err = load_axis(t, head, &in);
    if (!err)
        err = load_tables(t, head, &in, same_file);
    if (!err)
        err = load_stream(t, head, &in);
    for (uint32_t i = 0; !err && i < head->n_tracks; i++)
        err = load_track(t, &in, same_file);
    return err;
}
