/* test_collector.c - the collector over pools that the test itself fills: what is taken, when segments go back, what is lost
 * and why, who is asked for unwritten words, who is heard at the end.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../fake_pool.h"

enum { N_CHUNKS = 32 };

static struct {
    char dir[64], trace[96];
    pid_t pid;
    struct sigaction on_sigbus; /* the collector's, which cmocka takes away for each test */
    struct strobe_file_writer *writer;
    struct strobe_collector *c;
} test;

static int open_recording(void **state)
{
    (void)state;
    snprintf(test.dir, sizeof test.dir, "/dev/shm/strobe-test-XXXXXX");
    if (!mkdtemp(test.dir))
        return 1;
    snprintf(test.trace, sizeof test.trace, "%s/out.strobe", test.dir);
    struct strobe_collector_options options = {.session_dir = test.dir};
    return strobe_file_create(test.trace, test.dir, 0, &test.writer) ||
           strobe_collector_open(&options, test.writer, &test.c);
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", test.dir);
    return system(command);
}

static struct fake *open_fake(uint32_t image)
{
    return fake_open(test.dir, test.pid, image, N_CHUNKS, true);
}

static void close_recording(void)
{
    assert_int_equal(strobe_collector_close(test.c), STROBE_OK);
    assert_int_equal(strobe_file_finish(test.writer), STROBE_OK);
}

/* The recording's end; the file is whole then. */
static void finish(void)
{
    strobe_collector_stop(test.c);
    close_recording();
}

static void assert_losses(const struct fake_found *found, enum strobe_loss cause, uint64_t n)
{
    for (uint32_t i = 0; i < STROBE_LOSS_COUNT; i++)
        assert_int_equal(found->lost[i], i == cause ? n : 0);
}

static uint32_t n_free_segments(const struct fake *fake)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fake->pool.control->n_chunks; i++)
        n += (uint32_t)__builtin_popcountll(fake->pool.chunks[i].free_bits);
    return n;
}

static struct strobe_stream_state *stream_of(const struct fake *fake,
                                             const struct strobe_thread *thread)
{
    return strobe_collector_stream(fake_proc(test.c, fake), thread->track);
}

/* ---- draining ---- */

static void every_event_of_every_process_is_stored_once(void **state)
{
    (void)state;
    struct fake *fakes[3];
    uint32_t ids[3];
    for (uint32_t i = 0; i < 3; i++) {
        fakes[i] = open_fake(i);
        fake_loc(fakes[i], 1, "zone");
    }
    for (int round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 3; i++) {
            struct strobe_thread *thread = fake_thread(fakes[i], (uint32_t)(1000 + round));
            fake_zones(fakes[i], thread, 50 + 10 * (uint32_t)round);
            uint64_t plot[] = {1, 77};
            fake_record(fakes[i], thread, STROBE_KIND_PLOT_INT, plot, 2);
            if (round % 3)
                fake_end_thread(fakes[i], thread);
        }
        strobe_collector_poll(test.c, round % 2);
    }
    for (int i = 0; i < 3; i++)
        ids[i] = fake_id(test.c, fakes[i]);
    fake_die(fakes[2]);
    finish();
    for (int i = 0; i < 3; i++) {
        struct fake_found found = fake_find(test.trace, ids[i]);
        assert_int_equal(found.n_events, fakes[i]->n_emitted);
        assert_losses(&found, 0, 0);
        fake_close(fakes[i]);
    }
}

/* A thread stood still between its reservation and its store while one recorder left and this one came. */
static void a_begin_under_an_id_of_an_earlier_recorder_has_a_name(void **state)
{
    (void)state;
    struct fake *fake = fake_open(test.dir, test.pid, 0, N_CHUNKS, false);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    fake_zones(fake, thread, 2);
    uint64_t *word = fake_reserve(fake, thread, 1);
    strobe_collector_poll(test.c, true); /* attaches: ids from 100 on are its own */
    __atomic_store_n(word, STROBE_WORD_BEGIN | 7ull << 32 | 1, __ATOMIC_RELEASE);
    strobe_collector_poll(test.c, true);
    uint32_t id = fake_id(test.c, fake);
    finish();
    struct fake_found found = fake_find(test.trace, id);
    assert_int_equal(found.n_events, 1);
    assert_int_equal(found.n_locs, 1);
    fake_close(fake);
}

static void a_segment_goes_back_after_its_block_is_written(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    strobe_collector_poll(test.c, true);
    struct strobe_proc *proc = fake_proc(test.c, fake);
    fake_zones(fake, thread, 61); /* the first segment, and two words of the second */
    uint32_t n_before = n_free_segments(fake);
    strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
    strobe_collector_drain(test.c, proc, stream_of(fake, thread));
    assert_int_equal(test.c->n_pending, 1);
    assert_int_equal(n_free_segments(fake), n_before);
    assert_int_equal(strobe_collector_status(test.c).n_events, 0);
    strobe_collector_flush_events(test.c);
    assert_int_equal(n_free_segments(fake), n_before + 1);
    assert_int_equal(test.c->n_pending, 0);
    assert_int_equal(strobe_collector_status(test.c).n_events, 122);
    finish();
    fake_close(fake);
}

static void a_full_pool_drops_until_segments_come_back(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    while (fake_word(fake, thread, STROBE_WORD_BEGIN | 1ull << 32))
        ;
    fake_zones(fake, thread, 5);
    strobe_collector_poll(test.c, true);
    uint32_t id = fake_id(test.c, fake);
    fake_zones(fake, thread, 100);
    fake_die(fake);
    finish();
    struct fake_found found = fake_find(test.trace, id);
    assert_int_equal(found.n_events, fake->n_emitted);
    assert_losses(&found, STROBE_LOSS_POOL_FULL, 1 + 10);
    fake_close(fake);
}

static void a_pool_of_a_dead_process_is_removed_and_its_number_stays(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    fake_zones(fake, fake_thread(fake, 1000), 10);
    strobe_collector_poll(test.c, true);
    struct strobe_proc *proc = fake_proc(test.c, fake);
    assert_int_equal(proc->state, STROBE_PROC_LIVE);
    fake_die(fake);
    proc->next_alive_check_ns = 0;
    strobe_collector_poll(test.c, true);
    assert_int_equal(proc->state, STROBE_PROC_DRAINED);
    finish();
    assert_int_equal(access(fake->pool.path, F_OK), -1);
    assert_int_equal(fake_find(test.trace, 0).n_events, 20);
    fake_close(fake);
}

static void a_dead_process_that_left_no_event_is_released_too(void **state)
{
    (void)state;
    siginfo_t info;
    pid_t pid = fake_process();
    struct fake *fake = fake_open(test.dir, pid, 0, N_CHUNKS, true);
    fake_zones(fake, fake_thread(fake, (uint32_t)pid), 10);
    strobe_collector_poll(test.c, true);
    struct strobe_proc *proc = fake_proc(test.c, fake);
    kill(pid, SIGKILL);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    fake_die(fake);
    proc->next_alive_check_ns = proc->joined_ns = 0;
    strobe_collector_poll(test.c, true); /* takes its segment, and nothing else */
    assert_int_equal(test.c->n_pending, 0);
    assert_int_equal(proc->state, STROBE_PROC_CLOSED);
    assert_int_equal(access(fake->pool.path, F_OK), -1);
    finish();
    assert_int_equal(fake_find(test.trace, 0).n_events, 20);
    waitpid(pid, NULL, 0);
    fake_close(fake);
}

static void words_of_an_earlier_recording_are_stepped_over(void **state)
{
    (void)state;
    struct fake *fake = fake_open(test.dir, test.pid, 0, N_CHUNKS, false);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    fake_zones(fake, thread, 300);
    strobe_ring_count_loss(&fake->pool, thread, STROBE_LOSS_POOL_FULL);
    uint64_t n_old = fake->n_emitted;
    strobe_collector_poll(test.c, true); /* attaches */
    assert_true(fake->pool.control->active);
    fake_zones(fake, thread, 300);
    uint32_t id = fake_id(test.c, fake);
    finish();
    assert_false(fake->pool.control->active);
    struct fake_found found = fake_find(test.trace, id);
    assert_int_equal(found.n_events, fake->n_emitted - n_old);
    assert_losses(&found, 0, 0);
    fake_close(fake);
}

static void names_of_many_segments_are_all_stored(void **state)
{
    (void)state;
    enum { N = 1000, WORDS = 8 };
    struct fake *fake = open_fake(0);
    for (uint64_t id = 1; id <= N; id++) {
        assert_true(fake_loc(fake, id, "zone"));
        if (id % 300 == 0)
            strobe_collector_poll(test.c, true);
    }
    strobe_collector_poll(test.c, true);
    struct strobe_proc *proc = fake_proc(test.c, fake);
    assert_true(proc->meta.pos >= N * WORDS);
    assert_int_equal(proc->meta.n_segments, 1);
    uint32_t id = fake_id(test.c, fake);
    finish();
    struct fake_found found = fake_find(test.trace, id);
    assert_losses(&found, 0, 0);
    fake_close(fake);
}

static void threads_end_in_any_order(void **state)
{
    (void)state;
    static const int order[] = {2, 0, 4, 1, 3};
    struct fake *fake = open_fake(0);
    struct strobe_thread *threads[5];
    for (uint32_t i = 0; i < 5; i++) {
        threads[i] = fake_thread(fake, 1000 + i);
        fake_zones(fake, threads[i], 10);
    }
    for (int i = 0; i < 5; i++) {
        fake_end_thread(fake, threads[order[i]]);
        strobe_collector_poll(test.c, true);
    }
    assert_null(fake->pool.threads);
    uint32_t id = fake_id(test.c, fake);
    finish();
    assert_int_equal(fake_find(test.trace, id).n_events, 100);
    fake_close(fake);
}

static void guards_go_in_any_order(void **state)
{
    (void)state;
    static const int order[] = {2, 0, 4, 1, 3};
    struct strobe_map_guard guards[5];
    char bytes[5][16];
    for (int i = 0; i < 5; i++)
        strobe_map_guard_add(&guards[i], bytes[i], sizeof bytes[i]);
    for (int i = 0; i < 5; i++)
        strobe_map_guard_remove(&guards[order[i]]);
    for (int i = 0; i < 5; i++)
        assert_int_equal(guards[i].n_bytes, 0);
}

/* ---- losses ---- */

static void losses_are_stored_once_with_their_cause(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    fake_zones(fake, thread, 1);
    for (int i = 0; i < 7; i++) {
        strobe_ring_count_loss(&fake->pool, thread, STROBE_LOSS_UNNAMED); /* in its slot */
        strobe_ring_count_loss(&fake->pool, NULL, STROBE_LOSS_NO_STATE);  /* in the control page */
        if (i % 3 == 0)
            strobe_collector_poll(test.c, true);
    }
    uint32_t id = fake_id(test.c, fake);
    fake_end_thread(fake, thread);
    struct strobe_thread *next =
        fake_thread(fake, 1001); /* maybe in the same slot: it counts from 0 */
    strobe_ring_count_loss(&fake->pool, next, STROBE_LOSS_UNNAMED);
    finish();
    struct fake_found found = fake_find(test.trace, id);
    assert_int_equal(found.lost[STROBE_LOSS_UNNAMED], 8);
    assert_int_equal(found.lost[STROBE_LOSS_NO_STATE], 7);
    assert_int_equal(found.n_events, 2);
    fake_close(fake);
}

/* The recorder may be killed behind any of its writes. */
static void a_loss_is_in_the_file_before_the_events_behind_it(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    fake_zones(fake, thread, 1);
    strobe_collector_poll(test.c, true); /* its slot was looked at a moment ago */
    strobe_ring_count_loss(&fake->pool, thread, STROBE_LOSS_UNNAMED);
    fake_zones(fake, thread, 2);
    strobe_collector_drain(test.c, fake_proc(test.c, fake), stream_of(fake, thread));
    strobe_collector_flush_events(test.c);
    struct fake_found found = fake_find(test.trace, fake_id(test.c, fake));
    assert_int_equal(found.n_events, 6);
    assert_losses(&found, STROBE_LOSS_UNNAMED, 1);
    finish();
    fake_close(fake);
}

static void nonsense_costs_the_rest_of_its_segment(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    fake_zones(fake, thread, 10);
    fake_word(fake, thread, 0x1fffull << 48); /* no kind of word */
    uint64_t n_good = fake->n_emitted - 1;
    while ((int16_t)thread->hot.cursor > 0)
        fake_word(fake, thread, STROBE_WORD_BEGIN | 1ull << 32);
    uint64_t n_bad = fake->n_emitted - n_good;
    fake_zones(fake, thread, 10);
    strobe_collector_poll(test.c, true);
    uint32_t id = fake_id(test.c, fake);
    finish();
    struct fake_found found = fake_find(test.trace, id);
    assert_int_equal(found.n_events, n_good + 20);
    assert_losses(&found, STROBE_LOSS_DAMAGED, n_bad);
    fake_close(fake);
}

static void a_pool_that_is_cut_ends_its_process_and_no_other(void **state)
{
    (void)state;
    struct fake *cut = open_fake(0), *whole = open_fake(1);
    struct strobe_thread *thread = fake_thread(whole, 1000);
    fake_zones(cut, fake_thread(cut, 1000), 10);
    fake_zones(whole, thread, 10);
    strobe_collector_poll(test.c, true);
    uint32_t ids[] = {fake_id(test.c, cut), fake_id(test.c, whole)};
    sigaction(SIGBUS, &test.on_sigbus, NULL);
    assert_int_equal(ftruncate(cut->fd, 0), 0);
    fake_zones(whole, thread, 500);
    strobe_collector_poll(test.c, true);
    assert_int_equal(fake_proc(test.c, cut)->state, STROBE_PROC_DRAINED);
    assert_int_equal(fake_proc(test.c, whole)->state, STROBE_PROC_LIVE);
    finish();
    struct fake_found found = fake_find(test.trace, ids[0]);
    assert_int_equal(found.n_events, 20);
    assert_losses(&found, STROBE_LOSS_DAMAGED, 1);
    found = fake_find(test.trace, ids[1]);
    assert_int_equal(found.n_events, whole->n_emitted);
    assert_losses(&found, 0, 0);
    fake_close(cut);
    fake_close(whole);
}

static void a_newer_client_is_refused_in_words(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    fake->pool.control->version = STROBE_RING_VERSION + 1;
    strobe_collector_poll(test.c, true);
    assert_int_equal(fake_proc(test.c, fake)->state, STROBE_PROC_CLOSED);
    finish();
    fake_close(fake);
}

static void a_missing_stretch_of_a_stream_is_counted(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    fake_zones(fake, thread, 60);
    strobe_collector_poll(test.c, true);
    thread->next_pos += 1000;
    fake_zones(fake, thread, 60);
    strobe_collector_poll(test.c, true);
    uint32_t id = fake_id(test.c, fake);
    finish();
    struct fake_found found = fake_find(test.trace, id);
    assert_int_equal(found.n_events, fake->n_emitted);
    assert_losses(&found, STROBE_LOSS_DAMAGED, 1000);
    fake_close(fake);
}

/* A handler that emits between another event's look at the clock and its reservation: a stream never goes back. */
static void a_tick_before_its_predecessor_is_moved_up(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    uint64_t first = 0;
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t *at = fake_reserve(fake, thread, 3);
        first = thread->segment->tick >> 32 << 32 | 20000; /* all within one epoch */
        at[1] = 1, at[2] = 77;
        *at = STROBE_RECORD_WORD(STROBE_KIND_PLOT_INT, 3) | (uint32_t)(first - 1000 * i);
    }
    strobe_collector_poll(test.c, true);
    struct strobe_stream_state *stream = stream_of(fake, thread);
    assert_int_equal(stream->prev_tick, first);
    finish();
    assert_int_equal(fake_find(test.trace, 0).n_events, 10);
    fake_close(fake);
}

static void a_process_of_another_clock_is_refused(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    fake->pool.control->clock =
        test.c->clock == STROBE_CLOCK_MONO ? STROBE_CLOCK_TSC : STROBE_CLOCK_MONO;
    strobe_collector_poll(test.c, true);
    assert_int_equal(fake_proc(test.c, fake)->state, STROBE_PROC_CLOSED);
    finish();
    fake_close(fake);
}

/* A process may lie about positions: a segment for words before those that are drained is opened meanwhile. */
static void a_segment_of_earlier_positions_leaves_the_others_alone(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000), *liar = fake_thread(fake, 1001);
    strobe_collector_poll(test.c, true);
    struct strobe_proc *proc = fake_proc(test.c, fake);
    for (uint64_t n = 0; n < STROBE_BLOCK_EVENTS_MAX + 20000ull; n++)
        if (!fake_word(fake, thread, STROBE_WORD_BEGIN | 1ull << 32))
            break;
    strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
    struct strobe_stream_state *stream = stream_of(fake, thread);
    for (uint32_t i = 0; i < stream->n_segments; i++) /* as if it had begun further on */
        stream->segments[i].base_pos += 1000;
    stream->pos = stream->segments[0].base_pos;
    fake_word(fake, liar, STROBE_WORD_BEGIN | 1ull << 32);
    liar->segment->track = thread->track;
    liar->segment->base_pos = 10;
    strobe_collector_drain(test.c, proc, stream);
    fake_end_thread(fake, thread);
    fake_end_thread(fake, liar);
    strobe_collector_poll(test.c, true);
    uint32_t n_all = 0;
    for (uint32_t i = 0; i < fake->pool.control->n_chunks; i++)
        n_all += fake->pool.chunks[i].class_ == STROBE_CHUNK_SMALL    ? 64
                 : fake->pool.chunks[i].class_ == STROBE_CHUNK_MEDIUM ? 8
                 : fake->pool.chunks[i].class_ == STROBE_CHUNK_LARGE  ? 1
                                                                      : 0;
    assert_int_equal(n_free_segments(fake), n_all);
    finish();
    fake_close(fake);
}

/* ---- unwritten words ---- */

static void a_thread_is_asked_for_a_word_that_others_follow(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    struct strobe_thread *thread = fake_thread(fake, 1000);
    const struct strobe_control *control = fake->pool.control;
    fake_zones(fake, thread, 3);
    uint64_t *hole = fake_reserve(fake, thread, 1);
    strobe_collector_poll(test.c, true);
    struct strobe_stream_state *stream = stream_of(fake, thread);
    strobe_collector_poll(test.c, true);
    strobe_collector_poll(test.c, true);
    assert_int_equal(stream->state, STROBE_STREAM_WAITING); /* nothing is behind it: no hole */
    assert_int_equal(control->holes_used, 0);
    fake_word(fake, thread, STROBE_WORD_END | 1ull << 32);
    strobe_collector_poll(test.c, true);
    assert_int_equal(stream->state, STROBE_STREAM_ASKED);
    assert_int_equal(control->holes_used, 1);
    assert_int_equal(control->holes[0].track, thread->track);
    assert_int_equal(control->holes[0].offset, (char *)hole - fake->pool.data);
    *hole = STROBE_WORD_BEGIN | 1ull << 32;
    strobe_collector_poll(test.c, true);
    assert_int_not_equal(stream->state, STROBE_STREAM_ASKED);
    assert_int_equal(control->holes_used, 0);
    uint32_t id = fake_id(test.c, fake);
    finish();
    struct fake_found found = fake_find(test.trace, id);
    assert_int_equal(found.n_events, fake->n_emitted + 1);
    assert_losses(&found, 0, 0);
    fake_close(fake);
}

static void more_holes_than_entries_are_asked_for_in_turn(void **state)
{
    (void)state;
    enum { N = STROBE_HOLES_MAX + 4 };
    struct fake *fake = open_fake(0);
    struct strobe_thread *threads[N];
    uint64_t *holes[N];
    for (uint32_t i = 0; i < N; i++) {
        threads[i] = fake_thread(fake, 1000 + i);
        holes[i] = fake_reserve(fake, threads[i], 1);
        fake_word(fake, threads[i], STROBE_WORD_END | 1ull << 32);
    }
    for (int round = 0; round < 3; round++)
        strobe_collector_poll(test.c, true);
    assert_int_equal(fake->pool.control->holes_used, 0xff);
    for (uint32_t i = 0; i < N; i++)
        if (stream_of(fake, threads[i])->state == STROBE_STREAM_ASKED)
            *holes[i] = STROBE_WORD_BEGIN | 1ull << 32;
    for (int round = 0; round < 3; round++)
        strobe_collector_poll(test.c, true);
    assert_int_equal(__builtin_popcount(fake->pool.control->holes_used), 4);
    finish();
    fake_close(fake);
}

static void an_unwritten_word_is_abandoned_or_unfinished(void **state)
{
    (void)state;
    struct fake *ended = open_fake(0), *dead = open_fake(1), *live = open_fake(2);
    struct fake *all[] = {ended, dead, live};
    struct strobe_thread *thread = NULL;
    uint32_t ids[3];
    for (int i = 2; i >= 0; i--) {
        thread = fake_thread(all[i], 1000);
        fake_zones(all[i], thread, 3);
        fake_reserve(all[i], thread, 1);
        fake_zones(all[i], thread, 3);
    }
    strobe_collector_poll(test.c, true);
    strobe_collector_poll(test.c, true);
    for (int i = 0; i < 3; i++)
        ids[i] = fake_id(test.c, all[i]);
    fake_end_thread(ended, thread);
    fake_die(dead);
    strobe_collector_poll(test.c, true);
    assert_int_equal(ended->pool.control->holes_used, 0);
    finish();
    for (int i = 0; i < 3; i++) {
        struct fake_found found = fake_find(test.trace, ids[i]);
        assert_int_equal(found.n_events, all[i]->n_emitted);
        assert_losses(&found, i ? STROBE_LOSS_UNFINISHED : STROBE_LOSS_ABANDONED, 1);
        fake_close(all[i]);
    }
}

/* ---- the end ---- */

static void a_process_that_sleeps_is_heard(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    fake_zones(fake, fake_thread(fake, (uint32_t)test.pid), 3);
    strobe_collector_poll(test.c, false);
    strobe_collector_stop(test.c);
    assert_int_equal(strobe_collector_status(test.c).n_unheard, 0);
    assert_int_equal(strobe_collector_status(test.c).n_events, 6);
    close_recording();
    fake_close(fake);
}

/* When the recording ended, as the trace has it. */
static uint64_t find_end(void)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_RECORDS};
    struct strobe_file *file;
    struct strobe_block_iter *iter;
    struct strobe_schema schema;
    struct strobe_block block = {0};
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    uint64_t tick = 0;
    assert_int_equal(strobe_file_open(test.trace, &file), STROBE_OK);
    strobe_schema_read(strobe_file_facts(file)->schema, &schema);
    assert_int_equal(strobe_file_iterate(file, &filter, &iter), STROBE_OK);
    while (!strobe_file_next_block(iter, &block) &&
           !strobe_record_walk_start(&block, &schema, &walk))
        while (!strobe_record_walk_next(&walk, &record))
            if (record.kind == STROBE_FACT_RECORDING && record.fields[1].u == 1)
                tick = record.fields[0].u;
    strobe_file_end_iterate(iter);
    strobe_record_walk_free(&walk);
    strobe_block_free(&block);
    strobe_file_close(file);
    return tick;
}

static void a_recording_ends_when_it_is_stopped_whatever_follows(void **state)
{
    (void)state;
    struct fake *fake = open_fake(0);
    fake_zones(fake, fake_thread(fake, (uint32_t)test.pid), 3);
    strobe_collector_poll(test.c, true);
    strobe_collector_stop(test.c);
    bool is_mono = strobe_session_clock() == STROBE_CLOCK_MONO;
    uint64_t stopped = is_mono ? strobe_collector_mono_ns() : strobe_ticks();
    close_recording();
    assert_in_range(find_end(), 1, stopped);
    fake_close(fake);
}

static void a_thread_that_stands_still_or_never_leaves_is_unheard(void **state)
{
    (void)state;
    struct fake *inside = open_fake(0), *stopped = NULL;
    pid_t pid = fake_process();
    stopped = fake_open(test.dir, pid, 0, N_CHUNKS, true);
    fake_zones(inside, fake_thread(inside, (uint32_t)test.pid), 3);
    fake_zones(stopped, fake_thread(stopped, (uint32_t)pid), 3);
    inside->pool.control->n_inside = 1;
    kill(pid, SIGSTOP);
    while (strobe_session_process_state(pid) != 'T')
        sched_yield();
    strobe_collector_poll(test.c, true);
    uint32_t ids[] = {fake_id(test.c, inside), fake_id(test.c, stopped)};
    strobe_collector_stop(test.c);
    assert_int_equal(strobe_collector_status(test.c).n_unheard, 2);
    close_recording();
    for (int i = 0; i < 2; i++) {
        struct fake_found found = fake_find(test.trace, ids[i]);
        assert_int_equal(found.n_events, 6);
        assert_losses(&found, STROBE_LOSS_UNHEARD, 1);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    fake_close(inside);
    fake_close(stopped);
}

#define IN_RECORDING(name) cmocka_unit_test_setup_teardown(name, open_recording, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_RECORDING(every_event_of_every_process_is_stored_once),
        IN_RECORDING(a_begin_under_an_id_of_an_earlier_recorder_has_a_name),
        IN_RECORDING(a_segment_goes_back_after_its_block_is_written),
        IN_RECORDING(a_full_pool_drops_until_segments_come_back),
        IN_RECORDING(a_pool_of_a_dead_process_is_removed_and_its_number_stays),
        IN_RECORDING(a_dead_process_that_left_no_event_is_released_too),
        IN_RECORDING(words_of_an_earlier_recording_are_stepped_over),
        IN_RECORDING(names_of_many_segments_are_all_stored),
        IN_RECORDING(threads_end_in_any_order),
        cmocka_unit_test(guards_go_in_any_order),
        IN_RECORDING(losses_are_stored_once_with_their_cause),
        IN_RECORDING(a_loss_is_in_the_file_before_the_events_behind_it),
        IN_RECORDING(nonsense_costs_the_rest_of_its_segment),
        IN_RECORDING(a_pool_that_is_cut_ends_its_process_and_no_other),
        IN_RECORDING(a_newer_client_is_refused_in_words),
        IN_RECORDING(a_missing_stretch_of_a_stream_is_counted),
        IN_RECORDING(a_tick_before_its_predecessor_is_moved_up),
        IN_RECORDING(a_process_of_another_clock_is_refused),
        IN_RECORDING(a_segment_of_earlier_positions_leaves_the_others_alone),
        IN_RECORDING(a_thread_is_asked_for_a_word_that_others_follow),
        IN_RECORDING(more_holes_than_entries_are_asked_for_in_turn),
        IN_RECORDING(an_unwritten_word_is_abandoned_or_unfinished),
        IN_RECORDING(a_process_that_sleeps_is_heard),
        IN_RECORDING(a_recording_ends_when_it_is_stopped_whatever_follows),
        IN_RECORDING(a_thread_that_stands_still_or_never_leaves_is_unheard),
    };
    struct strobe_map_guard guard;
    strobe_map_guard_add(&guard, &guard, sizeof guard);
    strobe_map_guard_remove(&guard);
    sigaction(SIGBUS, NULL, &test.on_sigbus);
    test.pid = fake_process();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kill(test.pid, SIGKILL);
    waitpid(test.pid, NULL, 0);
    return failed;
}
