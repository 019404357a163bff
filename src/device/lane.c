/* lane.c - a run of a lane's words, record by record. Rules: docs/device-protocol.md, "Reading a lane".
 * The words are a stranger's: every length is checked against the run before it is used. Allocates once per
 * lane, for a record that must wait.  SPDX-License-Identifier: MIT */
#include "device/lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* A step back in time of more than this is no order of records but a clock whose halves were read apart. */
#define STEP_BACK (1ull << 31)
#define WRAP      (1ull << 32)

void strobe_device_lane_bad(struct strobe_device_lane_out *out,
                            const struct strobe_device_lane *lane, enum strobe_device_bad why,
                            uint64_t count)
{
    STROBE_ASSERT(why < STROBE_DEVICE_N_BAD);
    if (!count)
        return;
    out->counts.n_bad[why] += count;
    if (out->calls.bad)
        out->calls.bad(out->calls.context, lane, why, count);
}

/* The batch goes out. */
static void put_zones(struct strobe_device_lane_out *out, const struct strobe_device_lane_now *now)
{
    STROBE_ASSERT(out->n_zones <= STROBE_LANE_ZONES);
    if (!out->n_zones)
        return;
    out->counts.n_zones += out->n_zones;
    if (out->calls.zones)
        out->calls.zones(out->calls.context, &now->lane, out->zones, out->n_zones);
    out->n_zones = 0;
}

static void add_zone(struct strobe_device_lane_out *out, const struct strobe_device_lane_now *now,
                     uint64_t start, uint64_t end, uint32_t id, uint32_t program)
{
    STROBE_ASSERT(id <= 0x7ffffff);
    if (out->n_zones == STROBE_LANE_ZONES)
        put_zones(out, now);
    out->zones[out->n_zones++] = (struct strobe_device_zone){start, end, id, program};
}

static void put_mark(struct strobe_device_lane_out *out, const struct strobe_device_lane_now *now,
                     const struct strobe_device_mark *mark)
{
    put_zones(out, now);
    STROBE_ASSERT(out->n_zones == 0 && !(mark->is_begin && mark->is_end));
    if (mark->values) {
        STROBE_ASSERT(mark->n_values <= STROBE_LANE_VALUES);
        out->counts.n_data++;
        if (out->calls.data)
            out->calls.data(out->calls.context, &now->lane, mark);
    } else {
        out->counts.n_events++;
        if (out->calls.event)
            out->calls.event(out->calls.context, &now->lane, mark);
    }
}

/* The held record goes out, `back` cycles earlier than it says. */
static void put_held(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                     uint64_t back)
{
    struct strobe_device_held *held = now->held;
    STROBE_ASSERT(now->holds && held);
    STROBE_ASSERT(held->is_zone || !held->mark.values || held->mark.values == held->values);
    now->holds = false;
    if (back)
        strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_LATCH, 1);
    if (held->is_zone) {
        add_zone(out, now, held->zone.start, held->zone.end - back, held->zone.id,
                 held->zone.program);
    } else {
        held->mark.time -= back;
        put_mark(out, now, &held->mark);
    }
}

/* A record of this time follows: does it confirm the one that waits? */
static void settle(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                   uint64_t time)
{
    if (!now->holds)
        return;
    STROBE_ASSERT(now->held && now->state != STROBE_DEVICE_LANE_NEW);
    uint64_t was = now->held->is_zone ? now->held->zone.end : now->held->mark.time;
    put_held(out, now, was > time && was - time > STEP_BACK && was >= WRAP ? WRAP : 0);
}

/* Memory for a record that must wait; without it the record goes out at once, unconfirmed. */
static struct strobe_device_held *hold(struct strobe_device_lane_now *now)
{
    STROBE_ASSERT(!now->holds);
    if (!now->held)
        now->held = malloc(sizeof *now->held);
    now->holds = now->held != NULL;
    return now->held;
}

void strobe_device_lane_flush(struct strobe_device_lane_out *out,
                              struct strobe_device_lane_now *now)
{
    if (now->holds)
        put_held(out, now, 0);
    put_zones(out, now);
}

void strobe_device_lane_reset(struct strobe_device_lane_out *out,
                              struct strobe_device_lane_now *now)
{
    strobe_device_lane_flush(out, now);
    STROBE_ASSERT(!now->holds && out->n_zones == 0);
    now->state = STROBE_DEVICE_LANE_NEW;
    now->has_cursor = now->has_timer = now->new_timer = false;
}

void strobe_device_lane_free(struct strobe_device_lane_now *now)
{
    free(now->held);
    now->held = NULL;
    now->holds = false;
}

/* Words of the record at words[0]; 0: none, or it does not end within n. */
static size_t length_of(const uint32_t *words, size_t n)
{
    static const uint8_t lengths[32] = {
        [STROBE_ST_ZONE_START] = 2,  [STROBE_ST_ZONE_END] = 2,  [STROBE_ST_ZONE_M] = 3,
        [STROBE_ST_ZONE_S] = 2,      [STROBE_ST_ZONE_L] = 5,    [STROBE_ST_PROGRAM] = 1,
        [STROBE_ST_TIMER] = 1,       [STROBE_ST_DATA] = 3,      [STROBE_ST_EVENT] = 2,
        [STROBE_ST_PROGRAM_EXT] = 2, [STROBE_ST_EXTENSION] = 1,
    };
    uint32_t type = STROBE_ST_TYPE(words[0]);
    STROBE_ASSERT(n > 0);
    size_t length = lengths[type];
    if (!length || length > n)
        return 0;
    if (type == STROBE_ST_DATA)
        length += words[2] >> 25;
    if (type == STROBE_ST_EXTENSION) {
        if (STROBE_EXT_SUBTYPE(words[0]) >= STROBE_EXT_FRAMES)
            return 0;
        length += STROBE_EXT_N(words[0]);
    }
    return length <= n ? length : 0;
}

/* Does the run set this state itself, somewhere? */
static void find_sticky(const struct strobe_device_run *run, bool *has_timer, bool *has_program)
{
    *has_timer = *has_program = false;
    for (size_t i = 0; i < run->n_words;) {
        uint32_t type = STROBE_ST_TYPE(run->words[i]);
        size_t length = length_of(run->words + i, run->n_words - i);
        if (!length)
            return;
        *has_timer |= type == STROBE_ST_TIMER;
        *has_program |= type == STROBE_ST_PROGRAM || type == STROBE_ST_PROGRAM_EXT;
        i += length;
    }
}

/* Begin at a frame without what was before it. The frame's state is that of the run's end: it holds for the
 * whole run only if no word of the run changed it. */
static void start(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                  const struct strobe_device_run *run)
{
    bool sets_timer, sets_program, first = now->state == STROBE_DEVICE_LANE_NEW && run->head == 0;
    strobe_device_lane_flush(out, now);
    find_sticky(run, &sets_timer, &sets_program);
    now->has_cursor = now->new_timer = false;
    now->has_timer = first || !sets_timer;
    now->timer = first && sets_timer ? 0 : run->timer;
    now->program = sets_program ? (first ? 0 : STROBE_PROGRAM_UNKNOWN) : run->program;
    now->expected = run->head;
    now->state = STROBE_DEVICE_LANE_RUNNING;
}

/* Where in the run the lane goes on: behind what it has already, or at the start after a gap. */
static uint32_t meet(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                     const struct strobe_device_run *run)
{
    uint32_t ahead = run->head - now->expected, behind = now->expected - run->head;
    if (now->state != STROBE_DEVICE_LANE_RUNNING) {
        start(out, now, run);
        return 0;
    }
    if (!ahead)
        return 0;
    if (behind <= STROBE_L1_BUFFER_WORDS) {
        uint32_t skip = behind < run->n_words ? behind : run->n_words;
        STROBE_ASSERT(behind > 0);
        strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_OVERLAP, skip);
        return skip;
    }
    strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_GAP_WORDS,
                           ahead < WRAP / 2 ? ahead : 1);
    start(out, now, run);
    return 0;
}

/* L: its end is whole, its cursor is nobody's. Bad reads of the clock make L zones of others. */
static void zone_l(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                   const uint32_t *words)
{
    uint64_t end = (uint64_t)words[2] << 32 | words[1];
    uint64_t duration = (uint64_t)words[4] << 32 | words[3];
    uint32_t id = STROBE_ST_ID(words[0]);
    settle(out, now, end);
    if (words[4] == 0xffffffffu) { /* its start was read one wrap late */
        duration += WRAP;
        strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_LATCH, 1);
        add_zone(out, now, end - duration, end, id, now->program);
        return;
    }
    struct strobe_device_held *held = hold(now);
    if (!held) {
        add_zone(out, now, end - duration, end, id, now->program);
        return;
    }
    put_zones(out, now);
    held->is_zone = true;
    held->zone = (struct strobe_device_zone){end - duration, end, id, now->program};
}

/* Event, data, or a begin or end of its own. */
static void mark_at(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                    const uint32_t *words, uint32_t type)
{
    uint64_t values[STROBE_LANE_VALUES];
    struct strobe_device_mark mark = {.id = STROBE_ST_ID(words[0]), .program = now->program};
    if (!now->has_timer) {
        strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_NO_TIMER, 1);
        return;
    }
    mark.time = (uint64_t)now->timer << 32 | words[1];
    settle(out, now, mark.time);
    mark.is_begin = type == STROBE_ST_ZONE_START;
    mark.is_end = type == STROBE_ST_ZONE_END;
    if (type == STROBE_ST_DATA) {
        mark.n_values = (words[2] >> 25) / 2;
        STROBE_ASSERT(mark.n_values <= STROBE_LANE_VALUES);
        for (uint32_t i = 0; i < mark.n_values; i++)
            values[i] = (uint64_t)words[3 + 2 * i] << 32 | words[4 + 2 * i];
        mark.values = values;
    }
    struct strobe_device_held *held = now->new_timer ? hold(now) : NULL;
    now->new_timer = false;
    if (!held) {
        put_mark(out, now, &mark);
        return;
    }
    put_zones(out, now);
    held->is_zone = false;
    held->mark = mark;
    if (mark.values)
        held->mark.values = memcpy(held->values, values, sizeof values[0] * mark.n_values);
}

static void extension(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                      const uint32_t *words)
{
    uint32_t subtype = STROBE_EXT_SUBTYPE(words[0]), n = STROBE_EXT_N(words[0]);
    if (subtype == STROBE_EXT_SUM && n == STROBE_SUM_WORDS - 1) {
        struct strobe_device_sum sum = {.id = STROBE_ST_ID(words[1]),
                                        .program = now->program,
                                        .count = words[2],
                                        .sum = (uint64_t)words[4] << 32 | words[3],
                                        .min = words[5],
                                        .max = words[6]};
        put_zones(out, now);
        out->counts.n_sums++;
        if (out->calls.sum)
            out->calls.sum(out->calls.context, &now->lane, &sum);
    } else if (subtype == STROBE_EXT_DROP && n == STROBE_DROP_WORDS - 1) {
        put_zones(out, now);
        out->counts.n_dropped += words[1];
        if (out->calls.drop && words[1])
            out->calls.drop(out->calls.context, &now->lane, words[1]);
    } else {
        strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_VERSION, 1);
    }
}

/* M: places itself, and those behind it. */
static void zone_m(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                   const uint32_t *words)
{
    if (!now->has_timer) {
        strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_NO_TIMER, 1);
        return;
    }
    now->cursor = (uint64_t)now->timer << 32 | words[1];
    now->has_cursor = true;
    now->new_timer = false;
    settle(out, now, now->cursor);
    add_zone(out, now, now->cursor - words[2], now->cursor, STROBE_ST_ID(words[0]), now->program);
}

static void set_timer(struct strobe_device_lane_now *now, uint32_t timer)
{
    now->new_timer = now->has_timer && timer > now->timer;
    now->timer = timer;
    now->has_timer = true;
    now->has_cursor = false;
}

/* All but S and PROGRAM. `words` has the whole record. */
static void record(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                   const uint32_t *words, uint32_t type)
{
    switch (type) {
    case STROBE_ST_ZONE_M:
        zone_m(out, now, words);
        break;
    case STROBE_ST_ZONE_L:
        zone_l(out, now, words);
        break;
    case STROBE_ST_ZONE_S: /* without a cursor */
        strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_NO_CURSOR, 1);
        break;
    case STROBE_ST_PROGRAM_EXT:
        now->program = words[1];
        break;
    case STROBE_ST_TIMER:
        set_timer(now, STROBE_ST_ID(words[0]));
        break;
    case STROBE_ST_EXTENSION:
        extension(out, now, words);
        break;
    default:
        mark_at(out, now, words, type);
        break;
    }
}

/* As many S zones as follow each other. Returns their words. */
static size_t run_of_s(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                       const uint32_t *words, size_t n)
{
    if (now->holds)
        settle(out, now, now->cursor + (words[1] >> 16));
    if (out->n_zones + n / 2 > STROBE_LANE_ZONES)
        put_zones(out, now);
    STROBE_ASSERT(n / 2 <= STROBE_LANE_ZONES && now->has_cursor);
    size_t n_zones = out->decode_s(words, n, &now->cursor, now->program, out->zones + out->n_zones);
    STROBE_ASSERT(n_zones && 2 * n_zones <= n);
    out->n_zones += n_zones;
    now->new_timer = false;
    return 2 * n_zones;
}

/* Likewise M zones; 0: the first must go the long way. */
static size_t run_of_m(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                       const uint32_t *words, size_t n)
{
    if (now->holds || !now->has_timer || n < 3)
        return 0;
    if (out->n_zones + n / 3 > STROBE_LANE_ZONES)
        put_zones(out, now);
    struct strobe_device_zone *zone = out->zones + out->n_zones;
    uint64_t high = (uint64_t)now->timer << 32;
    size_t i = 0;
    for (; n - i >= 3 && STROBE_ST_TYPE(words[i]) == STROBE_ST_ZONE_M; i += 3, zone++)
        *zone =
            (struct strobe_device_zone){(high | words[i + 1]) - words[i + 2], high | words[i + 1],
                                        STROBE_ST_ID(words[i]), now->program};
    STROBE_ASSERT(i && zone <= out->zones + STROBE_LANE_ZONES);
    out->n_zones = (size_t)(zone - out->zones);
    now->cursor = zone[-1].end;
    now->has_cursor = true;
    now->new_timer = false;
    return i;
}

void strobe_device_lane_run(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                            const struct strobe_device_run *run)
{
    size_t i = meet(out, now, run), n = run->n_words;
    STROBE_ASSERT(n <= STROBE_L1_BUFFER_WORDS && i <= n && out->n_zones == 0);
    while (i < n) {
        uint32_t type = STROBE_ST_TYPE(run->words[i]);
        if (type == STROBE_ST_ZONE_S && now->has_cursor && n - i >= 2) {
            i += run_of_s(out, now, run->words + i, n - i);
            continue;
        }
        if (type == STROBE_ST_PROGRAM) {
            now->program = STROBE_ST_ID(run->words[i++]);
            continue;
        }
        size_t length = type == STROBE_ST_ZONE_M ? run_of_m(out, now, run->words + i, n - i) : 0;
        if (length) {
            i += length;
            continue;
        }
        length = length_of(run->words + i, n - i);
        if (!length) { /* nobody knows where the next record begins; the next frame does */
            strobe_device_lane_bad(out, &now->lane, STROBE_DEVICE_BAD_RUN, n - i);
            now->state = STROBE_DEVICE_LANE_BROKEN;
            break;
        }
        record(out, now, run->words + i, type);
        i += length;
    }
    put_zones(out, now);
    if ((int32_t)(run->head + run->n_words - now->expected) > 0)
        now->expected = run->head + run->n_words;
}
