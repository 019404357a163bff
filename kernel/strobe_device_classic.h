/* strobe_device_classic.h - the classic writer: begin and end markers in the RISC's buffer of 512 words.
 * Runs inside a kernel: never allocates, divides, or waits but for a DRAM buffer in the non-dropping mode.
 * Words: strobe_device_words.h, docs/device-protocol.md.
 *
 * Room. `limit` is the buffer's end less 2 words per open zone. A zone begins only if its begin and its
 * end both fit below it, so an end always has its place. The guaranteed slots are not part of it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_CLASSIC_H
#define STROBE_DEVICE_CLASSIC_H

#include "strobe_device_platform.h"

#ifndef STROBE_DEVICE_OPTIONS
#define STROBE_DEVICE_OPTIONS STROBE_OPTION_ON
#endif
#define STROBE_ACCUMULATES (((STROBE_DEVICE_OPTIONS)&STROBE_OPTION_ACCUMULATE) != 0)
#define STROBE_TRACE_ONLY  (((STROBE_DEVICE_OPTIONS)&STROBE_OPTION_TRACE_ONLY) != 0)
#define STROBE_SUMS        (((STROBE_DEVICE_OPTIONS)&STROBE_OPTION_SUM) != 0)

enum {
    STROBE_CLASSIC_FULL_WORDS = STROBE_L1_BUFFER_WORDS - 8, /* accumulate: push from here on */
    STROBE_CLASSIC_DISPATCH_ROOM = 16,                      /* words that dispatch zones leave */
    STROBE_CLASSIC_PUSH_ID = 0x5150,                        /* PROFILER-NOC-QUICK-PUSH */
    STROBE_CLASSIC_DRAM_PUSH_ID = 0x5151,                   /* PROFILER-DRAM-PUSH */
    STROBE_CLASSIC_NOC_FLUSH_ID = 0x5152                    /* PROFILER-NOC-FLUSH */
};

/* Buffer of this RISC; in the trace-only mode all RISCs have the first. */
#define STROBE_CLASSIC_RISC (STROBE_TRACE_ONLY ? 0 : (uint32_t)STROBE_DEVICE_RISC)
#define STROBE_CLASSIC_WORDS(risc) \
    ((volatile uint32_t *)STROBE_DEVICE_AT(STROBE_BUFFER_ADDRESS(risc)))

/* A marker: H, L. */
STROBE_DEVICE_INLINE_ void strobe_classic_mark(volatile uint32_t *words, uint32_t packet,
                                               uint32_t id)
{
    uint32_t low, high;
    STROBE_DEVICE_CLOCK(low, high);
    words[0] = STROBE_CM_H(packet, id, high);
    words[1] = low;
}

/* An optional zone begins. 0: no room, it is dropped. `spare`: bytes that it must leave free. */
STROBE_DEVICE_INLINE_ uint32_t strobe_classic_open(strobe_lane *lane, uint32_t id, uint32_t spare)
{
    uint32_t next = lane->next, limit = lane->limit;
    if (STROBE_UNLIKELY(next + 16 + spare > limit)) {
        lane->n_dropped++;
        return 0;
    }
    strobe_classic_mark((volatile uint32_t *)STROBE_DEVICE_AT(next), STROBE_CP_ZONE_START, id);
    lane->next = next + 8;
    lane->limit = limit - 8;
    return 1;
}

/* It ends: its place was kept. */
STROBE_DEVICE_INLINE_ void strobe_classic_close(strobe_lane *lane, uint32_t id)
{
    uint32_t next = lane->next;
    strobe_classic_mark((volatile uint32_t *)STROBE_DEVICE_AT(next), STROBE_CP_ZONE_END, id);
    lane->next = next + 8;
    lane->limit += 8;
}

STROBE_DEVICE_CALL_ uint32_t strobe_classic_quick_push(strobe_lane *lane);

/* Room for n words; NoC events and counters push the buffer when there is none. */
STROBE_DEVICE_INLINE_ uint32_t strobe_classic_room(strobe_lane *lane, uint32_t n_words,
                                                   uint32_t push)
{
    return lane->next + 4 * n_words <= lane->limit ||
           (push && strobe_classic_quick_push(lane) && lane->next + 4 * n_words <= lane->limit);
}

STROBE_DEVICE_CALL_ void strobe_classic_event(strobe_lane *lane, uint32_t id)
{
    uint32_t next = lane->next;
    if (!strobe_classic_room(lane, 2, 0)) {
        lane->n_dropped++;
        return;
    }
    strobe_classic_mark((volatile uint32_t *)STROBE_DEVICE_AT(next), STROBE_CP_EVENT, id);
    lane->next = next + 8;
}

/* One value or two; more are written as packets of two with the same id. */
STROBE_DEVICE_CALL_ void strobe_classic_data(strobe_lane *lane, uint32_t id, const uint64_t *values,
                                             uint32_t n_values, uint32_t push)
{
    while (n_values) {
        uint32_t n = n_values > 1 ? 2 : 1;
        if (!strobe_classic_room(lane, 2 + 2 * n, push)) {
            lane->n_dropped++;
            lane->lost_words += push ? 2 + 2 * n : 0;
            return;
        }
        volatile uint32_t *words = (volatile uint32_t *)STROBE_DEVICE_AT(lane->next);
        strobe_classic_mark(words, n == 2 ? STROBE_CP_DATA_16 : STROBE_CP_DATA, id);
        for (uint32_t i = 0; i < n; i++) {
            words[2 + 2 * i] = (uint32_t)(values[i] >> 32);
            words[3 + 2 * i] = (uint32_t)values[i];
        }
        lane->next += 8 + 8 * n;
        values += n;
        n_values -= n;
    }
}

/* Sum zones: sum 0 or 1 of the RISC; the last site's id stands for it. */
STROBE_DEVICE_CALL_ void strobe_classic_add(strobe_lane *lane, uint32_t which, uint32_t id,
                                            uint32_t start_low)
{
    uint32_t low, high;
    STROBE_DEVICE_CLOCK(low, high);
    (void)high;
    lane->classic_sums[2 * which] = id;
    lane->classic_sums[2 * which + 1] += low - start_low;
}

/* Markers without content up to a multiple of 16 bytes. */
STROBE_DEVICE_INLINE_ void strobe_classic_pad(strobe_lane *lane)
{
    if (lane->next & 15) {
        volatile uint32_t *words = (volatile uint32_t *)STROBE_DEVICE_AT(lane->next);
        words[0] = STROBE_CM_PAD_H;
        words[1] = 0;
        lane->next += 8;
    }
}

STROBE_DEVICE_INLINE_ uint32_t strobe_classic_used(strobe_lane *lane)
{
    return (lane->next - STROBE_BUFFER_ADDRESS(STROBE_CLASSIC_RISC)) >> 2;
}

/* Whose words these are: ID_LH. */
STROBE_DEVICE_INLINE_ void strobe_classic_stamp(uint32_t risc)
{
    STROBE_CLASSIC_WORDS(risc)
    [STROBE_CB_ID_LH] = risc | (STROBE_CONTROL(STROBE_CC_FLAT_ID) & 0xff) << 5 |
                        (STROBE_CORE->trace_counter & 0xffff) << 13;
}

/* Words from number `first` on found no room in DRAM: count the records in them. */
STROBE_DEVICE_RARE_ void strobe_classic_lose(uint32_t risc, uint32_t first, uint32_t n_words)
{
    strobe_lane *lane = STROBE_LANE_OF(risc);
    volatile uint32_t *words = STROBE_CLASSIC_WORDS(risc);
    uint32_t n = 0;
    for (uint32_t i = first ? first : (uint32_t)STROBE_CB_MAIN_START; i < n_words; i += 2) {
        uint32_t packet = STROBE_CM_PACKET(words[i]);
        if (words[i] == STROBE_CM_PAD_H)
            continue; /* padding, or a place that was not written */
        n += packet != STROBE_CP_ZONE_END;
        i += packet == STROBE_CP_DATA ? 2 : packet == STROBE_CP_DATA_16 ? 4 : 0;
    }
    lane->n_dropped += n;
    lane->lost_words += n_words - first;
}

/* The words of a RISC go to DRAM, behind those that are there; what does not fit is dropped, the ids and
 * guaranteed markers last of all. */
STROBE_DEVICE_CALL_ void strobe_classic_push(uint32_t risc, uint32_t n_words)
{
    uint32_t host = STROBE_CONTROL(STROBE_CC_HOST_END + risc), all = STROBE_CORE->risc_words;
    strobe_classic_stamp(risc);
    if (host + n_words > all) {
        uint32_t kept = host + STROBE_CB_OPTIONAL <= all ? (uint32_t)STROBE_CB_OPTIONAL : 0;
        STROBE_CONTROL(STROBE_CC_DROPPED) |= 1u << risc;
        strobe_classic_lose(risc, kept, n_words);
        n_words = kept;
    }
    if (n_words)
        STROBE_DEVICE_PUSH(risc, host, STROBE_BUFFER_ADDRESS(risc), n_words);
    STROBE_CONTROL(STROBE_CC_HOST_END + risc) = host + n_words;
}

/* The buffer is full and the run goes on: push it, begin again behind the guaranteed markers, and note
 * how long that took. Room in DRAM for the run's last ids and guaranteed markers is always kept. */
STROBE_DEVICE_CALL_ uint32_t strobe_classic_quick_push(strobe_lane *lane)
{
    uint32_t low, high, risc = STROBE_CLASSIC_RISC;
    uint32_t host = STROBE_CONTROL(STROBE_CC_HOST_END + risc), all = STROBE_CORE->risc_words;
    if (!STROBE_DEVICE_CAN_PUSH() || !all || STROBE_CONTROL(STROBE_CC_DROPPED) >> risc & 1)
        return 0;
    STROBE_DEVICE_CLOCK(low, high);
    strobe_classic_pad(lane);
    uint32_t n_words = strobe_classic_used(lane);
    if (host + n_words + STROBE_CB_OPTIONAL > all) {
        STROBE_CONTROL(STROBE_CC_DROPPED) |= 1u << risc;
        return 0;
    }
    strobe_classic_push(risc, n_words);
    lane->next = STROBE_BUFFER_ADDRESS(risc) + 4 * STROBE_CB_OPTIONAL;
    volatile uint32_t *words = (volatile uint32_t *)STROBE_DEVICE_AT(lane->next);
    words[0] = STROBE_CM_H(STROBE_CP_ZONE_START, STROBE_CLASSIC_PUSH_ID, high);
    words[1] = low;
    strobe_classic_mark(words + 2, STROBE_CP_ZONE_END, STROBE_CLASSIC_PUSH_ID);
    lane->next += 16;
    return 1;
}

/* A dispatch zone ended near the buffer's end. */
STROBE_DEVICE_INLINE_ void strobe_classic_dispatch_end(strobe_lane *lane)
{
    if (strobe_classic_used(lane) >= STROBE_L1_BUFFER_WORDS - STROBE_CLASSIC_DISPATCH_ROOM)
        strobe_classic_quick_push(lane);
}

/* The master's part of a run's begin. */
STROBE_DEVICE_CALL_ void strobe_classic_init(void)
{
    STROBE_CONTROL(STROBE_CC_DONE) = 0;
    if (STROBE_CONTROL(STROBE_CC_RUN_COUNTER))
        return;
    for (uint32_t risc = 0; risc < STROBE_DEVICE_N_RISCS; risc++)
        for (uint32_t i = 0; i < 3; i++)
            STROBE_CLASSIC_WORDS(risc)[i] = 0;
}

/* Whether the master pushed the buffers since this RISC's last run (accumulate), or there was none. */
STROBE_DEVICE_INLINE_ uint32_t strobe_classic_starts_over(strobe_lane *lane)
{
    return !STROBE_ACCUMULATES || !(lane->flags & STROBE_LANE_READY) ||
           !STROBE_CONTROL(STROBE_CC_DEVICE_END + STROBE_DEVICE_RISC);
}

/* A run begins on this RISC. */
STROBE_DEVICE_CALL_ void strobe_classic_begin(strobe_lane *lane)
{
    uint32_t buffer = STROBE_BUFFER_ADDRESS(STROBE_CLASSIC_RISC);
    volatile uint32_t *words = STROBE_CLASSIC_WORDS(STROBE_CLASSIC_RISC);
    if (STROBE_DEVICE_IS_MASTER)
        strobe_classic_init();
    if (!STROBE_TRACE_ONLY && strobe_classic_starts_over(lane)) {
        for (uint32_t i = 0; i < STROBE_CB_OPTIONAL; i++)
            words[i] = i < STROBE_CB_MAIN_START ? 0 : STROBE_CM_UNUSED;
        words[STROBE_CB_ID_LL] = STROBE_CORE->program;
        lane->next = buffer + 4 * STROBE_CB_OPTIONAL;
    }
    lane->limit = buffer + 4 * STROBE_L1_BUFFER_WORDS;
    for (uint32_t i = 0; i < 4; i++)
        lane->classic_sums[i] = 0;
    lane->flags = STROBE_LANE_READY | STROBE_LANE_IN_LAUNCH;
}

/* Trace-only: the first begin of a replay on the core, and every end. `child`: 0 main, 1 kernel. */
STROBE_DEVICE_CALL_ void strobe_classic_trace(uint32_t child, uint32_t is_end, uint32_t id)
{
    uint32_t status = STROBE_CONTROL(STROBE_CC_TRACE_REPLAY), bit = child ? 1u << 29 : 1u << 30;
    volatile uint32_t *words = STROBE_CLASSIC_WORDS(0);
    if (!(status >> 31) || (!is_end && status & bit))
        return;
    strobe_classic_mark(words + STROBE_CB_MAIN_START + 4 * child + 2 * is_end,
                        is_end ? STROBE_CP_ZONE_END : STROBE_CP_ZONE_START, id);
    if (!is_end)
        STROBE_CONTROL(STROBE_CC_TRACE_REPLAY) = status | bit;
    else if (!child && STROBE_DEVICE_IS_MASTER)
        words[STROBE_CB_ID_HH] = 0;
}

/* Trace-only: a replay begins. The markers of the one before go to DRAM. */
STROBE_DEVICE_CALL_ void strobe_classic_trace_init(void)
{
    uint32_t counter = STROBE_CORE->trace_counter;
    if (counter)
        strobe_classic_push(0, STROBE_CB_OPTIONAL);
    STROBE_CORE->trace_counter = ++counter;
    volatile uint32_t *words = STROBE_CLASSIC_WORDS(0);
    for (uint32_t i = STROBE_CB_MAIN_START; i < STROBE_CB_OPTIONAL; i++)
        words[i] = STROBE_CM_UNUSED;
    words[STROBE_CB_ID_HL] = 0;
    words[STROBE_CB_ID_LL] = counter;
    words[STROBE_CB_ID_HH] = STROBE_CM_VALID;
    STROBE_CONTROL(STROBE_CC_TRACE_REPLAY) = 1u << 31;
}

/* Main (slot 0) and kernel (slot 1) zones. */
STROBE_DEVICE_INLINE_ void strobe_classic_guaranteed(uint32_t slot, uint32_t is_end, uint32_t id)
{
    if (STROBE_TRACE_ONLY) {
        strobe_classic_trace(slot, is_end, id);
        return;
    }
    strobe_classic_mark(STROBE_CLASSIC_WORDS(STROBE_CLASSIC_RISC) + STROBE_CB_MAIN_START +
                            4 * slot + 2 * is_end,
                        is_end ? STROBE_CP_ZONE_END : STROBE_CP_ZONE_START, id);
}

/* Accumulate: the master pushes all buffers when one is full, and notes it in the free slots. */
STROBE_DEVICE_CALL_ void strobe_classic_finish_accumulate(strobe_lane *lane)
{
    uint32_t full = 0;
    for (uint32_t risc = 0; risc < STROBE_DEVICE_N_RISCS; risc++)
        full |= STROBE_CONTROL(STROBE_CC_DEVICE_END + risc) >= STROBE_CLASSIC_FULL_WORDS;
    if (!full)
        return;
    volatile uint32_t *words = STROBE_CLASSIC_WORDS(STROBE_DEVICE_RISC);
    uint32_t low, high;
    STROBE_DEVICE_CLOCK(low, high);
    for (uint32_t risc = 0; risc < STROBE_DEVICE_N_RISCS; risc++) {
        uint32_t n_words = STROBE_CONTROL(STROBE_CC_DEVICE_END + risc);
        if (n_words)
            strobe_classic_push(risc, n_words);
        STROBE_CONTROL(STROBE_CC_DEVICE_END + risc) = 0;
    }
    strobe_classic_begin(
        lane); /* the master's own buffer is empty now: the zones below are its first */
    words[STROBE_CB_MAIN_START] =
        STROBE_CM_H(STROBE_CP_ZONE_START, STROBE_CLASSIC_DRAM_PUSH_ID, high);
    words[STROBE_CB_MAIN_START + 1] = low;
    strobe_classic_mark(words + STROBE_CB_CHILD_START, STROBE_CP_ZONE_START,
                        STROBE_CLASSIC_NOC_FLUSH_ID);
    STROBE_DEVICE_FENCE();
    strobe_classic_mark(words + STROBE_CB_CHILD_END, STROBE_CP_ZONE_END,
                        STROBE_CLASSIC_NOC_FLUSH_ID);
    strobe_classic_mark(words + STROBE_CB_MAIN_END, STROBE_CP_ZONE_END,
                        STROBE_CLASSIC_DRAM_PUSH_ID);
    STROBE_CONTROL(STROBE_CC_DEVICE_END + STROBE_DEVICE_RISC) = STROBE_CB_OPTIONAL;
}

/* The master's part of a run's end, behind the ends of all other RISCs. */
STROBE_DEVICE_CALL_ void strobe_classic_finish(strobe_lane *lane)
{
    if (STROBE_ACCUMULATES) {
        strobe_classic_finish_accumulate(lane);
    } else {
        for (uint32_t risc = 0; risc < STROBE_DEVICE_N_RISCS; risc++) {
            uint32_t n_words = STROBE_CONTROL(STROBE_CC_DEVICE_END + risc);
            if (!n_words || !STROBE_CORE->risc_words)
                continue; /* nothing, or no DRAM: the host reads L1 */
            strobe_classic_push(risc, n_words);
            STROBE_CONTROL(STROBE_CC_DEVICE_END + risc) = 0;
        }
    }
    STROBE_DEVICE_FENCE();
    STROBE_CONTROL(STROBE_CC_RUN_COUNTER)++;
    STROBE_CONTROL(STROBE_CC_DONE) = 1;
}

/* A run ends on this RISC: sums, padding, and the end index for the master. */
STROBE_DEVICE_CALL_ void strobe_classic_end(strobe_lane *lane)
{
    uint32_t invalid = STROBE_CONTROL(STROBE_CC_DONE);
    lane->flags &= ~(uint32_t)STROBE_LANE_IN_LAUNCH;
    if (STROBE_TRACE_ONLY || invalid)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        if (!lane->classic_sums[2 * i + 1] || !strobe_classic_room(lane, 2, 0))
            continue;
        volatile uint32_t *words = (volatile uint32_t *)STROBE_DEVICE_AT(lane->next);
        words[0] = STROBE_CM_H(STROBE_CP_ZONE_TOTAL, lane->classic_sums[2 * i], 0);
        words[1] = lane->classic_sums[2 * i + 1];
        lane->next += 8;
    }
    strobe_classic_pad(lane);
    STROBE_DEVICE_FENCE();
    STROBE_CONTROL(STROBE_CC_DEVICE_END + STROBE_DEVICE_RISC) = strobe_classic_used(lane);
    if (STROBE_DEVICE_IS_MASTER)
        strobe_classic_finish(lane);
}

/* DeviceZoneSetCounter: the program of the run, for all RISCs of the core. */
STROBE_DEVICE_CALL_ void strobe_classic_program(uint32_t program)
{
    for (uint32_t risc = 0; risc < STROBE_DEVICE_N_RISCS; risc++)
        STROBE_CLASSIC_WORDS(risc)[STROBE_CB_ID_LL] = program;
    STROBE_CORE->program = program;
}

#endif
