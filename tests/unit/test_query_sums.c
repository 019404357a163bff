/* test_query_sums.c - sums made block by block are those of a walk from the first event to the last.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/sums.h"
#include "query/walk.h"

enum { N_LOCS = 3, N_BLOCKS = 40, BLOCK_EVENTS = 500, MAX_DEPTH = 8 };

/* The same sums, the long way. */
struct expected {
    struct strobe_trace *trace;
    struct strobe_client_facts facts;
    struct strobe_ns_sum rows[N_LOCS + 1];
};

static enum strobe_err expect_zones(void *context, const struct strobe_batch *batch)
{
    struct expected *expected = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id;
        uint32_t loc = strobe_batch_loc(expected->trace, batch, zone, &id);
        int64_t begin = strobe_client_ns(&expected->facts, batch->process, zone->begin, 0);
        int64_t ns =
            strobe_client_ns(&expected->facts, batch->process, zone->begin + zone->ticks, 0) -
            begin;
        struct strobe_ns_sum one = {.n = 1, .min = ns, .total = (uint64_t)ns, .max = ns};
        one.squares = (unsigned __int128)ns * (unsigned __int128)ns;
        if (zone->state == STROBE_ZONE_ENDED && ns > 0)
            strobe_ns_sum_join(&expected->rows[loc < N_LOCS ? loc : N_LOCS], &one);
    }
    return STROBE_OK;
}

/* Compare both; how many zones there are. */
static uint64_t compare_sums(const struct small_trace *t)
{
    struct expected expected = {0};
    struct strobe_sums sums;
    uint64_t n = 0;
    assert_int_equal(strobe_trace_open(t->path, 0, &expected.trace), STROBE_OK);
    assert_int_equal(strobe_client_facts_load(expected.trace, &expected.facts), STROBE_OK);
    struct strobe_walk walk = {
        .trace = expected.trace, .context = &expected, .zones = expect_zones};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    assert_true(strobe_sums_serve(expected.trace));
    assert_int_equal(strobe_sums_run(expected.trace, &expected.facts, &sums), STROBE_OK);
    assert_int_equal(sums.n_rows, N_LOCS + 1);
    assert_int_equal(sums.n_events, walk.n_events);
    assert_int_equal(sums.tick_last, walk.tick_last);
    assert_int_equal(sums.n_bad_parts, 0);
    for (int i = 0; i <= N_LOCS; i++) {
        assert_int_equal(sums.rows[i].n, expected.rows[i].n);
        assert_int_equal(sums.rows[i].total, expected.rows[i].total);
        assert_int_equal(sums.rows[i].min, expected.rows[i].min);
        assert_int_equal(sums.rows[i].max, expected.rows[i].max);
        assert_true(sums.rows[i].squares == expected.rows[i].squares);
        n += sums.rows[i].n;
    }
    strobe_sums_free(&sums);
    strobe_client_facts_free(&expected.facts);
    strobe_trace_close(expected.trace);
    return n;
}

static void start(struct small_trace *t)
{
    small_start(t);
    strobe_records_numbers(&t->records, STROBE_FACT_CLOCK_SYNC,
                           (const uint64_t[]){1, 1000, 0, 0, 0, 0}, 6);
    strobe_records_numbers(&t->records, STROBE_FACT_CLOCK_SYNC,
                           (const uint64_t[]){1, 31000, 10001, 0, 0, 0}, 6);
    for (uint64_t id = 1; id <= N_LOCS; id++)
        small_loc(t, 1, id, (const char *const[]){"a", "b", "c"}[id - 1]);
}

/* One emitter: where it is and what it has open. */
struct emitter {
    uint64_t tick, loc[MAX_DEPTH];
    unsigned depth, seed;
};

static unsigned dice(struct emitter *e)
{
    e->seed = e->seed * 1103515245u + 12345u;
    return e->seed >> 16;
}

/* A block of zones of one track, some over its ends; `notes`: with texts among them. */
static void put_block(struct small_trace *t, struct emitter *e, uint64_t track, int notes)
{
    small_begin_part(t, 1, track);
    for (int i = 0; i < BLOCK_EVENTS; i++) {
        e->tick += dice(e) % 50 == 0 ? 70000 + dice(e) : dice(e) % 9;
        int begins = e->depth == 0 || (e->depth < MAX_DEPTH && dice(e) % 2);
        if (notes && e->depth && dice(e) % 10 == 0) {
            small_text(t, e->tick, STROBE_KIND_ZONE_TEXT, "text");
        } else if (begins) {
            e->loc[e->depth] = 1 + dice(e) % (N_LOCS + 1); /* the last is in no record */
            strobe_encode_zone_begin(&t->enc, e->tick, e->loc[e->depth++]);
        } else {
            strobe_encode_zone_end(&t->enc, e->tick, e->loc[--e->depth]);
        }
    }
    small_end_part(t, track, BLOCK_EVENTS);
    small_put_events(t);
}

static void put_blocks(struct small_trace *t, int notes)
{
    struct emitter one = {.tick = 500, .seed = 1}, two = {.tick = 2000, .seed = 2};
    small_put_records(t);
    for (int i = 0; i < N_BLOCKS; i++)
        put_block(t, i % 2 ? &one : &two, 1 + i % 2, notes && i % 3 == 0);
    small_finish(t);
}

static void sums_are_those_of_a_walk(void **state)
{
    (void)state;
    struct small_trace t;
    start(&t);
    put_blocks(&t, 0);
    assert_true(compare_sums(&t) > N_BLOCKS * BLOCK_EVENTS / 3);
    small_remove(&t);
}

static void parts_with_other_events_are_summed_too(void **state)
{
    (void)state;
    struct small_trace t;
    start(&t);
    put_blocks(&t, 1);
    assert_true(compare_sums(&t) > N_BLOCKS * BLOCK_EVENTS / 3);
    small_remove(&t);
}

static void times_of_a_tracy_client_are_by_its_multiplier(void **state)
{
    (void)state;
    struct small_trace t;
    double timer_mul = 0.37;
    start(&t);
    strobe_records_begin(&t.records, STROBE_META_TRACY_CLIENT);
    strobe_records_u(&t.records, 1); /* process */
    strobe_records_u(&t.records, 64);
    strobe_records_raw(&t.records, (const uint8_t *)&timer_mul, sizeof timer_mul);
    strobe_records_u(&t.records, 700); /* init_begin: some zones are before it */
    for (int i = 0; i < 9; i++)
        strobe_records_u(&t.records, 0);
    for (int i = 0; i < 3; i++)
        strobe_records_s(&t.records, "", 0);
    strobe_records_end(&t.records);
    put_blocks(&t, 0);
    assert_true(compare_sums(&t) > N_BLOCKS * BLOCK_EVENTS / 3);
    small_remove(&t);
}

static int serve(const struct small_trace *t)
{
    struct strobe_trace *trace;
    assert_int_equal(strobe_trace_open(t->path, 0, &trace), STROBE_OK);
    int is = strobe_sums_serve(trace);
    strobe_trace_close(trace);
    return is;
}

static void zones_of_fibers_need_a_walk(void **state)
{
    (void)state;
    struct small_trace t;
    start(&t);
    small_put_records(&t);
    small_begin_part(&t, 1, 1);
    small_number(&t, 100, STROBE_KIND_FIBER_ENTER, 7);
    small_end_part(&t, 1, 1);
    small_put_events(&t);
    small_finish(&t);
    assert_false(serve(&t));
    small_remove(&t);
}

static void a_trace_without_totals_needs_a_walk(void **state)
{
    (void)state;
    struct small_trace t;
    start(&t);
    small_put_records(&t);
    small_zones(&t, 100, 10);
    small_kill(&t);
    assert_false(serve(&t));
    small_remove(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_a_walk),
        cmocka_unit_test(parts_with_other_events_are_summed_too),
        cmocka_unit_test(times_of_a_tracy_client_are_by_its_multiplier),
        cmocka_unit_test(zones_of_fibers_need_a_walk),
        cmocka_unit_test(a_trace_without_totals_needs_a_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
