/* relay.c - drains the cores' rings into frames, as a resident kernel on a spare RISC of each bank of DRAM does. A relay reads the
 * state of its cores in turn, ships a core whose fullest lane is a quarter full, or that waited long, and stores the heads.
 * A frame's layout: kernel/strobe_device_words.h. With it goes the table of open zones, so that a reader knows them while they are
 * open.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "device_sim/costs.h"
#include "device_sim/internal.h"

#define RING STROBE_L1_BUFFER_WORDS

uint32_t *strobe_sim_core_control(struct strobe_sim_core *core)
{
    return (uint32_t *)(void *)(core->l1 + STROBE_SIM_MAILBOX);
}

struct strobe_l1_core *strobe_sim_core_facts(struct strobe_sim_core *core)
{
    return (struct strobe_l1_core *)(void *)(core->l1 + STROBE_SIM_MAILBOX +
                                             STROBE_L1_CORE_OFFSET(STROBE_SIM_RISCS));
}

struct strobe_l1_lane *strobe_sim_lane_words(struct strobe_sim_lane *lane)
{
    uint32_t risc = (uint32_t)(lane - lane->core->lanes);
    return (struct strobe_l1_lane *)(void *)(lane->core->l1 + STROBE_SIM_MAILBOX +
                                             STROBE_L1_LANE_OFFSET(STROBE_SIM_RISCS, risc));
}

static const uint32_t *ring_of(struct strobe_sim_core *core, uint32_t risc)
{
    return (const uint32_t *)(const void *)(core->l1 + STROBE_SIM_MAILBOX +
                                            STROBE_L1_BUFFER_OFFSET(risc));
}

static void arm(struct strobe_sim_unit *unit, uint32_t armed)
{
    for (uint32_t i = 0; i < unit->n_cores; i++)
        strobe_sim_core_control(&unit->cores[i])[STROBE_SC_ARMED] = armed;
}

/* Hand frames to the sink. One that takes nothing now, or never again, disarms the cores: they drop and count, and wait for nobody. As soon as
 * it takes a frame they are armed again. */
static enum strobe_err put(struct strobe_sim_unit *unit, const uint32_t *words, uint32_t n_words)
{
    if (unit->sink_dead)
        return STROBE_ERR_LIMIT;
    enum strobe_err err = unit->setup.sink->put(unit->setup.sink->context, words, n_words);
    int is_refused = err != STROBE_OK;
    if (is_refused != unit->is_refused && unit->setup.options.mode == STROBE_DEVICE_MODE_STREAMING)
        arm(unit, !is_refused && unit->n_relays);
    unit->is_refused = is_refused;
    unit->sink_dead |= err && err != STROBE_ERR_LIMIT;
    unit->n_frames_dropped += err == STROBE_ERR_LIMIT;
    unit->n_frames += !err;
    return err;
}

static uint32_t pad(uint32_t *frame, uint32_t n)
{
    while (n % STROBE_FRAME_WORDS)
        frame[n++] = 0;
    return n;
}

enum strobe_err strobe_sim_relay_put(struct strobe_sim_unit *unit, uint32_t *frame,
                                     uint32_t n_words)
{
    return put(unit, frame, pad(frame, n_words));
}

/* What of a lane may be fetched: from its head, or where it dropped its oldest words from there, to `tail`. A head and a tail that
 * can't be (garbage in L1) are no words. */
static uint32_t span(const uint32_t *control, const struct strobe_l1_lane *lane, uint32_t risc,
                     uint32_t tail, uint32_t *head)
{
    *head = control[STROBE_SC_HEAD + risc];
    if (lane->flags & STROBE_LANE_READY && (int32_t)(lane->oldest - *head) > 0 &&
        lane->oldest - *head <= 1u << 20)
        *head = lane->oldest;
    return tail - *head <= RING ? tail - *head : 0;
}

/* The words of a lane, with the pads that keep ring offsets modulo 4. Returns how many. */
static uint32_t put_run(uint32_t *to, uint32_t at, const uint32_t *ring, uint32_t head, uint32_t n)
{
    uint32_t from = head % RING, wraps = from + n > RING,
             whole = wraps && RING - n <= STROBE_FRAME_WHOLE_RING_DEAD;
    uint32_t skip = ((whole ? 0 : from) - at) & 3u, first = wraps ? RING - from : n;
    memset(to, 0, skip * sizeof *to);
    if (whole) {
        memcpy(to + skip, ring, RING * sizeof *to);
        return skip + RING;
    }
    memcpy(to + skip, ring + from, first * sizeof *to);
    memcpy(to + skip + first, ring, (n - first) * sizeof *to);
    return skip + n;
}

/* Up to when the tables of all lanes of a core hold. A lane that is behind the others may still open zones before them; one that is done may
 * not, and of a core that will not run on the latest counts. */
static uint64_t table_time(const struct strobe_sim_core *core)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        const struct strobe_sim_lane *lane = &core->lanes[risc];
        uint64_t now = lane->hot.now + lane->hot.wall;
        int runs = lane->state == STROBE_SIM_READY || lane->state == STROBE_SIM_PARKED;
        least = runs && now < least ? now : least;
        most = now > most ? now : most;
    }
    return least == UINT64_MAX ? most : least;
}

/* The open zones of a core as a frame of its own; that there are none is said too: readers wait for it. `final`: it will not run on. */
static void put_open(struct strobe_sim_unit *unit, struct strobe_sim_core *core, int final)
{
    uint32_t *frame = unit->frame, n = sizeof(struct strobe_frame_open) / 4, n_lanes = 0;
    uint64_t cycles = table_time(core);
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        struct strobe_sim_lane *lane = &core->lanes[risc];
        const struct strobe_l1_lane *words = strobe_sim_lane_words(lane);
        uint32_t first = (uint32_t)(uintptr_t)words->open,
                 depth = (words->open_top - first) / (4 * STROBE_OPEN_WORDS);
        if (!(words->flags & STROBE_LANE_READY) || depth > STROBE_OPEN_MAX || !depth)
            continue;
        frame[n++] = risc | depth << 8;
        for (uint32_t level = 0; level < depth; level++) {
            frame[n++] = words->open[level].id;
            frame[n++] = words->open[level].start_low;
            frame[n++] = words->open[level].start_high;
        }
        n_lanes++;
    }
    struct strobe_frame_open head = {.word0 = STROBE_EXT_WORD(STROBE_EXT_OPEN, n - 1),
                                     .core_yx = core->y << 16 | core->x,
                                     .cycles_low = (uint32_t)cycles,
                                     .cycles_high = (uint32_t)(cycles >> 32),
                                     .flags = final ? STROBE_OPEN_FINAL : 0u,
                                     .n_lanes = n_lanes};
    memcpy(frame, &head, sizeof head);
    put(unit, frame, pad(frame, n));
}

/* The state that goes with words which are not published yet. */
static void show_state(struct strobe_frame_lanes5 *head, const struct strobe_l1_lane *lane,
                       uint32_t risc)
{
    if (lane->timer_high != STROBE_NO_CURSOR)
        head->state[STROBE_FRAME_TIMER_HIGH + risc] = lane->timer_high;
    head->state[STROBE_FRAME_PROGRAM(risc)] = lane->program;
}

/* The words of one core as a frame; with `all` up to what was written, else up to what is published. Returns its bytes; 0: there are none, or
 * the sink did not take them, and they stay in the rings. */
static uint32_t ship(struct strobe_sim_unit *unit, struct strobe_sim_core *core, int all)
{
    uint32_t *control = strobe_sim_core_control(core), *frame = unit->frame,
             n = sizeof(struct strobe_frame_lanes5) / 4;
    struct strobe_frame_lanes5 head = {.word0 = STROBE_ST_WORD(STROBE_ST_FRAME, 0),
                                       .core_yx = core->y << 16 | core->x};
    uint32_t tails[STROBE_SIM_RISCS], n_all = 0;
    memcpy(head.state, control + STROBE_SC_STATE, sizeof head.state);
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        const struct strobe_l1_lane *lane = strobe_sim_lane_words(&core->lanes[risc]);
        uint32_t tail = control[STROBE_SC_TAIL + risc];
        uint32_t index = (lane->next - (uint32_t)(uintptr_t)ring_of(core, risc)) / 4;
        if (all && lane->flags & STROBE_LANE_READY && !(lane->flags & STROBE_LANE_HIDDEN) &&
            index <= RING)
            tail = lane->lap + index, show_state(&head, lane, risc);
        uint32_t n_words = span(control, lane, risc, tail, &head.head[risc]);
        tails[risc] = head.head[risc] + n_words;
        head.state[STROBE_FRAME_TAIL + risc] = tails[risc];
        n_all += n_words;
        if (n_words)
            n += put_run(frame + n, n, ring_of(core, risc), head.head[risc], n_words);
    }
    if (!n_all)
        return 0;
    head.n_words = n - STROBE_FRAME_PREFIX;
    memcpy(frame, &head, sizeof head);
    uint32_t n_frame = pad(frame, n);
    if (put(unit, frame, n_frame))
        return 0;
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
        control[STROBE_SC_HEAD + risc] = tails[risc];
    core->relay_skipped = 0;
    put_open(unit, core, 0);
    return n_frame * 4;
}

/* How full the fullest lane is. */
static uint32_t fill_of(struct strobe_sim_core *core)
{
    const uint32_t *control = strobe_sim_core_control(core);
    uint32_t most = 0;
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        uint32_t n = control[STROBE_SC_TAIL + risc] - control[STROBE_SC_HEAD + risc];
        most = n <= RING && n > most ? n : most;
    }
    return most;
}

void strobe_sim_relay_sweep(struct strobe_sim_unit *unit, uint32_t relay, uint64_t at)
{
    uint64_t cycles = 0, slowdown = unit->setup.options.relay_slowdown;
    uint32_t n_shipped = 0;
    for (uint32_t i = relay; i < unit->n_cores; i += unit->n_relays) {
        struct strobe_sim_core *core = &unit->cores[i];
        if (!core->n_running)
            continue; /* it has not run since its last frame, or will be drained at its end */
        uint32_t fill = fill_of(core);
        cycles += STROBE_COST_RELAY_VISIT;
        if (fill < STROBE_RELAY_WORDS && (!fill || ++core->relay_skipped < STROBE_RELAY_DEFERRED))
            continue;
        cycles += STROBE_COST_RELAY_FRAME + ship(unit, core, 0) / 64 * STROBE_COST_RELAY_LINE;
        n_shipped++;
    }
    if (!n_shipped)
        cycles += (uint64_t)(STROBE_COST_RELAY_IDLE_NS * unit->cycles_per_ns) / 4;
    strobe_sim_event_push(unit, (struct strobe_sim_event){.at = at + cycles * slowdown,
                                                          .what = STROBE_SIM_SWEEP,
                                                          .who = relay});
}

void strobe_sim_relay_begin(struct strobe_sim_unit *unit, uint64_t at)
{
    for (uint32_t relay = 0; relay < unit->n_relays; relay++)
        strobe_sim_event_push(unit, (struct strobe_sim_event){.at = at + 100 * relay,
                                                              .what = STROBE_SIM_SWEEP,
                                                              .who = relay});
}

void strobe_sim_relay_after(struct strobe_sim_unit *unit)
{
    for (uint32_t i = 0; unit->n_relays && i < unit->n_cores; i++) {
        struct strobe_sim_core *core = &unit->cores[i];
        if (core->hung &&
            !core->open_sent) { /* it will not run on: all that it wrote, and where it stands */
            core->open_sent = 1;
            ship(unit, core, 1);
            put_open(unit, core, 1);
        } else if (fill_of(core) >= STROBE_RELAY_WORDS) {
            ship(unit, core, 0);
        }
    }
}

void strobe_sim_relay_total(struct strobe_sim_lane *lane, struct strobe_lane_total *total)
{
    const struct strobe_l1_lane *words = strobe_sim_lane_words(lane);
    const uint32_t *control = strobe_sim_core_control(lane->core);
    uint32_t risc = (uint32_t)(lane - lane->core->lanes),
             left = control[STROBE_SC_TAIL + risc] - control[STROBE_SC_HEAD + risc];
    *total = (struct strobe_lane_total){.core_yx = lane->core->y << 16 | lane->core->x,
                                        .risc = risc,
                                        .emitted_low = words->n_emitted_low,
                                        .emitted_high = words->n_emitted_high,
                                        .dropped_low = words->n_dropped,
                                        .n_stalls = words->n_stalls,
                                        .stalled_low = words->stalled_low,
                                        .stalled_high = words->stalled_high,
                                        .undelivered = left <= RING ? left : 0};
}

/* Counts of n lanes, as one frame. */
static void put_totals_frame(struct strobe_sim_unit *unit, uint32_t n_lanes)
{
    uint32_t n = (uint32_t)(sizeof(struct strobe_frame_totals) +
                            n_lanes * sizeof(struct strobe_lane_total)) /
                 4;
    struct strobe_frame_totals head = {.word0 = STROBE_EXT_WORD(STROBE_EXT_TOTALS, n - 1),
                                       .n_lanes = n_lanes};
    memcpy(unit->frame, &head, sizeof head);
    if (n_lanes)
        put(unit, unit->frame, pad(unit->frame, n));
}

/* Counts of every lane where they changed. */
static void put_totals(struct strobe_sim_unit *unit)
{
    uint32_t n_lanes = 0;
    for (uint32_t i = 0; i < unit->n_cores * STROBE_SIM_RISCS; i++) {
        struct strobe_sim_lane *lane =
            &unit->cores[i / STROBE_SIM_RISCS].lanes[i % STROBE_SIM_RISCS];
        const struct strobe_l1_lane *words = strobe_sim_lane_words(lane);
        if (!(words->flags & STROBE_LANE_READY) ||
            words->n_dropped + words->n_stalls == lane->n_said)
            continue;
        lane->n_said = words->n_dropped + words->n_stalls;
        strobe_sim_relay_total(
            lane, (struct strobe_lane_total *)(void *)(unit->frame +
                                                       sizeof(struct strobe_frame_totals) / 4) +
                      n_lanes);
        if (++n_lanes == 128) {
            put_totals_frame(unit, n_lanes);
            n_lanes = 0;
        }
    }
    put_totals_frame(unit, n_lanes);
}

/* One word behind a lane's others, while its RISC rests; there is room. */
static void append(struct strobe_sim_core *core, uint32_t risc, struct strobe_l1_lane *lane,
                   uint32_t word)
{
    uint32_t base = (uint32_t)(uintptr_t)ring_of(core, risc), index = (lane->next - base) / 4;
    if (index >= RING) {
        index = 0;
        lane->lap += RING;
    }
    ((uint32_t *)(uintptr_t)base)[index] = word;
    lane->next = lane->limit = base + 4 * (index + 1);
    strobe_sim_core_control(core)[STROBE_SC_TAIL + risc] = lane->lap + index + 1;
}

/* Sums and drops that found no room at the end of a launch: the ring is empty now. Returns whether there were some. */
static int append_rest(struct strobe_sim_core *core, uint32_t risc)
{
    struct strobe_l1_lane *lane = strobe_sim_lane_words(&core->lanes[risc]);
    int any = 0;
    if ((lane->flags & (STROBE_LANE_READY | STROBE_LANE_IN_LAUNCH)) != STROBE_LANE_READY ||
        core->hung || lane->next - (uint32_t)(uintptr_t)ring_of(core, risc) > 4 * RING)
        return 0;
    if (lane->n_unreported) {
        append(core, risc, lane, STROBE_EXT_WORD(STROBE_EXT_DROP, STROBE_DROP_WORDS - 1));
        append(core, risc, lane, lane->n_unreported);
        append(core, risc, lane,
               STROBE_ST_WORD(STROBE_ST_PROGRAM_EXT, 0)); /* it may be among what was dropped */
        append(core, risc, lane, lane->program);
        lane->n_unreported = 0;
        any = 1;
    }
    for (uint32_t i = 0; i < STROBE_SUM_MAX; i++) {
        struct strobe_l1_sum *sum = &lane->sums[i];
        if (!sum->count)
            continue;
        const uint32_t words[STROBE_SUM_WORDS] = {
            STROBE_EXT_WORD(STROBE_EXT_SUM, STROBE_SUM_WORDS - 1),
            sum->id,
            sum->count,
            sum->sum_low,
            sum->sum_high,
            sum->min,
            sum->max};
        for (uint32_t j = 0; j < STROBE_SUM_WORDS; j++)
            append(core, risc, lane, words[j]);
        sum->count = 0;
        any = 1;
    }
    return any;
}

void strobe_sim_relay_drain(struct strobe_sim_unit *unit)
{
    for (uint32_t i = 0; unit->n_relays && i < unit->n_cores; i++) {
        struct strobe_sim_core *core = &unit->cores[i];
        int any = 0;
        ship(unit, core, 0);
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
            any |= append_rest(core, risc);
        if (any)
            ship(unit, core, 0);
    }
    put_totals(unit);
}
