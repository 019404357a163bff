/* test_explain.c - the path goes to the device and back to the host, windows lose nothing, chances are right.
 * Ticks are ns: the traces have no clock.  SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "explain/explain.h"
#include "explain/items.h"
#include "explain/survey.h"

enum { STEP = 1, PREPARE = 2, FINISH = 3, KERNEL = 1 }; /* locations */

static void put_switch(struct small_trace *t, uint64_t tick, enum strobe_kind kind)
{
    uint8_t bytes[2 * STROBE_VARINT_MAX];
    uint8_t *at = strobe_varint_put(strobe_varint_put(bytes, 0), 0);
    strobe_encode_event(&t->enc, tick, kind, bytes, (size_t)(at - bytes));
}

/* A program (process 1, track 1) and the processor of a device that it has open (process 2, track 2). */
static void start(struct small_trace *t)
{
    small_start(t);
    strobe_records_kinds(&t->records);
    small_record(t, STROBE_META_PROCESS, (const uint64_t[]){1, 100, 1, 9}, 4,
                 (const char *const[]){"host", "/", "host"}, 3);
    small_record(t, STROBE_META_PROCESS, (const uint64_t[]){2, 0, 0, 0}, 4,
                 (const char *const[]){"device", "/", ""}, 3);
    small_record(t, STROBE_META_THREAD, (const uint64_t[]){1, 1, 100, 0}, 4,
                 (const char *const[]){"main"}, 1);
    small_record(t, STROBE_META_DEVICE, (const uint64_t[]){2, 0, 5, 1000000, 1, 1, 100}, 7,
                 (const char *const[]){"sim"}, 1);
    small_record(t, STROBE_META_THREAD, (const uint64_t[]){2, 2, 0, 0}, 4,
                 (const char *const[]){"BRISC"}, 1);
    small_record(t, STROBE_META_DEVICE_LANE, (const uint64_t[]){2, 2, 0, 0, 0, 0, 0, 0}, 8, NULL,
                 0);
    small_loc(t, 1, STEP, "step");
    small_loc(t, 1, PREPARE, "prepare");
    small_loc(t, 1, FINISH, "finish");
    small_loc(t, 2, KERNEL, "matmul");
    small_put_records(t);
}

/* `n` times: the host prepares, launches and, at last, waits for the kernels, which take `kernel` each. */
static void make(struct small_trace *t, int n, uint64_t prepare, uint64_t kernel)
{
    uint64_t tick = 1000, free_at = 0, ends[16], begins[16];
    start(t);
    small_begin_part(t, 1, 1);
    strobe_encode_zone_begin(&t->enc, tick, STEP);
    for (int i = 0; i < n; i++) {
        strobe_encode_zone_begin(&t->enc, tick, PREPARE);
        tick += prepare;
        small_number(t, tick, STROBE_KIND_FLOW_BEGIN, 7 + (uint64_t)i);
        strobe_encode_zone_end(&t->enc, ++tick, PREPARE);
        begins[i] = tick + 500 > free_at ? tick + 500 : free_at + 10;
        ends[i] = free_at = begins[i] + kernel;
    }
    strobe_encode_zone_begin(&t->enc, tick + 10, FINISH);
    put_switch(t, tick + 20, STROBE_KIND_SWITCH_OUT);
    put_switch(t, free_at + 300, STROBE_KIND_SWITCH_IN);
    strobe_encode_zone_end(&t->enc, free_at + 400, FINISH);
    strobe_encode_zone_end(&t->enc, free_at + 500, STEP);
    small_end_part(t, 1, 6 + 3 * (uint64_t)n);
    small_begin_part(t, 2, 2);
    for (int i = 0; i < n; i++) {
        strobe_encode_zone_begin(&t->enc, begins[i], KERNEL);
        small_number(t, begins[i], STROBE_KIND_FLOW_END, 7 + (uint64_t)i);
        strobe_encode_zone_end(&t->enc, ends[i], KERNEL);
    }
    small_end_block(t, 2, 3 * (uint64_t)n);
    small_finish(t);
}

static void check_cause(struct small_trace *t, enum strobe_explain_class class, const char *zone)
{
    struct strobe_explain explain = {0};
    const struct strobe_explain_options options = {0};
    assert_int_equal(strobe_explain_run(t->path, &options, &explain), STROBE_OK);
    assert_true(explain.n_lines > 0);
    assert_int_equal(explain.lines[0].topic, STROBE_EXPLAIN_CAUSE);
    assert_int_equal(explain.lines[0].class, class);
    assert_string_equal(strobe_explain_text(&explain, explain.lines[0].zone), zone);
    assert_int_equal(explain.lines[0].has_value, 1);
    assert_int_equal(explain.lines[0].n_evidence > 0, 1);
    assert_int_equal(explain.path_ns, explain.wall_ns);
    strobe_explain_free(&explain);
    small_remove(t);
}

static void a_host_that_waits_for_long_kernels_is_bound_by_them(void **state)
{
    struct small_trace t;
    (void)state;
    make(&t, 4, 2000, 90000);
    check_cause(&t, STROBE_EXPLAIN_KERNEL, "matmul");
}

static void a_device_that_waits_for_launches_is_starved_by_the_host(void **state)
{
    struct small_trace t;
    (void)state;
    make(&t, 4, 90000, 2000);
    check_cause(&t, STROBE_EXPLAIN_STARVED, "prepare");
}

/* ---- windows ---- */

struct seen {
    uint64_t ticks[256];
    uint32_t n;
};

static enum strobe_err see(void *context, const struct strobe_item *item)
{
    struct seen *seen = context;
    assert_true(seen->n < 256);
    seen->ticks[seen->n++] = item->tick;
    return STROBE_OK;
}

static struct seen sweep(struct strobe_view *view, uint32_t max_items, enum strobe_err expected)
{
    const struct strobe_items_options options = {
        .tick_min = view->tick_first, .tick_max = view->tick_last, .max_items = max_items};
    struct seen seen = {0};
    uint64_t n_bad = 0;
    assert_int_equal(strobe_items_sweep(view, &options, see, &seen, &n_bad), expected);
    assert_int_equal(n_bad, 0);
    return seen;
}

static void small_windows_give_the_same_items_as_one(void **state)
{
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_view *view;
    (void)state;
    make(&t, 8, 5000, 3000);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    struct seen all = sweep(view, 0, STROBE_OK);
    assert_int_equal(all.n, 2 * 2 + 2 + 3 * 8 + 3 * 8);
    for (uint32_t i = 1; i < all.n; i++)
        assert_true(all.ticks[i] <= all.ticks[i - 1]);
    for (uint32_t max = 3; max < 20; max++) {
        struct seen some = sweep(view, max, STROBE_OK);
        assert_int_equal(some.n, all.n);
        assert_memory_equal(some.ticks, all.ticks, all.n * sizeof all.ticks[0]);
    }
    sweep(view, 1, STROBE_ERR_LIMIT); /* two begin at the first tick */
    strobe_view_close(view);
    strobe_trace_close(trace);
    small_remove(&t);
}

static void the_chance_of_coming_last_is_a_binomial_tail(void **state)
{
    (void)state;
    assert_true(strobe_survey_chance(4, 8, 2) == 1);         /* as often as anybody */
    assert_true(strobe_survey_chance(2, 10, 10) > 0.00195 && /* 2 / 2^10 */
                strobe_survey_chance(2, 10, 10) < 0.00196);
    assert_true(strobe_survey_chance(4, 60, 40) < 1e-8);
    assert_true(strobe_survey_chance(1, 5, 5) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_waits_for_long_kernels_is_bound_by_them),
        cmocka_unit_test(a_device_that_waits_for_launches_is_starved_by_the_host),
        cmocka_unit_test(small_windows_give_the_same_items_as_one),
        cmocka_unit_test(the_chance_of_coming_last_is_a_binomial_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
