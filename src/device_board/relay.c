/* relay.c - drains the cores' rings into frames, as a resident kernel beside the cores does. It ships a core whose fullest lane is a
 * quarter full, or that waited long, and stores the heads. With the words goes the table of open zones, so that a reader knows them
 * while they are open. A frame's layout: kernel/strobe_device_words.h.
 *
 * RISCs may run while this reads. Words below a published tail stay as they are until the head passes them; states are read before
 * tails; a table is read until its lane stood still meanwhile.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "device_board/board.h"

#define RING        STROBE_L1_BUFFER_WORDS
#define TABLE_TRIES 64

static uint32_t *ring_of(const struct strobe_board_core *core, uint32_t risc)
{
    return (uint32_t *)(void *)(core->l1 + STROBE_SIM_MAILBOX + STROBE_L1_BUFFER_OFFSET(risc));
}

/* The same, as the core's RISCs know it. */
static uint32_t ring_address(const struct strobe_board_core *core, uint32_t risc)
{
    return core->l1_address + STROBE_SIM_MAILBOX + STROBE_L1_BUFFER_OFFSET(risc);
}

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void arm(struct strobe_board *board, uint32_t armed)
{
    for (uint32_t i = 0; i < board->n_cores; i++)
        strobe_board_control(&board->cores[i])[STROBE_SC_ARMED] = armed;
}

/* Hand frames to the sink. One that takes nothing now, or never again, disarms the cores: they drop and count, and wait for nobody. As soon as
 * it takes a frame they are armed again. */
static enum strobe_err put(struct strobe_board *board, const uint32_t *words, uint32_t n_words)
{
    if (board->sink_dead)
        return STROBE_ERR_LIMIT;
    enum strobe_err err = board->setup.sink->put(board->setup.sink->context, words, n_words);
    int is_refused = err != STROBE_OK;
    if (is_refused != board->is_refused &&
        board->setup.options.mode == STROBE_DEVICE_MODE_STREAMING)
        arm(board, !is_refused && board->is_relayed);
    board->is_refused = is_refused;
    board->sink_dead |= err && err != STROBE_ERR_LIMIT;
    board->n_frames_dropped += err == STROBE_ERR_LIMIT;
    board->n_frames += !err;
    return err;
}

static uint32_t pad(uint32_t *frame, uint32_t n)
{
    while (n % STROBE_FRAME_WORDS)
        frame[n++] = 0;
    return n;
}

enum strobe_err strobe_board_put(struct strobe_board *board, uint32_t *frame, uint32_t n_words)
{
    return put(board, frame, pad(frame, n_words));
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
    STROBE_ASSERT(n <= RING);
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

/* The open zones of a lane behind frame word n. Returns the words that there are then; 0: the lane did not stand still. */
static uint32_t put_table(const struct strobe_board_core *core, uint32_t risc, uint32_t *frame,
                          uint32_t n, uint32_t *n_lanes)
{
    const struct strobe_l1_lane *lane = strobe_board_lane(core, risc);
    uint32_t first = core->l1_address + STROBE_SIM_MAILBOX +
                     STROBE_L1_LANE_OFFSET(STROBE_BOARD_RISCS, risc) +
                     (uint32_t)offsetof(struct strobe_l1_lane, open);
    for (uint32_t i = 0; i < TABLE_TRIES; i++) {
        uint32_t next = load(&lane->next), top = load(&lane->open_top),
                 n_dropped = load(&lane->n_dropped), at = n,
                 depth = (top - first) / (4 * STROBE_OPEN_WORDS);
        if (!(load(&lane->flags) & STROBE_LANE_READY) || depth > STROBE_OPEN_MAX || !depth)
            return n;
        frame[at++] = risc | depth << 8;
        for (uint32_t level = 0; level < depth; level++) {
            frame[at++] = load(&lane->open[level].id);
            frame[at++] = load(&lane->open[level].start_low);
            frame[at++] = load(&lane->open[level].start_high);
        }
        if (next == load(&lane->next) && top == load(&lane->open_top) &&
            n_dropped == load(&lane->n_dropped)) {
            ++*n_lanes;
            return at;
        }
    }
    return 0;
}

/* The open zones of a core as a frame of its own; that there are none is said too: readers wait for it. `final`: it will not run on. Without a
 * table that holds there is no frame: the next one is as good. */
static void put_open(struct strobe_board *board, struct strobe_board_core *core, int final)
{
    uint32_t *frame = board->frame, n = sizeof(struct strobe_frame_open) / 4, n_lanes = 0;
    uint64_t cycles = board->table_time(board, core);
    for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++)
        if (!(n = put_table(core, risc, frame, n, &n_lanes)))
            return;
    struct strobe_frame_open head = {.word0 = STROBE_EXT_WORD(STROBE_EXT_OPEN, n - 1),
                                     .core_yx = core->y << 16 | core->x,
                                     .cycles_low = (uint32_t)cycles,
                                     .cycles_high = (uint32_t)(cycles >> 32),
                                     .flags = final ? STROBE_OPEN_FINAL : 0u,
                                     .n_lanes = n_lanes};
    memcpy(frame, &head, sizeof head);
    put(board, frame, pad(frame, n));
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
static uint32_t ship(struct strobe_board *board, struct strobe_board_core *core, int all)
{
    uint32_t *control = strobe_board_control(core), *frame = board->frame,
             n = sizeof(struct strobe_frame_lanes5) / 4;
    struct strobe_frame_lanes5 head = {.word0 = STROBE_ST_WORD(STROBE_ST_FRAME, 0),
                                       .core_yx = core->y << 16 | core->x};
    uint32_t tails[STROBE_BOARD_RISCS], n_all = 0;
    for (uint32_t i = 0; i < sizeof head.state / sizeof *head.state; i++)
        head.state[i] = load(control + STROBE_SC_STATE + i);
    for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++) {
        const struct strobe_l1_lane *lane = strobe_board_lane(core, risc);
        uint32_t tail = load(control + STROBE_SC_TAIL + risc);
        uint32_t index = (lane->next - ring_address(core, risc)) / 4;
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
    STROBE_ASSERT(n <= STROBE_FRAME_PREFIX + STROBE_FRAME_MAX_PAYLOAD);
    head.n_words = n - STROBE_FRAME_PREFIX;
    memcpy(frame, &head, sizeof head);
    uint32_t n_frame = pad(frame, n);
    if (put(board, frame, n_frame))
        return 0;
    for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++)
        __atomic_store_n(control + STROBE_SC_HEAD + risc, tails[risc], __ATOMIC_RELEASE);
    core->n_skipped = 0;
    put_open(board, core, 0);
    return n_frame * 4;
}

/* How full the fullest lane is. */
static uint32_t fill_of(const struct strobe_board_core *core)
{
    const uint32_t *control = strobe_board_control(core);
    uint32_t most = 0;
    for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++) {
        uint32_t n = load(control + STROBE_SC_TAIL + risc) - control[STROBE_SC_HEAD + risc];
        most = n <= RING && n > most ? n : most;
    }
    return most;
}

uint32_t strobe_board_visit(struct strobe_board *board, struct strobe_board_core *core,
                            uint32_t *shipped)
{
    uint32_t fill = fill_of(core);
    *shipped = fill >= STROBE_RELAY_WORDS || (fill && ++core->n_skipped >= STROBE_RELAY_DEFERRED);
    return *shipped ? ship(board, core, 0) : 0;
}

void strobe_board_after(struct strobe_board *board)
{
    for (uint32_t i = 0; board->is_relayed && i < board->n_cores; i++) {
        struct strobe_board_core *core = &board->cores[i];
        if (core->hung &&
            !core->open_sent) { /* it will not run on: all that it wrote, and where it stands */
            core->open_sent = 1;
            ship(board, core, 1);
            put_open(board, core, 1);
        } else if (fill_of(core) >= STROBE_RELAY_WORDS) {
            ship(board, core, 0);
        }
    }
}

/* ---- counts ---- */

static void total_of(const struct strobe_board_core *core, uint32_t risc,
                     struct strobe_lane_total *total)
{
    const struct strobe_l1_lane *lane = strobe_board_lane(core, risc);
    const uint32_t *control = strobe_board_control(core);
    uint32_t left = control[STROBE_SC_TAIL + risc] - control[STROBE_SC_HEAD + risc];
    *total = (struct strobe_lane_total){.core_yx = core->y << 16 | core->x,
                                        .risc = risc,
                                        .emitted_low = lane->n_emitted_low,
                                        .emitted_high = lane->n_emitted_high,
                                        .dropped_low = lane->n_dropped,
                                        .n_stalls = lane->n_stalls,
                                        .stalled_low = lane->stalled_low,
                                        .stalled_high = lane->stalled_high,
                                        .undelivered = left <= RING ? left : 0};
}

enum strobe_err strobe_board_count(void *unit, uint32_t core, uint32_t risc,
                                   struct strobe_lane_total *total)
{
    const struct strobe_board *board = unit;
    if (core >= board->n_cores || risc >= STROBE_BOARD_RISCS)
        return STROBE_ERR_NOTFOUND;
    total_of(&board->cores[core], risc, total);
    return STROBE_OK;
}

/* Counts of n lanes, as one frame. */
static void put_totals_frame(struct strobe_board *board, uint32_t n_lanes)
{
    uint32_t n = (uint32_t)(sizeof(struct strobe_frame_totals) +
                            n_lanes * sizeof(struct strobe_lane_total)) /
                 4;
    struct strobe_frame_totals head = {.word0 = STROBE_EXT_WORD(STROBE_EXT_TOTALS, n - 1),
                                       .n_lanes = n_lanes};
    memcpy(board->frame, &head, sizeof head);
    if (n_lanes)
        put(board, board->frame, pad(board->frame, n));
}

/* Counts of every lane where they changed. */
static void put_totals(struct strobe_board *board)
{
    uint32_t n_lanes = 0;
    for (uint32_t i = 0; i < board->n_cores * STROBE_BOARD_RISCS; i++) {
        struct strobe_board_core *core = &board->cores[i / STROBE_BOARD_RISCS];
        uint32_t risc = i % STROBE_BOARD_RISCS;
        const struct strobe_l1_lane *lane = strobe_board_lane(core, risc);
        if (!(lane->flags & STROBE_LANE_READY) ||
            lane->n_dropped + lane->n_stalls == core->n_said[risc])
            continue;
        core->n_said[risc] = lane->n_dropped + lane->n_stalls;
        total_of(core, risc,
                 (struct strobe_lane_total *)(void *)(board->frame +
                                                      sizeof(struct strobe_frame_totals) / 4) +
                     n_lanes);
        if (++n_lanes == 128) {
            put_totals_frame(board, n_lanes);
            n_lanes = 0;
        }
    }
    put_totals_frame(board, n_lanes);
}

/* One word behind a lane's others, while its RISC rests; there is room. */
static void append(struct strobe_board_core *core, uint32_t risc, struct strobe_l1_lane *lane,
                   uint32_t word)
{
    uint32_t base = ring_address(core, risc), index = (lane->next - base) / 4;
    if (index >= RING) {
        index = 0;
        lane->lap += RING;
    }
    STROBE_ASSERT(index < RING);
    ring_of(core, risc)[index] = word;
    lane->next = lane->limit = base + 4 * (index + 1);
    strobe_board_control(core)[STROBE_SC_TAIL + risc] = lane->lap + index + 1;
}

/* Sums and drops that found no room at the end of a launch: the ring is empty now. Returns whether there were some. */
static int append_rest(struct strobe_board_core *core, uint32_t risc)
{
    struct strobe_l1_lane *lane = strobe_board_lane(core, risc);
    int any = 0;
    if ((lane->flags & (STROBE_LANE_READY | STROBE_LANE_IN_LAUNCH)) != STROBE_LANE_READY ||
        core->hung || lane->next - ring_address(core, risc) > 4 * RING)
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

static void drain_rings(struct strobe_board *board)
{
    for (uint32_t i = 0; board->is_relayed && i < board->n_cores; i++) {
        struct strobe_board_core *core = &board->cores[i];
        int any = 0;
        ship(board, core, 0);
        for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++)
            any |= append_rest(core, risc);
        if (any)
            ship(board, core, 0);
    }
    put_totals(board);
}

enum strobe_err strobe_board_drain(void *unit)
{
    struct strobe_board *board = unit;
    if (board->setup.options.mode == STROBE_DEVICE_MODE_STREAMING)
        drain_rings(board);
    return board->setup.options.mode == STROBE_DEVICE_MODE_CLASSIC
               ? strobe_board_classic_read(board)
               : STROBE_OK;
}
