/* test_serve_desk.c - questions about traces and the frames that answer them, over the desk's threads.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include <pthread.h>

#include "serve/desk.h"

enum { BEFORE = 16, ROOM = 4096 };

/* What came out of the desk. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t come;
    uint32_t n;
    uint64_t who[ROOM];
    uint32_t id[ROOM];
    uint8_t is_error[ROOM];
} box = {.lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER};

static struct small_trace small;
static struct strobe_desk *desk;
static struct strobe_desk_trace *trace;

static void take(void *context, struct strobe_desk_trace *of, uint64_t who, uint8_t *frame,
                 size_t n_bytes)
{
    (void)context;
    (void)of;
    assert_true(n_bytes > 8);
    pthread_mutex_lock(&box.lock);
    assert_true(box.n < ROOM);
    box.who[box.n] = who;
    memcpy(&box.id[box.n], frame + BEFORE, sizeof box.id[0]);
    box.is_error[box.n] = memmem(frame + BEFORE, n_bytes, "\"error\"", 7) != NULL;
    box.n++;
    pthread_cond_signal(&box.come);
    pthread_mutex_unlock(&box.lock);
    free(frame);
}

static void wait_for(uint32_t n)
{
    pthread_mutex_lock(&box.lock);
    while (box.n < n)
        pthread_cond_wait(&box.come, &box.lock);
    pthread_mutex_unlock(&box.lock);
}

static int open_desk(void **state)
{
    (void)state;
    small_start(&small);
    small_loc(&small, 1, 1, "work");
    small_put_records(&small);
    small_zones(&small, 1000, 100);
    small_finish(&small);
    box.n = 0;
    desk = strobe_desk_new(take, NULL, BEFORE);
    assert_non_null(desk);
    return strobe_desk_use(desk, small.path, "/tmp", &trace);
}

static int close_desk(void **state)
{
    (void)state;
    strobe_desk_free(desk);
    small_remove(&small);
    return 0;
}

static int ask(uint64_t who, const char *text)
{
    return strobe_desk_ask(desk, trace, who, text, strlen(text));
}

static void an_answer_has_the_questions_id_and_goes_to_who_asked(void **state)
{
    (void)state;
    assert_true(ask(5, "{\"id\":41,\"ask\":\"trace\"}"));
    wait_for(1);
    assert_int_equal(box.who[0], 5);
    assert_int_equal(box.id[0], 41);
    assert_false(box.is_error[0]);
}

static void every_question_gets_one_answer(void **state)
{
    static const char *const asks[] = {"trace",   "stats", "zone", "find",
                                       "no such", "flame", "names"};
    char text[64];
    uint8_t seen[64] = {0};
    (void)state;
    for (uint32_t i = 0; i < 42; i++) {
        snprintf(text, sizeof text, "{\"id\":%u,\"ask\":\"%s\"}", i, asks[i % 7]);
        assert_true(ask(1, text));
    }
    wait_for(42);
    for (uint32_t i = 0; i < 42; i++)
        assert_true(!seen[box.id[i]]++);
}

static void what_is_no_object_is_not_a_question(void **state)
{
    (void)state;
    assert_false(ask(1, "[]"));
    assert_false(ask(1, "{\"ask\":"));
    assert_false(ask(1, ""));
}

static void more_than_64_that_wait_are_refused_and_those_are_answered(void **state)
{
    uint32_t n = 0;
    (void)state;
    while (n < ROOM - 1 &&
           ask(1, "{\"id\":1,\"ask\":\"stats\"}")) /* as fast as can be: some are answered */
        n++;
    assert_true(n >= STROBE_DESK_MAX_WAITING);
    wait_for(n);
    assert_int_equal(box.n, n);
}

static void of_waiting_pixels_the_older_ones_are_overtaken(void **state)
{
    char text[64];
    uint32_t n_answers = 0, n_last = 0;
    enum { N = 50 };
    (void)state;
    for (uint32_t i = 0; i < N; i++) { /* 0 is a number like any other */
        snprintf(text, sizeof text, "{\"id\":%u,\"ask\":\"pixels\",\"width\":9}", i);
        assert_true(ask(1, text));
    }
    wait_for(N);
    for (uint32_t i = 0; i < N; i++) {
        n_answers += !box.is_error[i];
        n_last += box.id[i] == N - 1;
    }
    assert_true(n_answers >= 1); /* the newest is never overtaken */
    assert_int_equal(n_last, 1);
}

static void the_traces_that_are_open_are_bounded(void **state)
{
    struct strobe_desk_trace *again, *none;
    (void)state;
    assert_int_equal(strobe_desk_use(desk, small.path, "/tmp", &again), STROBE_OK);
    assert_ptr_equal(again, trace); /* one, however many use it */
    assert_int_equal(strobe_desk_use(desk, "/nowhere/a.strobe", "/tmp", &none),
                     STROBE_ERR_NOTFOUND);
    strobe_desk_leave(desk, again, 2);
    strobe_desk_leave(desk, trace, 1);
    assert_int_equal(strobe_desk_use(desk, small.path, "/tmp", &trace), STROBE_OK);
}

#define ENDLESS                                                                                    \
    "\"ask\":\"query\",\"sql\":\"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) " \
    "SELECT "                                                                                      \
    "count(*) FROM c\"}"

static void a_long_question_holds_up_no_other_and_ends_when_it_is_cancelled(void **state)
{
    (void)state;
    assert_true(ask(1, "{\"id\":1," ENDLESS));
    assert_true(ask(1, "{\"id\":2," ENDLESS)); /* waits for the first */
    assert_true(ask(1, "{\"id\":3,\"ask\":\"trace\"}"));
    assert_true(ask(1, "{\"id\":4,\"ask\":\"stats\"}"));
    wait_for(2);
    assert_int_equal(box.id[0] + box.id[1], 7);
    assert_true(ask(1, "{\"id\":5,\"ask\":\"cancel\",\"of\":2}"));
    assert_true(ask(1, "{\"id\":6,\"ask\":\"cancel\",\"of\":1}"));
    wait_for(6);
    for (uint32_t i = 2; i < 6; i++)
        assert_int_equal(box.is_error[i], box.id[i] < 3); /* both say that they were stopped */
}

static void who_leaves_ends_its_long_question(void **state)
{
    struct strobe_desk_trace *again;
    (void)state;
    assert_int_equal(strobe_desk_use(desk, small.path, "/tmp", &again), STROBE_OK);
    assert_true(ask(7, "{\"id\":1," ENDLESS));
    assert_true(ask(8, "{\"id\":2,\"ask\":\"query\",\"sql\":\"SELECT count(*) FROM zone\"}"));
    strobe_desk_leave(desk, again, 7);
    for (int i = 0; i < 2; i++) { /* what was begun is answered too: to nobody */
        wait_for((uint32_t)i + 1);
        if (box.who[i] == 8)
            break;
    }
    assert_int_equal(box.who[box.n - 1], 8);
    assert_false(box.is_error[box.n - 1]);
}

static void a_trace_is_closed_while_a_long_question_runs(void **state)
{
    (void)state;
    assert_true(ask(1, "{\"id\":1," ENDLESS)); /* close_desk does the rest */
    assert_true(ask(1, "{\"id\":2," ENDLESS));
}

#define WITH_DESK(test) cmocka_unit_test_setup_teardown(test, open_desk, close_desk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DESK(an_answer_has_the_questions_id_and_goes_to_who_asked),
        WITH_DESK(every_question_gets_one_answer),
        WITH_DESK(what_is_no_object_is_not_a_question),
        WITH_DESK(more_than_64_that_wait_are_refused_and_those_are_answered),
        WITH_DESK(of_waiting_pixels_the_older_ones_are_overtaken),
        WITH_DESK(the_traces_that_are_open_are_bounded),
        WITH_DESK(a_long_question_holds_up_no_other_and_ends_when_it_is_cancelled),
        WITH_DESK(who_leaves_ends_its_long_question),
        WITH_DESK(a_trace_is_closed_while_a_long_question_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
