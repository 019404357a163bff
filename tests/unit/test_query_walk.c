/* test_query_walk.c - zones, fibers, spans and texts come out as they were emitted.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/walk.h"

enum { MAX_SEEN = 64 };

struct seen {
    struct strobe_trace *trace;
    struct {
        enum strobe_batch_kind kind;
        char name[32], text[64];
        uint64_t begin, ticks, self, id;
        uint32_t depth, state;
    } zone[MAX_SEEN];
    int n;
    char message[256];
    uint64_t n_stack;
};

static enum strobe_err see(void *context, const struct strobe_batch *batch)
{
    struct seen *seen = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *row = &batch->zones[i];
        char room[STROBE_NAME_ROOM];
        uint64_t id;
        uint32_t n, loc = strobe_batch_loc(seen->trace, batch, row, &id);
        const char *name = strobe_trace_loc_name(seen->trace, loc, id, room, &n);
        assert_true(seen->n < MAX_SEEN);
        snprintf(seen->zone[seen->n].name, 32, "%.*s", (int)n, name);
        if (row->note && batch->notes && batch->notes[row->note - 1].text)
            snprintf(seen->zone[seen->n].text, 64, "%s", batch->notes[row->note - 1].text);
        seen->zone[seen->n].kind = batch->kind;
        seen->zone[seen->n].begin = row->begin;
        seen->zone[seen->n].ticks = row->ticks;
        seen->zone[seen->n].self = row->self;
        seen->zone[seen->n].depth = row->depth;
        seen->zone[seen->n].state = row->state;
        seen->zone[seen->n++].id = batch->id;
    }
    return STROBE_OK;
}

static enum strobe_err hear(void *context, const struct strobe_happening *happening)
{
    struct seen *seen = context;
    const struct strobe_field *text = &happening->event->fields[2];
    if (happening->event->kind == STROBE_KIND_MESSAGE)
        snprintf(seen->message, sizeof seen->message, "%.*s", (int)text->u, text->text);
    seen->n_stack = happening->n_stack;
    return STROBE_OK;
}

/* Walk over the whole trace; the caller closes seen->trace. */
static struct strobe_walk walk_over(const struct small_trace *t, struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    assert_int_equal(strobe_trace_open(t->path, 0, &seen->trace), STROBE_OK);
    struct strobe_walk walk = {.trace = seen->trace,
                               .context = seen,
                               .zones = see,
                               .happens = hear,
                               .kinds = 1ull << STROBE_KIND_MESSAGE | 1ull << STROBE_KIND_CALLSTACK,
                               .want_notes = 1,
                               .want_fibers = 1,
                               .want_spans = 1,
                               .want_open = 1};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    return walk;
}

static void finish(struct small_trace *t, struct seen *seen)
{
    small_finish(t);
    walk_over(t, seen);
}

static void drop(struct small_trace *t, struct seen *seen)
{
    strobe_trace_close(seen->trace);
    small_remove(t);
}

static void start(struct small_trace *t)
{
    small_start(t);
    small_loc(t, 1, 1, "outer");
    small_loc(t, 1, 2, "inner");
    small_put_records(t);
}

static void self_time_leaves_out_the_children(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    small_begin_part(&t, 1, 1);
    strobe_encode_zone_begin(&t.enc, 100, 1);
    strobe_encode_zone_begin(&t.enc, 110, 2);
    strobe_encode_zone_end(&t.enc, 130, 2);
    strobe_encode_zone_end(&t.enc, 200, 1);
    small_end_block(&t, 1, 4);
    finish(&t, &seen);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.zone[0].name, "inner");
    assert_int_equal(seen.zone[0].depth, 1);
    assert_int_equal(seen.zone[0].self, 20);
    assert_string_equal(seen.zone[1].name, "outer");
    assert_int_equal(seen.zone[1].ticks, 100);
    assert_int_equal(seen.zone[1].self, 80);
    drop(&t, &seen);
}

static void a_zone_over_three_blocks_keeps_its_text_and_its_children(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    small_begin_part(&t, 1, 1);
    strobe_encode_zone_begin(&t.enc, 100, 1);
    small_text(&t, 101, STROBE_KIND_ZONE_TEXT, "first");
    small_end_block(&t, 1, 2);
    small_begin_part(&t, 1, 1);
    strobe_encode_zone_begin(&t.enc, 110, 2);
    strobe_encode_zone_end(&t.enc, 130, 2);
    small_end_block(&t, 1, 2);
    small_begin_part(&t, 1, 1);
    small_text(&t, 150, STROBE_KIND_ZONE_TEXT, "second");
    strobe_encode_zone_end(&t.enc, 200, 1);
    small_end_block(&t, 1, 2);
    finish(&t, &seen);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.zone[0].depth, 1);
    assert_string_equal(seen.zone[1].text, "first\nsecond");
    assert_int_equal(seen.zone[1].self, 80);
    drop(&t, &seen);
}

/* A note that names a location: varint, then a text. */
static void text_at(struct small_trace *t, uint64_t tick, uint8_t loc, const char *text)
{
    uint8_t fields[64] = {loc, (uint8_t)strlen(text)};
    memcpy(fields + 2, text, strlen(text));
    strobe_encode_event(&t->enc, tick, STROBE_KIND_ZONE_TEXT_AT, fields, 2 + strlen(text));
}

static void a_text_that_names_its_zone_is_the_outer_ones_in_every_block(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    small_begin_part(&t, 1, 1);
    strobe_encode_zone_begin(&t.enc, 100, 1);
    strobe_encode_zone_begin(&t.enc, 110, 2);
    text_at(&t, 111, 1, "first");
    small_end_block(&t, 1, 3);
    small_begin_part(&t, 1, 1);
    text_at(&t, 120, 1, "second"); /* neither zone ends in this block */
    text_at(&t, 121, 9, "of no open zone");
    small_end_block(&t, 1, 2);
    small_begin_part(&t, 1, 1);
    text_at(&t, 122, 1, "third");
    text_at(&t, 123, 2, "inner");
    strobe_encode_zone_end(&t.enc, 130, 2);
    strobe_encode_zone_end(&t.enc, 200, 1);
    small_end_block(&t, 1, 4);
    finish(&t, &seen);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.zone[0].text, "inner");
    assert_string_equal(seen.zone[1].text, "first\nsecond\nthird");
    drop(&t, &seen);
}

static void a_text_that_names_its_zone_is_the_outer_ones_in_a_fiber(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    small_begin_part(&t, 1, 1);
    small_number(&t, 100, STROBE_KIND_FIBER_ENTER, 7);
    strobe_encode_zone_begin(&t.enc, 110, 1);
    strobe_encode_zone_begin(&t.enc, 120, 2);
    text_at(&t, 125, 1, "outer");
    strobe_encode_zone_end(&t.enc, 130, 2);
    strobe_encode_zone_end(&t.enc, 140, 1);
    small_end_block(&t, 1, 6);
    finish(&t, &seen);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.zone[0].text, "");
    assert_string_equal(seen.zone[1].text, "outer");
    drop(&t, &seen);
}

static void zones_without_an_end_are_open_or_unfinished(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    small_begin_part(&t, 1, 1);
    strobe_encode_zone_begin(&t.enc, 100, 1);
    strobe_encode_zone_begin(&t.enc, 110, 2); /* its end is missing */
    strobe_encode_zone_end(&t.enc, 130, 1);
    strobe_encode_zone_end(&t.enc, 140, 2); /* its begin is missing */
    strobe_encode_zone_begin(&t.enc, 150, 2);
    small_end_block(&t, 1, 5);
    small_kill(&t);
    struct strobe_walk walk = walk_over(&t, &seen);
    assert_int_equal(walk.n_unfinished, 1);
    assert_int_equal(walk.n_no_begin, 1);
    assert_int_equal(walk.n_open, 1);
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.zone[0].state, STROBE_ZONE_UNFINISHED);
    assert_int_equal(seen.zone[1].state, STROBE_ZONE_ENDED);
    assert_int_equal(seen.zone[2].state, STROBE_ZONE_NO_BEGIN);
    assert_string_equal(seen.zone[2].name, "inner");
    assert_int_equal(seen.zone[3].state, STROBE_ZONE_OPEN);
    assert_int_equal(seen.zone[3].begin, 150);
    drop(&t, &seen);
}

static void a_fibers_zone_ends_on_another_thread(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    small_begin_part(&t, 1, 2); /* the later half stands first in the file */
    small_number(&t, 300, STROBE_KIND_FIBER_ENTER, 7);
    strobe_encode_zone_end(&t.enc, 310, 2);
    strobe_encode_zone_end(&t.enc, 320, 1);
    strobe_encode_event(&t.enc, 330, STROBE_KIND_FIBER_LEAVE, (const uint8_t *)"", 0);
    small_end_block(&t, 2, 5);
    small_begin_part(&t, 1, 1);
    small_number(&t, 100, STROBE_KIND_FIBER_ENTER, 7);
    strobe_encode_zone_begin(&t.enc, 110, 1);
    small_text(&t, 115, STROBE_KIND_ZONE_TEXT, "of a fiber");
    strobe_encode_zone_begin(&t.enc, 120, 2);
    strobe_encode_event(&t.enc, 130, STROBE_KIND_FIBER_LEAVE, (const uint8_t *)"", 0);
    small_end_block(&t, 1, 6);
    finish(&t, &seen);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.zone[0].kind, STROBE_BATCH_FIBER);
    assert_int_equal(seen.zone[0].id, 7);
    assert_string_equal(seen.zone[0].name, "inner");
    assert_int_equal(seen.zone[0].ticks, 190);
    assert_int_equal(seen.zone[1].ticks, 210);
    assert_int_equal(seen.zone[1].self, 20);
    assert_string_equal(seen.zone[1].text, "of a fiber");
    drop(&t, &seen);
}

/* Fiber 7 runs on two threads in turn, a block each; its zones cross from one to the other. */
static void fibers_are_paired_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (uint32_t max = 1; max < 100; max *= 3) {
        struct small_trace t;
        struct seen seen = {0};
        start(&t);
        for (uint64_t i = 0; i < 20; i++) {
            uint64_t tick = 1000 + 100 * i;
            small_begin_part(&t, 1, 1 + i % 2);
            small_number(&t, tick, STROBE_KIND_FIBER_ENTER, 7);
            if (i)
                strobe_encode_zone_end(&t.enc, tick + 10, 1);
            strobe_encode_zone_begin(&t.enc, tick + 20, 1);
            strobe_encode_event(&t.enc, tick + 30, STROBE_KIND_FIBER_LEAVE, (const uint8_t *)"", 0);
            small_end_part(&t, 1 + i % 2, 6);
            small_put_events(&t);
        }
        small_finish(&t);
        assert_int_equal(strobe_trace_open(t.path, 0, &seen.trace), STROBE_OK);
        struct strobe_walk walk = {.trace = seen.trace,
                                   .context = &seen,
                                   .zones = see,
                                   .want_fibers = 1,
                                   .want_open = 1,
                                   .max_loose = max};
        assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
        assert_int_equal(seen.n, 20);
        for (int i = 0; i < 19; i++) {
            assert_int_equal(seen.zone[i].begin, 1020 + 100 * i);
            assert_int_equal(seen.zone[i].ticks, 90);
        }
        assert_int_equal(walk.n_open, 1);
        strobe_trace_close(seen.trace);
        small_remove(&t);
    }
}

static void put_span_begin(struct small_trace *t, uint64_t tick, uint8_t span, uint8_t loc)
{
    strobe_encode_event(&t->enc, tick, STROBE_KIND_SPAN_BEGIN, (const uint8_t[]){span, loc}, 2);
}

static void spans_are_paired_by_id_over_threads(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    small_begin_part(&t, 1, 2);
    small_number(&t, 250, STROBE_KIND_SPAN_END, 5);
    small_number(&t, 260, STROBE_KIND_SPAN_END, 9); /* never begun */
    small_end_part(&t, 2, 4);
    small_begin_part(&t, 1, 1);
    put_span_begin(&t, 100, 5, 1);
    put_span_begin(&t, 120, 6, 2);
    small_end_block(&t, 1, 6);
    small_finish(&t);
    struct strobe_walk walk = walk_over(&t, &seen);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.zone[0].kind, STROBE_BATCH_SPAN);
    assert_int_equal(seen.zone[0].ticks, 150);
    assert_int_equal(seen.zone[1].state, STROBE_ZONE_NO_BEGIN);
    assert_int_equal(seen.zone[2].state, STROBE_ZONE_OPEN);
    assert_int_equal(seen.zone[2].id, 6);
    assert_int_equal(walk.n_open, 0);
    assert_int_equal(walk.n_open_spans, 1);
    drop(&t, &seen);
}

static void pieces_join_over_parts_but_not_over_a_gap(void **state)
{
    (void)state;
    for (int gap = 0; gap < 2; gap++) {
        struct small_trace t;
        struct seen seen;
        start(&t);
        small_begin_part(&t, 1, 1);
        small_text(&t, 100, STROBE_KIND_STR_PIECE, "long ");
        small_text(&t, 101, STROBE_KIND_STR_PIECE, "text, ");
        small_end_part(&t, 1, 4);
        small_put_events(&t);
        t.pos[1] += (uint64_t)gap;
        small_begin_part(&t, 1, 1);
        strobe_encode_event(&t.enc, 102, STROBE_KIND_CALLSTACK, (const uint8_t[]){2, 20, 2}, 3);
        strobe_encode_event(&t.enc, 102, STROBE_KIND_MESSAGE, (const uint8_t *)"\2\0\3end", 6);
        small_end_part(&t, 1, 2);
        small_put_events(&t);
        small_finish(&t);
        walk_over(&t, &seen);
        assert_string_equal(seen.message, gap ? "end" : "long text, end");
        assert_int_equal(seen.n_stack, 2);
        struct strobe_coverage cover;
        strobe_trace_coverage(seen.trace, &cover);
        assert_int_equal(cover.n_hole_words, gap);
        assert_int_equal(cover.n_emitted, cover.n_stored + (uint64_t)gap);
        strobe_trace_close(seen.trace);
        small_remove(&t);
    }
}

static void a_range_gives_the_zones_that_begin_in_it(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start(&t);
    for (int i = 0; i < 4; i++)
        small_zones(&t, 1000 + 100 * (uint64_t)i, 5);
    small_finish(&t);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(strobe_trace_open(t.path, 0, &seen.trace), STROBE_OK);
    struct strobe_walk walk = {.trace = seen.trace,
                               .context = &seen,
                               .zones = see,
                               .by_tick = 1,
                               .tick_min = 1120,
                               .tick_max = 1200};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    assert_int_equal(seen.n, 5);
    assert_int_equal(seen.zone[0].begin, 1120);
    assert_int_equal(seen.zone[4].begin, 1200);
    drop(&t, &seen);
}

/* Two clients in one process: proc 1 and proc 2 have the pid 77, their tracks 1 and 2 the tid 77. */
static void start_shared(struct small_trace *t, uint64_t second_start)
{
    const char *const texts[] = {"/bin/app", "/", "app"};
    small_start(t);
    for (uint64_t proc = 1; proc <= 2; proc++) {
        small_record(t, STROBE_META_PROCESS, (const uint64_t[]){proc, 77, 1, 5}, 4, texts, 3);
        small_record(t, STROBE_META_THREAD,
                     (const uint64_t[]){proc, proc, 77, proc == 1 ? 10 : second_start}, 4,
                     (const char *const[]){"main"}, 1);
        small_loc(t, proc, 1, proc == 1 ? "ours" : "theirs");
    }
}

/* Put the events of one track: a zone from `begin` to `end` for each pair. */
static void put_track(struct small_trace *t, uint64_t track, const uint64_t *ticks, int n)
{
    small_begin_part(t, track, track);
    for (int i = 0; i < n; i++)
        if (i % 2)
            strobe_encode_zone_end(&t->enc, ticks[i], 1);
        else
            strobe_encode_zone_begin(&t->enc, ticks[i], 1);
    small_end_part(t, track, (uint64_t)n);
    small_put_events(t);
}

static void zones_of_one_thread_nest_over_its_tracks(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start_shared(&t, 20);
    small_put_records(&t);
    put_track(&t, 2, (const uint64_t[]){110, 130, 140, 150, 220, 240}, 6);
    put_track(&t, 1, (const uint64_t[]){100, 200, 225, 230}, 4);
    finish(&t, &seen);
    assert_int_equal(seen.n, 5);
    assert_string_equal(seen.zone[0].name, "theirs");
    assert_int_equal(seen.zone[0].depth, 1);
    assert_string_equal(seen.zone[2].name, "ours");
    assert_int_equal(seen.zone[2].depth, 0);
    assert_int_equal(seen.zone[2].self, 70); /* 100 less 20 and 10 of the other track */
    assert_string_equal(seen.zone[3].name, "ours");
    assert_int_equal(seen.zone[3].depth, 1);
    assert_int_equal(seen.zone[4].self, 15);
    assert_int_equal(seen.zone[4].kind, STROBE_BATCH_THREAD);
    drop(&t, &seen);
}

static void tracks_of_one_thread_that_overlap_keep_their_own_ends(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start_shared(&t, 20);
    small_put_records(&t);
    put_track(&t, 1, (const uint64_t[]){100, 200}, 2);
    put_track(&t, 2, (const uint64_t[]){150, 250, 300}, 3);
    small_finish(&t);
    struct strobe_walk walk = walk_over(&t, &seen);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.zone[0].ticks, 100);
    assert_int_equal(seen.zone[1].ticks, 100);
    assert_int_equal(seen.zone[2].state, STROBE_ZONE_OPEN);
    assert_int_equal(walk.n_open, 1);
    assert_int_equal(walk.n_unfinished, 0);
    drop(&t, &seen);
}

static void images_of_one_process_by_exec_are_kept_apart(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen seen;
    start_shared(&t, 120);
    strobe_records_numbers(&t.records, STROBE_FACT_PROCESS_END, (const uint64_t[]){1, 115, 0, 0},
                           4);
    small_put_records(&t);
    put_track(&t, 1, (const uint64_t[]){100}, 1);
    put_track(&t, 2, (const uint64_t[]){150, 250}, 2);
    finish(&t, &seen);
    assert_int_equal(seen.trace->has_twins, 0);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.zone[0].depth, 0); /* not below the zone that exec left open */
    drop(&t, &seen);
}

static void losses_and_gaps_make_up_the_coverage(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_coverage cover;
    struct strobe_trace *trace;
    start(&t);
    small_zones(&t, 1000, 5);
    for (uint64_t i = 0; i < 2; i++)
        strobe_records_numbers(&t.records, STROBE_FACT_LOSS,
                               (const uint64_t[]){1, 1, 0, 3, 10 + i, 20 + i}, 6);
    small_put_records(&t);
    small_finish(&t);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    strobe_trace_coverage(trace, &cover);
    assert_int_equal(cover.n_stored, 10);
    assert_int_equal(cover.n_dropped, 6);
    assert_int_equal(cover.n_emitted, 16);
    assert_int_equal(trace->loss_ids.n, 1);
    assert_int_equal(trace->losses[0].first_tick, 10);
    assert_int_equal(trace->losses[0].last_tick, 21);
    strobe_trace_close(trace);
    small_remove(&t);
}

/* Four blocks of two tracks: zones that nest, go on in the next block, have texts, stay open. */
static void put_two_tracks(struct small_trace *t)
{
    for (uint64_t block = 0; block < 4; block++) {
        uint64_t tick = 1000 + 100 * block;
        small_begin_part(t, 1, 1);
        strobe_encode_zone_begin(&t->enc, tick, 1);
        strobe_encode_zone_begin(&t->enc, tick + 10, 2);
        small_text(t, tick + 11, STROBE_KIND_ZONE_TEXT, "first");
        strobe_encode_zone_end(&t->enc, tick + 20, 2);
        small_end_part(t, 1, 4);
        small_begin_part(t, 1, 2);
        if (block)
            strobe_encode_zone_end(&t->enc, tick + 5, 2);
        strobe_encode_zone_begin(&t->enc, tick + 30, 2);
        small_text(t, tick + 31, STROBE_KIND_ZONE_TEXT, "second");
        small_end_block(t, 2, block ? 3 : 2);
    }
}

/* A range, of all there is too, is replayed by the walk itself; all else where blocks are decoded. */
static void zones_are_the_same_whoever_replays_them(void **state)
{
    (void)state;
    struct small_trace t;
    struct seen ahead, here;
    start(&t);
    put_two_tracks(&t);
    finish(&t, &ahead);
    memset(&here, 0, sizeof here);
    here.trace = ahead.trace;
    struct strobe_walk walk = {.trace = here.trace,
                               .context = &here,
                               .zones = see,
                               .want_notes = 1,
                               .want_open = 1,
                               .by_tick = 1,
                               .tick_max = UINT64_MAX};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    assert_int_equal(ahead.n, 4 + 3 + 5);
    assert_int_equal(here.n, ahead.n);
    assert_memory_equal(here.zone, ahead.zone, sizeof here.zone);
    assert_int_equal(ahead.zone[11].state, STROBE_ZONE_OPEN);
    assert_string_equal(ahead.zone[11].text, "second");
    drop(&t, &ahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_time_leaves_out_the_children),
        cmocka_unit_test(a_zone_over_three_blocks_keeps_its_text_and_its_children),
        cmocka_unit_test(a_text_that_names_its_zone_is_the_outer_ones_in_every_block),
        cmocka_unit_test(a_text_that_names_its_zone_is_the_outer_ones_in_a_fiber),
        cmocka_unit_test(zones_without_an_end_are_open_or_unfinished),
        cmocka_unit_test(a_fibers_zone_ends_on_another_thread),
        cmocka_unit_test(fibers_are_paired_in_pieces_of_any_size),
        cmocka_unit_test(spans_are_paired_by_id_over_threads),
        cmocka_unit_test(pieces_join_over_parts_but_not_over_a_gap),
        cmocka_unit_test(a_range_gives_the_zones_that_begin_in_it),
        cmocka_unit_test(zones_of_one_thread_nest_over_its_tracks),
        cmocka_unit_test(tracks_of_one_thread_that_overlap_keep_their_own_ends),
        cmocka_unit_test(images_of_one_process_by_exec_are_kept_apart),
        cmocka_unit_test(losses_and_gaps_make_up_the_coverage),
        cmocka_unit_test(zones_are_the_same_whoever_replays_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
