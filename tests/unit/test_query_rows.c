/* test_query_rows.c - statistics, walks and views by rows that the writer paired say what the events say; damaged rows are paired
 * anew.  SPDX-License-Identifier: MIT */
#include "../paired_trace.h"
#include "small_trace.h"

#include "collector/recover.h"
#include "engine/engine.h"
#include "query/cut.h"
#include "query/merge.h"
#include "query/pair.h"
#include "query/paired.h"
#include "query/stats.h"

enum { N_ZONES = 40000 };

/* The same events twice: with what the writer paired, and without. */
static struct small_trace with, without;

static void make_one(struct small_trace *small, const char *kinds, uint64_t seed, int is_odd,
                     int is_paired)
{
    static struct paired_trace t;
    small_start(small);
    assert_true(paired_start(&t, small->writer, seed));
    t.is_odd = is_odd;
    assert_true(paired_fill(&t, kinds, N_ZONES));
    paired_free(&t);
    strobe_file_totals(small->writer)->n_procs = 1;
    if (is_paired)
        assert_int_equal(strobe_pair_write(small->writer, NULL), STROBE_OK);
}

static void make(const char *kinds, uint64_t seed, int is_odd)
{
    make_one(&with, kinds, seed, is_odd, 1);
    make_one(&without, kinds, seed, is_odd, 0);
    small_finish(&with);
    small_finish(&without);
}

static void remove_both(void)
{
    small_remove(&with);
    small_remove(&without);
}

static struct strobe_trace *open_trace(const char *path)
{
    struct strobe_trace *trace;
    assert_int_equal(strobe_trace_open(path, 0, &trace), STROBE_OK);
    return trace;
}

static int has_list(const char *path)
{
    struct strobe_trace *trace = open_trace(path);
    struct strobe_paired *paired;
    int has = strobe_paired_open(trace, &paired) == STROBE_OK;
    strobe_paired_close(paired);
    strobe_trace_close(trace);
    return has;
}

/* ---- damage ---- */

static void change_byte(const char *path, uint64_t at)
{
    FILE *bytes = fopen(path, "r+b");
    assert_non_null(bytes);
    fseek(bytes, (long)at, SEEK_SET);
    int was = fgetc(bytes);
    fseek(bytes, (long)at, SEEK_SET);
    fputc(was ^ 0x55, bytes);
    fclose(bytes);
}

/* One byte of the payload of each block of a type is another one; the list stays. */
static void damage(const char *path, uint32_t type)
{
    struct strobe_file *file;
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    const struct strobe_block_filter filter = {.with_paired = 1};
    uint64_t at[64];
    uint32_t n = 0;
    assert_int_equal(strobe_file_open(path, &file), STROBE_OK);
    assert_int_equal(strobe_file_iterate(file, &filter, &iter), STROBE_OK);
    while (strobe_file_next(iter, &ref) == STROBE_OK)
        if (ref.head.type == type && !ref.head.flags && n < 64)
            at[n++] = ref.offset + sizeof ref.head + ref.head.body_bytes / 2;
    strobe_file_end_iterate(iter);
    strobe_file_close(file);
    assert_true(n);
    while (n)
        change_byte(path, at[--n]);
}

/* ---- statistics ---- */

static int by_loc(const void *a, const void *b)
{
    const struct strobe_stats_row *x = a, *y = b;
    return x->loc_id < y->loc_id ? -1 : x->loc_id > y->loc_id;
}

static struct strobe_stats stats_of(struct strobe_trace *trace,
                                    const struct strobe_stats_options *options)
{
    struct strobe_stats stats;
    assert_int_equal(strobe_stats_run(trace, options, &stats), STROBE_OK);
    qsort(stats.rows, stats.n_rows, sizeof *stats.rows, by_loc);
    return stats;
}

/* Every number of both traces' rows. How many rows there are. */
static uint32_t compare_stats(const struct strobe_stats_options *options)
{
    struct strobe_trace *a = open_trace(with.path), *b = open_trace(without.path);
    struct strobe_stats x = stats_of(a, options), y = stats_of(b, options);
    assert_int_equal(x.n_rows, y.n_rows);
    assert_int_equal(x.has_inclusive, y.has_inclusive);
    assert_int_equal(x.is_exact, y.is_exact);
    assert_int_equal(x.n_bad_parts, y.n_bad_parts);
    for (uint32_t i = 0; i < x.n_rows; i++) {
        const struct strobe_stats_row *r = &x.rows[i], *s = &y.rows[i];
        assert_int_equal(r->loc_id, s->loc_id);
        assert_int_equal(r->count, s->count);
        assert_true(r->total == s->total && r->self == s->self && r->squares == s->squares);
        assert_true(!x.has_inclusive || r->inclusive == s->inclusive);
        assert_int_equal(r->min, s->min);
        assert_int_equal(r->max, s->max);
        for (int k = 0; k < STROBE_STATS_N_PERCENTILES && !options->quick; k++)
            assert_int_equal(r->percentile[k], s->percentile[k]);
    }
    uint32_t n = x.n_rows;
    strobe_stats_free(&x);
    strobe_stats_free(&y);
    strobe_trace_close(a);
    strobe_trace_close(b);
    return n;
}

static void compare_all_stats(int spans)
{
    const uint8_t process[1] = {1};
    const struct strobe_stats_options options[] = {
        {.spans = spans},
        {.spans = spans, .exact = 1},
        {.spans = spans, .quick = 1},
        {.spans = spans, .processes = process, .n_processes = 1},
        {.spans = spans, .by_tick = 1, .tick_min = 200000, .tick_max = 700000},
        {.spans = spans, .by_tick = 1, .tick_min = 0, .tick_max = 5000},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        assert_int_equal(compare_stats(&options[i]), PAIRED_LOCS);
}

static void statistics_by_rows_are_those_of_the_events(void **state)
{
    (void)state;
    for (int is_odd = 0; is_odd < 2; is_odd++) {
        make("tf", 11 + (uint64_t)is_odd, is_odd);
        compare_all_stats(0);
        remove_both();
        make("s", 13 + (uint64_t)is_odd, is_odd);
        compare_all_stats(1);
        remove_both();
    }
}

static void rows_serve_where_no_threads_are_chosen(void **state)
{
    (void)state;
    make("tf", 15, 1);
    struct strobe_trace *trace = open_trace(with.path);
    struct strobe_stats_options options = {0};
    struct strobe_paired *paired = strobe_stats_paired_open(trace, &options);
    assert_non_null(paired);
    strobe_paired_close(paired);
    options.threads = (const uint8_t[]){1, 1}; /* rows do not say where zones ended */
    options.n_threads = 2;
    assert_null(strobe_stats_paired_open(trace, &options));
    strobe_trace_close(trace);
    remove_both();
}

static void statistics_of_damaged_rows_are_those_of_the_events(void **state)
{
    (void)state;
    make("tf", 16, 1);
    damage(with.path, STROBE_BLOCK_PAIRED);
    compare_all_stats(0);
    remove_both();
}

/* ---- walks ---- */

struct seen {
    struct strobe_trace *trace; /* borrowed */
    uint64_t n, n_rows, sum;    /* of what is equal in any order; n_rows: without a thread */
};

static enum strobe_err see(void *context, const struct strobe_batch *batch)
{
    struct seen *seen = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        const struct strobe_note *note =
            zone->note && batch->notes ? &batch->notes[zone->note - 1] : NULL;
        uint64_t id;
        strobe_batch_loc(seen->trace, batch, zone, &id);
        const uint64_t facts[] = {batch->kind, batch->id,
                                  zone->begin, zone->ticks,
                                  zone->self,  zone->depth,
                                  zone->state, zone->is_nested,
                                  id,          note && note->has_value ? note->value + 1 : 0};
        uint64_t hash = 1469598103934665603ull;
        for (size_t k = 0; k < sizeof facts / sizeof facts[0]; k++)
            hash = (hash ^ facts[k]) * 1099511628211ull ^ hash >> 29;
        seen->sum += hash;
        seen->n++;
        seen->n_rows += batch->thread == STROBE_IDMAP_NONE;
    }
    return STROBE_OK;
}

static struct seen walk_over(const char *path, int by_tick)
{
    struct strobe_trace *trace = open_trace(path);
    struct seen seen = {.trace = trace};
    struct strobe_walk walk = {.trace = trace,
                               .context = &seen,
                               .zones = see,
                               .want_notes = 1,
                               .want_fibers = 1,
                               .want_nested = 1,
                               .want_open = 1,
                               .any_order = 1,
                               .by_tick = by_tick,
                               .tick_min = 200000,
                               .tick_max = 700000};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    strobe_trace_close(trace);
    return seen;
}

static void compare_walks(int by_rows)
{
    for (int by_tick = 0; by_tick < 2; by_tick++) {
        struct seen a = walk_over(with.path, by_tick), b = walk_over(without.path, by_tick);
        assert_int_equal(a.n, b.n);
        assert_int_equal(a.sum, b.sum);
        assert_int_equal(b.n_rows, 0);
        assert_int_equal(a.n_rows != 0, by_rows);
    }
}

static void a_walk_in_any_order_shows_the_zones_of_the_events(void **state)
{
    (void)state;
    make("tf", 17, 0);
    compare_walks(1);
    damage(with.path, STROBE_BLOCK_PAIRED);
    compare_walks(0);
    remove_both();
    make("tf", 18, 1); /* with unfinished zones, which are no rows */
    compare_walks(0);
    remove_both();
}

/* ---- views ---- */

static uint8_t *ask(struct strobe_engine *engine, const char *text, size_t *n)
{
    struct strobe_json question = {0};
    struct strobe_reply reply = {0};
    assert_true(strobe_json_parse(&question, text, strlen(text)));
    strobe_reply_u64(&reply, "id", 1);
    strobe_engine_answer(engine, &question, &reply);
    uint8_t *frame = strobe_reply_finish(&reply, 1, 0, n);
    assert_non_null(frame);
    assert_null(memmem(frame, *n, "\"error\"", 7));
    strobe_json_free(&question);
    return frame;
}

/* Questions about all of the trace: what is damaged is in them. */
static void a_view_of_damaged_rows_is_that_of_the_events(void **state)
{
    static const struct {
        const char *kinds, *text;
    } questions[] = {
        {"s", "{\"ask\":\"pixels\",\"from\":0,\"to\":1000000,\"width\":60000,\"lanes\":[[805306368,"
              "0,8]]}"},
        {"s", "{\"ask\":\"pixels\",\"from\":0,\"to\":90000000,\"width\":100,\"lanes\":[[805306368,"
              "0,8]]}"},
        {"f", "{\"ask\":\"pixels\",\"from\":0,\"to\":1000000,\"width\":500,\"lanes\":[[805306368,0,"
              "8]]}"},
        {"s", "{\"ask\":\"find\",\"text\":\"zone 3\"}"},
        {"f", "{\"ask\":\"flame\",\"from\":0,\"to\":90000000,\"mode\":\"down\"}"},
        {"f", "{\"ask\":\"instances\",\"loc\":2}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        struct strobe_engine *engines[2];
        uint8_t *frames[2];
        size_t n[2];
        make(questions[i].kinds, 19, 1);
        damage(with.path, STROBE_BLOCK_PAIRED);
        if (questions[i].kinds[0] == 's') /* enough of one track for levels */
            damage(with.path, STROBE_BLOCK_PAIRED_LOD);
        assert_true(has_list(with.path));
        for (int k = 0; k < 2; k++) {
            struct strobe_trace *trace = open_trace(k ? without.path : with.path);
            assert_int_equal(strobe_engine_open(trace, "trace", &engines[k]), STROBE_OK);
            free(ask(engines[k], "{\"ask\":\"trace\"}", &n[k]));
            frames[k] = ask(engines[k], questions[i].text, &n[k]);
            while (memmem(frames[k], n[k], "\"share\":0", 9)) {
                free(frames[k]);
                frames[k] = ask(engines[k], questions[i].text, &n[k]);
            }
        }
        assert_null(engines[0]->tables.paired); /* what is damaged was met */
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(frames[0], frames[1], n[0]);
        for (int k = 0; k < 2; k++) {
            free(frames[k]);
            strobe_engine_close(engines[k]);
        }
        remove_both();
    }
}

/* ---- who writes them ---- */

static void a_piece_of_a_trace_has_its_zones_paired(void **state)
{
    char out[80];
    (void)state;
    make("tfs", 20, 1);
    snprintf(out, sizeof out, "%s.cut", without.path);
    struct strobe_trace *trace = open_trace(without.path);
    const struct strobe_cut_options options = {
        .by_tick = 1, .tick_min = 100000, .tick_max = 900000, .closed = 1};
    uint64_t n_bytes = 0;
    struct stat st;
    assert_int_equal(strobe_cut_write(trace, &options, out, &n_bytes), STROBE_OK);
    strobe_trace_close(trace);
    assert_true(has_list(out));
    assert_false(has_list(without.path));
    assert_int_equal(stat(out, &st), 0);
    assert_in_range(n_bytes, 1, (uint64_t)st.st_size);
    unlink(out);
    remove_both();
}

static void merged_traces_have_their_zones_paired(void **state)
{
    char out[80];
    (void)state;
    make("f", 21, 1);
    snprintf(out, sizeof out, "%s.merged", without.path);
    struct strobe_trace *traces[] = {open_trace(with.path), open_trace(without.path)};
    const char *names[] = {"a", "b"};
    struct strobe_merge_result result;
    assert_int_equal(strobe_merge_write(traces, names, 2, out, &result), STROBE_OK);
    strobe_merge_result_free(&result);
    strobe_trace_close(traces[0]);
    strobe_trace_close(traces[1]);
    assert_true(has_list(out));
    unlink(out);
    remove_both();
}

static void a_recovered_trace_has_its_zones_paired(void **state)
{
    struct strobe_recovery recovery;
    (void)state;
    make_one(&with, "tf", 22, 1, 0);
    small_kill(&with);
    make_one(&without, "tf", 22, 1, 0);
    small_finish(&without);
    assert_false(has_list(with.path));
    assert_int_equal(strobe_recover(with.path, "", NULL, NULL, strobe_pair_write_last, &recovery),
                     STROBE_OK);
    assert_true(has_list(with.path));
    compare_all_stats(0);
    remove_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_by_rows_are_those_of_the_events),
        cmocka_unit_test(rows_serve_where_no_threads_are_chosen),
        cmocka_unit_test(statistics_of_damaged_rows_are_those_of_the_events),
        cmocka_unit_test(a_walk_in_any_order_shows_the_zones_of_the_events),
        cmocka_unit_test(a_view_of_damaged_rows_is_that_of_the_events),
        cmocka_unit_test(a_piece_of_a_trace_has_its_zones_paired),
        cmocka_unit_test(merged_traces_have_their_zones_paired),
        cmocka_unit_test(a_recovered_trace_has_its_zones_paired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
