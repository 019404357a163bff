/* test_err.c - error codes have words.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"

static void errno_of_a_full_disk_becomes_nospace(void **state)
{
    (void)state;
    assert_int_equal(strobe_err_from_errno(ENOSPC), STROBE_ERR_NOSPACE);
    assert_int_equal(strobe_err_from_errno(EDQUOT), STROBE_ERR_NOSPACE);
}

static void errno_of_no_descriptor_left_says_which_limit(void **state)
{
    (void)state;
    assert_int_equal(strobe_err_from_errno(EMFILE), STROBE_ERR_FILES);
    assert_string_equal(strobe_err_text(STROBE_ERR_FILES), "no file descriptor left (ulimit -n)");
}

static void errno_of_a_file_that_is_too_long_says_which_limit(void **state)
{
    (void)state;
    assert_int_equal(strobe_err_from_errno(EFBIG), STROBE_ERR_LENGTH);
    assert_non_null(strstr(strobe_err_text(STROBE_ERR_LENGTH), "ulimit -f"));
}

static void every_code_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i <= STROBE_ERR_EMPTIED; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(strobe_err_text(i), strobe_err_text(k));
    assert_string_equal(strobe_err_text(12345), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errno_of_a_full_disk_becomes_nospace),
        cmocka_unit_test(errno_of_no_descriptor_left_says_which_limit),
        cmocka_unit_test(errno_of_a_file_that_is_too_long_says_which_limit),
        cmocka_unit_test(every_code_has_a_text_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
