/* test_device_stream.c - what a device stream's words mean, case by case.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect.h"
#include "native.h"
#include "writer.h"

extern uint64_t native_cycles;
extern uint32_t native_risc;

enum { CORE_YX = 3 << 16 | 2 };

/* A frame of type 13 with one run on RISC 0, which ends in this state. */
static void feed_run(struct collect *all, uint32_t head, uint32_t timer, uint32_t program,
                     const uint32_t *words, uint32_t n_words)
{
    uint32_t frame[STROBE_FRAME_PREFIX + STROBE_FRAME_MAX_PAYLOAD + 16] = {0}, at = 24;
    size_t used;
    frame[0] = STROBE_ST_WORD(STROBE_ST_FRAME, 0);
    frame[2] = head;
    frame[7] = CORE_YX;
    frame[8] = timer;
    frame[13] = program;
    frame[16] = head + n_words;
    at += (head - at) & 3;
    memcpy(frame + at, words, 4 * n_words);
    frame[1] = at + n_words - STROBE_FRAME_PREFIX;
    size_t n = (at + n_words + 15) / 16 * 16;
    assert_int_equal(strobe_device_stream_feed(all->stream, frame, n, &used), STROBE_OK);
    assert_int_equal(used, n);
}
#define FEED(all, head, timer, program, ...)                             \
    feed_run(all, head, timer, program, (const uint32_t[]){__VA_ARGS__}, \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define W(type, low) STROBE_ST_WORD(STROBE_ST_##type, low)

static uint64_t bad(struct collect *all, enum strobe_device_bad why)
{
    struct strobe_device_stream_counts counts;
    strobe_device_stream_count(all->stream, &counts);
    return counts.n_bad[why];
}

static void no_bad(struct collect *all)
{
    for (int why = 0; why < STROBE_DEVICE_N_BAD; why++)
        assert_int_equal(bad(all, (enum strobe_device_bad)why), 0);
}

/* Everything that the relay of native.c sent. */
static struct collect *read_back(bool scalar)
{
    struct collect *all = collect_open_stream(scalar);
    size_t used;
    assert_int_equal(strobe_device_stream_feed(all->stream, native_frames, native_n_words, &used),
                     STROBE_OK);
    assert_int_equal(used, native_n_words);
    strobe_device_stream_flush(all->stream);
    return all;
}

static void zone_is(const struct collect *all, size_t i, uint64_t start, uint64_t end, uint32_t id)
{
    assert_true(i < all->n_zones);
    assert_int_equal(all->zones[i].start, start);
    assert_int_equal(all->zones[i].end, end);
    assert_int_equal(all->zones[i].id, id);
}

/* Write a zone from `start` to `end`. */
static void write_zone(uint32_t id, uint64_t start, uint64_t end)
{
    struct writer_zone zone;
    native_step = 0;
    native_cycles = start;
    writer_open(id, &zone);
    native_cycles = end;
    writer_close(id, &zone);
}

static void begin(void)
{
    native_reset();
    native_step = 0;
    native_core()->program = 5;
    writer_begin();
}

static struct collect *finish(void)
{
    writer_end();
    native_ship();
    return read_back(false);
}

static void s_zone_has_delta_and_duration_up_to_65535(void **state)
{
    (void)state;
    begin();
    write_zone(1, 1000, 2000);         /* M */
    write_zone(2, 2000, 2000);         /* S 0, 0 */
    write_zone(3, 2000, 2000 + 65535); /* S 65535, 65535 */
    const uint32_t *ring = native_buffer(0);
    uint32_t n_before = native_lane(0)->next;
    write_zone(4, 67535, 67535 + 65536); /* M: both are too long */
    assert_int_equal(native_lane(0)->next - n_before, 12);
    struct collect *all = finish();
    assert_int_equal(STROBE_ST_TYPE(ring[2]), STROBE_ST_ZONE_M);
    assert_int_equal(STROBE_ST_TYPE(ring[5]), STROBE_ST_ZONE_S);
    assert_int_equal(ring[6], 0);
    assert_int_equal(ring[8], 0xffffffff);
    assert_int_equal(STROBE_ST_TYPE(ring[9]), STROBE_ST_ZONE_M);
    assert_int_equal(all->n_zones, 4);
    zone_is(all, 2, 2000, 67535, 3);
    zone_is(all, 3, 67535, 133071, 4);
    assert_int_equal(all->zones[3].program, 5);
    no_bad(all);
    collect_close(all);
}

static void zones_over_a_multiple_of_2_to_the_32_keep_their_times(void **state)
{
    (void)state;
    begin();
    uint64_t wrap = 1ull << 32;
    write_zone(1, wrap - 100, wrap - 50);
    write_zone(2, wrap - 40, wrap + 10); /* begins before, ends after */
    write_zone(3, wrap + 20, wrap + 30);
    struct collect *all = finish();
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 0, wrap - 100, wrap - 50, 1);
    zone_is(all, 1, wrap - 40, wrap + 10, 2);
    zone_is(all, 2, wrap + 20, wrap + 30, 3);
    no_bad(all);
    collect_close(all);
}

static void a_parent_comes_behind_its_children(void **state)
{
    struct writer_zone parent;
    (void)state;
    begin();
    native_cycles = 100;
    writer_open(9, &parent);
    write_zone(1, 110, 120);
    write_zone(2, 130, 140);
    native_cycles = 150;
    writer_close(9, &parent);
    struct collect *all = finish();
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 0, 110, 120, 1);
    zone_is(all, 2, 100, 150, 9);
    collect_close(all);
}

static void m_zone_places_those_behind_a_new_timer(void **state)
{
    (void)state;
    struct collect *all = collect_open_stream(false);
    FEED(all, 0, 8, 6, W(TIMER, 7), W(ZONE_M, 1), 1000, 10, W(ZONE_S, 2), 5 << 16 | 3, W(TIMER, 8),
         W(ZONE_S, 3), 5 << 16 | 3, /* the cursor ended with the timer: nobody knows where */
         W(ZONE_M, 4), 2000, 20, W(ZONE_S, 5), 1 << 16 | 1);
    assert_int_equal(all->n_zones, 4);
    zone_is(all, 1, (7ull << 32) + 1002, (7ull << 32) + 1005, 2);
    zone_is(all, 3, (8ull << 32) + 2000, (8ull << 32) + 2001, 5);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_NO_CURSOR), 1);
    collect_close(all);
}

static void l_zone_is_longer_than_2_to_the_32(void **state)
{
    (void)state;
    begin();
    write_zone(1, 500, 600);
    write_zone(2, 700, (5ull << 32) + 9);
    write_zone(3, (5ull << 32) + 10, (5ull << 32) + 20);
    struct collect *all = finish();
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 1, 700, (5ull << 32) + 9, 2);
    zone_is(all, 2, (5ull << 32) + 10, (5ull << 32) + 20, 3);
    no_bad(all);
    collect_close(all);
}

static void a_full_ring_waits_and_the_wait_is_a_zone(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 400; i++)
        write_zone(1, 1000 + 10 * i, 1005 + 10 * i);
    struct collect *all = finish();
    size_t n_stalls = 0;
    for (size_t i = 0; i < all->n_zones; i++)
        n_stalls += all->zones[i].id == STROBE_ID_STALL;
    assert_true(n_stalls >= 1);
    assert_int_equal(all->n_zones, 400 + n_stalls);
    assert_int_equal(native_control()[STROBE_SC_STALLS], n_stalls);
    assert_int_equal(native_lane(0)->n_stalls, n_stalls);
    assert_int_equal(all->n_dropped, 0);
    no_bad(all);
    collect_close(all);
}

/* A ring that nobody drains, under a policy; then the relay comes back and one zone more is written. */
static struct collect *overflow(uint32_t policy, uint32_t wait_cycles, uint32_t n_zones)
{
    begin();
    native_core()->policy = policy;
    native_core()->wait_cycles = wait_cycles;
    native_relay = 0;
    for (uint32_t i = 0; i < n_zones; i++) {
        uint64_t now = native_cycles + 10;
        write_zone(1 + i % 3, now, now + 5);
    }
    if (policy != STROBE_POLICY_DROP_OLDEST)
        native_ship();
    uint64_t now = native_cycles + 10;
    write_zone(77, now, now + 5);
    return finish();
}

static uint64_t emitted(void)
{
    return native_lane(0)->n_emitted_low;
}

static void a_bounded_wait_ends_in_counted_drops(void **state)
{
    (void)state;
    struct collect *all = overflow(STROBE_POLICY_BLOCK, 5000, 1000);
    assert_true(all->n_dropped > 700);
    assert_int_equal(all->n_zones + all->n_dropped, emitted());
    assert_int_equal(emitted(), 1001);
    assert_int_equal(native_lane(0)->n_dropped, all->n_dropped);
    assert_int_equal(native_lane(0)->n_stalls, 1); /* it gave up once, not a thousand times */
    assert_int_equal(all->zones[all->n_zones - 1].id, 77);
    no_bad(all);
    collect_close(all);
}

static void drop_newest_keeps_the_first_and_counts_the_rest(void **state)
{
    (void)state;
    struct collect *all = overflow(STROBE_POLICY_DROP_NEWEST, 0, 1000);
    assert_int_equal(all->n_zones + all->n_dropped, 1001);
    assert_int_equal(all->zones[0].id, 1);
    assert_int_equal(all->zones[all->n_zones - 1].id, 77);
    no_bad(all);
    collect_close(all);
}

static void drop_oldest_keeps_the_last_and_counts_the_rest(void **state)
{
    (void)state;
    struct collect *all = overflow(STROBE_POLICY_DROP_OLDEST, 0, 1000);
    assert_int_equal(all->n_zones + all->n_dropped, 1001);
    assert_true(all->n_dropped > 0);
    assert_int_equal(all->zones[all->n_zones - 1].id, 77);
    assert_int_equal(all->zones[0].program, 5);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_NO_CURSOR), 0);
    collect_close(all);
}

static void sum_only_adds_up_what_has_no_room(void **state)
{
    (void)state;
    struct collect *all = overflow(STROBE_POLICY_SUM_ONLY, 0, 1000);
    uint64_t summed = 0;
    for (size_t i = 0; i < all->n_sums; i++) {
        summed += all->sums[i].count;
        assert_int_equal(all->sums[i].sum, 5ull * all->sums[i].count);
        assert_int_equal(all->sums[i].min, 5);
        assert_int_equal(all->sums[i].max, 5);
    }
    assert_true(summed > 700);
    assert_int_equal(all->n_zones + summed, 1001);
    assert_int_equal(all->n_dropped, 0);
    no_bad(all);
    collect_close(all);
}

static void an_unarmed_core_does_not_wait(void **state)
{
    (void)state;
    begin();
    native_control()[STROBE_SC_ARMED] = 0;
    for (uint32_t i = 0; i < 1000; i++)
        write_zone(1, 1000 + 10 * i, 1005 + 10 * i);
    assert_int_equal(native_lane(0)->n_stalls, 0);
    assert_true(native_lane(0)->n_dropped > 700);
    struct collect *all = finish();
    assert_int_equal(native_lane(0)->n_dropped + all->n_zones, 1000);
    collect_close(all);
}

static void a_program_of_32_bits_is_read_back(void **state)
{
    (void)state;
    begin();
    writer_program(0xfedcba98);
    write_zone(1, 10, 20);
    writer_program(12);
    write_zone(2, 30, 40);
    struct collect *all = finish();
    assert_int_equal(all->zones[0].program, 0xfedcba98);
    assert_int_equal(all->zones[1].program, 12);
    collect_close(all);
}

static void data_has_63_values_at_most(void **state)
{
    uint64_t values[64];
    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        values[i] = (uint64_t)i << 32 | (0x80000000u + i);
    begin();
    writer_data(3, values, 1);
    writer_data(4, values, 63);
    writer_data(5, values, 64);
    writer_event(6);
    struct collect *all = finish();
    assert_int_equal(all->n_marks, 4);
    assert_int_equal(all->marks[0].n_values, 1);
    assert_int_equal(all->marks[1].n_values, 63);
    assert_memory_equal(all->marks[1].values, values, 63 * sizeof values[0]);
    assert_int_equal(all->marks[2].n_values, 63);
    assert_int_equal(all->marks[3].id, 6);
    assert_false(all->marks[3].is_data);
    no_bad(all);
    collect_close(all);
}

/* A run of n words that wraps: split below 448 words, the whole ring from there on. */
static void wrapping_run(uint32_t n_words, uint32_t frame_words)
{
    begin();
    write_zone(1, 1000, 1001); /* program, timer, M */
    for (uint32_t i = 0; i < 100; i++)
        write_zone(2, 1002 + 2 * i, 1003 + 2 * i);
    writer_end();
    native_ship();
    size_t before = native_n_words;
    uint32_t used = native_control()[STROBE_SC_HEAD] % 512;
    assert_true(used + n_words > 512);
    for (uint32_t n = 0; n_words - n >= 2; n += 2)
        write_zone(3, 2000 + n, 2001 + n);
    if (n_words & 1)
        writer_program(9);
    writer_end();
    uint32_t *control = native_control();
    assert_int_equal(control[STROBE_SC_TAIL] - control[STROBE_SC_HEAD], n_words);
    native_ship();
    assert_int_equal(native_frames[before + 1], 16 + frame_words);
    struct collect *all = read_back(false);
    assert_int_equal(all->n_zones, 101 + n_words / 2);
    for (uint32_t i = 0; i < n_words / 2; i++)
        zone_is(all, 101 + i, 2000 + 2 * i, 2001 + 2 * i, 3);
    no_bad(all);
    collect_close(all);
}

static void a_wrapping_run_of_447_words_is_split(void **state)
{
    (void)state;
    wrapping_run(447, 447 + 1); /* + 1: the pad of an odd head */
}

static void a_wrapping_run_of_448_words_is_the_whole_ring(void **state)
{
    (void)state;
    wrapping_run(448, 512);
}

static void a_lost_frame_discards_s_zones_up_to_the_next_m(void **state)
{
    (void)state;
    struct collect *all = collect_open_stream(false);
    FEED(all, 0, 1, 6, W(TIMER, 1), W(ZONE_M, 1), 1000, 10);
    /* words 4-9 are lost */
    FEED(all, 10, 1, 6, W(ZONE_S, 2), 5 << 16 | 1, W(ZONE_S, 3), 5 << 16 | 1, W(ZONE_M, 4), 3000,
         10, W(ZONE_S, 5), 5 << 16 | 1);
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 1, (1ull << 32) + 2990, (1ull << 32) + 3000, 4);
    zone_is(all, 2, (1ull << 32) + 3004, (1ull << 32) + 3005, 5);
    assert_int_equal(all->zones[2].program, 6);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_GAP_WORDS), 6);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_NO_CURSOR), 2);
    collect_close(all);
}

static void behind_a_gap_the_time_before_a_timer_word_is_not_guessed(void **state)
{
    (void)state;
    struct collect *all = collect_open_stream(false);
    FEED(all, 0, 1, 6, W(TIMER, 1), W(ZONE_M, 1), 1000, 10);
    FEED(all, 10, 3, 7, W(ZONE_M, 2), 100, 10, W(EVENT, 3), 200, W(ZONE_L, 4), 5, 2, 6, 1,
         W(TIMER, 3), W(PROGRAM, 7), W(ZONE_M, 5), 300, 10);
    strobe_device_stream_flush(all->stream);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_NO_TIMER),
                     2); /* M and the event; L knows its time */
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 1, (1ull << 32) - 1, (2ull << 32) + 5, 4);
    assert_int_equal(all->zones[1].program, 0xffffffff);
    zone_is(all, 2, (3ull << 32) + 290, (3ull << 32) + 300, 5);
    collect_close(all);
}

static void words_that_come_twice_are_skipped(void **state)
{
    (void)state;
    struct collect *all = collect_open_stream(false);
    FEED(all, 0, 0, 0, W(ZONE_M, 1), 1000, 10, W(ZONE_S, 2), 1 << 16);
    FEED(all, 3, 0, 0, W(ZONE_S, 2), 1 << 16, W(ZONE_S, 3), 1 << 16);
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 2, 1002, 1002, 3);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_OVERLAP), 2);
    collect_close(all);
}

static void a_time_read_in_halves_is_repaired(void **state)
{
    uint64_t wrap = 1ull << 32;
    (void)state;
    struct collect *all = collect_open_stream(false);
    FEED(all, 0, 4, 0, W(TIMER, 4), W(EVENT, 1), 0xfffffff0, W(TIMER, 5), W(EVENT, 2), 0xfffffff8,
         W(TIMER, 4), W(EVENT, 3), 0xfffffffc,          /* the second was one wrap too high */
         W(ZONE_L, 4), 0xfffffffd, 5, 13, 1,            /* a bad end: 2^32 too long */
         W(ZONE_M, 5), 0xfffffffe, 1,                   /* shows it */
         W(ZONE_L, 6), 0xffffffff, 4, 0x10, 0xffffffff, /* a bad start */
         W(TIMER, 5), W(EVENT, 7), 4, W(EVENT, 8), 9);  /* a true new high time */
    strobe_device_stream_flush(all->stream);
    assert_int_equal(all->n_marks, 5);
    assert_int_equal(all->marks[1].time, 4 * wrap + 0xfffffff8);
    assert_int_equal(all->marks[2].time, 4 * wrap + 0xfffffffc);
    assert_int_equal(all->marks[3].time, 5 * wrap + 4);
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 0, 4 * wrap + 0xfffffff0, 4 * wrap + 0xfffffffd, 4);
    zone_is(all, 2, 4 * wrap + 0xffffffef, 4 * wrap + 0xffffffff, 6);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_LATCH), 3);
    collect_close(all);
}

static void a_stall_that_ends_behind_the_l_zone_is_no_clock_fault(void **state)
{
    (void)state;
    struct collect *all = collect_open_stream(false);
    FEED(all, 0, 9, 0, W(TIMER, 9), W(ZONE_M, STROBE_ID_STALL), 5000, 100, W(ZONE_L, 2), 4950, 9, 0,
         2, W(ZONE_M, 3), 6000, 10);
    assert_int_equal(all->n_zones, 3);
    zone_is(all, 1, (7ull << 32) + 4950, (9ull << 32) + 4950, 2);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_LATCH), 0);
    collect_close(all);
}

static void open_zones_of_a_core_are_in_the_open_frame(void **state)
{
    struct writer_zone outer, inner;
    (void)state;
    begin();
    native_cycles = 100;
    writer_open(8, &outer);
    native_cycles = (3ull << 32) + 7;
    writer_open(9, &inner);
    native_ship();
    native_ship_open(1);
    struct collect *all = read_back(false);
    assert_int_equal(all->n_open, 2);
    assert_int_equal(all->open[0].id, 8);
    assert_int_equal(all->open[0].start, 100);
    assert_int_equal(all->open[1].start, (3ull << 32) + 7);
    assert_true(all->open_final);
    collect_close(all);
}

static void zones_deeper_than_the_table_are_closed_all_the_same(void **state)
{
    struct writer_zone zones[40];
    (void)state;
    begin();
    native_step = 1;
    for (uint32_t i = 0; i < 40; i++)
        writer_open(i, &zones[i]);
    assert_int_equal(native_lane(0)->n_open_lost, 24);
    for (uint32_t i = 40; i-- > 0;)
        writer_close(i, &zones[i]);
    struct collect *all = finish();
    assert_int_equal(all->n_zones, 40);
    assert_int_equal(all->zones[39].id, 0);
    no_bad(all);
    collect_close(all);
}

static void sum_zones_go_out_once_at_the_end(void **state)
{
    struct writer_zone zone;
    (void)state;
    begin();
    for (uint32_t i = 1; i <= 100; i++) {
        native_cycles = 1000 * i;
        writer_open(50, &zone);
        native_cycles += i;
        writer_sum(50, &zone);
        native_lane(0)->open_top = zone.top;
    }
    struct collect *all = finish();
    assert_int_equal(all->n_sums, 1);
    assert_int_equal(all->sums[0].count, 100);
    assert_int_equal(all->sums[0].sum, 5050);
    assert_int_equal(all->sums[0].min, 1);
    assert_int_equal(all->sums[0].max, 100);
    collect_close(all);
}

static void wide_frames_say_the_same(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 200; i++)
        write_zone(3, 2000 + 2 * i, 2001 + 2 * i);
    writer_end();
    native_ship_wide();
    struct collect *all = read_back(false);
    assert_int_equal(all->n_zones, 200);
    zone_is(all, 199, 2398, 2399, 3);
    no_bad(all);
    collect_close(all);
}

static void garbage_is_skipped_to_the_next_frame(void **state)
{
    uint32_t words[64] = {0};
    size_t used;
    (void)state;
    struct collect *all = collect_open_stream(false);
    for (int i = 0; i < 16; i++)
        words[i] = 0x12345678u * (uint32_t)(i + 1);
    words[16] = STROBE_EXT_WORD(STROBE_EXT_NAME, 3 + 2 + 1);
    words[18] = 77;
    words[20] = 3;
    memcpy(words + 21, "abc", 3);
    assert_int_equal(strobe_device_stream_feed(all->stream, words, 64, &used), STROBE_OK);
    assert_int_equal(used, 64);
    assert_string_equal(all->name, "abc");
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_FRAME), 1);
    collect_close(all);
}

static void a_frame_that_is_cut_waits_for_its_rest(void **state)
{
    uint32_t words[32] = {STROBE_EXT_WORD(STROBE_EXT_NAME, 20)};
    size_t used;
    (void)state;
    struct collect *all = collect_open_stream(false);
    assert_int_equal(strobe_device_stream_feed(all->stream, words, 16, &used), STROBE_OK);
    assert_int_equal(used, 0);
    assert_int_equal(strobe_device_stream_feed(all->stream, words, 32, &used), STROBE_OK);
    assert_int_equal(used, 32);
    collect_close(all);
}

static void words_that_are_no_record_end_the_run_alone(void **state)
{
    (void)state;
    struct collect *all = collect_open_stream(false);
    FEED(all, 0, 0, 0, W(ZONE_M, 1), 1000, 10, W(RETIRED, 0), 1, 2);
    FEED(all, 6, 0, 8, W(ZONE_M, 2), 2000, 10);
    assert_int_equal(all->n_zones, 2);
    assert_int_equal(all->zones[1].program, 8);
    assert_int_equal(bad(all, STROBE_DEVICE_BAD_RUN), 3);
    collect_close(all);
}

static void an_idle_launch_leaves_nothing(void **state)
{
    (void)state;
    begin();
    native_lane(0)->flags |= STROBE_LANE_HIDDEN;
    write_zone(1, 1000, 2000);
    writer_validate(0);
    assert_int_equal(native_control()[STROBE_SC_TAIL], native_lane(0)->launch_next);
    write_zone(2, 3000, 4000);
    struct collect *all = finish();
    assert_int_equal(all->n_zones, 1);
    zone_is(all, 0, 3000, 4000, 2);
    collect_close(all);
}

static void a_successor_goes_on_where_a_lane_stood(void **state)
{
    struct strobe_device_saved saved[8];
    (void)state;
    struct collect *first = collect_open_stream(false), *second = collect_open_stream(false);
    FEED(first, 0, 2, 6, W(TIMER, 2), W(PROGRAM, 6), W(ZONE_M, 1), 1000, 10);
    uint32_t n = strobe_device_stream_save(first->stream, saved, 8);
    assert_int_equal(n, 1);
    assert_int_equal(strobe_device_stream_load(second->stream, saved, n), STROBE_OK);
    FEED(second, 5, 9, 9, W(ZONE_S, 2), 5 << 16 | 3, W(EVENT, 3), 2000);
    assert_int_equal(second->n_zones, 1);
    zone_is(second, 0, (2ull << 32) + 1002, (2ull << 32) + 1005, 2);
    assert_int_equal(second->zones[0].program, 6);
    assert_int_equal(second->marks[0].time, (2ull << 32) + 2000);
    no_bad(second);
    saved[0].risc = 24;
    assert_int_equal(strobe_device_stream_load(second->stream, saved, 1), STROBE_ERR_INVALID);
    collect_close(first);
    collect_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(s_zone_has_delta_and_duration_up_to_65535),
        cmocka_unit_test(zones_over_a_multiple_of_2_to_the_32_keep_their_times),
        cmocka_unit_test(a_parent_comes_behind_its_children),
        cmocka_unit_test(m_zone_places_those_behind_a_new_timer),
        cmocka_unit_test(l_zone_is_longer_than_2_to_the_32),
        cmocka_unit_test(a_full_ring_waits_and_the_wait_is_a_zone),
        cmocka_unit_test(a_bounded_wait_ends_in_counted_drops),
        cmocka_unit_test(drop_newest_keeps_the_first_and_counts_the_rest),
        cmocka_unit_test(drop_oldest_keeps_the_last_and_counts_the_rest),
        cmocka_unit_test(sum_only_adds_up_what_has_no_room),
        cmocka_unit_test(an_unarmed_core_does_not_wait),
        cmocka_unit_test(a_program_of_32_bits_is_read_back),
        cmocka_unit_test(data_has_63_values_at_most),
        cmocka_unit_test(a_wrapping_run_of_447_words_is_split),
        cmocka_unit_test(a_wrapping_run_of_448_words_is_the_whole_ring),
        cmocka_unit_test(a_lost_frame_discards_s_zones_up_to_the_next_m),
        cmocka_unit_test(behind_a_gap_the_time_before_a_timer_word_is_not_guessed),
        cmocka_unit_test(words_that_come_twice_are_skipped),
        cmocka_unit_test(a_time_read_in_halves_is_repaired),
        cmocka_unit_test(a_stall_that_ends_behind_the_l_zone_is_no_clock_fault),
        cmocka_unit_test(open_zones_of_a_core_are_in_the_open_frame),
        cmocka_unit_test(zones_deeper_than_the_table_are_closed_all_the_same),
        cmocka_unit_test(sum_zones_go_out_once_at_the_end),
        cmocka_unit_test(wide_frames_say_the_same),
        cmocka_unit_test(garbage_is_skipped_to_the_next_frame),
        cmocka_unit_test(a_frame_that_is_cut_waits_for_its_rest),
        cmocka_unit_test(words_that_are_no_record_end_the_run_alone),
        cmocka_unit_test(an_idle_launch_leaves_nothing),
        cmocka_unit_test(a_successor_goes_on_where_a_lane_stood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
