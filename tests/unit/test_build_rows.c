/* test_build_rows.c - rows come out in order, with their texts, whatever went to disk meanwhile.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/rows.h"

enum { N_ROWS = 400000, N_GROUPS = 7, N_TIMES = 1000 };

struct seen {
    struct strobe_rows *rows;
    struct strobe_row last;
    uint64_t n, n_texts;
};

static enum strobe_err take(void *context, const struct strobe_row *row)
{
    struct seen *seen = context;
    const struct strobe_row *last = &seen->last;
    if (seen->n++) {
        assert_true(row->group >= last->group);
        if (row->group == last->group)
            assert_true(row->time >= last->time);
        if (row->group == last->group && row->time == last->time)
            assert_true(row->value > last->value); /* in the order of adding */
    }
    seen->last = *row;
    const char *text = strobe_rows_text(seen->rows, row);
    assert_int_equal(text != NULL, row->n_text != 0);
    if (text) {
        char want[64];
        int n = snprintf(want, sizeof want, "the text of row %llu", (unsigned long long)row->value);
        assert_int_equal(n, row->n_text);
        assert_memory_equal(text, want, (size_t)n);
        seen->n_texts++;
    }
    return STROBE_OK;
}

static void rows_come_in_order_with_their_texts(void **state)
{
    (void)state;
    struct seen seen = {0};
    uint64_t random = 88172645463325252ull, n_texts = 0;
    assert_int_equal(strobe_rows_open("/tmp", &seen.rows), STROBE_OK);
    for (uint64_t i = 0; i < N_ROWS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        struct strobe_row row = {.group = random % N_GROUPS,
                                 .time = (int64_t)(random >> 32) % N_TIMES - 500,
                                 .value = i};
        if (i % 3 == 0) { /* some MB of them: most are in the file when they are asked for */
            char text[64];
            int n = snprintf(text, sizeof text, "the text of row %llu", (unsigned long long)i);
            assert_int_equal(strobe_rows_put_text(seen.rows, text, (uint32_t)n, &row), STROBE_OK);
            n_texts++;
        }
        assert_int_equal(strobe_rows_add(seen.rows, &row), STROBE_OK);
    }
    assert_int_equal(strobe_rows_sorted(seen.rows, take, &seen), STROBE_OK);
    assert_int_equal(seen.n, N_ROWS);
    assert_int_equal(seen.n_texts, n_texts);
    strobe_rows_close(seen.rows);
}

static enum strobe_err refuse(void *context, const struct strobe_row *row)
{
    uint64_t *n = context;
    (void)row;
    return ++*n == 10 ? STROBE_ERR_BUSY : STROBE_OK;
}

static void many_rows_may_be_given_up_at_any_time(void **state)
{
    (void)state;
    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        struct strobe_rows *rows;
        uint64_t n = 0;
        assert_int_equal(strobe_rows_open("/tmp", &rows), STROBE_OK);
        for (uint64_t i = 0; i < N_ROWS; i++)
            assert_int_equal(strobe_rows_add(rows, &(struct strobe_row){.group = 1, .value = i}),
                             STROBE_OK);
        if (is_sorted) {
            assert_int_equal(strobe_rows_sorted(rows, refuse, &n), STROBE_ERR_BUSY);
            assert_int_equal(n, 10);
        }
        strobe_rows_close(rows);
    }
}

static void a_disk_that_fails_is_said_while_rows_are_added(void **state)
{
    struct strobe_rows *rows;
    enum strobe_err err = STROBE_OK;
    (void)state;
    assert_int_equal(strobe_rows_open("/nowhere/at/all", &rows), STROBE_OK);
    for (uint64_t i = 0; i < 4 * N_ROWS && !err; i++)
        err = strobe_rows_add(rows, &(struct strobe_row){.group = 1, .value = i});
    assert_int_equal(err, STROBE_ERR_NOTFOUND);
    strobe_rows_close(rows);
}

static void a_text_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct strobe_rows *rows;
    struct strobe_row row = {0};
    char *text = calloc(1, STROBE_ROWS_TEXT_MAX + 1);
    assert_int_equal(strobe_rows_open("/tmp", &rows), STROBE_OK);
    assert_int_equal(strobe_rows_put_text(rows, text, STROBE_ROWS_TEXT_MAX, &row), STROBE_OK);
    assert_int_equal(strobe_rows_put_text(rows, text, STROBE_ROWS_TEXT_MAX + 1, &row),
                     STROBE_ERR_LIMIT);
    assert_int_equal(row.n_text, STROBE_ROWS_TEXT_MAX); /* as the first call left it */
    strobe_rows_close(rows);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_order_with_their_texts),
        cmocka_unit_test(many_rows_may_be_given_up_at_any_time),
        cmocka_unit_test(a_disk_that_fails_is_said_while_rows_are_added),
        cmocka_unit_test(a_text_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
