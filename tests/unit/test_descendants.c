/* test_descendants.c - processes below this one are found in /proc.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/descendants.h"

enum { MAX = 64 };

/* A child with a child of its own, both asleep until they are killed. */
static void start_two(pid_t *child, pid_t *grandchild)
{
    int report[2];
    assert_int_equal(pipe(report), 0);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        pid_t pid = fork();
        if (pid == 0 || write(report[1], &pid, sizeof pid) == sizeof pid)
            pause();
        _exit(1);
    }
    assert_int_equal(read(report[0], grandchild, sizeof *grandchild), sizeof *grandchild);
    close(report[0]);
    close(report[1]);
}

static void end_two(pid_t child, pid_t grandchild)
{
    kill(grandchild, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void children_and_theirs_are_listed_parents_first(void **state)
{
    (void)state;
    pid_t child, grandchild;
    uint32_t pids[MAX];
    start_two(&child, &grandchild);
    assert_int_equal(strobe_descendants_list(pids, MAX, MAX), 2);
    assert_int_equal(pids[0], child);
    assert_int_equal(pids[1], grandchild);
    end_two(child, grandchild);
}

static void no_more_are_listed_than_there_is_room_for(void **state)
{
    (void)state;
    pid_t child, grandchild;
    uint32_t pids[2] = {0, 77};
    start_two(&child, &grandchild);
    assert_int_equal(strobe_descendants_list(pids, 1, MAX), 1);
    assert_int_equal(pids[0], child);
    assert_int_equal(pids[1], 77);
    end_two(child, grandchild);
}

static void a_new_process_is_seen_by_the_newest_pid(void **state)
{
    (void)state;
    pid_t child, grandchild;
    uint32_t before = strobe_descendants_newest();
    assert_int_not_equal(before, 0);
    start_two(&child, &grandchild);
    assert_int_not_equal(strobe_descendants_newest(), before);
    end_two(child, grandchild);
}

static void a_file_longer_than_the_room_is_cut(void **state)
{
    (void)state;
    char text[8];
    assert_int_equal(strobe_descendants_read_text("/proc/self/status", text, sizeof text), 7);
    assert_string_equal(text, "Name:\tt");
    assert_int_equal(strobe_descendants_read_text("/proc/self/no such file", text, sizeof text),
                     -1);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_and_theirs_are_listed_parents_first),
        cmocka_unit_test(no_more_are_listed_than_there_is_room_for),
        cmocka_unit_test(a_new_process_is_seen_by_the_newest_pid),
        cmocka_unit_test(a_file_longer_than_the_room_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
