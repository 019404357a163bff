/* test_probes.c - arguments of marks, and places in this very program.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "sample/probes.h"

static void arguments_are_numbers_registers_and_memory(void **state)
{
    (void)state;
    struct strobe_probe probe = {0};
    assert_true(strobe_probes_arguments(&probe, "8@%rdi -4@$-5 2@-16(%rbp) 1@%al"));
    assert_true(probe.n_arguments == 4);
    assert_true(probe.arguments[0].how == STROBE_PROBE_REGISTER && probe.arguments[0].reg == 112);
    assert_true(probe.arguments[1].how == STROBE_PROBE_NUMBER && probe.arguments[1].number == -5);
    assert_true(probe.arguments[1].n_bytes == -4);
    assert_true(probe.arguments[2].how == STROBE_PROBE_MEMORY && probe.arguments[2].number == -16);
    assert_true(probe.arguments[2].reg == 32 && probe.arguments[2].n_bytes == 2);
    assert_true(probe.arguments[3].reg == 80);
}

static void an_argument_of_another_kind_ends_the_list(void **state)
{
    (void)state;
    static const char *const odd[] = {"8@%rdi 8@symbol(%rip)", "8@%rdi 8f@%xmm0",
                                      "8@%rdi 9@%rsi",         "8@%rdi @",
                                      "8@%rdi 8@(%",           "8@%rdi 8@4(%rbp,%rax,8)"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct strobe_probe probe = {0};
        assert_true(!strobe_probes_arguments(&probe, odd[i]));
        assert_true(probe.n_arguments == 1);
    }
}

static void more_arguments_than_have_room_are_left_out(void **state)
{
    (void)state;
    struct strobe_probe probe = {0};
    assert_true(!strobe_probes_arguments(&probe, "8@$1 8@$2 8@$3 8@$4 8@$5 8@$6 8@$7"));
    assert_true(probe.n_arguments == STROBE_PROBE_ARGUMENTS);
}

#if defined(__x86_64__)
static void functions_of_a_program_are_found_by_their_symbols_each_once(void **state)
{
    (void)state;
    struct strobe_probes probes = {0};
    char path[4096] = "";
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    assert_true(strobe_probes_find(&probes, path, "main", true) == STROBE_OK);
    assert_true(probes.n == 1 && !strcmp(probes.items[0].name, "main") && probes.items[0].offset);
    assert_true(strobe_probes_find(&probes, path, "main", true) == STROBE_OK);
    assert_true(probes.n == 1);
    strobe_probes_free(&probes);
    assert_true(strobe_probes_find(&probes, path, "main", false) == STROBE_OK);
    assert_true(probes.n == 0);
    strobe_probes_free(&probes);
}

static void so_many_functions_are_probed_and_the_rest_is_counted(void **state)
{
    (void)state;
    struct strobe_probes probes = {0};
    assert_true(strobe_probes_find(&probes, "/proc/self/exe", "*", true) == STROBE_OK);
    assert_true(probes.n <= STROBE_PROBES_MAX);
    assert_true(probes.n == STROBE_PROBES_MAX || !probes.n_left_out);
    strobe_probes_free(&probes);
}
#endif

static void what_is_no_program_is_not_found(void **state)
{
    (void)state;
    struct strobe_probes probes = {0};
    assert_true(strobe_probes_find(&probes, "/etc/passwd", "*", true) == STROBE_ERR_NOTFOUND);
    assert_true(strobe_probes_find(&probes, "/nonexistent", "*", true) == STROBE_ERR_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_numbers_registers_and_memory),
        cmocka_unit_test(an_argument_of_another_kind_ends_the_list),
        cmocka_unit_test(more_arguments_than_have_room_are_left_out),
        cmocka_unit_test(what_is_no_program_is_not_found),
#if defined(__x86_64__)
        cmocka_unit_test(functions_of_a_program_are_found_by_their_symbols_each_once),
        cmocka_unit_test(so_many_functions_are_probed_and_the_rest_is_counted),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
