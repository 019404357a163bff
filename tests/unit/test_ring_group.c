/* test_ring_group.c - the limit of a memory cgroup, from files as the kernel and containers show them.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/group.h"

#define MIB (1ull << 20)

static char folder[64];
static struct strobe_group group;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/strobe-group-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The file below the folder, with its folders. */
static void put(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void find(void)
{
    strobe_group_find_in(&group, folder, folder);
}

static void the_tightest_limit_of_version_2_may_be_of_any_level(void **state)
{
    (void)state;
    put("cgroup", "0::/pod/box\n");
    put("memory.max", "max\n");
    put("pod/memory.max", "33554432\n");
    put("pod/memory.current", "1048576\n");
    put("pod/memory.stat", "anon 100\n");
    put("pod/box/memory.max", "max\n");
    find();
    assert_int_equal(group.version, 2);
    assert_int_equal(group.limit_bytes, 32 * MIB);
    assert_non_null(strstr(group.folder, "/pod"));
    assert_null(strstr(group.folder, "box"));
    assert_int_equal(strobe_group_share(&group), 2 * MIB);
}

static void a_container_finds_its_limit_at_the_root_of_its_mount(void **state)
{
    (void)state;
    put("cgroup", "0::/\n");
    put("memory.max", "6291456\n");
    find();
    assert_int_equal(group.limit_bytes, 6 * MIB);
    put("cgroup",
        "4:memory:/docker/0123\n0::/\n"); /* version 1, no namespace: the mount is the group */
    put("memory.max", "max\n");
    put("memory/memory.stat", "cache 0\nhierarchical_memory_limit 8388608\n");
    find();
    assert_int_equal(group.version, 1);
    assert_int_equal(group.limit_bytes, 8 * MIB);
}

static void version_1_is_found_among_joined_controllers(void **state)
{
    (void)state;
    put("cgroup", "9:name=systemd:/\n7:cpu,memory:/a\n3:cpuset:/\n0::/\n");
    put("memory/a/memory.stat", "cache 0\nhierarchical_memory_limit 6291456\n");
    find();
    assert_int_equal(group.version, 1);
    assert_int_equal(group.limit_bytes, 6 * MIB);
}

static void no_limit_and_no_files_are_no_bound(void **state)
{
    (void)state;
    find();
    assert_int_equal(group.version, 0);
    assert_true(strobe_group_share(&group) == UINT64_MAX && strobe_group_has_room(&group, MIB));
    put("cgroup", "4:memory:/\n0::/\n");
    put("memory.max", "max\n");
    put("memory/memory.stat", "hierarchical_memory_limit 9223372036854771712\n");
    find();
    assert_int_equal(group.version, 0);
    put("cgroup", "garbage\n\n::::\n0");
    find();
    assert_int_equal(group.version, 0);
}

static void an_eighth_of_the_limit_stays_the_programs(void **state)
{
    (void)state;
    put("cgroup", "0::/\n");
    put("memory.max", "8388608\n");
    put("memory.stat", "anon 1\ninactive_file 0\n");
    put("memory.current", "7274496\n"); /* 7 MiB - 64 KiB */
    find();
    assert_true(strobe_group_has_room(&group, 65536));
    assert_false(strobe_group_has_room(&group, 65537));
}

static void files_that_the_kernel_can_drop_are_no_use_of_memory(void **state)
{
    (void)state;
    put("cgroup", "0::/\n");
    put("memory.max", "8388608\n");
    put("memory.current", "8388608\n");
    put("memory.stat", "anon 1\ninactive_file 2097152\nactive_file 2097152\nfile_dirty 1048576\n");
    find();
    assert_true(strobe_group_has_room(&group, 2 * MIB));
    assert_false(strobe_group_has_room(&group, 2 * MIB + 1));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_tightest_limit_of_version_2_may_be_of_any_level),
        CASE(a_container_finds_its_limit_at_the_root_of_its_mount),
        CASE(version_1_is_found_among_joined_controllers),
        CASE(no_limit_and_no_files_are_no_bound),
        CASE(an_eighth_of_the_limit_stays_the_programs),
        CASE(files_that_the_kernel_can_drop_are_no_use_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
