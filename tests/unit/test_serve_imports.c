/* test_serve_imports.c - files of other profilers on their way: one import per file, however many want it.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "serve/imports.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_ended, n_begun, may_end;

/* Converts when it may; a file named "bad" can't be. */
static int convert(void *context, const char *path, char *out, size_t room,
                   struct strobe_import_watch *watch)
{
    (void)context;
    pthread_mutex_lock(&lock);
    n_begun++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    watch->per_mille = 500;
    for (int is_over = 0; !is_over && !watch->is_cancelled; sched_yield()) {
        pthread_mutex_lock(&lock);
        is_over = may_end;
        pthread_mutex_unlock(&lock);
    }
    snprintf(watch->why, sizeof watch->why, "it is bad");
    snprintf(out, room, "%s.strobe", path);
    return strcmp(path, "bad") != 0;
}

static void wake(void *context)
{
    (void)context;
    pthread_mutex_lock(&lock);
    n_ended++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_until(const int *counter, int n)
{
    pthread_mutex_lock(&lock);
    while (*counter < n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void let_end(int may)
{
    pthread_mutex_lock(&lock);
    may_end = may;
    pthread_mutex_unlock(&lock);
}

static struct strobe_imports *start(void)
{
    n_ended = n_begun = 0;
    let_end(0);
    struct strobe_imports *imports = strobe_imports_new(convert, NULL, wake, NULL);
    assert_non_null(imports);
    return imports;
}

/* The thread wakes its owner before or after it is seen to have ended. */
static enum strobe_import_state wait_for_end(const struct strobe_import *import, const char **text)
{
    enum strobe_import_state state;
    while ((state = strobe_import_state(import, text)) == STROBE_IMPORT_RUNNING)
        sched_yield();
    return state;
}

static void one_import_serves_all_that_want_the_file(void **state)
{
    const char *text;
    (void)state;
    struct strobe_imports *imports = start();
    struct strobe_import *first = strobe_imports_want(imports, "a.json");
    assert_non_null(first);
    assert_ptr_equal(strobe_imports_want(imports, "a.json"), first);
    wait_until(&n_begun, 1);
    assert_int_equal(strobe_import_state(first, &text), STROBE_IMPORT_RUNNING);
    let_end(1);
    assert_int_equal(wait_for_end(first, &text), STROBE_IMPORT_DONE);
    assert_string_equal(text, "a.json.strobe");
    assert_int_equal(n_begun, 1);
    strobe_imports_leave(imports, first);
    strobe_imports_leave(imports, first);
    strobe_imports_free(imports);
}

static void an_import_that_fails_says_why(void **state)
{
    const char *text;
    (void)state;
    struct strobe_imports *imports = start();
    struct strobe_import *import = strobe_imports_want(imports, "bad");
    assert_non_null(import);
    let_end(1);
    assert_int_equal(wait_for_end(import, &text), STROBE_IMPORT_FAILED);
    assert_string_equal(text, "it is bad");
    wait_until(&n_ended, 1);
    strobe_imports_leave(imports, import);
    strobe_imports_free(imports);
}

static void an_import_that_nobody_wants_is_cancelled(void **state)
{
    (void)state;
    struct strobe_imports *imports = start();
    struct strobe_import *import = strobe_imports_want(imports, "a.json");
    assert_non_null(import);
    wait_until(&n_begun, 1);
    strobe_imports_leave(imports, import); /* it would run for good else */
    strobe_imports_free(imports);
}

static void there_are_so_many_at_once_and_no_more(void **state)
{
    struct strobe_import *list[STROBE_IMPORTS_MAX];
    char name[16];
    (void)state;
    struct strobe_imports *imports = start();
    for (int i = 0; i < STROBE_IMPORTS_MAX; i++) {
        snprintf(name, sizeof name, "%d.json", i);
        list[i] = strobe_imports_want(imports, name);
        assert_non_null(list[i]);
    }
    assert_null(strobe_imports_want(imports, "one more"));
    assert_ptr_equal(strobe_imports_want(imports, "0.json"), list[0]);
    strobe_imports_free(imports); /* cancels all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_import_serves_all_that_want_the_file),
        cmocka_unit_test(an_import_that_fails_says_why),
        cmocka_unit_test(an_import_that_nobody_wants_is_cancelled),
        cmocka_unit_test(there_are_so_many_at_once_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
