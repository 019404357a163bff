/* test_sample_turns.c - turns of threads begin where their CPU clocks say.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>

#include "sample/life_parts.h"

enum { NOBODY = 0x40000001 }; /* a number that no process has */
enum { TURN_NS = 80000, LACK_NS = 20000, EVERY_NS = 1000000 };

static struct strobe_life life;
static struct strobe_sample_clock clock_of_all;
static struct strobe_file_writer *writer;
static struct strobe_build_store *store;
static uint64_t now_ns; /* when the next turn's record comes */
static uint64_t cpu_ns; /* what the thread's clock says */

static int begin(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("turns", 0));
    assert_int_equal(strobe_file_create(path, "", 1, &writer), 0);
    struct strobe_build_store_options options = {.writer = writer};
    assert_int_equal(strobe_build_store_open(&options, &store), 0);
    clock_of_all = (struct strobe_sample_clock){0};
    strobe_sample_clock_add(&clock_of_all, 1000, 1000); /* a tick is a nanosecond */
    strobe_sample_clock_add(&clock_of_all, 1000000, 1000000);
    assert_int_equal(strobe_life_init(&life, store, &clock_of_all), 0);
    now_ns = EVERY_NS;
    cpu_ns = 7 * EVERY_NS; /* it ran before it was looked at */
    return 0;
}

static int end(void **state)
{
    (void)state;
    strobe_life_end(&life);
    strobe_life_flush(&life);
    strobe_life_free(&life);
    strobe_build_store_close(store);
    strobe_file_finish(writer);
    return 0;
}

static void switch_at(uint64_t time, bool is_out, uint32_t tid, uint32_t cpu)
{
    struct strobe_perf_record record = {
        .what = STROBE_PERF_SWITCH, .pid = NOBODY, .tid = tid, .time = time, .cpu = cpu};
    record.turn.is_out = is_out;
    strobe_life_take(&life, &record);
}

static void take_turns(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, now_ns += EVERY_NS, cpu_ns += TURN_NS + LACK_NS) {
        switch_at(now_ns, false, NOBODY, 0);
        switch_at(now_ns + TURN_NS, true, NOBODY, 0);
    }
}

/* Between the last turn and the next. */
static void read_clock(void)
{
    uint64_t at = now_ns - EVERY_NS / 2;
    strobe_life_clock(&life, NOBODY, NOBODY, at, at + 5000, cpu_ns);
}

/* Time on processors by what is pending. */
static uint64_t on_ns(void)
{
    uint64_t sum = 0, in = 0;
    strobe_life_mend_turns(&life);
    for (uint32_t i = 0; i < life.pending.n_events; i++) {
        const struct strobe_pending_event *event = &life.pending.events[i];
        if (event->kind == STROBE_KIND_SWITCH_IN)
            in = event->tick;
        else if (event->kind == STROBE_KIND_SWITCH_OUT)
            sum += event->tick - in;
    }
    return sum;
}

static void assert_about(uint64_t found, uint64_t right)
{
    assert_in_range(found, right - right / 200, right + right / 200);
}

static void turns_have_what_the_clock_has_more_than_their_records(void **state)
{
    (void)state;
    take_turns(30);
    read_clock();
    take_turns(40);
    read_clock();
    take_turns(30);
    assert_about(on_ns(), 100 * (TURN_NS + LACK_NS));
}

static void what_was_flushed_before_is_made_up_for(void **state)
{
    (void)state;
    uint64_t before;
    take_turns(20);
    read_clock();
    take_turns(80);
    before = on_ns(); /* nothing is known yet */
    assert_int_equal(before, 100 * TURN_NS);
    strobe_life_flush(&life);
    read_clock();
    take_turns(400);
    assert_about(before + on_ns(), 500 * (TURN_NS + LACK_NS));
    strobe_life_flush(&life);
    take_turns(100); /* as those before */
    assert_about(on_ns(), 100 * (TURN_NS + LACK_NS));
}

static void a_clock_that_is_read_while_the_thread_runs_says_nothing(void **state)
{
    (void)state;
    take_turns(20);
    read_clock();
    take_turns(19);
    strobe_life_clock(&life, NOBODY, NOBODY, now_ns + 10, now_ns + 20, cpu_ns);
    take_turns(20);
    assert_int_equal(on_ns(), 59 * TURN_NS);
}

static void a_turn_begins_neither_before_its_wake_up_nor_before_another_ends(void **state)
{
    (void)state;
    take_turns(20);
    read_clock();
    take_turns(20);
    read_clock();
    take_turns(10);
    strobe_life_flush(&life);
    struct strobe_perf_record wakes = {.what = STROBE_PERF_WAKES,
                                       .time = now_ns - 3000,
                                       .wake = {.tid = NOBODY, .is_interrupt = true}};
    strobe_life_take(&life, &wakes);
    switch_at(now_ns, false, NOBODY, 0);
    assert_int_equal(on_ns(), 0);
    assert_int_equal(life.pending.events[1].tick, now_ns - 3000);
    switch_at(now_ns + 1000, false, NOBODY + 1, 3);
    switch_at(now_ns + 50000, true, NOBODY + 1, 3);
    switch_at(now_ns + 60000, true, NOBODY, 0);
    switch_at(now_ns + 60000 + 9000, false, NOBODY, 3);
    strobe_life_flush(&life);
    switch_at(now_ns + 90000, true, NOBODY, 3);
    switch_at(now_ns + 92000, false, NOBODY + 1, 3);
    strobe_life_mend_turns(&life);
    assert_int_equal(life.pending.events[1].tick, now_ns + 90000);
}

static void threads_that_end_give_their_places_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        switch_at(now_ns, false, NOBODY + i, 0);
        struct strobe_perf_record exit = {
            .what = STROBE_PERF_EXIT, .pid = NOBODY, .tid = NOBODY + i, .time = now_ns + 10};
        strobe_life_take(&life, &exit);
        strobe_life_flush(&life);
        now_ns += EVERY_NS;
    }
    assert_in_range(life.n_windows, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turns_have_what_the_clock_has_more_than_their_records,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_was_flushed_before_is_made_up_for, begin, end),
        cmocka_unit_test_setup_teardown(a_clock_that_is_read_while_the_thread_runs_says_nothing,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            a_turn_begins_neither_before_its_wake_up_nor_before_another_ends, begin, end),
        cmocka_unit_test_setup_teardown(threads_that_end_give_their_places_back, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
