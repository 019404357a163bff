/* cmocka.h - as much of cmocka as the unit tests use, for machines of 32 bits: the library itself is not there for them. A check that fails
 * prints where, and ends the program.  SPDX-License-Identifier: MIT */
#ifndef STROBE_NARROW_CMOCKA_H
#define STROBE_NARROW_CMOCKA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

static inline void strobe_narrow_check(int is_right, const char *what, const char *file, int line)
{
    if (!is_right) {
        fprintf(stderr, "%s:%d: %s\n", file, line, what);
        exit(1);
    }
}

#define assert_true(c)             strobe_narrow_check(!!(c), #c, __FILE__, __LINE__)
#define assert_false(c)            assert_true(!(c))
#define assert_null(p)             assert_true(!(p))
#define assert_non_null(p)         assert_true(p)
#define assert_int_equal(a, b)     assert_true((uint64_t)(a) == (uint64_t)(b))
#define assert_int_not_equal(a, b) assert_true((uint64_t)(a) != (uint64_t)(b))
#define assert_in_range(a, least, most) \
    assert_true((uint64_t)(a) >= (least) && (uint64_t)(a) <= (most))
#define assert_ptr_equal(a, b)       assert_true((const void *)(a) == (const void *)(b))
#define assert_string_equal(a, b)    assert_true(!strcmp(a, b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define fail_msg(...)                strobe_narrow_check(0, __VA_ARGS__, __FILE__, __LINE__)

// clang-format off: it takes the # for a directive
#define cmocka_unit_test(f) \
    {                       \
#f, f, NULL, NULL   \
    }
#define cmocka_unit_test_setup_teardown(f, setup, teardown) \
    {                                                       \
#f, f, setup, teardown                              \
    }
// clang-format on
#define cmocka_run_group_tests(tests, setup, teardown) \
    strobe_narrow_run(tests, sizeof(tests) / sizeof(tests)[0])

static inline int strobe_narrow_run(const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *state = NULL;
        strobe_narrow_check(!tests[i].setup || !tests[i].setup(&state), "setup", tests[i].name, 0);
        tests[i].run(&state);
        strobe_narrow_check(!tests[i].teardown || !tests[i].teardown(&state), "teardown",
                            tests[i].name, 0);
        printf("ok    %s\n", tests[i].name);
    }
    return 0;
}

#endif
