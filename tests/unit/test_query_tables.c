/* test_query_tables.c - frames of a file that grows: rows go on where they ended, and those made before stay out of memory.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/tables.h"

enum { FRAMES = 40000, STEP = 10 };

static struct small_trace small;
static struct strobe_trace *trace;
static struct strobe_view *view;
static struct strobe_tables tables;

/* A block of frame marks, one every STEP ticks. */
static void put_frames(uint64_t track, uint64_t first_tick, int n)
{
    small_begin_part(&small, 1, track);
    for (int i = 0; i < n; i++)
        small_number(&small, first_tick + STEP * (uint64_t)i, STROBE_KIND_FRAME_MARK, 1);
    small_end_block(&small, track, 2 * (uint64_t)n);
}

static int begin(void **state)
{
    (void)state;
    small_start(&small);
    put_frames(1, 1000, FRAMES);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_view_open(trace, &view), STROBE_OK);
    tables = (struct strobe_tables){.view = view};
    return strobe_tables_update(&tables);
}

static int end(void **state)
{
    (void)state;
    strobe_tables_free(&tables);
    strobe_view_close(view);
    strobe_trace_close(trace);
    small_finish(&small);
    small_remove(&small);
    return 0;
}

static const struct strobe_table *read_on(void)
{
    int grown;
    assert_int_equal(strobe_view_refresh(view, &grown), STROBE_OK);
    assert_true(grown);
    assert_int_equal(strobe_tables_update(&tables), STROBE_OK);
    assert_int_equal(tables.n_tables, 1);
    assert_int_equal(tables.tables[0].kind, STROBE_TABLE_FRAMES);
    return &tables.tables[0];
}

/* Rows that end where the next one begins. */
static void check_rows(const struct strobe_table *table, uint32_t n)
{
    assert_int_equal(table->n_rows, n);
    assert_int_equal(table->rows[0].begin, 1000);
    for (uint32_t i = 1; i < n; i++) {
        assert_true(table->rows[i].begin == table->rows[i - 1].end);
        assert_true(table->rows[i].end >= table->rows[i].begin);
    }
}

/* KiB of files without a name that are in this process's memory, and that it has mapped. */
static void look_at_files(uint64_t *resident, uint64_t *mapped)
{
    char line[512];
    int is_nameless = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    *resident = *mapped = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long number;
        unsigned long start, stop;
        if (sscanf(line, "%lx-%lx ", &start, &stop) == 2)
            is_nameless = strstr(line, "(deleted)") != NULL;
        if (is_nameless && sscanf(line, "Rss: %lu", &number) == 1)
            *resident += number;
        if (is_nameless && sscanf(line, "Size: %lu", &number) == 1)
            *mapped += number;
    }
    fclose(maps);
}

static void frames_go_on_where_they_ended(void **state)
{
    (void)state;
    put_frames(1, 1000 + STEP * FRAMES, 3);
    check_rows(read_on(), FRAMES + 2);
    put_frames(1, 1000 + STEP * (FRAMES + 3), 2);
    const struct strobe_table *table = read_on();
    check_rows(table, FRAMES + 4);
    assert_int_equal(table->rows[FRAMES + 3].end, 1000 + STEP * (FRAMES + 4));
}

static void marks_that_come_late_stand_where_they_belong(void **state)
{
    (void)state;
    put_frames(2, 1005, 100); /* another thread's, each in the middle of a frame */
    const struct strobe_table *table = read_on();
    check_rows(table, FRAMES + 99);
    assert_int_equal(table->rows[0].end, 1005);
    assert_int_equal(table->rows[1].end, 1010);
}

static void what_was_made_long_ago_stays_out_of_memory(void **state)
{
    uint64_t resident, mapped;
    (void)state;
    strobe_tables_rest(&tables);
    look_at_files(&resident, &mapped);
    if (mapped < 1024)
        skip(); /* no folder for such files */
    assert_int_equal(resident, 0);
    put_frames(1, 1000 + STEP * FRAMES, 3);
    read_on();
    look_at_files(&resident, &mapped);
    assert_true(resident < mapped / 4);
}

static void a_walk_over_flat_rows_has_those_of_its_range(void **state)
{
    const struct strobe_table *table = &tables.tables[0];
    struct strobe_rows_place place = strobe_table_place(&tables, table);
    (void)state;
    assert_true(place.is_flat);
    for (uint64_t lo = 990; lo < 1100; lo += 7) {
        struct strobe_row_walk walk = {.place = &place, .lo = lo, .hi = lo + 20};
        const struct strobe_pixel_row *row;
        uint32_t number, n = 0, n_there = 0;
        while ((row = strobe_row_walk_next(&walk, &number))) {
            assert_ptr_equal(row, &table->rows[number]);
            assert_true(row->begin <= lo + 20 && row->end >= lo);
            n++;
        }
        for (uint32_t i = 0; i < table->n_rows; i++)
            n_there += table->rows[i].begin <= lo + 20 && table->rows[i].end >= lo;
        assert_int_equal(n, n_there);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_go_on_where_they_ended, begin, end),
        cmocka_unit_test_setup_teardown(marks_that_come_late_stand_where_they_belong, begin, end),
        cmocka_unit_test_setup_teardown(what_was_made_long_ago_stays_out_of_memory, begin, end),
        cmocka_unit_test_setup_teardown(a_walk_over_flat_rows_has_those_of_its_range, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
