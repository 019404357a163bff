/* test_query_strips.c - who woke a thread, in a trace of two hosts that number their threads alike.  SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "engine/engine.h"
#include "explain/items.h"

enum { HERE = 1, THERE = 2 };                     /* processes, each of a host */
enum { WAKER = 1, WOKEN = 2, OTHER = 3 };         /* tracks; the last one is of the other host */
enum { WAKER_TID = 77, WOKEN_TID = 78, CPU = 1 }; /* and OTHER has the waker's, too */
enum { LOCK = 129, LEFT = 2000, WAKES = 3000, BACK = 4000, END = 5000 };

static struct small_trace small;
static struct strobe_trace *trace;

static void put_thread(uint64_t proc, uint64_t track, uint64_t tid)
{
    small_record(&small, STROBE_META_THREAD, (const uint64_t[]){proc, track, tid, 0}, 4,
                 (const char *const[]){"thread"}, 1);
}

static void put_host(uint64_t proc, uint64_t how, const char *name)
{
    small_record(&small, STROBE_META_PROCESS, (const uint64_t[]){proc, 100 * proc, 1, 9}, 4,
                 (const char *const[]){"program", "/", "program"}, 3);
    small_record(&small, STROBE_FACT_CLOCK_PLACED, (const uint64_t[]){proc, 1, how, 0, 0, 0, 0}, 7,
                 &name, 1);
}

static void put_turn(uint64_t tick, enum strobe_kind kind, uint64_t second)
{
    uint8_t bytes[2 * STROBE_VARINT_MAX];
    uint8_t *end = strobe_varint_put(strobe_varint_put(bytes, CPU), second);
    strobe_encode_event(&small.enc, tick, kind, bytes, (size_t)(end - bytes));
}

static int make(void **state)
{
    (void)state;
    small_start(&small);
    strobe_records_kinds(&small.records);
    for (uint64_t tick = 1000; tick <= 1000001000; tick += 1000000000)
        small_record(&small, STROBE_FACT_CLOCK_SYNC,
                     (const uint64_t[]){STROBE_CLOCK_MONO, tick, tick, 0, 0, 0}, 6, NULL, 0);
    put_host(HERE, STROBE_CLOCK_HOW_OWN, "here");
    put_host(THERE, STROBE_CLOCK_HOW_COMPARED, "there");
    put_thread(HERE, WAKER, WAKER_TID);
    put_thread(HERE, WOKEN, WOKEN_TID);
    put_thread(THERE, OTHER, WAKER_TID);
    small_put_records(&small);
    small_begin_part(&small, HERE, WOKEN);
    put_turn(1000, STROBE_KIND_SWITCH_IN, 0);
    put_turn(LEFT, STROBE_KIND_SWITCH_OUT, LOCK);
    put_turn(WAKES, STROBE_KIND_WOKEN, WAKER_TID);
    put_turn(BACK, STROBE_KIND_SWITCH_IN, 0);
    put_turn(END, STROBE_KIND_SWITCH_OUT, LOCK);
    small_end_block(&small, WOKEN, 5);
    small_finish(&small);
    return strobe_trace_open(small.path, 0, &trace);
}

static int clean(void **state)
{
    (void)state;
    small_remove(&small);
    return 0;
}

static uint32_t thread_of(uint64_t proc, uint64_t track)
{
    uint32_t process = strobe_idmap_find(&trace->process_ids, 0, proc);
    return strobe_idmap_find(&trace->thread_ids, process, track);
}

static void a_thread_that_is_ready_was_woken_by_one_of_its_host(void **state)
{
    (void)state;
    struct strobe_engine *engine;
    assert_int_equal(strobe_engine_open(trace, "small", &engine), STROBE_OK);
    while (strobe_strips_share(&engine->strips) < 1)
        assert_int_equal(strobe_strips_step(&engine->strips), STROBE_OK);
    const struct strobe_strip_row *row =
        strobe_strips_row(&engine->strips, STROBE_STRIP_THREAD, thread_of(HERE, WOKEN));
    assert_non_null(row);
    uint32_t who = 0;
    for (uint32_t i = 0; i < row->n_items; i++)
        if (row->items[i].ticks[STROBE_STRIP_READY])
            who = row->items[i].who;
    assert_int_equal(who, thread_of(HERE, WAKER) + 1);
    strobe_engine_close(engine); /* and the trace */
}

static enum strobe_err see(void *context, const struct strobe_item *item)
{
    if (item->what == STROBE_ITEM_WAKEUP)
        *(struct strobe_item *)context = *item;
    return STROBE_OK;
}

static void a_wake_up_is_an_item_of_a_thread_of_its_host(void **state)
{
    (void)state;
    struct strobe_view *view;
    struct strobe_item item = {0};
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    const struct strobe_items_options options = {view->tick_first, view->tick_last, 0, NULL};
    assert_int_equal(strobe_items_sweep(view, &options, see, &item, NULL), STROBE_OK);
    assert_int_equal(item.tick, WAKES);
    assert_int_equal(item.thread, thread_of(HERE, WAKER));
    assert_int_equal(item.id, WOKEN_TID);
    strobe_view_close(view);
    strobe_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_thread_that_is_ready_was_woken_by_one_of_its_host, make,
                                        clean),
        cmocka_unit_test_setup_teardown(a_wake_up_is_an_item_of_a_thread_of_its_host, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
