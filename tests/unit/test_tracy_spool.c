/* test_tracy_spool.c - rows of a spool stay what they were, in memory or out of it.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "tracy_file/spool.h"

enum { N_ROWS = 4 << 20 }; /* 32 MiB */

static uint64_t *row_at(const struct strobe_spool *spool, uint64_t i)
{
    return strobe_spool_row(spool, i);
}

static void fill(struct strobe_spool *spool)
{
    for (uint64_t i = 0; i < N_ROWS; i++) {
        uint64_t *row = strobe_spool_add(spool);
        assert_non_null(row);
        *row += i; /* they are zero */
        if (i)
            *row_at(spool, i / 2) += 1; /* one that may have gone */
    }
}

static void check(struct strobe_spool *spool)
{
    assert_int_equal(spool->n, N_ROWS);
    for (uint64_t i = 0; i < N_ROWS; i++) {
        strobe_spool_visit(spool);
        if (*row_at(spool, i) != i + (i >= N_ROWS / 2 ? 0 : i ? 2 : 1))
            fail_msg("row %llu is %llu", (unsigned long long)i,
                     (unsigned long long)*row_at(spool, i));
    }
}

static void rows_in_a_file_come_back_after_they_were_let_go(void **state)
{
    (void)state;
    struct strobe_spool spool = {.row_bytes = 8, .folder = "."};
    fill(&spool);
    check(&spool);
    strobe_spool_rest(&spool);
    check(&spool);
    strobe_spool_free(&spool);
}

static void rows_without_a_file_stay(void **state)
{
    (void)state;
    struct strobe_spool spool = {.row_bytes = 8};
    fill(&spool);
    strobe_spool_rest(&spool);
    check(&spool);
    strobe_spool_free(&spool);
}

/* Bytes of the process in memory that are a file's. */
static uint64_t file_bytes(void)
{
    unsigned long long total, resident, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu %llu", &total, &resident, &shared), 3);
    fclose(file);
    return shared * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void a_long_spool_keeps_little_in_memory(void **state)
{
    (void)state;
    struct strobe_spool spool = {.row_bytes = 8, .folder = "."};
    uint64_t before = file_bytes();
    for (uint64_t i = 0; i < N_ROWS; i++) {
        uint64_t *row = strobe_spool_add(&spool);
        assert_non_null(row);
        *row = i;
    }
    assert_true(file_bytes() < before + (12 << 20));
    strobe_spool_free(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_a_file_come_back_after_they_were_let_go),
        cmocka_unit_test(rows_without_a_file_stay),
        cmocka_unit_test(a_long_spool_keeps_little_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
