/* test_device_classic_writer.c - the classic writer's rooms and runs.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "device/classic.h"
#include "native.h"
#include "writer_classic.h"

extern uint64_t native_cycles;

static struct strobe_device_pairs pairs;
static struct strobe_device_zone zones[8192];

/* Pair what is in DRAM of RISC 0. */
static size_t read_dram(void)
{
    size_t used;
    pairs = (struct strobe_device_pairs){0};
    return strobe_device_classic_zones(&pairs, native_dram[0], native_control()[STROBE_CC_HOST_END],
                                       &used, zones, 8192);
}

static void reset(uint32_t risc_words)
{
    native_reset();
    for (int i = 0; i < 64; i++)
        native_control()[i] = 0;
    native_core()->risc_words = risc_words;
    native_step = 10;
}

static void a_full_buffer_holds_125_zones_and_touches_nobody_elses(void **state)
{
    uint32_t opened = 0;
    (void)state;
    reset(4096);
    classic_begin();
    native_buffer(1)[0] = 0x11111111;
    for (int i = 0; i < 150; i++)
        if (classic_open(7)) {
            classic_close(7);
            opened++;
        }
    classic_end();
    assert_int_equal(opened, 125);
    assert_int_equal(native_buffer(1)[0], 0x11111111);
    assert_int_equal(read_dram(), 127);
    assert_int_equal(native_control()[STROBE_CC_DROPPED], 0);
}

static void every_zone_that_begins_has_a_place_for_its_end(void **state)
{
    uint32_t opened = 0;
    (void)state;
    reset(4096);
    classic_begin();
    native_buffer(1)[0] = 0x11111111;
    classic_event(3); /* so that the end does not fall together with the buffer's */
    while (classic_open(8))
        opened++;
    assert_int_equal(opened, 124); /* 498 words, 4 each */
    for (uint32_t i = 0; i < opened; i++)
        classic_close(8);
    classic_end();
    assert_int_equal(native_buffer(1)[0], 0x11111111);
    assert_int_equal(read_dram(), 126);
    assert_int_equal(pairs.n_orphans + pairs.n_unfinished + pairs.n_bad, 0);
}

static void guaranteed_zones_survive_a_full_dram(void **state)
{
    (void)state;
    reset(512 + 12 + 5);
    for (int run = 0; run < 3; run++) {
        classic_begin();
        classic_program((uint32_t)run + 1);
        for (int i = 0; i < 125; i++)
            if (classic_open(7))
                classic_close(7);
        classic_end();
    }
    assert_int_equal(native_control()[STROBE_CC_HOST_END], 524);
    assert_int_equal(native_control()[STROBE_CC_DROPPED], 1);
    assert_int_equal(read_dram(), 127 + 2);
    assert_int_equal(zones[128].program, 2);
    assert_int_equal(pairs.n_runs, 2);
}

static void a_quick_push_repeats_the_run_and_the_reader_knows_it(void **state)
{
    static struct strobe_device_marker markers[NATIVE_DRAM_WORDS / 2];
    const uint64_t value = 5;
    uint64_t n_bad = 0;
    uint32_t n_data = 0, n_mains = 0;
    (void)state;
    reset(8192);
    classic_begin();
    for (int i = 0; i < 600; i++)
        classic_data(STROBE_ID_NOC_EVENT, &value, 1, 1);
    classic_end();
    size_t n = strobe_device_classic_markers(native_dram[0], native_control()[STROBE_CC_HOST_END],
                                             markers, &n_bad);
    n = strobe_device_classic_order(markers, n);
    for (size_t i = 0; i < n; i++) {
        n_data += markers[i].packet == STROBE_CP_DATA;
        n_mains += markers[i].id == 1;
    }
    assert_int_equal(n_data, 600);
    assert_int_equal(n_mains, 2); /* its begin came with every piece */
    assert_int_equal(n_bad, 0);
    assert_int_equal(native_control()[STROBE_CC_DROPPED], 0);
}

static void quick_pushes_leave_room_for_the_guaranteed_ends(void **state)
{
    const uint64_t value = 5;
    (void)state;
    reset(1200);
    classic_begin();
    for (int i = 0; i < 2000; i++)
        classic_data(STROBE_ID_NOC_EVENT, &value, 1, 1);
    classic_end();
    assert_int_equal(native_control()[STROBE_CC_DROPPED], 1);
    read_dram();
    int found = 0;
    for (size_t i = 0; i < pairs.n_zones; i++)
        found += zones[i].id == 1 || zones[i].id == 2;
    assert_int_equal(found, 2);
}

static void sums_are_one_marker_at_the_end(void **state)
{
    struct strobe_device_marker markers[64];
    uint64_t n_bad = 0;
    (void)state;
    reset(4096);
    classic_begin();
    for (int i = 0; i < 10; i++)
        classic_sum(77, (uint32_t)native_cycles); /* 10 cycles each */
    classic_end();
    size_t n = strobe_device_classic_markers(native_dram[0], native_control()[STROBE_CC_HOST_END],
                                             markers, &n_bad);
    assert_int_equal(n, 5);
    assert_int_equal(markers[4].packet, STROBE_CP_ZONE_TOTAL);
    assert_int_equal(markers[4].data, 100);
    assert_int_equal(markers[4].time, markers[0].time);
    assert_int_equal(native_control()[STROBE_CC_HOST_END] % 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_buffer_holds_125_zones_and_touches_nobody_elses),
        cmocka_unit_test(every_zone_that_begins_has_a_place_for_its_end),
        cmocka_unit_test(guaranteed_zones_survive_a_full_dram),
        cmocka_unit_test(a_quick_push_repeats_the_run_and_the_reader_knows_it),
        cmocka_unit_test(quick_pushes_leave_room_for_the_guaranteed_ends),
        cmocka_unit_test(sums_are_one_marker_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
