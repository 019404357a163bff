/* test_ring_room.c - names have room of their own in a pool, whoever comes first and however full it is; a wait for room.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

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

static void a_wait_is_not_over_because_the_program_was_stopped(void **state)
{
    enum { LONGER_THAN_A_WAIT_US = 1200000 };
    struct strobe_control *control = fake->pool.control;
    int status = 0;
    (void)state;
    pid_t child = fork();
    if (!child)
        _exit(wait_for_segment());
    while (!__atomic_load_n(&control->n_waiting, __ATOMIC_SEQ_CST))
        sched_yield();
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    usleep(LONGER_THAN_A_WAIT_US);
    for (uint32_t i = 1; i < control->n_chunks; i++) /* the recorder gives back */
        if (fake->pool.chunks[i].class_ == STROBE_CHUNK_LARGE)
            __atomic_store_n(&fake->pool.chunks[i].free_bits, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&control->n_given, 1, __ATOMIC_SEQ_CST);
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_thread_that_comes_before_any_name_leaves_names_their_chunk, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(a_segment_that_is_taken_first_leaves_names_their_chunk,
                                        open_pool, close_pool),
        cmocka_unit_test_setup_teardown(a_wait_is_not_over_because_the_program_was_stopped,
                                        open_pool, close_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
