/* test_encode.c - what the encoder writes, the reader reads: blocks, stacks, odd ends.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/decode.h"
#include "file/file_read.h"
#include "file/file_write.h"
#include "file/replay.h"

static char path[] = "/tmp/strobe-encode-XXXXXX";

struct read_back {
    struct strobe_file *file;
    struct strobe_block block;
    struct strobe_events events;
    struct strobe_schema schema;
    struct strobe_replay replay;
};

/* Write the encoder's block, close the file, load its first EVENTS block. */
static void write_and_read(struct strobe_encoder *enc, struct read_back *back)
{
    struct strobe_file_writer *writer = NULL;
    struct strobe_block_iter *iter = NULL;
    struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS};
    assert_int_equal(strobe_file_create(path, "", 0, &writer), STROBE_OK);
    assert_int_equal(strobe_file_put_events(writer, enc), STROBE_OK);
    assert_int_equal(strobe_file_finish(writer), STROBE_OK);
    memset(back, 0, sizeof *back);
    assert_int_equal(strobe_file_open(path, &back->file), STROBE_OK);
    assert_true(strobe_file_facts(back->file)->closed);
    strobe_schema_read(strobe_file_facts(back->file)->schema, &back->schema);
    assert_int_equal(strobe_file_iterate(back->file, &filter, &iter), STROBE_OK);
    assert_int_equal(strobe_file_next_block(iter, &back->block), STROBE_OK);
    strobe_file_end_iterate(iter);
    assert_int_equal(strobe_decode_parts(&back->block, &back->events), STROBE_OK);
    assert_int_equal(strobe_decode_streams(&back->block, STROBE_ALL_STREAMS, &back->events),
                     STROBE_OK);
}

static void replay_part(struct read_back *back, uint32_t i)
{
    assert_int_equal(strobe_replay_part(&back->events, &back->events.parts[i], &back->schema, 0,
                                        NULL, &back->replay),
                     STROBE_OK);
}

static void free_back(struct read_back *back)
{
    strobe_replay_free(&back->replay);
    strobe_events_free(&back->events);
    strobe_block_free(&back->block);
    strobe_file_close(back->file);
}

/* One encoder and one track for each test. */
static struct strobe_encoder enc;
static struct strobe_track track;
static struct read_back back;

static int start(void **state)
{
    (void)state;
    memset(&track, 0, sizeof track);
    memset(&back, 0, sizeof back);
    return strobe_encode_init(&enc) != STROBE_OK;
}

static int stop(void **state)
{
    (void)state;
    if (back.file)
        free_back(&back);
    strobe_track_free(&track);
    strobe_encode_free(&enc);
    return 0;
}

static void nested_zones_come_back_with_their_self_times(void **state)
{
    (void)state;
    strobe_encode_begin_part(&enc, &track, 3, 7, 100);
    strobe_encode_zone_begin(&enc, 1000, 11);
    strobe_encode_zone_begin(&enc, 1010, 12);
    strobe_encode_zone_end(&enc, 1030, 12);
    strobe_encode_zone_end(&enc, 201000, 11); /* a difference that does not fit 16 bits */
    strobe_encode_end_part(&enc, 4);
    write_and_read(&enc, &back);
    assert_int_equal(back.events.n_parts, 1);
    assert_int_equal(back.events.parts[0].proc, 3);
    assert_int_equal(back.events.parts[0].pos, 100);
    replay_part(&back, 0);
    assert_int_equal(back.replay.n_zones, 2);
    assert_int_equal(back.replay.zones[0].ticks, 20);
    assert_int_equal(back.replay.zones[0].depth, 1);
    assert_int_equal(back.replay.zones[1].ticks, 200000);
    assert_int_equal(back.replay.zones[1].self, 199980);
}

static void sums_beyond_64_bits_stay_at_the_most_of_them(void **state)
{
    (void)state;
    strobe_encode_begin_part(&enc, &track, 1, 1, 0);
    for (int i = 0; i < 3; i++)
        strobe_encode_zone_begin(&enc, 1, 7);
    for (int i = 0; i < 3; i++)
        strobe_encode_zone_end(&enc, 1ull << 63, 7);
    assert_int_equal(enc.sums[0].count, 3);
    assert_true(enc.sums[0].total == ~0ull);
    assert_true(enc.sums[0].self == (1ull << 63) - 1);
    strobe_encode_end_part(&enc, 6);
}

static void a_zone_that_ends_in_a_later_part_keeps_its_begin(void **state)
{
    (void)state;
    strobe_encode_begin_part(&enc, &track, 0, 1, 0);
    strobe_encode_zone_begin(&enc, 500, 1);
    strobe_encode_zone_begin(&enc, 600, 2);
    strobe_encode_end_part(&enc, 2);
    strobe_encode_begin_part(&enc, &track, 0, 1, 2);
    strobe_encode_zone_end(&enc, 700, 2);
    strobe_encode_end_part(&enc, 1);
    write_and_read(&enc, &back);
    assert_int_equal(back.events.parts[1].n_below, 1);
    assert_int_equal(back.events.parts[1].n_stack, 1);
    replay_part(&back, 1);
    assert_int_equal(back.replay.n_zones, 1);
    assert_int_equal(back.replay.zones[0].begin, 600);
    assert_int_equal(back.replay.zones[0].ticks, 100);
}

static void part_of_one(uint64_t tick)
{
    strobe_encode_begin_part(&enc, &track, 0, 1, tick);
    strobe_encode_zone_begin(&enc, tick, 1);
    strobe_encode_end_part(&enc, 1);
}

/* The tick from which the time before a part counts. */
static uint64_t gap_before(uint64_t tick)
{
    part_of_one(tick);
    return enc.log.parts[enc.log.n_parts - 1].gap_from;
}

static void time_without_events_counts_from_the_last_part_in_the_file(void **state)
{
    (void)state;
    assert_int_equal(gap_before(100), 100);
    strobe_encode_give_up(&enc);
    assert_int_equal(gap_before(200), 200); /* nothing is in the file yet */
    assert_int_equal(gap_before(250), 200);
    strobe_encode_reset(&enc);
    assert_int_equal(gap_before(300), 250);
    strobe_encode_give_up(&enc);
    strobe_encode_give_up(&enc);
    assert_int_equal(gap_before(400), 250);
    strobe_encode_give_up(&enc);
    strobe_encode_reset(&enc); /* a block without the track */
    assert_int_equal(gap_before(500), 250);
    strobe_encode_reset(&enc);
    assert_int_equal(gap_before(600), 500);
}

static void after_too_many_lost_blocks_there_is_no_log(void **state)
{
    (void)state;
    for (uint64_t i = 0; i <= STROBE_LOST_RUNS; i++) {
        part_of_one(100 + 20 * i);
        assert_false(enc.log.failed);
        strobe_encode_give_up(&enc);
        part_of_one(110 + 20 * i);
        strobe_encode_reset(&enc);
    }
    part_of_one(9000);
    assert_true(enc.log.failed);
}

static void assert_zone(const struct read_back *back, uint32_t i, uint64_t begin, uint64_t ticks)
{
    assert_int_equal(back->replay.zones[i].state, STROBE_ZONE_ENDED);
    assert_int_equal(back->replay.zones[i].begin, begin);
    assert_int_equal(back->replay.zones[i].ticks, ticks);
}

static void a_loose_zone_ends_before_those_in_it_and_after_those_around_it(void **state)
{
    (void)state;
    strobe_encode_begin_part(&enc, &track, 0, 1, 0);
    strobe_encode_zone_begin(&enc, 100, 1); /* around the loose one, and over before it */
    strobe_encode_zone_begin(&enc, 200, 2);
    strobe_encode_zone_loose(&enc, 200);
    strobe_encode_zone_begin(&enc, 300, 3); /* in it, and open for longer */
    strobe_encode_zone_end(&enc, 400, 1);
    strobe_encode_zone_end(&enc, 500, 2);
    strobe_encode_zone_end(&enc, 600, 3);
    strobe_encode_end_part(&enc, 7);
    assert_int_equal(enc.by_kind[STROBE_KIND_ZONE_END_UNDER], 2);
    assert_int_equal(enc.by_kind[STROBE_KIND_ZONE_END_POP], 0);
    write_and_read(&enc, &back);
    replay_part(&back, 0);
    assert_int_equal(back.replay.n_zones, 3);
    assert_zone(&back, 0, 100, 300);
    assert_zone(&back, 1, 200, 300);
    assert_zone(&back, 2, 300, 300);
}

static void a_loose_zone_of_an_earlier_part_is_listed_with_those_above_it(void **state)
{
    (void)state;
    strobe_encode_begin_part(&enc, &track, 0, 1, 0);
    for (uint64_t i = 1; i <= 4; i++) {
        strobe_encode_zone_begin(&enc, 100 * i, i);
        if (i == 2)
            strobe_encode_zone_loose(&enc, 100 * i);
    }
    strobe_encode_end_part(&enc, 5);
    strobe_encode_begin_part(&enc, &track, 0, 1, 5);
    strobe_encode_zone_end(&enc, 500, 2);
    uint64_t end_4 = STROBE_WORD_END | 4ull << 32 | 600,
             prev = 500; /* by the fast way, if it takes it */
    if (strobe_encode_words(&enc, &end_4, &end_4 + 1, 0, &prev) == &end_4)
        strobe_encode_zone_end(&enc, 600, 4);
    strobe_encode_end_part(&enc, 2);
    strobe_encode_begin_part(&enc, &track, 0, 1, 7);
    strobe_encode_zone_end(&enc, 700, 3);
    strobe_encode_end_part(&enc, 1);
    write_and_read(&enc, &back);
    assert_int_equal(back.events.parts[1].n_below, 1);
    assert_int_equal(back.events.parts[1].n_stack, 3);
    replay_part(&back, 0);
    replay_part(&back, 1);
    assert_int_equal(back.replay.n_zones, 2);
    assert_zone(&back, 0, 200, 300);
    assert_zone(&back, 1, 400, 200);
    replay_part(&back, 2);
    assert_zone(&back, 0, 300, 400);
}

static void ends_that_do_not_fit_are_told_and_not_fatal(void **state)
{
    (void)state;
    strobe_encode_begin_part(&enc, &track, 0, 1, 0);
    strobe_encode_zone_end(&enc, 10, 99); /* nothing is open */
    strobe_encode_zone_begin(&enc, 20, 1);
    strobe_encode_zone_begin(&enc, 30, 2);
    strobe_encode_zone_end(&enc, 40, 1); /* 2 has no end */
    strobe_encode_end_part(&enc, 4);
    assert_int_equal(enc.by_kind[STROBE_KIND_ZONE_END_AT], 1);
    assert_int_equal(enc.by_kind[STROBE_KIND_ZONE_END_POP], 1);
    write_and_read(&enc, &back);
    replay_part(&back, 0);
    int n[4] = {0};
    for (uint32_t i = 0; i < back.replay.n_zones; i++)
        n[back.replay.zones[i].state]++;
    assert_int_equal(n[STROBE_ZONE_ENDED], 1);
    assert_int_equal(n[STROBE_ZONE_UNFINISHED], 1);
    assert_int_equal(n[STROBE_ZONE_NO_BEGIN], 1);
}

enum { N_STEPS = 4000 };

/* Nested zones at `n_locs` locations; `back`: their ticks go back now and then. */
static void make_steps(struct strobe_zone_step *steps, uint32_t n_locs, bool back)
{
    uint64_t tick = 1ull << 40;
    uint32_t depth = 0, seed = n_locs;
    for (int i = 0; i < N_STEPS; i++) {
        seed = seed * 1664525 + 1013904223;
        tick += (seed >> 20) % 700;
        if (seed >> 26 == 9)
            tick += 1 << 20; /* far from the one before */
        if (back && seed >> 27 == 0)
            tick -= 1 << 16 | seed >> 12;
        bool begin = depth == 0 || (depth < 16 && (seed >> 16 & 1));
        depth = begin ? depth + 1 : depth - 1;
        steps[i] =
            (struct strobe_zone_step){tick, begin ? 1 + (seed >> 8) % n_locs : STROBE_STEP_END, 0};
    }
}

/* One step by the functions for one event. */
static void encode_one(struct strobe_encoder *enc, const struct strobe_zone_step *step)
{
    if (step->loc != STROBE_STEP_END)
        strobe_encode_zone_begin(enc, step->tick, step->loc);
    else
        strobe_encode_zone_end(enc, step->tick, enc->track->stack[enc->track->depth - 1].loc);
}

static void encode_slowly(struct strobe_encoder *enc, struct strobe_track *track,
                          const struct strobe_zone_step *steps)
{
    assert_int_equal(strobe_encode_init(enc), STROBE_OK);
    strobe_encode_begin_part(enc, track, 0, 1, 0);
    for (int i = 0; i < N_STEPS; i++)
        encode_one(enc, &steps[i]);
    strobe_encode_end_part(enc, N_STEPS);
}

static void encode_steps(struct strobe_encoder *enc, struct strobe_track *track,
                         const struct strobe_zone_step *steps)
{
    assert_int_equal(strobe_encode_init(enc), STROBE_OK);
    strobe_encode_begin_part(enc, track, 0, 1, 0);
    for (const struct strobe_zone_step *at = steps, *end = steps + N_STEPS; at < end;) {
        encode_one(enc, at);
        at = strobe_encode_steps(enc, at + 1, end);
    }
    strobe_encode_end_part(enc, N_STEPS);
}

/* Likewise, with zones that have nothing in them as one step. */
static void encode_wholes(struct strobe_encoder *enc, struct strobe_track *track,
                          const struct strobe_zone_step *steps)
{
    static struct strobe_zone_step wholes[N_STEPS];
    uint32_t n = 0;
    for (int i = 0; i < N_STEPS; i++) {
        bool is_end = i && steps[i].loc == STROBE_STEP_END && steps[i - 1].loc != STROBE_STEP_END;
        if (is_end)
            wholes[n - 1].end = steps[i].tick;
        else
            wholes[n++] = steps[i];
    }
    assert_in_range(n, N_STEPS / 2, N_STEPS - 500);
    assert_int_equal(strobe_encode_init(enc), STROBE_OK);
    strobe_encode_begin_part(enc, track, 0, 1, 0);
    for (const struct strobe_zone_step *at = wholes, *end = wholes + n; at < end;) {
        encode_one(enc, at);
        if (at->end)
            strobe_encode_zone_end(enc, at->end, at->loc);
        at = strobe_encode_steps(enc, at + 1, end);
    }
    strobe_encode_end_part(enc, N_STEPS);
}

/* The same as words of a ring, where an end has its location too. */
static void encode_words(struct strobe_encoder *enc, struct strobe_track *track,
                         const struct strobe_zone_step *steps)
{
    static uint64_t words[N_STEPS];
    uint64_t stack[16], prev;
    uint32_t depth = 0;
    for (int i = 0; i < N_STEPS; i++) {
        bool begin = steps[i].loc != STROBE_STEP_END;
        uint64_t loc = begin ? (stack[depth++] = steps[i].loc) : stack[--depth];
        words[i] =
            (begin ? STROBE_WORD_BEGIN : STROBE_WORD_END) | loc << 32 | (uint32_t)steps[i].tick;
    }
    assert_int_equal(strobe_encode_init(enc), STROBE_OK);
    strobe_encode_begin_part(enc, track, 0, 1, 0);
    for (const uint64_t *at = words; at < words + N_STEPS;) {
        encode_one(enc, &steps[at - words]);
        prev = steps[at - words].tick;
        at = strobe_encode_words(enc, at + 1, words + N_STEPS, 1u << 8, &prev);
    }
    strobe_encode_end_part(enc, N_STEPS);
}

static void check_same(const struct strobe_encoder *fast, const struct strobe_encoder *slow)
{
    assert_int_equal(fast->n_events, N_STEPS);
    assert_int_equal(fast->n_events, slow->n_events);
    assert_int_equal(fast->n_zones, slow->n_zones);
    assert_int_equal(fast->n_head, slow->n_head);
    assert_memory_equal(fast->head, slow->head, fast->n_head); /* summaries too */
    assert_memory_equal(fast->sym, slow->sym, N_STEPS);
    assert_memory_equal(fast->dt, slow->dt, N_STEPS * sizeof *fast->dt);
    assert_int_equal(fast->big_at - fast->big, slow->big_at - slow->big);
    assert_memory_equal(fast->big, slow->big, fast->big_at - fast->big);
    assert_memory_equal(fast->by_kind, slow->by_kind, sizeof fast->by_kind);
}

static void compare_ways(uint32_t n_locs, bool back,
                         void (*fast_way)(struct strobe_encoder *, struct strobe_track *,
                                          const struct strobe_zone_step *))
{
    static struct strobe_zone_step steps[N_STEPS];
    struct strobe_encoder fast, slow;
    struct strobe_track fast_track = {0}, slow_track = {0};
    make_steps(steps, n_locs, back);
    fast_way(&fast, &fast_track, steps);
    encode_slowly(&slow, &slow_track, steps);
    check_same(&fast, &slow);
    strobe_track_free(&fast_track);
    strobe_track_free(&slow_track);
    strobe_encode_free(&fast);
    strobe_encode_free(&slow);
}

static void the_fast_way_writes_what_the_slow_way_writes(void **state)
{
    (void)state;
    compare_ways(40, false, encode_words);
    compare_ways(1000, false, encode_words); /* more locations than a part has sums for */
}

static void steps_are_written_as_one_by_one(void **state)
{
    (void)state;
    compare_ways(40, false, encode_steps);
    compare_ways(1000, false, encode_steps);
    compare_ways(40, true, encode_steps);
}

static void whole_zones_are_written_as_begin_and_end(void **state)
{
    (void)state;
    compare_ways(40, false, encode_wholes);
    compare_ways(1000, false, encode_wholes);
    compare_ways(40, true, encode_wholes);
}

static void a_value_among_steps_is_written_as_an_event(void **state)
{
    (void)state;
    const struct strobe_zone_step steps[] = {{1100, 7, 0},
                                             {1110, STROBE_STEP_VALUE, 0},
                                             {1120, STROBE_STEP_VALUE, 1u << 31},
                                             {1130, 8, 1140},
                                             {1150, STROBE_STEP_END, 0}};
    struct strobe_encoder fast, slow;
    struct strobe_track fast_track = {0}, slow_track = {0};
    struct strobe_encoder *encoders[] = {&fast, &slow};
    struct strobe_track *tracks[] = {&fast_track, &slow_track};
    uint8_t field[STROBE_VARINT_MAX];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(strobe_encode_init(encoders[i]), STROBE_OK);
        strobe_encode_begin_part(encoders[i], tracks[i], 0, 1, 0);
        strobe_encode_zone_begin(encoders[i], 1000, 6);
    }
    assert_ptr_equal(strobe_encode_steps(&fast, steps, steps + 5), steps + 5);
    strobe_encode_zone_begin(&slow, 1100, 7);
    for (int i = 1; i <= 2; i++)
        strobe_encode_event(&slow, steps[i].tick, STROBE_KIND_ZONE_VALUE, field,
                            (size_t)(strobe_varint_put(field, steps[i].end) - field));
    strobe_encode_zone_begin(&slow, 1130, 8);
    strobe_encode_zone_end(&slow, 1140, 8);
    strobe_encode_zone_end(&slow, 1150, 7);
    assert_int_equal(fast.n_events, 7);
    assert_memory_equal(fast.sym, slow.sym, 7);
    assert_memory_equal(fast.dt, slow.dt, 7 * sizeof *fast.dt);
    assert_memory_equal(fast.by_kind, slow.by_kind, sizeof fast.by_kind);
    assert_int_equal(fast.side_at - fast.side, slow.side_at - slow.side);
    assert_memory_equal(fast.side, slow.side, fast.side_at - fast.side);
    for (int i = 0; i < 2; i++) {
        strobe_encode_end_part(encoders[i], 7);
        strobe_track_free(tracks[i]);
        strobe_encode_free(encoders[i]);
    }
}

static uint32_t draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*seed >> 33) % n;
}

/* Steps of a random program: few locations, each at several depths and in itself, near and far from each other. Their number. */
static size_t random_steps(uint64_t *seed, uint64_t *tick, uint32_t *depth,
                           struct strobe_zone_step *steps, size_t n_steps)
{
    for (size_t i = 0; i < n_steps; i++) {
        *tick += draw(seed, 50) ? draw(seed, 300) : draw(seed, 200000);
        uint64_t loc = 1 + (draw(seed, 3) ? *depth : draw(seed, 70)) * (draw(seed, 2) ? 1 : 64);
        uint32_t what = draw(seed, 8);
        if (*depth && !draw(seed, 20)) {
            steps[i] = (struct strobe_zone_step){*tick, STROBE_STEP_VALUE, draw(seed, 1000)};
        } else if (what < 2 && *depth) {
            steps[i] = (struct strobe_zone_step){*tick, STROBE_STEP_END, 0};
            --*depth;
        } else if (what < 4 && *depth < 9) {
            steps[i] = (struct strobe_zone_step){*tick, loc, 0};
            ++*depth;
        } else {
            uint64_t lasts = draw(seed, 60) ? draw(seed, 900) : draw(seed, 100000);
            steps[i] = (struct strobe_zone_step){*tick, loc, *tick + lasts};
            *tick += lasts;
        }
    }
    return n_steps;
}

static void put_one_by_one(struct strobe_encoder *to, const struct strobe_zone_step *step)
{
    if (step->loc == STROBE_STEP_END) {
        strobe_encode_zone_end(to, step->tick, to->track->stack[to->track->depth - 1].loc);
        return;
    }
    if (step->loc == STROBE_STEP_VALUE) {
        uint8_t field[STROBE_VARINT_MAX];
        size_t n = (size_t)(strobe_varint_put(field, step->end) - field);
        strobe_encode_event(to, step->tick, STROBE_KIND_ZONE_VALUE, field, n);
        return;
    }
    strobe_encode_zone_begin(to, step->tick, step->loc);
    if (step->end)
        strobe_encode_zone_end(to, step->end, step->loc);
}

/* What both look like from afar. */
static void compare_logs(const struct strobe_lod_log *fast, const struct strobe_lod_log *slow)
{
    assert_int_equal(fast->n_cells, slow->n_cells);
    for (uint32_t i = 0; i < fast->n_cells; i++) {
        const struct strobe_lod_cell *a = &fast->cells[i], *b = &slow->cells[i];
        assert_int_equal(a->bucket, b->bucket);
        assert_int_equal(a->busy, b->busy);
        assert_int_equal(a->longest, b->longest);
        assert_int_equal(a->loc, b->loc);
        assert_int_equal(a->end, b->end);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->depth, b->depth);
    }
}

static void steps_of_any_shape_are_written_as_one_by_one(void **state)
{
    (void)state;
    enum { STEPS = 700, PARTS = 12 };
    struct strobe_encoder fast, slow;
    struct strobe_track fast_track = {0}, slow_track = {0};
    struct strobe_zone_step steps[STEPS];
    assert_int_equal(strobe_encode_init(&fast), STROBE_OK);
    assert_int_equal(strobe_encode_init(&slow), STROBE_OK);
    for (uint64_t round = 1; round <= 20; round++) {
        uint64_t seed = round, tick = 1000;
        uint32_t depth = fast_track.depth;
        for (uint32_t part = 0; part < PARTS; part++) {
            size_t n = random_steps(&seed, &tick, &depth, steps, 1 + draw(&seed, STEPS));
            strobe_encode_begin_part(&fast, &fast_track, 0, 1, 0);
            strobe_encode_begin_part(&slow, &slow_track, 0, 1, 0);
            const struct strobe_zone_step *at = steps;
            while (at < steps + n) {
                at = strobe_encode_steps(&fast, at, steps + n);
                if (at < steps + n)
                    put_one_by_one(&fast, at++);
            }
            for (size_t i = 0; i < n; i++)
                put_one_by_one(&slow, &steps[i]);
            strobe_encode_end_part(&fast, fast.part_events);
            strobe_encode_end_part(&slow, slow.part_events);
        }
        assert_int_equal(fast.n_events, slow.n_events);
        assert_int_equal(fast.n_zones, slow.n_zones);
        assert_memory_equal(fast.sym, slow.sym, fast.n_events);
        assert_memory_equal(fast.dt, slow.dt, fast.n_events * sizeof *fast.dt);
        assert_int_equal(fast.big_at - fast.big, slow.big_at - slow.big);
        assert_memory_equal(fast.big, slow.big, fast.big_at - fast.big);
        assert_int_equal(fast.n_head, slow.n_head);
        assert_memory_equal(fast.head, slow.head, fast.n_head);
        compare_logs(&fast.log, &slow.log);
        assert_int_equal(fast.n_ends, slow.n_ends);
        assert_memory_equal(fast.ends, slow.ends, fast.n_ends);
        assert_int_equal(fast.side_at - fast.side, slow.side_at - slow.side);
        assert_memory_equal(fast.side, slow.side, fast.side_at - fast.side);
        assert_memory_equal(fast.by_kind, slow.by_kind, sizeof fast.by_kind);
        assert_int_equal(fast.n_nested, slow.n_nested);
        assert_true(fast.n_nested > 0);
        assert_memory_equal(fast.nested, slow.nested, fast.n_nested);
        strobe_encode_reset(&fast);
        strobe_encode_reset(&slow);
    }
    strobe_track_free(&fast_track);
    strobe_track_free(&slow_track);
    strobe_encode_free(&fast);
    strobe_encode_free(&slow);
}

/* A block of events whose differences are random, or the same again and again. */
static void put_block(struct strobe_file_writer *writer, bool is_noise, uint64_t *seed)
{
    uint64_t tick = 1000;
    strobe_encode_begin_part(&enc, &track, 0, 1, 0);
    for (int i = 0; i < 4096; i++) {
        tick += is_noise ? draw(seed, 256) : (uint64_t)i % 3;
        strobe_encode_zone_begin(&enc, tick, 1);
        tick += is_noise ? draw(seed, 256) : (uint64_t)i % 5;
        strobe_encode_zone_end(&enc, tick, 1);
    }
    strobe_encode_end_part(&enc, 8192);
    assert_int_equal(strobe_file_put_events(writer, &enc), STROBE_OK);
}

static void a_column_of_noise_is_kept_as_it_is_until_it_is_none(void **state)
{
    (void)state;
    enum { BLOCKS = 40, NOISE = 4 };
    struct strobe_file_writer *writer = NULL;
    struct strobe_block_iter *iter = NULL;
    struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS};
    struct strobe_file *file;
    struct strobe_block block = {0};
    uint64_t seed = 1;
    assert_int_equal(strobe_file_create(path, "", 0, &writer), STROBE_OK);
    for (int i = 0; i < BLOCKS; i++)
        put_block(writer, i < NOISE, &seed);
    assert_int_equal(strobe_file_finish(writer), STROBE_OK);
    assert_int_equal(strobe_file_open(path, &file), STROBE_OK);
    assert_int_equal(strobe_file_iterate(file, &filter, &iter), STROBE_OK);
    for (int i = 0; i < BLOCKS; i++) {
        uint32_t sizes[STROBE_N_STREAMS][2];
        assert_int_equal(strobe_file_next_block(iter, &block), STROBE_OK);
        memcpy(sizes, block.body, sizeof sizes);
        assert_int_equal(sizes[STROBE_LO][0], 8192);
        if (i < NOISE)
            assert_int_equal(sizes[STROBE_LO][1], 8192);
        else if (i >= 32) /* it was looked at again */
            assert_true(sizes[STROBE_LO][1] < 1024);
        assert_true(sizes[STROBE_SYM][1] < 1024); /* each column is seen for itself */
    }
    strobe_file_end_iterate(iter);
    strobe_block_free(&block);
    strobe_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nested_zones_come_back_with_their_self_times, start, stop),
        cmocka_unit_test_setup_teardown(sums_beyond_64_bits_stay_at_the_most_of_them, start, stop),
        cmocka_unit_test_setup_teardown(a_zone_that_ends_in_a_later_part_keeps_its_begin, start,
                                        stop),
        cmocka_unit_test_setup_teardown(time_without_events_counts_from_the_last_part_in_the_file,
                                        start, stop),
        cmocka_unit_test_setup_teardown(after_too_many_lost_blocks_there_is_no_log, start, stop),
        cmocka_unit_test_setup_teardown(ends_that_do_not_fit_are_told_and_not_fatal, start, stop),
        cmocka_unit_test_setup_teardown(
            a_loose_zone_ends_before_those_in_it_and_after_those_around_it, start, stop),
        cmocka_unit_test_setup_teardown(
            a_loose_zone_of_an_earlier_part_is_listed_with_those_above_it, start, stop),
        cmocka_unit_test(the_fast_way_writes_what_the_slow_way_writes),
        cmocka_unit_test(steps_are_written_as_one_by_one),
        cmocka_unit_test(whole_zones_are_written_as_begin_and_end),
        cmocka_unit_test(a_value_among_steps_is_written_as_an_event),
        cmocka_unit_test(steps_of_any_shape_are_written_as_one_by_one),
        cmocka_unit_test_setup_teardown(a_column_of_noise_is_kept_as_it_is_until_it_is_none, start,
                                        stop),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
