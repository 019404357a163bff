/* test_base_assert.c - asserts end a build that has them, and cost nothing in one that has not.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"

static int n_evaluated;

static int evaluate(int value)
{
    n_evaluated++;
    return value;
}

static void a_true_condition_goes_on(void **state)
{
    (void)state;
    n_evaluated = 0;
    STROBE_ASSERT(evaluate(1));
#ifdef STROBE_ASSERTS
    assert_int_equal(n_evaluated, 1);
#else
    assert_int_equal(n_evaluated, 0);
#endif
}

static void a_false_condition_says_where_and_aborts(void **state)
{
    (void)state;
    char said[512] = "";
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        STROBE_ASSERT(evaluate(0) == 1);
        _exit(0);
    }
    close(ends[1]);
    for (size_t n = 0; n < sizeof said - 1;) {
        ssize_t got = read(ends[0], said + n, sizeof said - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
#ifdef STROBE_ASSERTS
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, "test_base_assert.c:"));
    assert_non_null(strstr(said, "evaluate(0) == 1"));
#else
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(said, "");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_true_condition_goes_on),
        cmocka_unit_test(a_false_condition_says_where_and_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
