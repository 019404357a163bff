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

static void nested_zones_come_back_with_their_self_times(void **state)
{
    (void)state;
    struct strobe_encoder enc;
    struct strobe_track track = {0};
    struct read_back back;
    assert_int_equal(strobe_encode_init(&enc), STROBE_OK);
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
    free_back(&back);
    strobe_track_free(&track);
    strobe_encode_free(&enc);
}

static void a_zone_that_ends_in_a_later_part_keeps_its_begin(void **state)
{
    (void)state;
    struct strobe_encoder enc;
    struct strobe_track track = {0};
    struct read_back back;
    assert_int_equal(strobe_encode_init(&enc), STROBE_OK);
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
    free_back(&back);
    strobe_track_free(&track);
    strobe_encode_free(&enc);
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
    struct strobe_encoder enc;
    struct strobe_track track = {0};
    struct read_back back;
    assert_int_equal(strobe_encode_init(&enc), STROBE_OK);
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
    free_back(&back);
    strobe_track_free(&track);
    strobe_encode_free(&enc);
}

static void a_loose_zone_of_an_earlier_part_is_listed_with_those_above_it(void **state)
{
    (void)state;
    struct strobe_encoder enc;
    struct strobe_track track = {0};
    struct read_back back;
    assert_int_equal(strobe_encode_init(&enc), STROBE_OK);
    strobe_encode_begin_part(&enc, &track, 0, 1, 0);
    for (uint64_t i = 1; i <= 4; i++) {
        strobe_encode_zone_begin(&enc, 100 * i, i);
        if (i == 2)
            strobe_encode_zone_loose(&enc, 100 * i);
    }
    strobe_encode_end_part(&enc, 5);
    strobe_encode_begin_part(&enc, &track, 0, 1, 5);
    strobe_encode_zone_end(&enc, 500, 2);
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
    free_back(&back);
    strobe_track_free(&track);
    strobe_encode_free(&enc);
}

static void ends_that_do_not_fit_are_told_and_not_fatal(void **state)
{
    (void)state;
    struct strobe_encoder enc;
    struct strobe_track track = {0};
    struct read_back back;
    assert_int_equal(strobe_encode_init(&enc), STROBE_OK);
    strobe_encode_begin_part(&enc, &track, 0, 1, 0);
    strobe_encode_zone_end(&enc, 10, 99); /* nothing is open */
    strobe_encode_zone_begin(&enc, 20, 1);
    strobe_encode_zone_begin(&enc, 30, 2);
    strobe_encode_zone_end(&enc, 40, 1); /* 2 has no end */
    strobe_encode_end_part(&enc, 4);
    assert_int_equal(enc.by_kind[STROBE_KIND_ZONE_END_LOST], 1);
    assert_int_equal(enc.by_kind[STROBE_KIND_ZONE_END_POP], 1);
    write_and_read(&enc, &back);
    replay_part(&back, 0);
    int n[4] = {0};
    for (uint32_t i = 0; i < back.replay.n_zones; i++)
        n[back.replay.zones[i].state]++;
    assert_int_equal(n[STROBE_ZONE_ENDED], 1);
    assert_int_equal(n[STROBE_ZONE_UNFINISHED], 1);
    assert_int_equal(n[STROBE_ZONE_NO_BEGIN], 1);
    free_back(&back);
    strobe_track_free(&track);
    strobe_encode_free(&enc);
}

static void the_fast_way_writes_what_the_slow_way_writes(void **state)
{
    (void)state;
    enum { N = 4000 };
    static uint64_t words[N];
    struct strobe_encoder fast, slow;
    struct strobe_track fast_track = {0}, slow_track = {0};
    uint64_t tick = 1ull << 40, prev;
    uint32_t depth = 0, stack[16], seed = 1;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        tick += (seed >> 20) % 700;
        bool begin = depth == 0 || (depth < 16 && (seed >> 16 & 1));
        if (begin)
            stack[depth++] = 1 + (seed >> 8) % 40;
        uint32_t loc = begin ? stack[depth - 1] : stack[--depth];
        words[i] =
            (begin ? STROBE_WORD_BEGIN : STROBE_WORD_END) | (uint64_t)loc << 32 | (uint32_t)tick;
    }
    assert_int_equal(strobe_encode_init(&fast), STROBE_OK);
    assert_int_equal(strobe_encode_init(&slow), STROBE_OK);
    strobe_encode_begin_part(&fast, &fast_track, 0, 1, 0);
    strobe_encode_begin_part(&slow, &slow_track, 0, 1, 0);
    for (const uint64_t *at = words; at < words + N;) {
        uint64_t full = (1ull << 40) | (uint32_t)*at, loc = *at >> 32 & 0x3fffffff;
        if (STROBE_WORD_IS_BEGIN(*at))
            strobe_encode_zone_begin(&fast, full, loc);
        else
            strobe_encode_zone_end(&fast, full, loc);
        prev = full;
        at = strobe_encode_words(&fast, at + 1, words + N, 1u << 8, &prev);
    }
    for (int i = 0; i < N; i++) {
        uint64_t full = (1ull << 40) | (uint32_t)words[i], loc = words[i] >> 32 & 0x3fffffff;
        if (STROBE_WORD_IS_BEGIN(words[i]))
            strobe_encode_zone_begin(&slow, full, loc);
        else
            strobe_encode_zone_end(&slow, full, loc);
    }
    strobe_encode_end_part(&fast, N);
    strobe_encode_end_part(&slow, N);
    assert_int_equal(fast.n_events, N);
    assert_int_equal(fast.n_events, slow.n_events);
    assert_int_equal(fast.n_zones, slow.n_zones);
    assert_int_equal(fast.n_head, slow.n_head);
    assert_memory_equal(fast.head, slow.head, fast.n_head); /* summaries too */
    assert_memory_equal(fast.sym, slow.sym, N);
    assert_memory_equal(fast.dt, slow.dt, N * sizeof *fast.dt);
    strobe_track_free(&fast_track);
    strobe_track_free(&slow_track);
    strobe_encode_free(&fast);
    strobe_encode_free(&slow);
}

static void more_locations_than_a_summary_has_are_encoded_the_fast_way_too(void **state)
{
    (void)state;
    enum { N_LOCS = 400 };
    struct strobe_encoder enc;
    struct strobe_track track = {0};
    struct read_back back;
    assert_int_equal(strobe_encode_init(&enc), STROBE_OK);
    strobe_encode_begin_part(&enc, &track, 1, 1, 0);
    uint64_t prev = 1ull << 40;
    for (uint32_t loc = 1; loc <= N_LOCS;
         loc++) { /* the begin goes the slow way from 193 on, the end the fast one */
        uint64_t words[] = {STROBE_WORD_BEGIN | (uint64_t)loc << 32 | (20 * loc),
                            STROBE_WORD_END | (uint64_t)loc << 32 | (20 * loc + 10)};
        const uint64_t *at = strobe_encode_words(&enc, words, words + 1, 1u << 8, &prev);
        if (at == words)
            strobe_encode_zone_begin(&enc, (1ull << 40) | (20 * loc), loc);
        at = strobe_encode_words(&enc, words + 1, words + 2, 1u << 8, &prev);
        if (at == words + 1)
            strobe_encode_zone_end(&enc, (1ull << 40) | (20 * loc + 10), loc);
    }
    strobe_encode_end_part(&enc, 2 * N_LOCS);
    write_and_read(&enc, &back);
    replay_part(&back, 0);
    assert_int_equal(back.replay.n_zones, N_LOCS);
    free_back(&back);
    strobe_track_free(&track);
    strobe_encode_free(&enc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_zones_come_back_with_their_self_times),
        cmocka_unit_test(a_zone_that_ends_in_a_later_part_keeps_its_begin),
        cmocka_unit_test(ends_that_do_not_fit_are_told_and_not_fatal),
        cmocka_unit_test(a_loose_zone_ends_before_those_in_it_and_after_those_around_it),
        cmocka_unit_test(a_loose_zone_of_an_earlier_part_is_listed_with_those_above_it),
        cmocka_unit_test(the_fast_way_writes_what_the_slow_way_writes),
        cmocka_unit_test(more_locations_than_a_summary_has_are_encoded_the_fast_way_too),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
