/* test_bridge_stream.c - a trace as the events of a Tracy client: what is sent when, what is left out.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "bridge/stream.h"
#include "build/build.h"

/* A trace of one Tracy client that a bridge reads while it is written. */
struct shown {
    struct small_trace file;
    struct strobe_build_store *store;
    struct strobe_build *build;
    struct strobe_build_track *track[3];
    struct strobe_bridge_stream stream;
    int is_open;
};

static void start(struct shown *s)
{
    struct strobe_build_process process = {.pid = 10, .exe = "/bin/program"};
    struct strobe_tracy_client client = {.protocol = 82, .timer_mul = 1.0, .program = "program"};
    memset(s, 0, sizeof *s);
    small_start(&s->file);
    struct strobe_build_store_options options = {.writer = s->file.writer};
    assert_int_equal(strobe_build_store_open(&options, &s->store), STROBE_OK);
    assert_int_equal(strobe_build_open(s->store, &process, &s->build), STROBE_OK);
    strobe_build_tracy_client(s->build, &client);
    for (uint64_t i = 0; i < 3; i++) {
        s->track[i] = strobe_build_thread(s->build, 100 + i, 1);
        strobe_build_thread_name(s->build, s->track[i], "thread", 6);
    }
}

/* Send what the file holds now. */
static void show(struct shown *s)
{
    const uint8_t *frame;
    enum strobe_err err;
    strobe_build_store_flush(s->store);
    if (!s->is_open)
        assert_int_equal(strobe_bridge_stream_open(s->file.path, 82, 1, &s->stream), STROBE_OK);
    else
        assert_int_equal(strobe_bridge_refresh(&s->stream), STROBE_OK);
    s->is_open = 1;
    while ((err = strobe_bridge_fill(&s->stream)) == STROBE_OK)
        strobe_wire_out_frame(&s->stream.out, &frame);
    assert_int_equal(err, STROBE_ERR_END);
}

static void show_rest(struct shown *s)
{
    const uint8_t *frame;
    s->stream.is_final = 1;
    while (strobe_bridge_fill(&s->stream) == STROBE_OK)
        strobe_wire_out_frame(&s->stream.out, &frame);
}

static void end(struct shown *s)
{
    strobe_bridge_stream_free(&s->stream);
    strobe_build_close(s->build);
    strobe_build_store_close(s->store);
    small_finish(&s->file);
    small_remove(&s->file);
}

static uint64_t n_left_out(const struct shown *s)
{
    uint64_t n = 0;
    for (int kind = 0; kind < STROBE_KIND_COUNT; kind++)
        n += s->stream.left_out[kind];
    return n;
}

static void put(struct shown *s, int thread, uint64_t tick, enum strobe_kind kind, uint64_t a,
                uint64_t b, uint64_t c)
{
    strobe_build_event(s->build, s->track[thread], tick, kind, (uint64_t[]){a, b, c}, NULL, 0);
}

/* ---- names ---- */

static void a_zone_waits_for_the_name_of_its_location(void **state)
{
    struct shown s;
    struct strobe_build_loc told = {.function = "work", .n_function = 4};
    (void)state;
    start(&s);
    uint64_t loc = strobe_build_new_loc(s.build, 0x55fb3f39c680);
    strobe_build_zone_begin(s.build, s.track[0], 10, loc);
    strobe_build_zone_end(s.build, s.track[0], 20);
    show(&s);
    assert_int_equal(s.stream.n_zones, 0);
    strobe_build_set_loc(s.build, loc, &told);
    show(&s);
    assert_int_equal(s.stream.n_zones, 1);
    end(&s);
}

static void a_name_that_never_comes_holds_nothing_up_at_the_end(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    strobe_build_zone_begin(s.build, s.track[0], 10, strobe_build_new_loc(s.build, 0x55fb3f39c680));
    put(&s, 0, 11, STROBE_KIND_FRAME_MARK, strobe_build_new_string(s.build, 0x55fb3f39c690), 0, 0);
    strobe_build_zone_end(s.build, s.track[0], 20);
    show(&s);
    assert_int_equal(s.stream.n_zones, 0);
    show_rest(&s);
    assert_int_equal(s.stream.n_zones, 1);
    assert_int_equal(n_left_out(&s), 0);
    end(&s);
}

static void frames_keep_their_pointer_when_their_name_comes(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    uint64_t name = strobe_build_new_string(s.build, 0x55fb3f39c680);
    put(&s, 0, 10, STROBE_KIND_FRAME_START, name, 0, 0);
    show(&s);
    strobe_build_set_string(s.build, name, "frames", 6);
    put(&s, 0, 20, STROBE_KIND_FRAME_END, name, 0, 0);
    show(&s);
    show_rest(&s);
    assert_int_equal(n_left_out(&s), 0);
    assert_int_equal(s.stream.frame_ids.n, 1);
    end(&s);
}

/* ---- order ---- */

static void a_pool_is_its_name_wherever_it_is_named(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    uint64_t here = strobe_build_new_string(s.build, 1),
             there = strobe_build_new_string(s.build, 2);
    strobe_build_set_string(s.build, here, "heap", 4);
    strobe_build_set_string(s.build, there, "heap", 4);
    for (uint64_t i = 0; i < 1000; i++) {
        put(&s, 0, 10 + 2 * i, STROBE_KIND_MEM_ALLOC, here, 0x1000 + 16 * (i % 10), 16);
        put(&s, 0, 11 + 2 * i, STROBE_KIND_MEM_FREE, there, 0x1000 + 16 * (i % 10), 0);
    }
    show(&s);
    show_rest(&s);
    assert_int_equal(n_left_out(&s), 0);
    assert_int_equal(s.stream.pool_ids.n, 1);
    end(&s);
}

static void a_block_that_is_freed_in_an_earlier_part_than_it_was_allocated_is_sent(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    put(&s, 0, 20, STROBE_KIND_MEM_FREE, 0, 0x1000, 0);
    show(&s);
    s.stream.newest_tick = ~0ull / 2; /* nothing older is waited for */
    assert_true(strobe_bridge_sort_held(&s.stream));
    strobe_bridge_put_held(&s.stream);
    assert_int_equal(s.stream.n_held, 1);
    put(&s, 1, 10, STROBE_KIND_MEM_ALLOC, 0, 0x1000, 16);
    show(&s);
    show_rest(&s);
    assert_int_equal(n_left_out(&s), 0);
    assert_int_equal(s.stream.n_held, 0);
    end(&s);
}

static void a_block_that_is_never_allocated_is_left_out_by_kind(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    put(&s, 0, 20, STROBE_KIND_MEM_FREE, 0, 0x1000, 0);
    show(&s);
    show_rest(&s);
    assert_int_equal(s.stream.left_out[STROBE_KIND_MEM_FREE], 1);
    assert_int_equal(n_left_out(&s), 1);
    end(&s);
}

/* A time of a release is read after it, so the next one has the lock before. Who released it is a guess of
 * the recorder then. */
static void every_release_of_a_lock_is_sent(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    for (uint64_t t = 0; t < 4000; t += 40) {
        put(&s, 0, t + 10, STROBE_KIND_LOCK_OBTAIN, 7, 0, 0);
        put(&s, 1, t + 20, STROBE_KIND_LOCK_OBTAIN, 7, 0, 0);
        put(&s, 1, t + 21, STROBE_KIND_LOCK_RELEASE, 7, 0, 0); /* thread 0's, in truth */
        put(&s, 1, t + 30, STROBE_KIND_LOCK_RELEASE, 7, 0, 0);
        put(&s, 2, t + 32, STROBE_KIND_LOCK_OBTAIN, 7, 0, 0);
        put(&s, 2, t + 51, STROBE_KIND_LOCK_RELEASE, 7, 0, 0);
    }
    show(&s);
    show_rest(&s);
    assert_int_equal(n_left_out(&s), 0);
    end(&s);
}

static void spans_of_frames_from_two_threads_are_in_order(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    uint64_t name = strobe_build_string(s.build, "frames", 6);
    for (uint64_t t = 0; t < 1000; t += 10)
        put(&s, 0, t + 5, STROBE_KIND_FRAME_END, name, 0, 0);
    for (uint64_t t = 0; t < 1000; t += 10)
        put(&s, 1, t + 1, STROBE_KIND_FRAME_START, name, 0, 0);
    show(&s);
    show_rest(&s);
    assert_int_equal(n_left_out(&s), 0);
    end(&s);
}

static void ask(struct shown *s, enum strobe_tracy_query query, uint64_t pointer)
{
    uint8_t bytes[STROBE_TRACY_QUERY_BYTES] = {(uint8_t)strobe_tracy_query_number(82, query)};
    memcpy(bytes + 1, &pointer, sizeof pointer);
    assert_int_equal(strobe_bridge_answer(&s->stream, bytes), 0);
}

static void call_stacks_samples_and_switches_are_sent(void **state)
{
    struct shown s;
    const uint64_t stack[] = {0x1000, 0x2000, 0xffffffff81000000};
    (void)state;
    start(&s);
    strobe_build_stack(s.build, s.track[0], 10, STROBE_KIND_CALLSTACK, 0, stack, 3);
    strobe_build_zone_begin(s.build, s.track[0], 10, strobe_build_new_loc(s.build, 1));
    strobe_build_stack(s.build, s.track[0], 11, STROBE_KIND_CALLSTACK, 0, stack, 2);
    put(&s, 0, 11, STROBE_KIND_MEM_ALLOC, 0, 0x5000, 16);
    strobe_build_stack(s.build, s.track[1], 12, STROBE_KIND_SAMPLE, 65535, stack, 3);
    strobe_build_stack(s.build, s.track[1], 12, STROBE_KIND_SAMPLE, 65534, stack, 3);
    strobe_build_event(s.build, s.track[2], 13, STROBE_KIND_CPU_SWITCH,
                       (uint64_t[]){1, 0, 100, 0, 0, 0, 0, 0}, NULL, 0);
    strobe_build_event(s.build, s.track[2], 14, STROBE_KIND_WAKEUP, (uint64_t[]){101, 1, 0, 0},
                       NULL, 0);
    strobe_build_zone_end(s.build, s.track[0], 15);
    show(&s);
    show_rest(&s);
    assert_int_equal(n_left_out(&s), 0);
    /* thread, stack (2), zone (2); samples with theirs (4); stack (2), block; switch, wake-up */
    assert_int_equal(s.stream.out.n_events, 5 + 4 + 3 + 2);
    end(&s);
}

static void a_question_about_an_address_waits_for_its_name(void **state)
{
    struct shown s;
    const char *texts[] = {"function", "file.c", "program"};
    const size_t sizes[] = {8, 6, 7};
    (void)state;
    start(&s);
    put(&s, 0, 10, STROBE_KIND_FRAME_MARK, 0, 0, 0);
    show(&s);
    ask(&s, STROBE_TRACY_ASK_CALLSTACK_FRAME, 0x1000);
    ask(&s, STROBE_TRACY_ASK_CALLSTACK_FRAME, 0x2000);
    ask(&s, STROBE_TRACY_ASK_CALLSTACK_FRAME, 0xffffffff81000000); /* nobody will name it */
    ask(&s, STROBE_TRACY_ASK_EXTERNAL, 77);
    assert_int_equal(s.stream.n_asked, 3);
    strobe_build_record(s.build, STROBE_META_SYMBOL, (uint64_t[]){0x1000, 0, 5, 0x900}, texts,
                        sizes);
    strobe_build_record(s.build, STROBE_META_FOREIGN_THREAD, (uint64_t[]){77, 70}, texts, sizes);
    show(&s);
    strobe_bridge_answer_waiting(&s.stream);
    assert_int_equal(s.stream.n_asked, 1);
    s.stream.is_final = 1;
    strobe_bridge_answer_waiting(&s.stream);
    assert_int_equal(s.stream.n_asked, 0);
    end(&s);
}

/* The text of an answer that stands at `at` in the frame: number, pointer, length, bytes. */
static void assert_answer(struct shown *s, size_t at, const char *text)
{
    uint16_t n;
    memcpy(&n, s->stream.out.raw + at + 9, sizeof n);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(s->stream.out.raw + at + 11, text, n);
}

static void a_question_about_the_midst_of_a_text_gets_none_of_it(void **state)
{
    struct shown s;
    (void)state;
    start(&s);
    show(&s);
    uint64_t pointer = strobe_bridge_text(&s.stream, "abcd\x01\x01\0\0efgh", 12);
    for (uint64_t i = 0; i < 4; i++) {
        size_t at = s.stream.out.n_raw;
        ask(&s, STROBE_TRACY_ASK_STRING, pointer + i);
        assert_int_equal(s.stream.out.n_raw, at + 11 + (i ? 3 : 12));
        if (i)
            assert_answer(&s, at, "???");
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zone_waits_for_the_name_of_its_location),
        cmocka_unit_test(a_name_that_never_comes_holds_nothing_up_at_the_end),
        cmocka_unit_test(frames_keep_their_pointer_when_their_name_comes),
        cmocka_unit_test(a_pool_is_its_name_wherever_it_is_named),
        cmocka_unit_test(a_block_that_is_freed_in_an_earlier_part_than_it_was_allocated_is_sent),
        cmocka_unit_test(a_block_that_is_never_allocated_is_left_out_by_kind),
        cmocka_unit_test(every_release_of_a_lock_is_sent),
        cmocka_unit_test(spans_of_frames_from_two_threads_are_in_order),
        cmocka_unit_test(call_stacks_samples_and_switches_are_sent),
        cmocka_unit_test(a_question_about_an_address_waits_for_its_name),
        cmocka_unit_test(a_question_about_the_midst_of_a_text_gets_none_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
