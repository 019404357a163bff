/* test_file_read.c - traces open whole, cut, holed and growing.  SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "file/decode.h"
#include "file/file_read.h"

enum { ZONES = 100 };

/* A trace of one RECORDS block and n EVENTS blocks. */
static void make(struct small_trace *t, int n_blocks)
{
    small_start(t);
    small_loc(t, 1, 1, "zone");
    small_put_records(t);
    for (int i = 0; i < n_blocks; i++)
        small_zones(t, 1000 + 2000 * (uint64_t)i, ZONES);
}

static struct strobe_file *open_file(const struct small_trace *t)
{
    struct strobe_file *file;
    assert_int_equal(strobe_file_open(t->path, &file), STROBE_OK);
    return file;
}

/* Blocks that a walk with this filter loads. */
static int count_blocks(struct strobe_file *file, struct strobe_block_filter filter)
{
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    int n = 0;
    assert_int_equal(strobe_file_iterate(file, &filter, &iter), STROBE_OK);
    while (strobe_file_next_block(iter, &block) == STROBE_OK)
        n++;
    strobe_file_end_iterate(iter);
    strobe_block_free(&block);
    return n;
}

static const struct strobe_block_filter all = {0};
static const struct strobe_block_filter events = {.type = STROBE_BLOCK_EVENTS};

static void a_closed_file_gives_its_totals_at_once(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 3);
    small_finish(&t);
    struct strobe_file *file = open_file(&t);
    const struct strobe_file_facts *facts = strobe_file_facts(file);
    assert_true(facts->closed);
    assert_int_equal(facts->totals.n_of_kind[STROBE_KIND_ZONE_BEGIN], 3 * ZONES);
    assert_int_equal(facts->totals.n_of_kind[STROBE_KIND_ZONE_END], 3 * ZONES);
    assert_string_equal(facts->session, "/session");
    assert_int_equal(facts->n_bytes, small_size(&t));
    assert_int_equal(facts->tail_bytes, 0);
    assert_int_equal(count_blocks(file, all), 4);
    strobe_file_close(file);
    small_remove(&t);
}

static void a_killed_writers_file_has_the_same_blocks(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 3);
    small_kill(&t);
    struct strobe_file *file = open_file(&t);
    assert_false(strobe_file_facts(file)->closed);
    assert_false(strobe_file_facts(file)->totals.has_totals);
    assert_int_equal(strobe_file_facts(file)->next_seq, 4);
    assert_int_equal(strobe_file_facts(file)->end, small_size(&t));
    assert_int_equal(count_blocks(file, all), 4);
    assert_int_equal(strobe_file_facts(file)->n_holes, 0);
    strobe_file_close(file);
    small_remove(&t);
}

static void a_cut_file_ends_after_its_last_whole_block(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 2);
    small_kill(&t);
    uint64_t whole = small_size(&t);
    assert_int_equal(truncate(t.path, (off_t)whole - 9), 0);
    struct strobe_file *file = open_file(&t);
    const struct strobe_file_facts *facts = strobe_file_facts(file);
    assert_int_equal(facts->next_seq, 2);
    assert_true(facts->end < whole - 9);
    assert_int_equal(facts->tail_bytes, whole - 9 - facts->end);
    assert_int_equal(count_blocks(file, all), 2);
    strobe_file_close(file);
    small_remove(&t);
}

static void every_length_of_a_file_opens(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 2);
    small_finish(&t);
    for (uint64_t n = small_size(&t); n > STROBE_FILE_FIRST_BLOCK; n -= 7) {
        assert_int_equal(truncate(t.path, (off_t)n), 0);
        struct strobe_file *file = open_file(&t);
        assert_true(count_blocks(file, all) <= 3);
        strobe_file_close(file);
        if (n < STROBE_FILE_FIRST_BLOCK + 7)
            break;
    }
    small_remove(&t);
}

static void a_hole_is_skipped_and_counted(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 3);
    small_kill(&t);
    struct strobe_file *file = open_file(&t);
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    assert_int_equal(strobe_file_iterate(file, &events, &iter), STROBE_OK);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_OK);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_OK);
    strobe_file_end_iterate(iter);
    small_overwrite(&t, ref.offset, "damage", 6);
    assert_int_equal(count_blocks(file, events), 2);
    assert_int_equal(strobe_file_facts(file)->n_holes, 1);
    assert_int_equal(strobe_file_facts(file)->hole_bytes, ref.n_bytes);
    assert_int_equal(strobe_file_hole(file, 0)->offset, ref.offset);
    assert_null(strobe_file_hole(file, 1));
    assert_int_equal(count_blocks(file, events), 2); /* and is not counted twice */
    assert_int_equal(strobe_file_facts(file)->n_holes, 1);
    strobe_file_close(file);
    small_remove(&t);
}

static void a_damaged_payload_of_a_closed_file_is_a_hole(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 3);
    small_finish(&t);
    struct strobe_file *file = open_file(&t);
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    assert_int_equal(strobe_file_iterate(file, &events, &iter), STROBE_OK);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_OK);
    strobe_file_end_iterate(iter);
    small_overwrite(&t, ref.offset + 80, "damage", 6);
    assert_int_equal(count_blocks(file, events), 2);
    assert_int_equal(strobe_file_facts(file)->n_holes, 1);
    strobe_file_close(file);
    file = open_file(&t);
    assert_int_equal(strobe_file_check(file, NULL), STROBE_OK);
    assert_int_equal(strobe_file_facts(file)->n_holes, 1);
    strobe_file_close(file);
    small_remove(&t);
}

static void a_thousand_blocks_are_found_through_the_index(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 1000);
    small_finish(&t);
    struct strobe_file *file = open_file(&t);
    assert_true(strobe_file_facts(file)->last_index != 0);
    assert_int_equal(count_blocks(file, all), 1001);
    assert_int_equal(count_blocks(file, (struct strobe_block_filter){.type = STROBE_BLOCK_RECORDS}),
                     1);
    const struct strobe_block_filter some = {.type = STROBE_BLOCK_EVENTS,
                                             .by_tick = 1,
                                             .tick_min = 1000 + 2000 * 10,
                                             .tick_max = 1000 + 2000 * 20 + 5};
    assert_int_equal(count_blocks(file, some), 11);
    strobe_file_close(file);
    small_remove(&t);
}

/* A source that counts what is read of it. */
static uint64_t n_read;

static enum strobe_err read_counted(void *context, void *out, size_t n, uint64_t offset)
{
    const struct strobe_source *real = context;
    n_read += n;
    return real->read_at(real->context, out, n, offset);
}

static enum strobe_err size_of_real(void *context, uint64_t *n_bytes)
{
    const struct strobe_source *real = context;
    return real->size(real->context, n_bytes);
}

static void a_stretch_of_nothing_is_read_once(void **state)
{
    (void)state;
    enum { NOTHING = 4 << 20 };
    struct small_trace t;
    struct strobe_file_totals none = {0};
    make(&t, 2);
    strobe_file_abandon(t.writer);
    assert_int_equal(
        strobe_file_append(t.path, small_size(&t) + NOTHING, 3, &none, NULL, 0, &t.writer),
        STROBE_OK);
    small_zones(&t, 100000, ZONES);
    small_finish(&t);
    struct strobe_source real = strobe_source_of_fd(open(t.path, O_RDONLY));
    struct strobe_source counted = {
        .read_at = read_counted, .size = size_of_real, .context = &real};
    struct strobe_file *file;
    assert_int_equal(strobe_file_open_source(&counted, &file), STROBE_OK);
    n_read = 0;
    int n_blocks = count_blocks(file, all);
    assert_true(n_read > NOTHING);
    n_read = 0;
    assert_int_equal(count_blocks(file, all), n_blocks);
    assert_true(n_read < NOTHING / 4);
    strobe_file_close(file);
    real.close(real.context);
    small_remove(&t);
}

static void what_a_range_leaves_out_is_no_hole(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 1000);
    small_finish(&t);
    struct strobe_file *file = open_file(&t);
    for (uint64_t first = 0; first < 1000; first += 111) {
        const struct strobe_block_filter few = {.type = STROBE_BLOCK_EVENTS,
                                                .by_tick = 1,
                                                .tick_min = 1000 + 2000 * first,
                                                .tick_max = 1000 + 2000 * first + 4100};
        assert_in_range(count_blocks(file, few), 1, 3);
    }
    assert_int_equal(strobe_file_facts(file)->n_holes, 0);
    strobe_file_close(file);
    small_remove(&t);
}

static void a_damaged_index_is_scanned_instead(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct small_trace t;
        make(&t, 600);
        if (closed)
            small_finish(&t);
        else
            small_kill(&t);
        struct strobe_file *file = open_file(&t);
        uint64_t index = strobe_file_facts(file)->last_index;
        strobe_file_close(file);
        small_overwrite(&t, index + 100, "damage", 6);
        file = open_file(&t);
        assert_int_equal(count_blocks(file, all), 601);
        strobe_file_close(file);
        small_remove(&t);
    }
}

static void a_killed_file_with_indices_gives_all_blocks(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 700);
    small_kill(&t);
    struct strobe_file *file = open_file(&t);
    assert_true(strobe_file_facts(file)->last_index != 0);
    assert_int_equal(count_blocks(file, all), 701);
    assert_int_equal(count_blocks(file, events), 700);
    strobe_file_close(file);
    small_remove(&t);
}

static void a_growing_file_goes_on_after_refresh(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    make(&t, 1);
    struct strobe_file *file = open_file(&t);
    assert_int_equal(strobe_file_iterate(file, &events, &iter), STROBE_OK);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_OK);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_ERR_END);
    small_zones(&t, 9000, ZONES);
    assert_int_equal(strobe_file_refresh(file), STROBE_OK);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_OK);
    assert_int_equal(ref.head.seq, 2);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_ERR_END);
    small_finish(&t);
    assert_int_equal(strobe_file_refresh(file), STROBE_OK);
    assert_true(strobe_file_facts(file)->closed);
    assert_int_equal(strobe_file_next(iter, &ref), STROBE_ERR_END);
    strobe_file_end_iterate(iter);
    strobe_file_close(file);
    small_remove(&t);
}

static void a_file_without_blocks_opens(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct small_trace t;
        small_start(&t);
        if (closed)
            small_finish(&t);
        else
            small_kill(&t);
        struct strobe_file *file = open_file(&t);
        assert_int_equal(strobe_file_facts(file)->closed, closed);
        assert_int_equal(count_blocks(file, all), 0);
        strobe_file_close(file);
        small_remove(&t);
    }
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_file *file;
    make(&t, 1);
    small_finish(&t);
    const uint32_t newer = STROBE_FILE_VERSION + 1;
    small_overwrite(&t, 8, &newer, sizeof newer);
    assert_int_equal(strobe_file_open(t.path, &file), STROBE_ERR_VERSION);
    assert_null(file);
    assert_int_equal(truncate(t.path, 1000), 0);
    const uint32_t same = 1;
    small_overwrite(&t, 8, &same, sizeof same);
    assert_int_equal(strobe_file_open(t.path, &file), STROBE_ERR_CORRUPT);
    small_overwrite(&t, 0, "GIF89a..", 8);
    assert_int_equal(strobe_file_open(t.path, &file), STROBE_ERR_FORMAT);
    assert_int_equal(truncate(t.path, 0), 0);
    assert_int_equal(strobe_file_open(t.path, &file), STROBE_ERR_FORMAT);
    assert_int_equal(strobe_file_open("/tmp", &file), STROBE_ERR_FORMAT);
    small_remove(&t);
    assert_int_equal(strobe_file_open(t.path, &file), STROBE_ERR_NOTFOUND);
}

static void a_damaged_file_head_still_opens(void **state)
{
    (void)state;
    struct small_trace t;
    make(&t, 2);
    small_finish(&t);
    char zeros[512] = {0};
    small_overwrite(&t, 0, zeros, sizeof zeros);
    struct strobe_file *file = open_file(&t);
    assert_true(strobe_file_facts(file)->head_damaged);
    assert_int_equal(count_blocks(file, all), 3);
    strobe_file_close(file);
    small_remove(&t);
}

static void the_ledgers_newer_slot_counts(void **state)
{
    (void)state;
    struct small_trace t;
    uint8_t slot[STROBE_FILE_LEDGER_SLOT];
    size_t n;
    make(&t, 1);
    struct strobe_records losses = {0};
    for (int i = 0; i < 3; i++) {
        strobe_records_numbers(&losses, STROBE_FACT_LOSS, (const uint64_t[]){1, 1, 3, 5, 10, 20},
                               6);
        assert_int_equal(strobe_file_put_ledger(t.writer, &losses), STROBE_OK);
    }
    size_t want = losses.n_bytes;
    strobe_records_free(&losses);
    small_finish(&t);
    struct strobe_file *file = open_file(&t);
    assert_int_equal(strobe_file_ledger(file, slot, &n), STROBE_OK);
    assert_int_equal(n, want);
    strobe_file_close(file);
    small_remove(&t);
}

/* ---- a column that follows from another ---- */

enum { STEPS = 8000 };

/* A difference of a clock that counts in steps of 26, now and then a long one; or (`is_noise`) of one that does not. */
static uint64_t difference(uint32_t i, bool is_noise)
{
    uint32_t random = i * 2654435761u >> 8;
    if (i % 1999 == 5)
        return i % 2 ? 26 * 300 : 70000;
    return is_noise ? random % 1000 : 26 * (1 + random % 15);
}

static void put_steps(struct small_trace *t, bool is_noise)
{
    uint64_t tick = 1000;
    small_begin_part(t, 1, 1);
    for (uint32_t i = 0; i < STEPS; i++) {
        tick += i ? difference(i, is_noise) : 0;
        if (i % 2)
            strobe_encode_zone_end(&t->enc, tick, 1);
        else
            strobe_encode_zone_begin(&t->enc, tick, 1);
    }
    small_end_block(t, 1, STEPS);
}

/* The first block with events, and where it is in the file. */
static void load_events(const struct small_trace *t, struct strobe_block *block)
{
    struct strobe_file *file = open_file(t);
    struct strobe_block_iter *iter;
    assert_int_equal(strobe_file_iterate(file, &events, &iter), STROBE_OK);
    assert_int_equal(strobe_file_next_block(iter, block), STROBE_OK);
    strobe_file_end_iterate(iter);
    strobe_file_close(file);
}

static void check_steps(const struct strobe_block *block, bool is_noise)
{
    struct strobe_events decoded = {0};
    assert_int_equal(strobe_decode_parts(block, &decoded), STROBE_OK);
    assert_int_equal(strobe_decode_streams(block, 1u << STROBE_HI, &decoded), STROBE_OK);
    assert_int_equal(decoded.n_events, STEPS);
    for (uint32_t i = 1; i < STEPS; i++) {
        uint64_t want = difference(i, is_noise);
        assert_int_equal(decoded.stream[STROBE_LO][i] + 256 * decoded.stream[STROBE_HI][i],
                         want < 65535 ? want : 65535);
    }
    strobe_events_free(&decoded);
}

static void high_bytes_that_follow_from_low_ones_are_a_table(void **state)
{
    (void)state;
    for (int is_noise = 0; is_noise < 2; is_noise++) {
        struct small_trace t;
        struct strobe_block block = {0};
        make(&t, 0);
        put_steps(&t, is_noise);
        small_finish(&t);
        load_events(&t, &block);
        assert_int_equal(block.ref.head.flags, is_noise ? 0 : STROBE_EVENTS_HI_BY_LO);
        check_steps(&block, is_noise);
        strobe_block_free(&block);
        small_remove(&t);
    }
}

static void a_table_that_is_cut_or_wrong_is_refused_or_read(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_block block = {0};
    struct strobe_events decoded = {0};
    uint32_t sizes[STROBE_N_STREAMS][2];
    make(&t, 0);
    put_steps(&t, false);
    small_finish(&t);
    load_events(&t, &block);
    assert_int_equal(strobe_decode_parts(&block, &decoded), STROBE_OK);
    memcpy(sizes, block.body, sizeof sizes);
    uint8_t *body = (uint8_t *)block.body;
    uint8_t *hi = body + sizeof sizes + sizes[STROBE_SYM][1] + sizes[STROBE_LO][1];
    const uint32_t n = sizes[STROBE_HI][1];
    for (uint32_t i = 0; i < n; i++) {
        uint8_t was = hi[i];
        hi[i] = 0xff; /* any value of a byte may come: none is written beside the column */
        strobe_decode_streams(&block, ~0u, &decoded);
        hi[i] = was;
        memcpy(body + 8 * STROBE_HI + 4, &i, sizeof i); /* shorter than it is */
        assert_int_equal(strobe_decode_streams(&block, ~0u, &decoded), STROBE_ERR_CORRUPT);
        memcpy(body + 8 * STROBE_HI + 4, &n, sizeof n);
    }
    assert_int_equal(strobe_decode_streams(&block, ~0u, &decoded), STROBE_OK);
    strobe_events_free(&decoded);
    strobe_block_free(&block);
    small_remove(&t);
}

static void a_file_of_version_1_goes_on_as_one(void **state)
{
    (void)state;
    struct small_trace t;
    struct strobe_block block = {0};
    const uint32_t old = 1;
    make(&t, 0);
    strobe_file_abandon(t.writer);
    uint64_t end = small_size(&t);
    small_overwrite(&t, 8, &old, sizeof old);
    assert_int_equal(
        strobe_file_append(t.path, end, 1, &(struct strobe_file_totals){0}, NULL, 0, &t.writer),
        STROBE_OK);
    put_steps(&t, false);
    small_finish(&t);
    load_events(&t, &block);
    assert_int_equal(block.ref.head.flags, 0);
    check_steps(&block, false);
    strobe_block_free(&block);
    small_remove(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_file_gives_its_totals_at_once),
        cmocka_unit_test(a_killed_writers_file_has_the_same_blocks),
        cmocka_unit_test(a_cut_file_ends_after_its_last_whole_block),
        cmocka_unit_test(every_length_of_a_file_opens),
        cmocka_unit_test(a_hole_is_skipped_and_counted),
        cmocka_unit_test(a_damaged_payload_of_a_closed_file_is_a_hole),
        cmocka_unit_test(a_thousand_blocks_are_found_through_the_index),
        cmocka_unit_test(a_stretch_of_nothing_is_read_once),
        cmocka_unit_test(what_a_range_leaves_out_is_no_hole),
        cmocka_unit_test(a_damaged_index_is_scanned_instead),
        cmocka_unit_test(a_killed_file_with_indices_gives_all_blocks),
        cmocka_unit_test(a_growing_file_goes_on_after_refresh),
        cmocka_unit_test(a_file_without_blocks_opens),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(a_damaged_file_head_still_opens),
        cmocka_unit_test(the_ledgers_newer_slot_counts),
        cmocka_unit_test(high_bytes_that_follow_from_low_ones_are_a_table),
        cmocka_unit_test(a_table_that_is_cut_or_wrong_is_refused_or_read),
        cmocka_unit_test(a_file_of_version_1_goes_on_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
