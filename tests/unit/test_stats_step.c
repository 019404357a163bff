/* test_stats_step.c - sums that are made a few blocks at a time are those of a pass over all events.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/stats_step.h"

enum { BLOCKS = 200, ZONES = 300, PERIOD = 1000, STEP = 64, RANGES = 60 };

/* Zones of two lengths on two threads, all in one that lasts; one of every fifth block goes on into the next. Location 1
 * calls itself, location 4 is what lasts. */
static void put_block(struct small_trace *t, uint64_t block)
{
    uint64_t tick = 1000 + block * ZONES * PERIOD, n = 0;
    int is_begun = block % 5 == 0 && block + 1 < BLOCKS, is_left = block % 5 == 1;
    small_begin_part(t, 1, 1);
    if (!block)
        strobe_encode_zone_begin(&t->enc, tick, 4), n++;
    if (is_left)
        strobe_encode_zone_end(&t->enc, tick + 5, 3), n++;
    for (uint64_t i = 0; i < ZONES; i++, n += 4) {
        strobe_encode_zone_begin(&t->enc, tick + i * PERIOD + 10, 1);
        strobe_encode_zone_begin(&t->enc, tick + i * PERIOD + 20 + i % 7, i % 3 ? 2 : 1);
        strobe_encode_zone_end(&t->enc, tick + i * PERIOD + 300 + i * i % 91, i % 3 ? 2 : 1);
        strobe_encode_zone_end(&t->enc, tick + i * PERIOD + 800 + block % 13, 1);
    }
    for (int i = 0; i < 2; i++)
        strobe_encode_zone_begin(&t->enc, tick + ZONES * PERIOD - 90, 4), n++;
    for (int i = 0; i < 2; i++)
        strobe_encode_zone_end(&t->enc, tick + ZONES * PERIOD - 60, 4), n++;
    if (is_begun)
        strobe_encode_zone_begin(&t->enc, tick + ZONES * PERIOD - 50, 3), n++;
    small_end_part(t, 1, n);
    small_begin_part(t, 1, 2);
    for (uint64_t i = 0; i < ZONES; i++) {
        strobe_encode_zone_begin(&t->enc, tick + i * PERIOD, 2);
        strobe_encode_zone_end(&t->enc, tick + i * PERIOD + 100 + block % 3, 2);
    }
    small_end_block(t, 2, 2 * (uint64_t)ZONES);
}

struct opened {
    struct small_trace file;
    struct strobe_trace *trace;
    struct strobe_view *view;
};

static int set_up(void **state)
{
    static struct opened opened;
    struct opened *o = *state = &opened;
    small_start(&o->file);
    small_loc(&o->file, 1, 1, "outer");
    small_loc(&o->file, 1, 2, "inner");
    small_loc(&o->file, 1, 3, "over the edge");
    small_loc(&o->file, 1, 4, "lasts, and calls itself");
    small_put_records(&o->file);
    for (uint64_t i = 0; i < BLOCKS; i++)
        put_block(&o->file, i);
    small_finish(&o->file);
    assert_int_equal(strobe_trace_open(o->file.path, 0, &o->trace), STROBE_OK);
    assert_int_equal(strobe_view_open(o->trace, &o->view), STROBE_OK);
    return 0;
}

static int tear_down(void **state)
{
    struct opened *o = *state;
    strobe_view_close(o->view);
    strobe_trace_close(o->trace);
    small_remove(&o->file);
    return 0;
}

/* The n-th of some ranges: inside of a block, over a few, over most, none at all. */
static struct strobe_stats_options nth_range(uint32_t n)
{
    uint64_t whole = (uint64_t)BLOCKS * ZONES * PERIOD, from = whole * (n * 37 % RANGES) / RANGES;
    const uint64_t lengths[] = {500, (uint64_t)ZONES * PERIOD * 3 + 11, whole / 3, whole, 0};
    return (struct strobe_stats_options){
        .by_tick = 1, .tick_min = from + n % 17, .tick_max = from + lengths[n % 5]};
}

static struct strobe_stats_steps
all_steps(struct opened *o, const struct strobe_stats_options *options, uint32_t *n_steps)
{
    struct strobe_stats_steps steps = {0};
    assert_true(strobe_stats_may_step(o->trace, options));
    for (*n_steps = 0; steps.next_block < o->view->n_blocks; ++*n_steps)
        assert_int_equal(strobe_stats_step(o->view, options, STEP, &steps), STROBE_OK);
    assert_false(steps.has_fibers);
    return steps;
}

static const struct strobe_stats_row *row_of(const struct strobe_stats *stats, uint64_t loc)
{
    for (uint32_t i = 0; i < stats->n_rows; i++)
        if (stats->rows[i].loc_id == loc && stats->rows[i].count)
            return &stats->rows[i];
    return NULL;
}

static void assert_same_rows(const struct strobe_stats *a, const struct strobe_stats *b)
{
    assert_true(a->has_inclusive && b->has_inclusive);
    for (uint64_t loc = 1; loc <= 4; loc++) {
        const struct strobe_stats_row *x = row_of(a, loc), *y = row_of(b, loc);
        assert_int_equal(x != NULL, y != NULL);
        if (!x)
            continue;
        assert_int_equal(x->count, y->count);
        assert_true(x->total == y->total && x->self == y->self && x->squares == y->squares);
        assert_true(x->inclusive == y->inclusive);
        assert_int_equal(x->min, y->min);
        assert_int_equal(x->max, y->max);
        for (int i = 0; i < STROBE_STATS_N_PERCENTILES; i++)
            assert_int_equal(x->percentile[i], y->percentile[i]);
    }
}

static void steps_over_a_part_give_what_a_pass_over_all_events_gives(void **state)
{
    struct opened *o = *state;
    for (uint32_t n = 0; n < RANGES; n++) {
        struct strobe_stats_options options = nth_range(n);
        struct strobe_stats all;
        uint32_t n_steps;
        struct strobe_stats_steps steps = all_steps(o, &options, &n_steps);
        assert_int_equal(strobe_stats_run(o->trace, &options, &all), STROBE_OK);
        assert_same_rows(&steps.stats, &all);
        strobe_stats_free(&steps.stats);
        strobe_stats_free(&all);
    }
}

static void a_part_costs_what_is_in_it_not_what_is_in_the_trace(void **state)
{
    struct opened *o = *state;
    for (uint32_t n = 0; n < RANGES; n++) {
        struct strobe_stats_options options = nth_range(n);
        uint64_t n_touched = (options.tick_max - options.tick_min) / ((uint64_t)ZONES * PERIOD) + 3;
        uint32_t n_steps;
        if (options.tick_max < options.tick_min)
            continue;
        struct strobe_stats_steps steps = all_steps(o, &options, &n_steps);
        assert_true(steps.stats.n_decoded_parts <= 3 * 2); /* of the blocks at its ends */
        assert_true(n_steps <= n_touched / STEP + 2);
        strobe_stats_free(&steps.stats);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_over_a_part_give_what_a_pass_over_all_events_gives),
        cmocka_unit_test(a_part_costs_what_is_in_it_not_what_is_in_the_trace),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
