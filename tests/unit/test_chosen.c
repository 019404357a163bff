/* test_chosen.c - which functions and marks patterns mean.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "sample/chosen.h"

static void a_pattern_without_a_file_means_functions_of_any(void **state)
{
    (void)state;
    assert_true(strobe_chosen_function("leaf", "/lib/a.so", "leaf"));
    assert_true(!strobe_chosen_function("leaf", "/lib/a.so", "leaflet"));
    assert_true(strobe_chosen_function("lea*", "/lib/a.so", "leaflet"));
}

static void a_file_is_meant_by_its_name_not_by_its_folder(void **state)
{
    (void)state;
    assert_true(strobe_chosen_function("a.so*:f", "/lib/a.so.1", "f"));
    assert_true(!strobe_chosen_function("lib*:f", "/lib/a.so.1", "f"));
    assert_true(strobe_chosen_file("a.so*:f", "/lib/a.so.1"));
    assert_true(!strobe_chosen_file("f", "/lib/a.so.1"));
}

static void what_is_left_out_wins_and_alone_leaves_the_rest(void **state)
{
    (void)state;
    assert_true(!strobe_chosen_function("*\n!f", "/a", "f"));
    assert_true(!strobe_chosen_function("!f\n*", "/a", "f"));
    assert_true(strobe_chosen_function("!f", "/a", "g"));
    assert_true(strobe_chosen_function("", "/a", "g"));
}

static void names_of_cxx_are_meant_by_their_scopes_or_as_they_are(void **state)
{
    (void)state;
    assert_true(strobe_chosen_function("scope::*", "/a", "_ZN5scope4nameEi"));
    assert_true(strobe_chosen_function("a:scope::name", "/a", "_ZNK5scope4nameEv"));
    assert_true(strobe_chosen_function("_ZN5scope4nameEi", "/a", "_ZN5scope4nameEi"));
    assert_true(!strobe_chosen_function("scope::nam", "/a", "_ZN5scope4nameEi"));
}

static void scopes_of_a_mangled_name_end_where_it_is_not_plain(void **state)
{
    (void)state;
    char out[32];
    assert_true(strobe_chosen_scopes("_Z4funcv", out, sizeof out) == 4 && !strcmp(out, "func"));
    assert_true(strobe_chosen_scopes("_ZN1a1bC2Ev", out, sizeof out) && !strcmp(out, "a::b::b"));
    assert_true(strobe_chosen_scopes("_ZN1a1bD0Ev", out, sizeof out) && !strcmp(out, "a::b::~b"));
    assert_true(!strobe_chosen_scopes("main", out, sizeof out));
    assert_true(!strobe_chosen_scopes("_Z99short", out, sizeof out));
    assert_true(!strobe_chosen_scopes("_ZN", out, sizeof out));
}

static void a_mark_is_meant_by_file_provider_and_name_alone(void **state)
{
    (void)state;
    assert_true(strobe_chosen_mark("libc*:libc:long*", "/lib/libc.so.6", "libc:longjmp"));
    assert_true(!strobe_chosen_mark("libc*:*", "/lib/libc.so.6", "libc:longjmp"));
    assert_true(!strobe_chosen_mark("libm*:libc:*", "/lib/libc.so.6", "libc:longjmp"));
    assert_true(!strobe_chosen_mark("*:*:*\n!*:libc:*", "/lib/libc.so.6", "libc:longjmp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_without_a_file_means_functions_of_any),
        cmocka_unit_test(a_file_is_meant_by_its_name_not_by_its_folder),
        cmocka_unit_test(what_is_left_out_wins_and_alone_leaves_the_rest),
        cmocka_unit_test(names_of_cxx_are_meant_by_their_scopes_or_as_they_are),
        cmocka_unit_test(scopes_of_a_mangled_name_end_where_it_is_not_plain),
        cmocka_unit_test(a_mark_is_meant_by_file_provider_and_name_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
