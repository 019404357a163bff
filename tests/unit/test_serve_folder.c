/* test_serve_folder.c - the traces of a folder, and nothing else of it.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/folder.h"

static char folder[64];

static void path_of(const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s", folder, name);
}

static void put(const char *name, const char *text, time_t changed)
{
    char path[PATH_MAX];
    path_of(name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    const struct timespec times[2] = {{.tv_sec = changed}, {.tv_sec = changed}};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/strobe-folder-%d-XXXXXX", (int)getpid());
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"old.strobe", "new.strobe",  "same.strobe", "events.json",
                                        "other.json", "link.strobe", "pipe.strobe", "notes.txt"};
    char path[PATH_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(names[i], path);
        unlink(path);
    }
    path_of("folder.strobe", path);
    rmdir(path);
    return rmdir(folder);
}

static void traces_are_listed_newest_first_and_equal_ones_by_name(void **state)
{
    struct strobe_folder list = {0};
    (void)state;
    put("old.strobe", "x", 1000);
    put("new.strobe", "xyz", 2000);
    put("same.strobe", "x", 2000);
    put("notes.txt", "x", 3000);
    assert_int_equal(strobe_folder_list(folder, &list), STROBE_OK);
    assert_int_equal(list.n_files, 3);
    assert_string_equal(list.files[0].name, "same.strobe");
    assert_string_equal(list.files[1].name, "new.strobe");
    assert_string_equal(list.files[2].name, "old.strobe");
    assert_int_equal(list.files[1].n_bytes, 3);
    strobe_folder_free(&list);
}

static void json_is_listed_where_chromes_events_are_in_it(void **state)
{
    struct strobe_folder list = {0};
    (void)state;
    put("events.json", " [{\"ph\":\"X\"}]", 2000);
    put("other.json", "{\"ph\":\"of something else\"}", 2000);
    assert_int_equal(strobe_folder_list(folder, &list), STROBE_OK);
    assert_int_equal(list.n_files, 1);
    assert_string_equal(list.files[0].name, "events.json");
    assert_int_equal(strobe_folder_open(folder, "other.json"), -1);
    strobe_folder_free(&list);
}

static void links_pipes_and_folders_are_neither_listed_nor_opened(void **state)
{
    struct strobe_folder list = {0};
    char path[PATH_MAX];
    (void)state;
    path_of("link.strobe", path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    path_of("pipe.strobe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    path_of("folder.strobe", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(strobe_folder_list(folder, &list), STROBE_OK);
    assert_int_equal(list.n_files, 0);
    assert_int_equal(strobe_folder_open(folder, "link.strobe"), -1);
    assert_int_equal(strobe_folder_open(folder, "pipe.strobe"),
                     -1); /* and does not wait for a writer */
    assert_int_equal(strobe_folder_open(folder, "folder.strobe"), -1);
    assert_int_equal(strobe_folder_delete(folder, "link.strobe"), STROBE_ERR_NOTFOUND);
    strobe_folder_free(&list);
}

static void a_name_with_a_folder_in_it_is_not_found(void **state)
{
    char name[PATH_MAX];
    (void)state;
    put("old.strobe", "x", 1000);
    snprintf(name, sizeof name, "../%s/old.strobe", strrchr(folder, '/') + 1);
    assert_int_equal(strobe_folder_open(folder, name), -1);
    assert_int_equal(strobe_folder_delete(folder, name), STROBE_ERR_NOTFOUND);
}

static void a_trace_is_removed_once(void **state)
{
    (void)state;
    put("old.strobe", "x", 1000);
    assert_int_equal(strobe_folder_delete(folder, "old.strobe"), STROBE_OK);
    assert_int_equal(strobe_folder_delete(folder, "old.strobe"), STROBE_ERR_NOTFOUND);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct strobe_folder list = {0};
    (void)state;
    assert_int_equal(strobe_folder_list("/nowhere/at/all", &list), STROBE_ERR_NOTFOUND);
    assert_int_equal(strobe_folder_open("/nowhere/at/all", "a.strobe"), -1);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(traces_are_listed_newest_first_and_equal_ones_by_name),
        WITH_FOLDER(json_is_listed_where_chromes_events_are_in_it),
        WITH_FOLDER(links_pipes_and_folders_are_neither_listed_nor_opened),
        WITH_FOLDER(a_name_with_a_folder_in_it_is_not_found),
        WITH_FOLDER(a_trace_is_removed_once),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
