/* strobe_device_stream.h - the streaming writer: a ring per RISC, a zone as one record at its close.
 * Runs inside a kernel: never allocates, divides or calls out but through the platform's macros. It
 * waits only where the policy says so, and no longer than wait_cycles. Words and states:
 * strobe_device_words.h, docs/device-protocol.md.
 *
 * The fast path (strobe_stream_open, strobe_stream_close) writes an S zone with two stores. `limit` is
 * the least of: the next multiple of 16 words, the ring's end, the room that the relay left. So one
 * compare finds all three; strobe_stream_more looks which it was. All else is in strobe_stream_slow.
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_STREAM_WRITER_H
#define STROBE_DEVICE_STREAM_WRITER_H

#include "strobe_device_platform.h"

/* An open zone, on the stack of its scope. */
struct strobe_stream_zone {
    uint32_t start_low, start_high;
    uint32_t top; /* open_top before it was opened */
};

enum {
    STROBE_RING_WORDS = STROBE_L1_BUFFER_WORDS,
    STROBE_RING_USABLE = STROBE_RING_WORDS - STROBE_RING_RESERVE
};

/* Count of words written so far. */
STROBE_DEVICE_INLINE_ uint32_t strobe_stream_count(strobe_lane *lane)
{
    return lane->lap + ((lane->next - STROBE_BUFFER_ADDRESS(STROBE_DEVICE_RISC)) >> 2);
}

#ifdef STROBE_DEVICE_COUNT
#define STROBE_COUNT_EMITTED(lane) ((lane)->n_emitted_high += ++(lane)->n_emitted_low == 0)
#else
#define STROBE_COUNT_EMITTED(lane) ((void)0)
#endif

/* Store the tail: all words before it are visible then. */
STROBE_DEVICE_INLINE_ void strobe_stream_publish(strobe_lane *lane, uint32_t count)
{
    if (lane->flags & STROBE_LANE_HIDDEN)
        return;
    STROBE_DEVICE_FENCE();
    STROBE_CONTROL(STROBE_SC_TAIL + STROBE_DEVICE_RISC) = count;
}

/* The state slots, behind the tail that has the words which changed them. */
STROBE_DEVICE_CALL_ void strobe_stream_publish_state(strobe_lane *lane)
{
    strobe_stream_publish(lane, strobe_stream_count(lane));
    if (lane->flags & STROBE_LANE_HIDDEN)
        return;
    STROBE_DEVICE_FENCE();
    lane->shown_timer = lane->timer_high;
    lane->shown_program = lane->program;
#if STROBE_DEVICE_N_RISCS <= 5
    STROBE_CONTROL(STROBE_SC_TIMER_HIGH + STROBE_DEVICE_RISC) = lane->timer_high;
    STROBE_CONTROL(STROBE_SC_PROGRAM(STROBE_DEVICE_RISC)) = lane->program;
#endif
}

/* Set `limit` for what is free behind `next`: `free_words` may be written there. */
STROBE_DEVICE_INLINE_ void strobe_stream_set_limit(strobe_lane *lane, uint32_t next,
                                                   uint32_t free_words)
{
    uint32_t end = STROBE_BUFFER_ADDRESS(STROBE_DEVICE_RISC) + 4 * STROBE_RING_WORDS;
    uint32_t limit = ((next + 7) | (4 * STROBE_PUBLISH_WORDS - 1)) + 1;
    if (limit - next > 4 * free_words)
        limit = next;
    lane->limit = limit > end ? end : limit;
}

/* Words that may be written by the relay's head as it was last seen; 0 or more. */
STROBE_DEVICE_INLINE_ uint32_t strobe_stream_free(strobe_lane *lane, uint32_t count)
{
    uint32_t used = count - lane->head;
    return used < STROBE_RING_USABLE ? STROBE_RING_USABLE - used : 0;
}

/* Read the relay's head. Returns the words that are free. */
STROBE_DEVICE_INLINE_ uint32_t strobe_stream_look(strobe_lane *lane)
{
    STROBE_DEVICE_INVALIDATE();
    uint32_t head = STROBE_CONTROL(STROBE_SC_HEAD + STROBE_DEVICE_RISC);
    if ((int32_t)(head - lane->oldest) < 0)
        head = lane->oldest;
    lane->head = head;
    return strobe_stream_free(lane, strobe_stream_count(lane));
}

/* The fast path is at its limit: publish, and look how far it may go on. 0: not for two words. */
STROBE_DEVICE_CALL_ uint32_t strobe_stream_more(strobe_lane *lane)
{
    uint32_t next = lane->next, ring = STROBE_BUFFER_ADDRESS(STROBE_DEVICE_RISC);
    if (next == ring + 4 * STROBE_RING_WORDS) {
        lane->next = next = ring;
        lane->lap += STROBE_RING_WORDS;
    }
    uint32_t count = lane->lap + ((next - ring) >> 2), free_words = strobe_stream_free(lane, count);
    strobe_stream_publish(lane, count);
    if (STROBE_UNLIKELY(free_words < 2 * STROBE_PUBLISH_WORDS))
        free_words = strobe_stream_look(lane);
    strobe_stream_set_limit(lane, next, free_words);
    return next + 8 <= lane->limit;
}

/* One word behind the others; there is room. */
STROBE_DEVICE_INLINE_ void strobe_stream_put(strobe_lane *lane, uint32_t word)
{
    uint32_t next = lane->next, ring = STROBE_BUFFER_ADDRESS(STROBE_DEVICE_RISC);
    if (next == ring + 4 * STROBE_RING_WORDS) {
        lane->limit = next = ring; /* the old limit was one of the old lap */
        lane->lap += STROBE_RING_WORDS;
    }
    *(volatile uint32_t *)STROBE_DEVICE_AT(next) = word;
    lane->next = next + 4;
}

/* Words were put one by one since `before`: publish where a multiple of 16 was crossed, and the state if
 * it is a new one. */
STROBE_DEVICE_CALL_ void strobe_stream_settle(strobe_lane *lane, uint32_t before)
{
    uint32_t count = strobe_stream_count(lane);
    if (lane->timer_high != lane->shown_timer || lane->program != lane->shown_program)
        strobe_stream_publish_state(lane);
    else if ((before ^ count) & ~(uint32_t)(STROBE_PUBLISH_WORDS - 1))
        strobe_stream_publish(lane, count);
    strobe_stream_set_limit(lane, lane->next, strobe_stream_free(lane, count));
}

/* Zones that are not sent but added up. 0: no entry is free. */
STROBE_DEVICE_CALL_ uint32_t strobe_stream_sum(strobe_lane *lane, uint32_t id, uint32_t low,
                                               uint32_t high)
{
    uint32_t slot = (id ^ id >> 14) % STROBE_SUM_MAX, duration = high ? 0xffffffffu : low;
    for (uint32_t i = 0; i < STROBE_SUM_MAX; i++, slot = (slot + 1) % STROBE_SUM_MAX) {
        volatile struct strobe_l1_sum *sum = &lane->sums[slot];
        if (sum->count && sum->id != id)
            continue;
        if (!sum->count) {
            sum->id = id;
            sum->sum_low = sum->sum_high = sum->max = 0;
            sum->min = 0xffffffffu;
        }
        uint32_t sum_low = sum->sum_low + low;
        sum->sum_high += high + (sum_low < low);
        sum->sum_low = sum_low;
        if (duration < sum->min)
            sum->min = duration;
        if (duration > sum->max)
            sum->max = duration;
        sum->count++;
        return 1;
    }
    return 0;
}

/* Words of the record that begins with `word` and goes on with what `third` says. */
STROBE_DEVICE_INLINE_ uint32_t strobe_stream_length(uint32_t word, uint32_t third)
{
    switch (STROBE_ST_TYPE(word)) {
    case STROBE_ST_ZONE_M:
        return 3;
    case STROBE_ST_ZONE_L:
        return 5;
    case STROBE_ST_PROGRAM:
    case STROBE_ST_TIMER:
        return 1;
    case STROBE_ST_DATA:
        return 3 + (third >> 25);
    case STROBE_ST_EXTENSION:
        return 1 + STROBE_EXT_N(word);
    default:
        return 2;
    }
}

STROBE_DEVICE_INLINE_ uint32_t strobe_stream_word(uint32_t count)
{
    return *(volatile uint32_t *)STROBE_DEVICE_AT(STROBE_BUFFER_ADDRESS(STROBE_DEVICE_RISC) +
                                                  4 * (count % STROBE_RING_WORDS));
}

/* Drop all that the relay has not fetched. Counts the records that carry something; what DROP records
 * among them said is said again. */
STROBE_DEVICE_RARE_ void strobe_stream_drop_oldest(strobe_lane *lane)
{
    uint32_t at = lane->head, end = strobe_stream_count(lane), n = 0;
    while (at != end && end - at <= STROBE_RING_WORDS) {
        uint32_t word = strobe_stream_word(at), type = STROBE_ST_TYPE(word);
        if (type == STROBE_ST_EXTENSION && STROBE_EXT_SUBTYPE(word) == STROBE_EXT_DROP)
            lane->n_unreported += strobe_stream_word(at + 1);
        else if (type == STROBE_ST_EXTENSION)
            n += strobe_stream_word(at + 2); /* SUM: so many zones */
        else if (type != STROBE_ST_PROGRAM && type != STROBE_ST_TIMER &&
                 type != STROBE_ST_PROGRAM_EXT)
            n++;
        at += strobe_stream_length(word, strobe_stream_word(at + 2));
    }
    lane->n_dropped += n;
    lane->n_unreported += n;
    lane->flags |= STROBE_LANE_OWES;
    lane->head = end;
    lane->cursor_high = lane->timer_high = STROBE_NO_CURSOR;
    STROBE_DEVICE_FENCE();
    lane->oldest = end;
}

/* What comes first after a loss: how much was lost, and the state that the lost words may have set. */
STROBE_DEVICE_RARE_ void strobe_stream_put_loss(strobe_lane *lane)
{
    strobe_stream_put(lane, STROBE_EXT_WORD(STROBE_EXT_DROP, STROBE_DROP_WORDS - 1));
    strobe_stream_put(lane, lane->n_unreported);
    lane->n_unreported = 0;
    lane->flags &= ~(uint32_t)STROBE_LANE_OWES;
    strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_PROGRAM_EXT, 0));
    strobe_stream_put(lane, lane->program);
}
enum { STROBE_LOSS_WORDS = 4 };

/* A wait is over: its zone, and its time. There is room for 4 words (STROBE_RING_RESERVE at least). */
STROBE_DEVICE_RARE_ void strobe_stream_put_stall(strobe_lane *lane, uint32_t start_low,
                                                 uint32_t start_high)
{
    uint32_t low, high;
    STROBE_DEVICE_CLOCK(low, high);
    uint32_t duration = low - start_low, longer = high - start_high - (low < start_low);
    uint32_t sum = lane->stalled_low + duration;
    lane->stalled_high += longer + (sum < duration);
    lane->stalled_low = sum;
    if (!(lane->flags & STROBE_LANE_WAITING))
        return; /* gave up: no room for a zone */
    if (high != lane->timer_high) {
        strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_TIMER, high));
        lane->timer_high = high;
    }
    strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_ZONE_M, STROBE_ID_STALL));
    strobe_stream_put(lane, low);
    strobe_stream_put(lane, longer ? 0xffffffffu : duration);
    lane->cursor_low = low;
    lane->cursor_high = high;
    STROBE_COUNT_EMITTED(lane);
}

/* Wait until n words and the stall's own are free, as long as a relay is there and the bound allows.
 * 0: it was in vain. */
STROBE_DEVICE_RARE_ uint32_t strobe_stream_wait(strobe_lane *lane, uint32_t n_words)
{
    uint32_t start_low, start_high, low, high, bound = STROBE_CORE->wait_cycles, ok = 0;
    STROBE_DEVICE_CLOCK(start_low, start_high);
    lane->n_stalls++;
    if (STROBE_DEVICE_RISC < 8)
        STROBE_CONTROL(STROBE_SC_STALLS + STROBE_DEVICE_RISC) = lane->n_stalls;
    lane->flags |= STROBE_LANE_WAITING;
    strobe_stream_publish_state(lane);
    while (STROBE_CONTROL(STROBE_SC_ARMED) && !ok) {
        STROBE_DEVICE_WAIT();
        ok = strobe_stream_look(lane) >= n_words + STROBE_RING_RESERVE;
        STROBE_DEVICE_CLOCK(low, high);
        if (!ok && bound && (high - start_high - (low < start_low) || low - start_low > bound))
            break;
    }
    if (!ok)
        lane->flags = (lane->flags & ~(uint32_t)STROBE_LANE_WAITING) | STROBE_LANE_GAVE_UP;
    strobe_stream_put_stall(lane, start_low, start_high);
    lane->flags &= ~(uint32_t)STROBE_LANE_WAITING;
    return ok;
}

/* Count a record that is not written. */
STROBE_DEVICE_RARE_ void strobe_stream_drop(strobe_lane *lane)
{
    lane->n_dropped++;
    lane->n_unreported++;
    lane->flags |= STROBE_LANE_OWES;
    lane->cursor_high = STROBE_NO_CURSOR;
}

/* Room for n words, by the policy. 0: there is none; the caller drops the record or adds it up. */
STROBE_DEVICE_RARE_ uint32_t strobe_stream_make_room(strobe_lane *lane, uint32_t n_words)
{
    uint32_t want = n_words + (lane->flags & STROBE_LANE_OWES ? STROBE_LOSS_WORDS : 0);
    uint32_t free_words = strobe_stream_look(lane), policy = STROBE_CORE->policy;
    if (free_words < want && policy == STROBE_POLICY_DROP_OLDEST) {
        strobe_stream_drop_oldest(lane);
        free_words = want = STROBE_RING_USABLE;
    }
    if (free_words < want && policy == STROBE_POLICY_BLOCK &&
        !(lane->flags & STROBE_LANE_GAVE_UP) && STROBE_CONTROL(STROBE_SC_ARMED) &&
        strobe_stream_wait(lane, want))
        free_words = want;
    if (free_words < want)
        return 0;
    lane->flags &= ~(uint32_t)STROBE_LANE_GAVE_UP;
    if (lane->flags & STROBE_LANE_OWES)
        strobe_stream_put_loss(lane);
    return 1;
}

STROBE_DEVICE_INLINE_ uint32_t strobe_stream_room(strobe_lane *lane, uint32_t n_words)
{
    return (strobe_stream_free(lane, strobe_stream_count(lane)) >= n_words &&
            !(lane->flags & STROBE_LANE_OWES)) ||
           strobe_stream_make_room(lane, n_words);
}

/* The high half of the time, where it is a new one. */
STROBE_DEVICE_INLINE_ void strobe_stream_timer(strobe_lane *lane, uint32_t high)
{
    if (high == lane->timer_high)
        return;
    strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_TIMER, high));
    lane->timer_high = high;
    lane->cursor_high = STROBE_NO_CURSOR;
}

/* A zone ends that the fast path can't write: S over the ring's end, M, L, no room. */
STROBE_DEVICE_CALL_ void strobe_stream_slow(strobe_lane *lane, uint32_t id, uint32_t start_low,
                                            uint32_t start_high, uint32_t top)
{
    uint32_t low, high, room = strobe_stream_room(lane, 5);
    uint32_t before = strobe_stream_count(lane);
    STROBE_DEVICE_CLOCK(low, high);
    uint32_t duration = low - start_low, longer = high - start_high - (low < start_low);
    uint32_t delta = low - lane->cursor_low;
    if (!room) {
        if (STROBE_CORE->policy != STROBE_POLICY_SUM_ONLY ||
            !strobe_stream_sum(lane, id, duration, longer))
            strobe_stream_drop(lane);
    } else if (longer) {
        strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_ZONE_L, id));
        strobe_stream_put(lane, low);
        strobe_stream_put(lane, high);
        strobe_stream_put(lane, duration);
        strobe_stream_put(lane, longer);
    } else if (high == lane->cursor_high && (delta | duration) >> 16 == 0) {
        strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_ZONE_S, id));
        strobe_stream_put(lane, delta << 16 | duration);
        lane->cursor_low = low;
    } else {
        strobe_stream_timer(lane, high);
        strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_ZONE_M, id));
        strobe_stream_put(lane, low);
        strobe_stream_put(lane, duration);
        lane->cursor_low = low;
        lane->cursor_high = high;
    }
    STROBE_COUNT_EMITTED(lane);
    strobe_stream_settle(lane, before);
    lane->open_top = top;
}

/* A zone begins: its place in the table of open ones, and its time. */
STROBE_DEVICE_INLINE_ void strobe_stream_open(strobe_lane *lane, uint32_t id,
                                              struct strobe_stream_zone *zone)
{
    uint32_t low, high, top = lane->open_top;
    volatile struct strobe_l1_open *entry = (volatile struct strobe_l1_open *)STROBE_DEVICE_AT(top);
    STROBE_DEVICE_CLOCK(low, high);
    zone->start_low = low;
    zone->start_high = high;
    zone->top = top;
    if (STROBE_UNLIKELY(top >=
                        STROBE_DEVICE_ADDRESS(lane) + offsetof(struct strobe_l1_lane, sums))) {
        lane->n_open_lost++;
        return;
    }
    entry->id = id;
    entry->start_low = low;
    entry->start_high = high;
    lane->open_top = top + 4 * STROBE_OPEN_WORDS;
}

/* It ends. Room is made before the clock is read, so that a stall lengthens the zone. */
STROBE_DEVICE_INLINE_ void strobe_stream_close(strobe_lane *lane, uint32_t id,
                                               const struct strobe_stream_zone *zone)
{
    uint32_t low, high;
    if (STROBE_UNLIKELY(lane->next + 8 > lane->limit) && !strobe_stream_more(lane)) {
        strobe_stream_slow(lane, id, zone->start_low, zone->start_high, zone->top);
        return;
    }
    uint32_t next = lane->next;
    STROBE_DEVICE_CLOCK_QUICK(low, high);
    uint32_t duration = low - zone->start_low, delta = low - lane->cursor_low;
    if (STROBE_UNLIKELY(high != lane->cursor_high) || STROBE_UNLIKELY(high != zone->start_high) ||
        STROBE_UNLIKELY((delta | duration) >> 16)) {
        strobe_stream_slow(lane, id, zone->start_low, zone->start_high, zone->top);
        return;
    }
    volatile uint32_t *words = (volatile uint32_t *)STROBE_DEVICE_AT(next);
    words[0] = STROBE_ST_WORD(STROBE_ST_ZONE_S, id);
    words[1] = delta << 16 | duration;
    lane->cursor_low = low;
    lane->next = next + 8;
    lane->open_top = zone->top;
    STROBE_COUNT_EMITTED(lane);
}

/* A zone that is only added up ends. */
STROBE_DEVICE_CALL_ void strobe_stream_close_sum(strobe_lane *lane, uint32_t id, uint32_t start_low,
                                                 uint32_t start_high)
{
    uint32_t low, high;
    STROBE_DEVICE_CLOCK(low, high);
    STROBE_COUNT_EMITTED(lane);
    if (!strobe_stream_sum(lane, id, low - start_low, high - start_high - (low < start_low)))
        strobe_stream_drop(lane);
}

STROBE_DEVICE_CALL_ void strobe_stream_event(strobe_lane *lane, uint32_t id)
{
    uint32_t low, high;
    STROBE_COUNT_EMITTED(lane);
    if (!strobe_stream_room(lane, 3)) {
        strobe_stream_drop(lane);
        return;
    }
    uint32_t before = strobe_stream_count(lane);
    STROBE_DEVICE_CLOCK(low, high);
    strobe_stream_timer(lane, high);
    strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_EVENT, id));
    strobe_stream_put(lane, low);
    strobe_stream_settle(lane, before);
}

/* Values with a time. At most 63. */
STROBE_DEVICE_CALL_ void strobe_stream_data(strobe_lane *lane, uint32_t id, const uint64_t *values,
                                            uint32_t n_values)
{
    uint32_t low, high;
    if (n_values > STROBE_DATA_MAX_WORDS / 2)
        n_values = STROBE_DATA_MAX_WORDS / 2;
    STROBE_COUNT_EMITTED(lane);
    if (!strobe_stream_room(lane, 4 + 2 * n_values)) {
        strobe_stream_drop(lane);
        return;
    }
    uint32_t before = strobe_stream_count(lane);
    STROBE_DEVICE_CLOCK(low, high);
    strobe_stream_timer(lane, high);
    strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_DATA, id));
    strobe_stream_put(lane, low);
    strobe_stream_put(lane, 2 * n_values << 25);
    for (uint32_t i = 0; i < n_values; i++) {
        strobe_stream_put(lane, (uint32_t)(values[i] >> 32));
        strobe_stream_put(lane, (uint32_t)values[i]);
    }
    strobe_stream_settle(lane, before);
}

/* The program whose launch this is, for the records that follow. */
STROBE_DEVICE_CALL_ void strobe_stream_program(strobe_lane *lane, uint32_t program)
{
    uint32_t room = strobe_stream_room(lane, 2), before = strobe_stream_count(lane);
    lane->program = program;
    if (!room) { /* said with the loss that comes first: strobe_stream_put_loss */
        lane->flags |= STROBE_LANE_OWES;
        lane->cursor_high = STROBE_NO_CURSOR;
        return;
    }
    if (program >> 27) {
        strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_PROGRAM_EXT, 0));
        strobe_stream_put(lane, program);
    } else {
        strobe_stream_put(lane, STROBE_ST_WORD(STROBE_ST_PROGRAM, program));
    }
    strobe_stream_settle(lane, before);
}

/* Before the RISC's first launch; host and relay have set the control vector and struct strobe_l1_core. */
STROBE_DEVICE_CALL_ void strobe_stream_init(strobe_lane *lane)
{
    volatile uint32_t *words = (volatile uint32_t *)lane;
    uint32_t ring = STROBE_BUFFER_ADDRESS(STROBE_DEVICE_RISC);
    for (uint32_t i = 0; i < STROBE_L1_LANE_WORDS; i++)
        words[i] = 0;
    STROBE_DEVICE_INVALIDATE();
    uint32_t tail = STROBE_CONTROL(STROBE_SC_TAIL + STROBE_DEVICE_RISC);
    lane->head = lane->oldest = STROBE_CONTROL(STROBE_SC_HEAD + STROBE_DEVICE_RISC);
    lane->next = lane->limit = ring + 4 * (tail % STROBE_RING_WORDS);
    lane->lap = tail - tail % STROBE_RING_WORDS;
    lane->open_top = STROBE_DEVICE_ADDRESS(lane) + offsetof(struct strobe_l1_lane, open);
    lane->cursor_high = lane->timer_high = lane->shown_timer = STROBE_NO_CURSOR;
    lane->flags = STROBE_LANE_READY;
}

/* A launch begins. */
STROBE_DEVICE_CALL_ void strobe_stream_begin(strobe_lane *lane)
{
    if (!(lane->flags & STROBE_LANE_READY))
        strobe_stream_init(lane);
    lane->open_top = STROBE_DEVICE_ADDRESS(lane) + offsetof(struct strobe_l1_lane, open);
    lane->cursor_high = STROBE_NO_CURSOR;
    lane->launch_next = strobe_stream_count(lane);
    lane->flags |= STROBE_LANE_IN_LAUNCH | (STROBE_DEVICE_VALIDATES ? STROBE_LANE_HIDDEN : 0);
    strobe_stream_program(lane, STROBE_CORE->program);
}

/* The firmware has looked at the launch: an idle one leaves nothing behind. */
STROBE_DEVICE_CALL_ void strobe_stream_validate(strobe_lane *lane, uint32_t valid)
{
    if (!(lane->flags & STROBE_LANE_HIDDEN))
        return;
    lane->flags &= ~(uint32_t)STROBE_LANE_HIDDEN;
    if (!valid) {
        uint32_t back = lane->launch_next % STROBE_RING_WORDS;
        lane->lap = lane->launch_next - back;
        lane->next = lane->limit = STROBE_BUFFER_ADDRESS(STROBE_DEVICE_RISC) + 4 * back;
        lane->cursor_high = lane->timer_high = STROBE_NO_CURSOR;
    }
    strobe_stream_publish_state(lane);
}

/* A launch ends: sums and drops go out, all words are published. */
STROBE_DEVICE_CALL_ void strobe_stream_end(strobe_lane *lane)
{
    for (uint32_t i = 0; i < STROBE_SUM_MAX; i++) {
        volatile struct strobe_l1_sum *sum = &lane->sums[i];
        if (!sum->count || !strobe_stream_room(lane, STROBE_SUM_WORDS))
            continue; /* it stays, and goes out at the next end */
        strobe_stream_put(lane, STROBE_EXT_WORD(STROBE_EXT_SUM, STROBE_SUM_WORDS - 1));
        strobe_stream_put(lane, sum->id);
        strobe_stream_put(lane, sum->count);
        strobe_stream_put(lane, sum->sum_low);
        strobe_stream_put(lane, sum->sum_high);
        strobe_stream_put(lane, sum->min);
        strobe_stream_put(lane, sum->max);
        sum->count = 0;
    }
    if (lane->flags & STROBE_LANE_OWES)
        strobe_stream_make_room(lane, 0);
    lane->flags &= ~(uint32_t)(STROBE_LANE_IN_LAUNCH | STROBE_LANE_HIDDEN);
    strobe_stream_publish_state(lane);
}

#endif
