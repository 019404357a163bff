/* test_ring_room.c - names have room of their own in a pool, whoever comes first and however full it is; a wait for room.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "../fake_pool.h"

static char folder[64];
static struct fake *fake;

static int open_pool(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/dev/shm/strobe-room-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    fake = fake_open(folder, getppid(), 0, 8, true);
    return 0;
}

static int close_pool(void **state)
{
    (void)state;
    fake_close(fake);
    return rmdir(folder);
}

static bool put_name(void)
{
    const uint64_t words[] = {
        STROBE_WORD_RECORD | (uint64_t)STROBE_META_THREAD_NAME << 48 | 2ull << 32, 1};
    return strobe_ring_meta(&fake->pool, words, 2);
}

/* Take segments for a thread until there is none. */
static uint32_t fill(struct strobe_thread *thread)
{
    enum strobe_loss loss;
    uint32_t n = 0;
    strobe_ring_unlock(&fake->pool);
    while (strobe_ring_next_segment(&fake->pool, thread, &loss)) {
        thread->hot.cursor = 0;
        n++;
    }
    strobe_ring_lock(&fake->pool);
    return n;
}

static void a_thread_that_comes_before_any_name_leaves_names_their_chunk(void **state)
{
    (void)state;
    strobe_ring_lock(&fake->pool);
    struct strobe_thread *thread = strobe_ring_add_thread(&fake->pool, 1);
    assert_non_null(thread);
    assert_non_null(thread->slot);
    assert_true(fill(thread) > 2);
    assert_int_equal(fake->pool.chunks[0].class_, STROBE_CHUNK_MEDIUM);
    for (int i = 0; i < 8 * 1000 / 2; i++) /* the chunk's eight segments of a thousand words */
        assert_true(put_name());
    strobe_ring_unlock(&fake->pool);
}

static void a_segment_that_is_taken_first_leaves_names_their_chunk(void **state)
{
    struct strobe_thread thread = {.track = 1};
    (void)state;
    strobe_ring_lock(&fake->pool);
    assert_true(fill(&thread) > 2);
    assert_true(put_name());
    assert_true((char *)fake->pool.meta < fake->pool.data + STROBE_CHUNK_BYTES);
    strobe_ring_unlock(&fake->pool);
}

/* A thread that found the pool full, with policy drop. */
static struct strobe_thread *dry_thread(void)
{
    fake->pool.control->policy = STROBE_POLICY_DROP;
    fake->pool.control->active = 7;
    fake->pool.dry_ticks = UINT64_MAX; /* however slow the machine */
    strobe_ring_lock(&fake->pool);
    struct strobe_thread *thread = strobe_ring_add_thread(&fake->pool, 1);
    assert_true(fill(thread) > 2);
    strobe_ring_unlock(&fake->pool);
    assert_int_equal(thread->dry.loss, STROBE_LOSS_POOL_FULL);
    return thread;
}

static void who_finds_no_room_need_not_look_until_something_is_given_back(void **state)
{
    (void)state;
    struct strobe_thread *thread = dry_thread();
    assert_true(strobe_ring_is_dry(&fake->pool, &thread->dry, strobe_ring_now(&fake->pool)));
    fake->pool.control->n_given++;
    assert_false(strobe_ring_is_dry(&fake->pool, &thread->dry, strobe_ring_now(&fake->pool)));
}

static void what_was_found_under_one_recorder_says_nothing_under_the_next(void **state)
{
    (void)state;
    struct strobe_thread *thread = dry_thread();
    fake->pool.control->active = 0;
    assert_false(strobe_ring_is_dry(&fake->pool, &thread->dry, strobe_ring_now(&fake->pool)));
    fake->pool.control->active = 8;
    assert_false(strobe_ring_is_dry(&fake->pool, &thread->dry, strobe_ring_now(&fake->pool)));
}

static void a_look_for_room_holds_for_a_moment_only(void **state)
{
    (void)state;
    struct strobe_thread *thread = dry_thread();
    fake->pool.dry_ticks = 1000;
    strobe_ring_note_dry(&fake->pool, &thread->dry, fake->pool.control->n_given,
                         STROBE_LOSS_POOL_FULL);
    uint64_t until = thread->dry.until;
    assert_true(strobe_ring_is_dry(&fake->pool, &thread->dry, until - 1));
    assert_false(strobe_ring_is_dry(&fake->pool, &thread->dry, until + 1));
    assert_false(strobe_ring_is_dry(&fake->pool, &thread->dry, until - 2000));
}

/* A process that finds its pool full and waits. 0: it got a segment. */
static int wait_for_segment(void)
{
    enum strobe_loss loss;
    strobe_ring_lock(&fake->pool);
    struct strobe_thread *thread = strobe_ring_add_thread(&fake->pool, (uint32_t)getpid());
    if (!thread || !fill(thread))
        return 2;
    strobe_ring_unlock(&fake->pool);
    fake->pool.pid = (uint32_t)getpid();
    return !strobe_ring_next_segment(&fake->pool, thread, &loss);
}

/* Start it in a process of its own, and return when it waits. */
static pid_t start_waiting(void)
{
    pid_t child = fork();
    if (!child)
        _exit(wait_for_segment());
    while (!__atomic_load_n(&fake->pool.control->n_waiting, __ATOMIC_SEQ_CST))
        sched_yield();
    return child;
}

/* The recorder gives something back: to this thread, or to others that have taken it before it looks. */
static void give_back(bool is_room)
{
    struct strobe_control *control = fake->pool.control;
    for (uint32_t i = 1; is_room && i < control->n_chunks; i++)
        if (fake->pool.chunks[i].class_ == STROBE_CHUNK_LARGE)
            __atomic_store_n(&fake->pool.chunks[i].free_bits, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&control->n_given, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &control->n_given, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void expect_segment(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_wait_goes_on_while_others_take_what_the_recorder_gives_back(void **state)
{
    enum { GIVEN_EVERY_US = 5000, LONGER_THAN_A_WAIT = 250 };
    (void)state;
    pid_t child = start_waiting();
    for (int i = 0; i < LONGER_THAN_A_WAIT; i++) {
        usleep(GIVEN_EVERY_US);
        give_back(false);
    }
    give_back(true);
    expect_segment(child);
}

static void a_wait_is_not_over_because_the_program_was_stopped(void **state)
{
    enum { LONGER_THAN_A_WAIT_US = 1200000 };
    int status = 0;
    (void)state;
    pid_t child = start_waiting();
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    usleep(LONGER_THAN_A_WAIT_US);
    give_back(true);
    kill(child, SIGCONT);
    expect_segment(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_thread_that_comes_before_any_name_leaves_names_their_chunk, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(a_segment_that_is_taken_first_leaves_names_their_chunk,
                                        open_pool, close_pool),
        cmocka_unit_test_setup_teardown(
            who_finds_no_room_need_not_look_until_something_is_given_back, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(
            what_was_found_under_one_recorder_says_nothing_under_the_next, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(a_look_for_room_holds_for_a_moment_only, open_pool,
                                        close_pool),
        cmocka_unit_test_setup_teardown(a_wait_is_not_over_because_the_program_was_stopped,
                                        open_pool, close_pool),
        cmocka_unit_test_setup_teardown(
            a_wait_goes_on_while_others_take_what_the_recorder_gives_back, open_pool, close_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
