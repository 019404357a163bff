/* test_tracy_session.c - one connection to a Tracy client, by bytes and ticks alone.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "tracy/events.h"
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

/* Events of a client of protocol 82, in a frame of literals. */
struct sent {
    struct strobe_tracy_table table;
    uint8_t bytes[240];
    size_t n;
};

static void add(struct sent *sent, const void *bytes, size_t n)
{
    assert_true(sent->n + n <= sizeof sent->bytes);
    memcpy(sent->bytes + sent->n, bytes, n);
    sent->n += n;
}

static void add_event(struct sent *sent, enum strobe_tracy_event event, const void *fields,
                      size_t n)
{
    uint8_t number = (uint8_t)sent->table.number[event];
    add(sent, &number, 1);
    if (n)
        add(sent, fields, n);
}

static enum strobe_tracy_status deliver(struct strobe_tracy_session *session, struct sent *sent,
                                        uint64_t tick)
{
    uint8_t frame[4 + 2 + sizeof sent->bytes] = {0};
    uint32_t n = 2 + (uint32_t)sent->n;
    assert_in_range(sent->n, 15, 15 + 254);
    memcpy(frame, &n, sizeof n);
    frame[4] = 0xf0;
    frame[5] = (uint8_t)(sent->n - 15);
    memcpy(frame + 6, sent->bytes, sent->n);
    n = 6 + (uint32_t)sent->n;
    sent->n = 0;
    return strobe_tracy_session_feed(session, frame, n, tick);
}

/* What an address is: a function in one frame. */
static void add_symbol(struct sent *sent, uint64_t address)
{
    uint8_t size[9] = {0}, frame[16] = {0};
    memcpy(size, &address, 8);
    size[8] = 1;
    add_event(sent, STROBE_TRACY_SINGLE_STRING_DATA_8, "\5image", 6);
    add_event(sent, STROBE_TRACY_CALLSTACK_FRAME_SIZE, size, sizeof size);
    add_event(sent, STROBE_TRACY_SINGLE_STRING_DATA_8, "\4name", 5);
    add_event(sent, STROBE_TRACY_SECOND_STRING_DATA_8, "\4file", 5);
    add_event(sent, STROBE_TRACY_CALLSTACK_FRAME, frame, sizeof frame);
}

static void names_of_addresses_are_waited_for_while_answers_come(void **state)
{
    struct small_trace t;
    struct strobe_build_store *store = open_store(&t);
    struct strobe_tracy_session *session = greet(store, 0);
    struct sent sent = {.n = 0};
    uint8_t welcome[1 + 1170] = {1}, stack[8 + 2 + 3 * 8] = {0}, sample[6] = {5, 0, 0, 0, 9, 0};
    double mul = 1.0;
    uint64_t address[3] = {0x1000, 0x2000, 0x3000};
    const uint64_t tenth = SECOND / 10;
    (void)state;
    assert_true(strobe_tracy_table_make(82, &sent.table));
    memcpy(welcome + 1, &mul, sizeof mul);
    strobe_tracy_session_feed(session, welcome, sizeof welcome, 11 * tenth);
    stack[8] = sizeof address;
    memcpy(stack + 10, address, sizeof address);
    add_event(&sent, STROBE_TRACY_CALLSTACK_PAYLOAD, stack, sizeof stack);
    add_event(&sent, STROBE_TRACY_CALLSTACK_SAMPLE_16, sample, sizeof sample);
    add_event(&sent, STROBE_TRACY_TERMINATE, NULL, 0);
    assert_int_equal(deliver(session, &sent, 20 * tenth), STROBE_TRACY_RUNNING);
    assert_int_equal(strobe_tracy_session_poll(session, 23 * tenth), STROBE_TRACY_RUNNING);
    add_event(&sent, STROBE_TRACY_THREAD_NAME, "\5\0\0\0\0\0\0\0\4\0main", 14);
    add_symbol(&sent, address[0]);
    assert_int_equal(deliver(session, &sent, 26 * tenth), STROBE_TRACY_RUNNING);
    add_symbol(&sent, address[1]);
    assert_int_equal(deliver(session, &sent, 30 * tenth), STROBE_TRACY_RUNNING);
    assert_int_equal(strobe_tracy_session_poll(session, 34 * tenth), STROBE_TRACY_RUNNING);
    assert_int_equal(strobe_tracy_session_poll(session, 36 * tenth), STROBE_TRACY_DONE);
    leave(&t, store, session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_that_never_answers_is_left_after_five_seconds),
        cmocka_unit_test(a_client_that_lives_is_waited_for_however_late_its_answer),
        cmocka_unit_test(names_of_addresses_are_waited_for_while_answers_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
