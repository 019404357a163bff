/* test_addresses.c - addresses of programs' own stacks come to the files that they are in.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sample/addresses.h"

/* The mapping of this program that its code is in. */
static struct strobe_mapped_file own_file(uint32_t proc, char *path, size_t room)
{
    struct strobe_mapped_file file = {
        .proc = proc, .pid = (uint32_t)getpid(), .build_id = "", .path = path};
    char line[4096];
    unsigned long long start, end, offset;
    FILE *maps = fopen("/proc/self/maps", "re");
    int at = 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &start, &end, &offset, &at) < 3 ||
            (uintptr_t)own_file < start || (uintptr_t)own_file >= end)
            continue;
        file.start = start;
        file.end = end;
        file.offset = offset;
        snprintf(path, room, "%.*s", (int)strcspn(line + at, "\n"), line + at);
    }
    fclose(maps);
    return file;
}

/* Put a module and a stack of it, in this order or the other. */
static void put(struct strobe_addresses *addresses, uint32_t proc, bool stack_first)
{
    static char path[4096];
    struct strobe_mapped_file file = own_file(proc, path, sizeof path);
    const uint64_t list[] = {(uintptr_t)own_file, (uintptr_t)put, 16};
    if (stack_first)
        strobe_addresses_stack(addresses, proc, list, 3);
    strobe_addresses_module(addresses, &file);
    if (!stack_first)
        strobe_addresses_stack(addresses, proc, list, 3);
}

static void addresses_come_to_their_file_in_either_order(void **state)
{
    (void)state;
    static struct strobe_addresses addresses;
    static struct strobe_wanted wanted;
    struct strobe_modules modules;
    assert_int_equal(strobe_modules_init(&modules), STROBE_OK);
    put(&addresses, 3, false);
    put(&addresses, 4, true);
    put(&addresses, 3, false); /* again: nothing new */
    strobe_addresses_move(&addresses, &wanted, &modules);
    assert_int_equal(wanted.n, 4); /* two in each process, and the third is in no file */
    assert_int_equal(modules.n, 1);
    assert_true(modules.items[0]->fd >= 0);
    for (uint32_t i = 0; i < wanted.n; i++) {
        assert_int_equal(wanted.rows[i].module, 1);
        assert_true(wanted.rows[i].proc == 3 || wanted.rows[i].proc == 4);
    }
    assert_int_equal(addresses.wanted.n, 0);
    strobe_wanted_free(&wanted);
    strobe_modules_free(&modules);
}

static void a_file_that_a_sampler_has_is_not_there_twice(void **state)
{
    (void)state;
    static struct strobe_addresses addresses;
    static struct strobe_wanted wanted;
    struct strobe_modules modules;
    assert_int_equal(strobe_modules_init(&modules), STROBE_OK);
    for (uint32_t proc = 1; proc < 3; proc++) {
        put(&addresses, proc, false);
        strobe_addresses_move(&addresses, &wanted, &modules);
        assert_int_equal(modules.n, 1);
        assert_int_equal(wanted.n, 2 * proc);
    }
    strobe_wanted_free(&wanted);
    strobe_modules_free(&modules);
}

static void what_a_program_says_wrong_has_no_name(void **state)
{
    (void)state;
    static struct strobe_addresses addresses;
    static struct strobe_wanted wanted;
    struct strobe_modules modules;
    static char path[4096], longest[8000];
    struct strobe_mapped_file file = own_file(1, path, sizeof path), bad = file;
    const uint64_t list[] = {file.start + 16};
    memset(longest, 'a', sizeof longest - 1);
    assert_int_equal(strobe_modules_init(&modules), STROBE_OK);
    bad.path = longest;
    strobe_addresses_module(&addresses, &bad);
    bad.path = path;
    bad.build_id = "0123456789012345678901234567890123456789"; /* of another file */
    strobe_addresses_module(&addresses, &bad);
    bad.end = bad.start - 1;
    strobe_addresses_module(&addresses, &bad);
    strobe_addresses_stack(&addresses, 1, list, 1);
    strobe_addresses_stack(&addresses, 1, list, 0);
    strobe_addresses_move(&addresses, &wanted, &modules);
    assert_int_equal(wanted.n, 0);
    strobe_wanted_free(&wanted);
    strobe_modules_free(&modules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_come_to_their_file_in_either_order),
        cmocka_unit_test(a_file_that_a_sampler_has_is_not_there_twice),
        cmocka_unit_test(what_a_program_says_wrong_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
