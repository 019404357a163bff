/* test_query_placing.c - comparisons of clocks that say nothing place no trace.  SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/placing.h"

enum { N = 3 };
#define SECOND 1000000000ull

static struct small_trace small[N];
static struct strobe_trace *traces[N];

/* A host whose ticks are ns from `first` on, and who it is in comparisons. */
static void start(int i, uint64_t first, uint64_t seconds)
{
    static const char *const names[N] = {"a", "b", "c"};
    struct small_trace *t = &small[i];
    small_start(t);
    strobe_records_kinds(&t->records);
    small_record(t, STROBE_FACT_HOST, NULL, 0, (const char *const[]){names[i], "Linux", "CPU"}, 3);
    for (uint64_t k = 0; k <= seconds; k++)
        small_record(t, STROBE_FACT_CLOCK_SYNC,
                     (const uint64_t[]){STROBE_CLOCK_MONO, first + k * SECOND, first + k * SECOND,
                                        SECOND + k * SECOND, 0, 0},
                     6, NULL, 0);
    small_record(t, STROBE_FACT_CLOCK_ID, (const uint64_t[]){7, (uint64_t)i, STROBE_CLOCK_ROLE_OWN},
                 3, (const char *const[]){names[i], ""}, 2);
}

/* Trace `i` asked trace `of`. */
static void exchange(int i, int of, uint64_t sent, uint64_t received, uint64_t answered,
                     uint64_t back)
{
    small_record(&small[i], STROBE_FACT_CLOCK_EXCHANGE,
                 (const uint64_t[]){7, (uint64_t)of, sent, received, answered, back, 0}, 7, NULL,
                 0);
}

static void finish(int i)
{
    small_put_records(&small[i]);
    small_finish(&small[i]);
    assert_int_equal(strobe_trace_open(small[i].path, 0, &traces[i]), STROBE_OK);
}

/* c was compared with b, and b with a, of which c learns its place. What b learned of a may be nonsense. */
static void place(int is_nonsense, struct strobe_placing *out)
{
    uint32_t failed;
    start(0, SECOND, 9);
    start(1, 40 * SECOND, 5);
    start(2, 90 * SECOND, 5);
    for (uint64_t k = 0; k < 20; k++) {
        uint64_t at = k * SECOND / 5, a = SECOND + at, b = 40 * SECOND + at, c = 90 * SECOND + at;
        exchange(1, 0, b, a + 500, is_nonsense ? a + SECOND : a + 500, b + 1000);
        exchange(2, 1, c, b + 500, b + 500, c + 1000);
    }
    for (int i = 0; i < N; i++)
        finish(i);
    assert_int_equal(strobe_placing_run(traces, N, out, &failed), STROBE_OK);
    assert_int_equal(out->base, 0);
}

static void forget(struct strobe_placing *placing)
{
    strobe_placing_free(placing);
    for (int i = 0; i < N; i++) {
        strobe_trace_close(traces[i]);
        small_remove(&small[i]);
    }
}

static void a_trace_is_placed_by_way_of_another(void **state)
{
    struct strobe_placing placing;
    uint32_t hint = 0;
    (void)state;
    place(0, &placing);
    assert_int_equal(placing.rows[1].how, STROBE_CLOCK_HOW_COMPARED);
    assert_int_equal(placing.rows[2].how, STROBE_CLOCK_HOW_THROUGH);
    uint64_t tick = strobe_retime_tick(&placing.rows[2].map, 92 * SECOND, &hint);
    assert_in_range(tick, 3 * SECOND - 2000, 3 * SECOND + 2000);
    forget(&placing);
}

static void what_can_be_no_exchange_places_neither_a_trace_nor_those_beside_it(void **state)
{
    struct strobe_placing placing;
    (void)state;
    place(1, &placing);
    assert_int_equal(placing.rows[1].how, STROBE_CLOCK_HOW_WALL);
    assert_int_equal(placing.rows[2].how, STROBE_CLOCK_HOW_WALL);
    forget(&placing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_placed_by_way_of_another),
        cmocka_unit_test(what_can_be_no_exchange_places_neither_a_trace_nor_those_beside_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
