/* test_ring_threads.c - both halves of the rings as threads of one process: emitters and a
 * recorder. Under the thread sanitizer this is the proof that every shared word is passed on
 * properly. SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector.h"
#include "strobe/strobe.h"

enum { N_THREADS = 4, N_ZONES = 60000 };

static char folder[256], trace[300];
static int stop_recorder;

static void *record(void *context)
{
    struct strobe_collector *c = context;
    while (!__atomic_load_n(&stop_recorder, __ATOMIC_ACQUIRE)) {
        strobe_collector_beat(c);
        strobe_collector_poll(c, true);
        usleep(500);
    }
    return NULL;
}

static void *emit(void *context)
{
    int number = (int)(intptr_t)context;
    char name[32];
    snprintf(name, sizeof name, "emitter %d", number);
    strobe_set_thread_name(name);
    for (int i = 0; i < N_ZONES; i++) {
        STROBE_SCOPE("outer");
        if (i % 100 == 0)
            STROBE_TEXT("every hundredth");
        STROBE_ZONE(inner, "inner");
        STROBE_ZONE_END(inner);
    }
    return NULL;
}

/* The collector over this very process, attached to the default session. */
static struct strobe_collector *open_collector(struct strobe_file_writer **writer)
{
    char dir[STROBE_PATH_MAX];
    struct strobe_collector *c = NULL;
    assert_int_equal(strobe_session_dir(STROBE_DEFAULT_SESSION, false, dir), STROBE_OK);
    assert_int_equal(strobe_file_create(trace, dir, 0, writer), STROBE_OK);
    struct strobe_collector_options options = {.session_dir = dir, .stack_depth = 8};
    assert_int_equal(strobe_collector_open(&options, *writer, &c), STROBE_OK);
    strobe_collector_poll(c, false); /* finds us and opens the gate */
    return c;
}

static void every_event_of_every_thread_is_stored_once(void **state)
{
    (void)state;
    struct strobe_file_writer *writer = NULL;
    pthread_t recorder, emitters[N_THREADS];
    struct strobe_collector *c = open_collector(&writer);
    assert_true(strobe_recording());
    assert_int_equal(pthread_create(&recorder, NULL, record, c), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&emitters[i], NULL, emit, (void *)(intptr_t)i), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(emitters[i], NULL);
    __atomic_store_n(&stop_recorder, 1, __ATOMIC_RELEASE);
    pthread_join(recorder, NULL);
    strobe_collector_stop(c);
    struct strobe_collector_status status = strobe_collector_status(c);
    assert_int_equal(status.n_lost, 0);
    assert_int_equal(status.n_zones, 2 * N_THREADS * N_ZONES);
    assert_int_equal(status.n_events, N_THREADS * (4 * N_ZONES + N_ZONES / 100));
    assert_false(strobe_recording());
    assert_int_equal(strobe_collector_close(c), STROBE_OK);
    assert_int_equal(strobe_file_finish(writer), STROBE_OK);
}

static void a_second_recorder_gets_all_names_again(void **state)
{
    (void)state;
    struct strobe_file_writer *writer = NULL;
    struct strobe_collector *c = open_collector(&writer);
    emit((void *)(intptr_t)0);
    strobe_collector_stop(c);
    assert_int_equal(strobe_collector_status(c).n_zones, 2 * N_ZONES);
    assert_int_equal(strobe_collector_close(c), STROBE_OK);
    assert_int_equal(strobe_file_finish(writer), STROBE_OK);
}

/* The library joins in a constructor: start again with a folder of our own. */
static void start_in_own_folder(char **argv)
{
    if (getenv("STROBE_TEST_FOLDER"))
        return;
    char own[] = "/dev/shm/strobe-test-XXXXXX";
    if (!mkdtemp(own))
        exit(1);
    setenv("STROBE_DIR", own, 1);
    setenv("STROBE_TEST_FOLDER", own, 1);
    unsetenv("STROBE_SESSION");
    execv("/proc/self/exe", argv);
    exit(1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_of_every_thread_is_stored_once),
        cmocka_unit_test(a_second_recorder_gets_all_names_again),
    };
    (void)argc;
    start_in_own_folder(argv);
    snprintf(folder, sizeof folder, "%s", getenv("STROBE_TEST_FOLDER"));
    snprintf(trace, sizeof trace, "%s/out.strobe", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) || failed;
}
