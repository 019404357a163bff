/* test_query_pixels.c - what is drawn is the same whether it comes from LOD blocks, summaries or events.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/pixels.h"
#include "query/walk.h"

enum { THREADS = 3, LOCS = 7 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct thread {
    uint64_t tick, open[40];
    uint32_t depth;
};

/* One event of a thread: bursts, pauses, long zones, now and then a deep recursion. */
static void emit(struct small_trace *t, struct thread *thread, uint64_t *seed, uint32_t deepest)
{
    uint64_t r = next_random(seed);
    thread->tick += r % 100 == 0 ? (r >> 8) % 3000000 : 20 + (r >> 8) % 900;
    int is_end = thread->depth == deepest || (thread->depth > 1 && (r >> 40 & 1)) ||
                 (thread->depth == 1 && (r >> 41 & 31) == 0);
    if (is_end) {
        strobe_encode_zone_end(&t->enc, thread->tick, thread->open[--thread->depth]);
        return;
    }
    thread->open[thread->depth] = 1 + (r >> 30) % LOCS;
    strobe_encode_zone_begin(&t->enc, thread->tick, thread->open[thread->depth++]);
}

/* Three threads: one busy, one less so, one that says little. */
static void make(struct small_trace *t, uint32_t n_blocks, uint32_t deepest)
{
    static const uint32_t n_events[THREADS] = {3000, 700, 9};
    struct thread threads[THREADS] = {{.tick = 1000}, {.tick = 1500}, {.tick = 1700}};
    uint64_t seed = 88172645463325252ull + n_blocks;
    small_start(t);
    for (uint64_t i = 1; i <= LOCS; i++)
        small_loc(t, 1, i, "zone");
    small_put_records(t);
    for (uint32_t i = 0; i < n_blocks; i++) {
        for (uint32_t k = 0; k < THREADS; k++) {
            uint32_t n = 1 + (uint32_t)(next_random(&seed) % n_events[k]);
            if (k == 2 && i % 7)
                continue;
            small_begin_part(t, 1, k + 1);
            for (uint32_t e = 0; e < n; e++)
                emit(t, &threads[k], &seed, deepest);
            small_end_part(t, k + 1, n);
        }
        small_put_events(t);
    }
}

/* ---- the zones one by one, as `strobe csv` reads them ---- */

struct all {
    struct strobe_pixel_row *rows[THREADS];
    uint32_t n[THREADS], room[THREADS];
};

static enum strobe_err take(void *context, const struct strobe_batch *batch)
{
    struct all *all = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id;
        uint32_t t = batch->thread;
        strobe_batch_loc(NULL, batch, zone, &id);
        assert_true(strobe_rows_reach((void **)&all->rows[t], &all->room[t], all->n[t],
                                      sizeof *all->rows[t]));
        all->rows[t][all->n[t]++] = (struct strobe_pixel_row){
            .begin = zone->begin,
            .end = zone->state == STROBE_ZONE_ENDED ? zone->begin + zone->ticks : UINT64_MAX,
            .loc = id,
            .depth = zone->depth};
    }
    return STROBE_OK;
}

static void ask(struct strobe_view *view, const struct strobe_pixel_ask *ask,
                struct strobe_pixels *out)
{
    memset(out, 0, sizeof *out);
    assert_int_equal(strobe_pixels_run(view, ask, out), STROBE_OK);
}

/* Ticks that the items of a lane say are busy: zones, and of cells what no zone covers. */
static uint64_t busy_of(const struct strobe_pixels *pixels)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pixels->n_items; i++) {
        const struct strobe_pixel_item *item = &pixels->items[i];
        sum += item->flags & STROBE_PIXEL_ZONE ? item->end - item->begin : item->busy;
        for (uint32_t k = 0; !(item->flags & STROBE_PIXEL_ZONE) && k < pixels->n_items; k++) {
            const struct strobe_pixel_item *zone = &pixels->items[k];
            uint64_t from = zone->begin > item->begin ? zone->begin : item->begin;
            uint64_t to = zone->end < item->end ? zone->end : item->end;
            if (zone->flags & STROBE_PIXEL_ZONE && from < to)
                sum -= to - from;
        }
    }
    return sum;
}

/* The first of them ends, and the second begins, in the same bucket; the second is too short to be drawn, and ends in the next one. */
static void what_is_busy_beside_a_zone_that_is_drawn_is_in_a_cell(void **state)
{
    static const struct strobe_pixel_row rows[] = {
        {.begin = 100, .end = 5000, .loc = 1},
        {.begin = 5010, .end = 5800, .loc = 2},
        {.begin = 6200, .end = 19000, .loc = 1},
    };
    static const struct strobe_pixel_track track = {
        .n_depths = 1, .place.rows = rows, .place.n = 3};
    const struct strobe_pixel_ask question = {
        .hi = 20479, .width = 19, .budget = 1000, .tracks = &track, .n_tracks = 1};
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_view *view;
    struct strobe_pixels pixels;
    (void)state;
    small_start(&t);
    small_zones(&t, 100, 3);
    small_finish(&t);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    ask(view, &question, &pixels);
    assert_int_equal(pixels.k, 10);
    assert_int_equal(busy_of(&pixels), 4900 + 790 + 12800);
    strobe_pixels_free(&pixels);
    strobe_view_close(view);
    strobe_trace_close(trace);
    small_remove(&t);
}

/* Same lanes, same items, each zone where it was. Rows, which are the second, know where zones end that go on behind the range. */
static void assert_same(const struct strobe_pixels *a, const struct strobe_pixels *b)
{
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->n_lanes, b->n_lanes);
    for (uint32_t i = 0; i < a->n_lanes; i++)
        assert_memory_equal(&a->lanes[i], &b->lanes[i], sizeof a->lanes[i]);
    for (uint32_t i = 0; i < a->n_items; i++) {
        const struct strobe_pixel_item *x = &a->items[i], *y = &b->items[i];
        assert_int_equal(x->begin, y->begin);
        if (x->flags & STROBE_PIXEL_BEYOND)
            assert_true(x->end <= y->end);
        else
            assert_int_equal(x->end, y->end);
        assert_int_equal(x->loc, y->loc);
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->busy, y->busy);
        assert_int_equal(x->flags, y->flags);
    }
}

static uint64_t n_counted(const struct strobe_pixels *pixels)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < pixels->n_items; i++)
        n += pixels->items[i].flags & STROBE_PIXEL_BEYOND ? 0 : pixels->items[i].count;
    return n;
}

static void forget_lods(struct strobe_view *view)
{
    struct strobe_view_block *all = malloc(view->n_blocks * sizeof *all);
    assert_non_null(all);
    for (uint32_t i = 0; i < view->n_blocks; i++)
        all[i] = strobe_view_block(view, i);
    free(view->loose);
    view->loose = all;
    view->n_loose = view->loose_room = view->n_blocks;
    view->n_lods = 0;
}

/* Levels are raised where LOD blocks are coarse: the reference gets the same one by its width. */
static void compare_ranges(const struct small_trace *t, int n_rounds, uint32_t n_depths)
{
    struct strobe_trace *trace;
    struct strobe_view *view;
    struct all all = {0};
    uint64_t seed = 1234567;
    assert_int_equal(strobe_trace_open(t->path, 0, &trace), STROBE_OK);
    struct strobe_walk walk = {.trace = trace, .context = &all, .zones = take, .want_open = 1};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    assert_true(view->n_lods > 0);
    for (int round = 0; round < n_rounds; round++) {
        if (round == n_rounds / 2)
            forget_lods(view);
        uint64_t span = view->tick_last - view->tick_first + 1, length = span >> round % 16;
        uint64_t lo = view->tick_first + next_random(&seed) % (span - length + 1);
        struct strobe_pixel_track track = {.thread = (uint32_t)round % THREADS,
                                           .n_depths = n_depths};
        struct strobe_pixel_ask question = {.lo = lo,
                                            .hi = lo + length,
                                            .width = 1 + (uint32_t)(next_random(&seed) % 900),
                                            .budget = 100000,
                                            .tracks = &track,
                                            .n_tracks = 1};
        struct strobe_pixels pixels, reference;
        ask(view, &question, &pixels);
        track.place.rows = all.rows[track.thread];
        track.place.n = all.n[track.thread];
        uint32_t level = pixels.n_lanes ? pixels.lanes[0].k : pixels.k;
        if (level > pixels.k && length >> level)
            question.width = (uint32_t)(length >> level);
        ask(view, &question, &reference);
        if (level == reference.k) {
            pixels.k = reference.k;
            assert_same(&pixels, &reference);
        }
        strobe_pixels_free(&pixels);
        strobe_pixels_free(&reference);
    }
    strobe_view_close(view);
    strobe_trace_close(trace);
    for (int i = 0; i < THREADS; i++)
        free(all.rows[i]);
}

static void lods_summaries_and_events_give_the_same_items(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 60, 7);
    small_finish(&t);
    compare_ranges(&t, 200, 16);
    small_remove(&t);
}

static void many_index_nodes_give_the_same_items(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 700, 5);
    small_finish(&t);
    compare_ranges(&t, 200, 16);
    small_remove(&t);
}

static void zones_below_the_levels_of_detail_are_read_from_events(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 60, 40);
    small_finish(&t);
    compare_ranges(&t, 200, 48);
    small_remove(&t);
}

static void a_file_without_footer_gives_the_same_items(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 300, 6);
    small_kill(&t);
    compare_ranges(&t, 100, 16);
    small_remove(&t);
}

static void every_zone_is_counted_at_every_level(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_view *view;
    uint64_t n_zones = 0;
    make(&t, 300, 7);
    n_zones = strobe_file_totals(t.writer)->n_zones;
    small_finish(&t);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    struct strobe_pixel_track tracks[THREADS];
    for (uint32_t i = 0; i < THREADS; i++)
        tracks[i] = (struct strobe_pixel_track){.thread = i, .n_depths = 16};
    for (uint32_t budget = 100; budget <= 100000; budget *= 10) {
        struct strobe_pixel_ask question = {.lo = view->tick_first,
                                            .hi = view->tick_last,
                                            .width = 1000,
                                            .budget = budget,
                                            .tracks = tracks,
                                            .n_tracks = THREADS};
        struct strobe_pixels pixels;
        ask(view, &question, &pixels);
        assert_true(pixels.n_items <= budget);
        assert_int_equal(n_counted(&pixels), n_zones);
        strobe_pixels_free(&pixels);
    }
    strobe_view_close(view);
    strobe_trace_close(trace);
    small_remove(&t);
}

/* Blocks under LOD blocks are listed anew: by the file they are what they were. */
static void assert_lists_the_file(struct strobe_view *view)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS};
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    uint32_t n = 0;
    assert_int_equal(strobe_file_iterate(view->trace->file, &filter, &iter), STROBE_OK);
    for (; strobe_file_next(iter, &ref) == STROBE_OK; n++) {
        struct strobe_view_block block = strobe_view_block(view, n);
        assert_int_equal(block.offset, ref.offset);
        assert_int_equal(block.tick_min, ref.head.tick_min);
        assert_int_equal(block.tick_max, ref.head.tick_max);
        assert_int_equal(block.n_events, ref.head.n_items);
    }
    strobe_file_end_iterate(iter);
    assert_int_equal(n, view->n_blocks);
}

static void what_is_held_of_a_growing_file_does_not_grow(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_view *view;
    uint32_t room = 0;
    int grown;
    small_start(&t);
    small_loc(&t, 1, 1, "zone");
    small_put_records(&t);
    small_zones(&t, 1000, 3);
    strobe_file_sync(t.writer);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    for (uint64_t i = 1; i <= 2000; i++) {
        small_zones(&t, 1000 + 100 * i, 3);
        if (i % 50)
            continue;
        strobe_file_sync(t.writer);
        assert_int_equal(strobe_view_refresh(view, &grown), STROBE_OK);
        assert_int_equal(view->n_blocks, i + 1);
        assert_true(!room || view->loose_room == room);
        room = i >= 500 ? view->loose_room : 0;
    }
    assert_true(view->n_lods > 3);
    assert_int_equal(view->n_events, 2001 * 6);
    assert_lists_the_file(view);
    strobe_view_close(view);
    strobe_trace_close(trace);
    small_finish(&t);
    small_remove(&t);
}

static void blocks_of_a_range_are_found_both_ways(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_view *view;
    uint64_t seed = 77;
    make(&t, 700, 5);
    small_finish(&t);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    for (int round = 0; round < 300; round++) {
        uint64_t span = view->tick_last - view->tick_first;
        uint64_t lo = view->tick_first + next_random(&seed) % span, hi = lo + (span >> round % 20);
        uint32_t from = (uint32_t)(next_random(&seed) % view->n_blocks);
        uint32_t next = STROBE_VIEW_NO_BLOCK, prev = STROBE_VIEW_NO_BLOCK;
        for (uint32_t i = 0; i < view->n_blocks; i++) {
            struct strobe_view_block block = strobe_view_block(view, i);
            if (block.tick_max < lo || block.tick_min > hi)
                continue;
            next = i >= from && next == STROBE_VIEW_NO_BLOCK ? i : next;
            prev = i < from ? i : prev;
        }
        assert_int_equal(strobe_view_next(view, from, lo, hi), next);
        assert_int_equal(strobe_view_prev(view, from, lo, hi), prev);
    }
    strobe_view_close(view);
    strobe_trace_close(trace);
    small_remove(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lods_summaries_and_events_give_the_same_items),
        cmocka_unit_test(zones_below_the_levels_of_detail_are_read_from_events),
        cmocka_unit_test(many_index_nodes_give_the_same_items),
        cmocka_unit_test(a_file_without_footer_gives_the_same_items),
        cmocka_unit_test(every_zone_is_counted_at_every_level),
        cmocka_unit_test(what_is_busy_beside_a_zone_that_is_drawn_is_in_a_cell),
        cmocka_unit_test(what_is_held_of_a_growing_file_does_not_grow),
        cmocka_unit_test(blocks_of_a_range_are_found_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
