/* test_tracy_session.c - one connection to a Tracy client, by bytes and ticks alone.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "tracy/session.h"

enum { SECOND = 1000000000 }; /* ticks are ns here */

static struct strobe_build_store *open_store(struct small_trace *t)
{
    struct strobe_build_store *store;
    small_start(t);
    struct strobe_build_store_options options = {.writer = t->writer};
    assert_int_equal(strobe_build_store_open(&options, &store), STROBE_OK);
    return store;
}

static struct strobe_tracy_session *greet(struct strobe_build_store *store, double answer_ns)
{
    struct strobe_tracy_session *session;
    struct strobe_tracy_session_options options = {
        .store = store, .protocol = 82, .tick_ns = 1.0, .answer_ns = answer_ns};
    assert_int_equal(strobe_tracy_session_open(&options, SECOND, &session), STROBE_OK);
    return session;
}

static void leave(struct small_trace *t, struct strobe_build_store *store,
                  struct strobe_tracy_session *session)
{
    strobe_tracy_session_close(session);
    strobe_build_store_close(store);
    small_finish(t);
    small_remove(t);
}

static void a_peer_that_never_answers_is_left_after_five_seconds(void **state)
{
    struct small_trace t;
    struct strobe_build_store *store = open_store(&t);
    struct strobe_tracy_session *session = greet(store, 0);
    (void)state;
    assert_int_equal(strobe_tracy_session_poll(session, 5ull * SECOND), STROBE_TRACY_RUNNING);
    assert_int_equal(strobe_tracy_session_poll(session, 6ull * SECOND), STROBE_TRACY_BROKEN);
    leave(&t, store, session);
}

static void a_client_that_lives_is_waited_for_however_late_its_answer(void **state)
{
    struct small_trace t;
    struct strobe_build_store *store = open_store(&t);
    struct strobe_tracy_session *session = greet(store, 1e17);
    (void)state;
    assert_int_equal(strobe_tracy_session_poll(session, 3600ull * SECOND), STROBE_TRACY_RUNNING);
    assert_true(strobe_tracy_session_deadline(session) > 3600ull * SECOND);
    leave(&t, store, session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_that_never_answers_is_left_after_five_seconds),
        cmocka_unit_test(a_client_that_lives_is_waited_for_however_late_its_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
