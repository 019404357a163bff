/* test_file_copy.c - blocks of a trace in another one: which, and that they are the same.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "file/copy.h"
#include "file/decode.h"

/* Three blocks of process 1, each far from the others; one of process 2; one that both are in. */
static void make(struct small_trace *t)
{
    small_start(t);
    small_loc(t, 1, 1, "first");
    small_loc(t, 2, 1, "second");
    small_record(t, STROBE_FACT_KEPT, (const uint64_t[]){5}, 1, (const char *const[]){"why"}, 1);
    small_put_records(t);
    for (uint64_t i = 1; i <= 3; i++)
        small_zones(t, i * 1000000, 100);
    small_begin_part(t, 2, 2);
    strobe_encode_zone_begin(&t->enc, 9000000, 1);
    small_end_part(t, 2, 1);
    small_put_events(t);
    small_begin_part(t, 1, 1);
    strobe_encode_zone_begin(&t->enc, 9500000, 1);
    small_end_part(t, 1, 1);
    small_begin_part(t, 2, 2);
    strobe_encode_zone_end(&t->enc, 9600000, 1);
    small_number(t, 9600001, STROBE_KIND_ZONE_VALUE, 5);
    small_end_part(t, 2, 2);
    small_put_events(t);
}

/* What is in a file, block by block. */
struct seen {
    uint32_t n_records, n_events_blocks, n_parts[3]; /* by process */
    uint64_t n_events, hash;                         /* of the stored bytes, in order */
    struct strobe_trace_totals totals;
};

static struct seen look(const char *path)
{
    struct seen seen = {0};
    struct strobe_file *file;
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    struct strobe_events events = {0};
    assert_int_equal(strobe_file_open(path, &file), STROBE_OK);
    seen.totals = strobe_file_facts(file)->totals;
    assert_int_equal(strobe_file_iterate(file, NULL, &iter), STROBE_OK);
    while (strobe_file_next_block(iter, &block) == STROBE_OK) {
        seen.hash = seen.hash * 31 + block.ref.head.payload_hash;
        if (block.ref.head.type == STROBE_BLOCK_RECORDS) {
            seen.n_records += block.ref.head.n_items;
            continue;
        }
        seen.n_events_blocks++;
        assert_int_equal(strobe_decode_parts(&block, &events), STROBE_OK);
        seen.n_events += events.n_events;
        for (uint32_t i = 0; i < events.n_parts; i++)
            seen.n_parts[events.parts[i].proc]++;
    }
    strobe_file_end_iterate(iter);
    strobe_events_free(&events);
    strobe_block_free(&block);
    strobe_file_close(file);
    return seen;
}

/* A copy of the trace, closed, and what is in it. */
static struct seen copy(const struct small_trace *t, const struct strobe_copy_options *options)
{
    char path[80];
    struct strobe_file *file;
    struct strobe_file_writer *to;
    snprintf(path, sizeof path, "%s.copy", t->path);
    assert_int_equal(strobe_file_open(t->path, &file), STROBE_OK);
    assert_int_equal(strobe_file_create(path, "", 0, &to), STROBE_OK);
    assert_int_equal(strobe_copy_blocks(file, options, to), STROBE_OK);
    assert_int_equal(strobe_file_finish(to), STROBE_OK);
    strobe_file_close(file);
    struct seen seen = look(path);
    unlink(path);
    return seen;
}

static void without_options_all_blocks_are_the_same_bytes(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t);
    small_finish(&t);
    struct seen from = look(t.path), to = copy(&t, &(struct strobe_copy_options){0});
    assert_int_equal(to.n_events_blocks, 5);
    assert_int_equal(to.hash, from.hash);
    small_remove(&t);
}

static void a_range_has_all_records_and_the_blocks_in_it(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t);
    small_finish(&t);
    const struct strobe_copy_options range = {
        .by_tick = 1, .tick_min = 2000500, .tick_max = 2999999};
    struct seen seen = copy(&t, &range);
    assert_int_equal(seen.n_records, 3);
    assert_int_equal(seen.n_events_blocks, 1);
    assert_int_equal(seen.n_events, 200);
    small_remove(&t);
}

static void one_type_of_blocks_comes_alone(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t);
    small_finish(&t);
    struct seen seen = copy(&t, &(struct strobe_copy_options){.type = STROBE_BLOCK_RECORDS});
    assert_int_equal(seen.n_records, 3);
    assert_int_equal(seen.n_events_blocks, 0);
    seen = copy(&t, &(struct strobe_copy_options){.type = STROBE_BLOCK_EVENTS});
    assert_int_equal(seen.n_records, 0);
    assert_int_equal(seen.n_events_blocks, 5);
    small_remove(&t);
}

static int is_the_second(void *context, uint64_t proc)
{
    ++*(int *)context;
    return proc == 2;
}

static void of_a_shared_block_only_the_kept_parts_stay(void **state)
{
    (void)state;
    struct small_trace t;
    int n_asked = 0;
    make(&t);
    small_finish(&t);
    const struct strobe_copy_options options = {
        .keeps = is_the_second, .context = &n_asked, .counts = 1};
    struct seen seen = copy(&t, &options);
    assert_true(n_asked > 0);
    assert_int_equal(seen.n_records, 2); /* its location, and what belongs to nobody */
    assert_int_equal(seen.n_events_blocks, 2);
    assert_int_equal(seen.n_parts[1], 0);
    assert_int_equal(seen.n_parts[2], 2);
    assert_int_equal(seen.totals.n_of_kind[STROBE_KIND_ZONE_BEGIN], 1);
    assert_int_equal(seen.totals.n_of_kind[STROBE_KIND_ZONE_END], 1);
    assert_int_equal(seen.totals.n_of_kind[STROBE_KIND_ZONE_VALUE], 1);
    small_remove(&t);
}

static void counted_kinds_are_those_of_the_first_writer(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t);
    small_finish(&t);
    struct seen from = look(t.path), to = copy(&t, &(struct strobe_copy_options){.counts = 1});
    assert_true(from.totals.has_totals && to.totals.has_totals);
    assert_memory_equal(to.totals.n_of_kind, from.totals.n_of_kind, sizeof to.totals.n_of_kind);
    assert_int_equal(to.totals.tick_first, from.totals.tick_first);
    assert_int_equal(to.totals.tick_last, from.totals.tick_last);
    small_remove(&t);
}

static void a_damaged_block_is_left_out(void **state)
{
    (void)state;
    struct small_trace t;
    small_start(&t);
    small_zones(&t, 1000000, 100);
    uint64_t at = strobe_file_n_bytes(t.writer);
    small_zones(&t, 2000000, 100);
    small_finish(&t);
    small_overwrite(&t, at + sizeof(struct strobe_block_head) + 3, "damage", 6);
    struct seen seen = copy(&t, &(struct strobe_copy_options){0});
    assert_int_equal(seen.n_events_blocks, 1);
    assert_int_equal(seen.n_events, 200);
    small_remove(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_all_blocks_are_the_same_bytes),
        cmocka_unit_test(a_range_has_all_records_and_the_blocks_in_it),
        cmocka_unit_test(one_type_of_blocks_comes_alone),
        cmocka_unit_test(of_a_shared_block_only_the_kept_parts_stay),
        cmocka_unit_test(counted_kinds_are_those_of_the_first_writer),
        cmocka_unit_test(a_damaged_block_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
