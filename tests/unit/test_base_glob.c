/* test_base_glob.c - names by pattern: what fits, and that it is what the C library says.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fnmatch.h>
#include <string.h>

#include "base/glob.h"

static void a_plain_pattern_is_looked_for_in_the_text(void **state)
{
    (void)state;
    assert_true(strobe_glob_fits("", ""));
    assert_true(strobe_glob_fits("", "step"));
    assert_true(strobe_glob_fits("te", "step"));
    assert_false(strobe_glob_fits("steps", "step"));
    assert_false(strobe_glob_fits("Step", "step"));
}

static void a_question_mark_is_one_character_of_utf8(void **state)
{
    (void)state;
    assert_true(strobe_glob_fits("?", "\xe4\xb8\xbb"));
    assert_true(strobe_glob_fits("a?c", "a\xc3\xa4\x63"));
    assert_false(strobe_glob_fits("??", "\xc3\xa4"));
}

static void a_set_that_does_not_end_is_a_bracket(void **state)
{
    (void)state;
    assert_true(strobe_glob_fits("*[", "a["));
    assert_true(strobe_glob_fits("[", "["));
    assert_false(strobe_glob_fits("[", "a"));
}

static void many_stars_take_no_longer_than_one(void **state)
{
    (void)state;
    char text[4096], pattern[256];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (size_t i = 0; i + 1 < sizeof pattern; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[sizeof pattern - 2] = 'b';
    pattern[sizeof pattern - 1] = 0;
    assert_false(strobe_glob_fits(pattern, text));
}

/* Random patterns and texts of up to five letters; sets one by one, since the library has more kinds of them. */
static void short_patterns_fit_as_those_of_the_library(void **state)
{
    (void)state;
    static const char letters[] = "*?ab-\\", others[] = "ab]-";
    uint32_t seed = 1, n_fits = 0;
    for (int i = 0; i < 300000; i++) {
        char pattern[8] = "", text[8] = "";
        for (int k = 0; k < 5; k++) {
            seed = seed * 1664525 + 1013904223;
            pattern[k] = letters[(seed >> 16) % sizeof letters];
            seed = seed * 1664525 + 1013904223;
            text[k] = others[(seed >> 16) % sizeof others];
        }
        size_t n = strlen(pattern);
        if (!strpbrk(pattern, "*?") || strchr(pattern, '[') || (n && pattern[n - 1] == '\\'))
            continue;
        int due = !fnmatch(pattern, text, 0);
        n_fits += due;
        if (strobe_glob_fits(pattern, text) != due)
            fail_msg("'%s' and '%s': the library says %d", pattern, text, due);
    }
    assert_true(n_fits > 1000);
    static const char *const sets[][2] = {{"[a-c]x", "bx"}, {"[!a-c]x", "dx"},  {"[!a-c]x", "ax"},
                                          {"[]a]", "]"},    {"[a\\]]", "]"},    {"[^a]", "b"},
                                          {"*[0-9]", "a7"}, {"step [01]", "x"}, {"[a-]", "-"}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        assert_int_equal(strobe_glob_fits(sets[i][0], sets[i][1]),
                         !fnmatch(sets[i][0], sets[i][1], 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_pattern_is_looked_for_in_the_text),
        cmocka_unit_test(a_question_mark_is_one_character_of_utf8),
        cmocka_unit_test(a_set_that_does_not_end_is_a_bracket),
        cmocka_unit_test(many_stars_take_no_longer_than_one),
        cmocka_unit_test(short_patterns_fit_as_those_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
