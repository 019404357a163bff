/* test_query_stats.c - statistics are exact, merged by content, and honest about percentiles.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/stats.h"

enum { N = 5000 };

static uint64_t duration(int i)
{
    return 50 + (uint64_t)i * (uint64_t)i % 100003 * 37; /* spread over many buckets */
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* N zones of loc 1 in process 1; `n_per_part` decides whether parts have summaries. */
static void make(struct small_trace *t, int n_per_part)
{
    uint64_t tick = 1000;
    small_start(t);
    small_loc(t, 1, 1, "zone");
    small_put_records(t);
    for (int i = 0; i < N; i += n_per_part) {
        small_begin_part(t, 1, 1);
        for (int k = i; k < i + n_per_part; k++) {
            strobe_encode_zone_begin(&t->enc, tick, 1);
            strobe_encode_zone_end(&t->enc, tick += duration(k), 1);
        }
        small_end_part(t, 1, 2 * (uint64_t)n_per_part);
        small_put_events(t);
    }
}

static void run(const struct small_trace *t, struct strobe_stats_options options,
                struct strobe_trace **trace, struct strobe_stats *stats)
{
    assert_int_equal(strobe_trace_open(t->path, 0, trace), STROBE_OK);
    assert_int_equal(strobe_stats_run(*trace, &options, stats), STROBE_OK);
}

static void check_sums(const struct strobe_stats *stats)
{
    uint64_t total = 0, min = UINT64_MAX, max = 0;
    for (int i = 0; i < N; i++) {
        total += duration(i);
        min = duration(i) < min ? duration(i) : min;
        max = duration(i) > max ? duration(i) : max;
    }
    assert_int_equal(stats->n_rows, 1);
    assert_int_equal(stats->rows[0].count, N);
    assert_true(stats->rows[0].total == total);
    assert_true(stats->rows[0].self == total);
    assert_int_equal(stats->rows[0].min, min);
    assert_int_equal(stats->rows[0].max, max);
}

static void summaries_and_events_give_the_same_sums(void **state)
{
    (void)state;
    const int sizes[] = {1000, 100}; /* with summaries, without */
    for (int i = 0; i < 2; i++) {
        struct small_trace t;
        struct strobe_trace *trace;
        struct strobe_stats stats;
        make(&t, sizes[i]);
        small_finish(&t);
        run(&t, (struct strobe_stats_options){0}, &trace, &stats);
        check_sums(&stats);
        assert_int_equal(stats.n_decoded_parts, i ? N / 100 : 0);
        uint64_t median = stats.rows[0].percentile[STROBE_STATS_P50];
        strobe_stats_free(&stats);
        strobe_trace_close(trace);
        run(&t, (struct strobe_stats_options){.by_tick = 1, .tick_max = UINT64_MAX}, &trace,
            &stats);
        check_sums(&stats);
        assert_int_equal(stats.rows[0].percentile[STROBE_STATS_P50], median);
        strobe_stats_free(&stats);
        strobe_trace_close(trace);
        run(&t, (struct strobe_stats_options){.quick = 1}, &trace, &stats);
        check_sums(&stats);
        strobe_stats_free(&stats);
        strobe_trace_close(trace);
        small_remove(&t);
    }
}

static void a_killed_trace_has_the_same_sums(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_stats stats;
    make(&t, 1000);
    small_kill(&t);
    run(&t, (struct strobe_stats_options){0}, &trace, &stats);
    check_sums(&stats);
    strobe_stats_free(&stats);
    strobe_trace_close(trace);
    small_remove(&t);
}

static void percentiles_are_exact_or_within_the_stated_error(void **state)
{
    (void)state;
    struct small_trace t;
    uint64_t sorted[N];
    for (int i = 0; i < N; i++)
        sorted[i] = duration(i);
    qsort(sorted, N, sizeof sorted[0], by_size);
    make(&t, 1000);
    small_finish(&t);
    for (int exact = 0; exact < 2; exact++) {
        struct strobe_trace *trace;
        struct strobe_stats stats;
        run(&t, (struct strobe_stats_options){.exact = exact}, &trace, &stats);
        assert_int_equal(stats.is_exact, exact);
        for (int i = 0; i < STROBE_STATS_N_PERCENTILES; i++) {
            uint64_t right = sorted[strobe_stats_rank(strobe_percentiles[i], N) - 1];
            uint64_t shown = stats.rows[0].percentile[i];
            uint64_t off = shown > right ? shown - right : right - shown;
            assert_true(exact ? off == 0 : (double)off <= 0.016 * (double)right + 1);
        }
        strobe_stats_free(&stats);
        strobe_trace_close(trace);
    }
    small_remove(&t);
}

/* Damaged summaries may lack a location that the events have: as if it had never been seen. */
static void exact_percentiles_leave_out_what_no_summary_has(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_stats stats;
    const struct strobe_stats_options options = {0};
    small_start(&t);
    small_loc(&t, 1, 1, "kept");
    small_loc(&t, 1, 2, "forgotten");
    small_put_records(&t);
    for (uint64_t i = 0; i < 3; i++) {
        small_begin_part(&t, 1, 1);
        for (uint64_t loc = 1; loc <= 2; loc++) {
            strobe_encode_zone_begin(&t.enc, 1000 * i + 100 * loc, loc);
            strobe_encode_zone_end(&t.enc, 1000 * i + 100 * loc + 77, loc);
        }
        small_end_part(&t, 1, 4);
        small_put_events(&t);
    }
    small_finish(&t);
    run(&t, options, &trace, &stats);
    assert_int_equal(stats.n_rows, 2);
    free(stats.rows[1].histogram.counts);
    memset(&stats.rows[1], 0, sizeof stats.rows[1]);
    stats.n_rows = 1;
    strobe_index_free(&stats.by_content);
    stats.row_of_loc[1] = 0;
    assert_int_equal(strobe_stats_refine(&stats, &options), STROBE_OK);
    assert_int_equal(stats.rows[0].percentile[STROBE_STATS_P50], 77);
    strobe_stats_free(&stats);
    strobe_trace_close(trace);
    small_remove(&t);
}

/* Zones of locations 1, 2, 1 in each other, over `n_parts` blocks, on a thread or in a fiber. */
static void check_recursion(int n_parts, int in_fiber)
{
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_stats stats;
    small_start(&t);
    small_loc(&t, 1, 1, "calls itself");
    small_loc(&t, 1, 2, "between");
    small_put_records(&t);
    const struct {
        uint64_t tick, loc; /* its end: 1000 + loc */
    } events[] = {{100, 1},    {110, 2},    {120, 1}, {150, 1001},
                  {170, 1002}, {200, 1001}, {300, 1}, {340, 1001}};
    const int n = sizeof events / sizeof *events;
    for (int i = 0; i < n; i++) {
        bool starts = i * n_parts / n != (i - 1) * n_parts / n || !i;
        if (starts && i) {
            small_end_part(&t, 1, t.enc.part_events);
            small_put_events(&t);
        }
        if (starts)
            small_begin_part(&t, 1, 1);
        if (!i && in_fiber)
            small_number(&t, 90, STROBE_KIND_FIBER_ENTER, 7);
        if (events[i].loc > 1000)
            strobe_encode_zone_end(&t.enc, events[i].tick, events[i].loc - 1000);
        else
            strobe_encode_zone_begin(&t.enc, events[i].tick, events[i].loc);
    }
    small_end_part(&t, 1, t.enc.part_events);
    small_put_events(&t);
    small_finish(&t);
    run(&t, (struct strobe_stats_options){0}, &trace, &stats);
    assert_true(stats.has_inclusive);
    assert_int_equal(stats.n_rows, 2);
    for (uint32_t i = 0; i < 2; i++) {
        bool recurses = stats.rows[i].count == 3;
        assert_int_equal(stats.rows[i].total, recurses ? 170 : 60);
        assert_int_equal(stats.rows[i].inclusive, recurses ? 140 : 60);
    }
    strobe_stats_free(&stats);
    strobe_trace_close(trace);
    small_remove(&t);
}

/* Zones of few locations, begun and ended at random: recursions over parts, ends that are missing, ends in any order. */
static void make_recursions(struct small_trace *t, uint32_t n_events, uint32_t n_per_part)
{
    uint64_t open[64], tick = 1000, seed = 7;
    uint32_t depth = 0;
    small_start(t);
    for (uint64_t loc = 1; loc <= 4; loc++)
        small_loc(t, 1, loc, (const char *[]){"a", "b", "c", "d"}[loc - 1]);
    small_put_records(t);
    for (uint32_t i = 0; i < n_events; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t random = (uint32_t)(seed >> 33);
        if (i % n_per_part == 0)
            small_begin_part(t, 1, 1);
        tick += random % 50;
        if (depth < 64 && (!depth || random % 16 < 8)) {
            open[depth++] = 1 + random / 16 % 4;
            strobe_encode_zone_begin(&t->enc, tick, open[depth - 1]);
            if (random / 64 % 8 == 0)
                strobe_encode_zone_loose(&t->enc, tick);
        } else { /* mostly the innermost one; else what is above it is unfinished, or stays open */
            strobe_encode_zone_end(&t->enc, tick, open[random % 64 ? depth - 1 : depth / 2]);
            depth = t->track[1].depth < 64 ? t->track[1].depth : 64;
            for (uint32_t k = 0; k < depth; k++)
                open[k] = t->track[1].stack[k].loc;
        }
        if (i % n_per_part == n_per_part - 1) {
            small_end_part(t, 1, t->enc.part_events);
            small_put_events(t);
        }
    }
    small_finish(t);
}

static void summaries_have_the_inclusive_sums_of_the_events(void **state)
{
    (void)state;
    const uint32_t sizes[] = {2000, 100}; /* with summaries, without */
    for (int i = 0; i < 2; i++) {
        struct small_trace t;
        struct strobe_trace *trace;
        struct strobe_stats quick, summed, walked;
        const struct strobe_stats_options walk = {.by_tick = 1, .tick_max = UINT64_MAX};
        make_recursions(&t, 20000, sizes[i]);
        run(&t, (struct strobe_stats_options){0}, &trace, &summed);
        assert_int_equal(summed.n_decoded_parts, i ? 20000 / 100 : 0);
        assert_int_equal(strobe_stats_run(trace, &walk, &walked), STROBE_OK);
        assert_int_equal(
            strobe_stats_run(trace, &(struct strobe_stats_options){.quick = 1}, &quick), STROBE_OK);
        assert_int_equal(summed.n_rows, 4);
        for (uint32_t k = 0; k < 4; k++) {
            const struct strobe_stats_row *row = &summed.rows[k], *right = walked.rows;
            while (right->loc_id != row->loc_id)
                right++;
            assert_true(row->total == right->total && row->inclusive == right->inclusive);
            assert_true(row->inclusive == quick.rows[k].inclusive);
            assert_true(row->inclusive < row->total);
        }
        assert_true(summed.has_inclusive && walked.has_inclusive && quick.has_inclusive);
        strobe_stats_free(&quick);
        strobe_stats_free(&summed);
        strobe_stats_free(&walked);
        strobe_trace_close(trace);
        small_remove(&t);
    }
}

static void too_many_open_zones_are_counted_from_the_events_on_request(void **state)
{
    (void)state;
    enum { DEEP = STROBE_NESTED_SEEK + 1 };
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_stats stats;
    small_start(&t);
    small_loc(&t, 1, 1, "deep");
    small_put_records(&t);
    for (uint64_t ends = 0; ends < 2; ends++) {
        small_begin_part(&t, 1, 1);
        for (uint64_t i = 0; i < DEEP; i++)
            (ends ? strobe_encode_zone_end : strobe_encode_zone_begin)(&t.enc, 100 + ends, 1);
        small_end_part(&t, 1, DEEP);
        small_put_events(&t);
    }
    small_finish(&t);
    for (int wants = 0; wants < 2; wants++) {
        run(&t, (struct strobe_stats_options){.inclusive = wants}, &trace, &stats);
        assert_int_equal(stats.has_inclusive, wants);
        assert_int_equal(stats.rows[0].total, DEEP);
        if (wants)
            assert_int_equal(stats.rows[0].inclusive, 1);
        strobe_stats_free(&stats);
        strobe_trace_close(trace);
    }
    small_remove(&t);
}

static void a_recursion_counts_once_in_inclusive_time(void **state)
{
    (void)state;
    for (int in_fiber = 0; in_fiber < 2; in_fiber++)
        for (int n_parts = 1; n_parts <= 8; n_parts *= 2)
            check_recursion(n_parts, in_fiber);
}

static void locations_of_the_same_content_are_one_row(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_stats stats;
    small_start(&t);
    small_loc(&t, 1, 1, "same");
    small_loc(&t, 2, 9, "same");
    small_loc(&t, 2, 1, "other");
    small_put_records(&t);
    const uint64_t used[][2] = {{1, 1}, {2, 9}, {2, 1}, {2, 77}}; /* 77 has no record */
    for (int i = 0; i < 4; i++) {
        small_begin_part(&t, used[i][0], 1);
        strobe_encode_zone_begin(&t.enc, 100, used[i][1]);
        strobe_encode_zone_end(&t.enc, 110, used[i][1]);
        strobe_encode_end_part(&t.enc, 2);
    }
    small_put_events(&t);
    small_finish(&t);
    run(&t, (struct strobe_stats_options){0}, &trace, &stats);
    assert_int_equal(stats.n_rows, 3);
    assert_int_equal(stats.rows[0].count, 2);
    strobe_stats_free(&stats);
    const uint8_t only_second[] = {0, 1};
    const struct strobe_stats_options options = {.processes = only_second, .n_processes = 2};
    assert_int_equal(strobe_stats_run(trace, &options, &stats), STROBE_OK);
    assert_int_equal(stats.n_rows, 3);
    assert_int_equal(stats.rows[0].count, 1);
    strobe_stats_free(&stats);
    strobe_trace_close(trace);
    small_remove(&t);
}

static void the_deviation_is_that_of_the_sample(void **state)
{
    (void)state;
    struct strobe_stats_row row = {0};
    const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (int i = 0; i < 8; i++) {
        row.count++;
        row.total += values[i] * 1000;
        row.squares += values[i] * values[i] * 1000000;
    }
    assert_int_equal(strobe_stats_std(&row), 2138); /* sqrt(32 / 7) = 2.13809 */
    row = (struct strobe_stats_row){.count = 1, .total = 5, .squares = 25};
    assert_int_equal(strobe_stats_std(&row), 0);
    row = (struct strobe_stats_row){.count = 2, .total = 2 * (unsigned __int128)UINT64_MAX};
    row.squares = (unsigned __int128)UINT64_MAX * UINT64_MAX * 2; /* wraps, as the file's does */
    assert_int_equal(strobe_stats_std(&row), 0);
}

static void buckets_have_no_gap_and_no_overlap(void **state)
{
    (void)state;
    for (uint32_t i = 0; i + 1 < STROBE_HIST_BUCKETS; i++) {
        assert_int_equal(strobe_buckets_low(i) + strobe_buckets_width(i),
                         strobe_buckets_low(i + 1));
        assert_int_equal(strobe_buckets_of(strobe_buckets_low(i)), i);
        assert_int_equal(strobe_buckets_of(strobe_buckets_low(i + 1) - 1), i);
    }
    assert_int_equal(strobe_buckets_of(UINT64_MAX), STROBE_HIST_BUCKETS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_and_events_give_the_same_sums),
        cmocka_unit_test(a_killed_trace_has_the_same_sums),
        cmocka_unit_test(percentiles_are_exact_or_within_the_stated_error),
        cmocka_unit_test(exact_percentiles_leave_out_what_no_summary_has),
        cmocka_unit_test(a_recursion_counts_once_in_inclusive_time),
        cmocka_unit_test(summaries_have_the_inclusive_sums_of_the_events),
        cmocka_unit_test(too_many_open_zones_are_counted_from_the_events_on_request),
        cmocka_unit_test(locations_of_the_same_content_are_one_row),
        cmocka_unit_test(the_deviation_is_that_of_the_sample),
        cmocka_unit_test(buckets_have_no_gap_and_no_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
