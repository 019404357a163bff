/* test_device_classic.c - classic marker words: the fixture, runs, pairs.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "device/classic.h"

/* Two runs on RISC 0 of core 17: zones, data, an event, a total, a counter; then guaranteed markers alone. */
static const uint32_t fixture[] = {
    0x00000000, 0x00000000, 0x00000220, 0x00000001, 0x88877123, 0x000003e8, 0x98877123, 0x00002328,
    0x89acf123, 0x0000044c, 0x99acf123, 0x00001f40, 0x801f4123, 0x000004b0, 0x901f4123, 0x00000514,
    0xb0258123, 0x00000578, 0x00000001, 0x00000007, 0xc002a123, 0x000005dc, 0xa02bc000, 0x0000014d,
    0xd2382123, 0x00000640, 0x000007d0, 0x000001f4, 0x00000000, 0x00000001, 0x80000000, 0x00000000,
    0x00000000, 0x00000000, 0x00006220, 0x00000002, 0x88877123, 0x00004e20, 0x98877123, 0x000061a8,
    0x80000000, 0x80000000, 0x80000000, 0x80000000,
};
enum { N_FIXTURE = sizeof fixture / sizeof fixture[0] };
#define BASE (0x123ull << 32)

static void the_fixture_decodes_to_its_twelve_markers(void **state)
{
    static const struct {
        uint32_t id, packet, time;
        uint64_t data, data_two;
        uint32_t program, counter;
    } expected[12] = {
        {34935, 0, 1000, 0, 0, 1, 0},        {34935, 1, 9000, 0, 0, 1, 0},
        {39631, 0, 1100, 0, 0, 1, 0},        {39631, 1, 8000, 0, 0, 1, 0},
        {500, 0, 1200, 0, 0, 1, 0},          {500, 1, 1300, 0, 0, 1, 0},
        {600, 3, 1400, 4294967303, 0, 1, 0}, {42, 4, 1500, 0, 0, 1, 0},
        {700, 2, 1000, 333, 0, 1, 0},        {9090, 5, 1600, 8589934592500, 1, 1, 0},
        {34935, 0, 20000, 0, 0, 2, 3},       {34935, 1, 25000, 0, 0, 2, 3},
    };
    struct strobe_device_marker markers[N_FIXTURE / 2];
    uint64_t n_bad = 0;
    (void)state;
    assert_int_equal(strobe_device_classic_markers(fixture, N_FIXTURE, markers, &n_bad), 12);
    assert_int_equal(n_bad, 0);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(markers[i].id, expected[i].id);
        assert_int_equal(markers[i].packet, expected[i].packet);
        assert_int_equal(markers[i].time, BASE + expected[i].time);
        assert_int_equal(markers[i].data, expected[i].data);
        assert_int_equal(markers[i].data_two, expected[i].data_two);
        assert_int_equal(markers[i].program, expected[i].program);
        assert_int_equal(markers[i].trace_counter, expected[i].counter);
        assert_int_equal(markers[i].flat_id, 17);
        assert_int_equal(markers[i].risc, 0);
    }
}

static void the_fixture_pairs_to_its_four_zones(void **state)
{
    struct strobe_device_pairs pairs = {0};
    struct strobe_device_zone zones[16];
    size_t used;
    (void)state;
    assert_int_equal(strobe_device_classic_zones(&pairs, fixture, N_FIXTURE, &used, zones, 16), 4);
    assert_int_equal(used, N_FIXTURE);
    assert_int_equal(zones[1].id, 39631);
    assert_int_equal(zones[1].start, BASE + 1100);
    assert_int_equal(zones[1].end, BASE + 8000);
    assert_int_equal(zones[2].id, 500);
    assert_int_equal(zones[3].program, 2);
    assert_int_equal(pairs.n_others, 4);
    assert_int_equal(pairs.n_runs, 2);
    assert_int_equal(pairs.n_bad + pairs.n_orphans + pairs.n_unfinished, 0);
}

static void markers_that_came_twice_are_removed_and_the_rest_is_in_order(void **state)
{
    struct strobe_device_marker markers[N_FIXTURE];
    uint64_t n_bad = 0;
    (void)state;
    size_t n = strobe_device_classic_markers(fixture, N_FIXTURE, markers, &n_bad);
    n += strobe_device_classic_markers(fixture, N_FIXTURE, markers + n, &n_bad);
    assert_int_equal(n, 24);
    n = strobe_device_classic_order(markers, n);
    assert_int_equal(n, 12);
    for (size_t i = 1; i < n; i++)
        assert_true(markers[i - 1].time <= markers[i].time);
    assert_int_equal(markers[n - 1].time, BASE + 25000);
}

static void zone_start_and_end_of_one_cycle_are_both_kept(void **state)
{
    const uint32_t words[] = {0, 0, 0, 1, STROBE_CM_H(0, 5, 0), 77, STROBE_CM_H(1, 5, 0), 77};
    struct strobe_device_marker markers[4];
    uint64_t n_bad = 0;
    (void)state;
    size_t n = strobe_device_classic_markers(words, 8, markers, &n_bad);
    assert_int_equal(strobe_device_classic_order(markers, n), 2);
    assert_int_equal(markers[0].packet, STROBE_CP_ZONE_START);
}

static void nested_zones_and_lost_ends_are_paired_as_far_as_they_go(void **state)
{
    const uint32_t words[] = {
        0,
        0,
        0,
        1,
        STROBE_CM_UNUSED,
        STROBE_CM_UNUSED,
        STROBE_CM_UNUSED,
        STROBE_CM_UNUSED,
        STROBE_CM_UNUSED,
        STROBE_CM_UNUSED,
        STROBE_CM_UNUSED,
        STROBE_CM_UNUSED,
        STROBE_CM_H(0, 1, 0),
        10,
        STROBE_CM_H(0, 2, 0),
        20,
        STROBE_CM_H(0, 3, 0),
        30,
        STROBE_CM_H(1, 2, 0),
        40, /* 3 has no end */
        STROBE_CM_H(1, 9, 0),
        41, /* 9 has no begin */
        STROBE_CM_H(1, 1, 0),
        50,
        STROBE_CM_H(0, 4, 0),
        60 /* 4 is open when the run ends */
    };
    struct strobe_device_pairs pairs = {0};
    struct strobe_device_zone zones[8];
    size_t used, n = sizeof words / 4;
    (void)state;
    assert_int_equal(strobe_device_classic_zones(&pairs, words, n, &used, zones, 8), 2);
    assert_int_equal(zones[0].id, 2);
    assert_int_equal(zones[0].start, 20);
    assert_int_equal(zones[1].id, 1);
    assert_int_equal(pairs.n_orphans, 1);
    assert_int_equal(pairs.n_unfinished, 1);
    assert_int_equal(pairs.n_open, 1);
    assert_int_equal(pairs.ids[0], 4);
}

static void zones_come_in_portions_where_there_is_little_room(void **state)
{
    uint32_t words[12 + 4 * 100] = {0, 0, 0, 1};
    struct strobe_device_pairs pairs = {0};
    struct strobe_device_zone zones[3];
    size_t at = 0, used, n = sizeof words / 4;
    (void)state;
    for (int i = 4; i < 12; i++)
        words[i] = STROBE_CM_UNUSED;
    for (uint32_t i = 0; i < 100; i++) {
        words[12 + 4 * i] = STROBE_CM_H(0, 6, 0);
        words[14 + 4 * i] = STROBE_CM_H(1, 6, 0);
        words[13 + 4 * i] = 10 * i + 1;
        words[15 + 4 * i] = 10 * i + 2;
    }
    while (at < n) {
        strobe_device_classic_zones(&pairs, words + at, n - at, &used, zones, 3);
        assert_true(used > 0);
        at += used;
    }
    assert_int_equal(pairs.n_zones, 100);
}

static void a_run_without_its_sentinel_is_found_by_its_ids(void **state)
{
    const uint32_t words[] = {STROBE_CM_H(1, 7, 0), 99, 3 << 5 | 1,           12,
                              STROBE_CM_H(0, 5, 0), 77, STROBE_CM_H(1, 5, 0), 78};
    struct strobe_device_marker markers[4];
    uint64_t n_bad = 0;
    (void)state;
    assert_int_equal(strobe_device_classic_markers(words, 8, markers, &n_bad), 3);
    assert_int_equal(markers[1].program, 12);
    assert_int_equal(markers[1].risc, 1);
    assert_int_equal(markers[1].flat_id, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixture_decodes_to_its_twelve_markers),
        cmocka_unit_test(the_fixture_pairs_to_its_four_zones),
        cmocka_unit_test(markers_that_came_twice_are_removed_and_the_rest_is_in_order),
        cmocka_unit_test(zone_start_and_end_of_one_cycle_are_both_kept),
        cmocka_unit_test(nested_zones_and_lost_ends_are_paired_as_far_as_they_go),
        cmocka_unit_test(zones_come_in_portions_where_there_is_little_room),
        cmocka_unit_test(a_run_without_its_sentinel_is_found_by_its_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
