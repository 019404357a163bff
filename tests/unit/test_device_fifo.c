/* test_device_fifo.c - a device's stream between a program and its recorder: nothing is lost, nothing comes twice, whoever waits
 * or dies.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fifo/device_fifo.h"
#include "ring/fifo_state.h"

static char dir[256];

static int make_folder(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/strobe-test-fifo-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

/* cmocka has its own handler of SIGBUS in each test; what a mapping needs is the guard's. */
static struct sigaction on_sigbus;

static int remove_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

static struct strobe_device_fifo_writer make(bool is_recorded, uint64_t patience_ns)
{
    struct strobe_device_fifo_writer writer;
    struct strobe_device_fifo_options options = {
        .dir = dir, .device = 3, .patience_ns = patience_ns, .is_recorded = is_recorded};
    assert_int_equal(strobe_device_fifo_make(&options, &writer), STROBE_OK);
    assert_int_equal(strobe_device_fifo_extend(&writer, 1 << 20), STROBE_OK);
    return writer;
}

static void open_reader(const struct strobe_device_fifo_writer *writer,
                        struct strobe_device_fifo_reader *reader)
{
    const char *name = strrchr(writer->path, '/') + 1;
    assert_true(strobe_fifo_state_is_name(name));
    assert_int_equal(strobe_device_fifo_open(dir, name, reader), STROBE_OK);
    strobe_device_fifo_attach(reader);
}

/* A frame of `n_words` words, all of which are `number`. */
static enum strobe_err put(struct strobe_device_fifo_writer *writer, uint32_t number,
                           size_t n_words)
{
    uint32_t words[STROBE_DEVICE_FIFO_FRAME_MAX / 4];
    for (size_t i = 0; i < n_words; i++)
        words[i] = number;
    return strobe_device_fifo_put(writer, words, n_words);
}

/* Take all that is there; it goes on from `*next`, in frames of 16 words. */
static void take_all(struct strobe_device_fifo_reader *reader, uint32_t *next)
{
    const uint32_t *words;
    size_t n_words;
    assert_int_equal(strobe_device_fifo_next(reader, &words, &n_words), STROBE_OK);
    for (size_t i = 0; i < n_words; i++)
        assert_int_equal(words[i], *next + i / 16);
    *next += (uint32_t)(n_words / 16);
    strobe_device_fifo_take(reader, n_words);
}

static void what_is_put_comes_out_in_order_over_many_turns_of_the_ring(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 0);
    struct strobe_device_fifo_reader reader;
    open_reader(&writer, &reader);
    uint32_t next = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(put(&writer, i, 16), STROBE_OK);
        if (i % 777 == 0) {
            take_all(&reader, &next);
            strobe_device_fifo_give_back(&reader);
        }
    }
    take_all(&reader, &next);
    assert_int_equal(next, 100000);
    strobe_device_fifo_close(&writer);
    assert_false(strobe_device_fifo_is_live(&reader));
    strobe_device_fifo_release(&reader, dir, true);
}

static void a_full_ring_waits_drops_and_counts(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 1000000);
    struct strobe_device_fifo_reader reader;
    open_reader(&writer, &reader);
    uint32_t n_put = 0;
    while (put(&writer, n_put, 16) == STROBE_OK)
        n_put++;
    assert_int_equal(n_put, ((1 << 20) - STROBE_DEVICE_FIFO_FRAME_MAX) / 64);
    for (int i = 0; i < 9; i++)
        assert_int_equal(put(&writer, 0, 16), STROBE_ERR_LIMIT); /* at once: it gave up */
    assert_int_equal(reader.head->n_dropped, 10);
    uint32_t next = 0;
    take_all(&reader, &next);
    strobe_device_fifo_give_back(&reader);
    assert_int_equal(put(&writer, 7, 16), STROBE_OK);
    strobe_device_fifo_close(&writer);
    strobe_device_fifo_release(&reader, dir, true);
}

static void a_count_that_goes_back_is_refused(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 0);
    struct strobe_device_fifo_reader reader, next_reader;
    const uint32_t *words;
    size_t n_words;
    uint32_t next = 0;
    open_reader(&writer, &reader);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(put(&writer, i, 16), STROBE_OK);
    take_all(&reader, &next);      /* and not given back */
    writer.head->written = 4 * 64; /* behind what was taken, not behind what was given back */
    assert_int_equal(strobe_device_fifo_next(&reader, &words, &n_words), STROBE_ERR_CORRUPT);
    assert_int_equal(n_words, 0);
    writer.head->read = 3; /* no place of a word */
    open_reader(&writer, &next_reader);
    assert_int_equal(next_reader.read, 4 * 64);
    strobe_device_fifo_release(&next_reader, dir, false);
    strobe_device_fifo_close(&writer);
    strobe_device_fifo_release(&reader, dir, true);
}

static void *give_back_slowly(void *context)
{
    struct strobe_device_fifo_reader *reader = context;
    uint32_t next = 0;
    while (next < 200000) {
        take_all(reader, &next);
        strobe_device_fifo_beat(reader);
        strobe_device_fifo_give_back(reader);
    }
    return NULL;
}

static void a_producer_that_is_faster_waits_and_loses_nothing(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 60000000000ull);
    struct strobe_device_fifo_reader reader;
    open_reader(&writer, &reader);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, give_back_slowly, &reader), 0);
    for (uint32_t i = 0; i < 200000; i++)
        assert_int_equal(put(&writer, i, 16), STROBE_OK);
    pthread_join(thread, NULL);
    assert_int_equal(reader.head->n_dropped, 0);
    strobe_device_fifo_close(&writer);
    strobe_device_fifo_release(&reader, dir, true);
}

static void nobody_records_so_frames_are_discarded_and_the_file_goes(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(false, 0);
    char path[sizeof writer.path];
    memcpy(path, writer.path, sizeof path);
    for (uint32_t i = 0; i < 50000; i++) /* more than the ring holds */
        assert_int_equal(put(&writer, i, 16), STROBE_OK);
    strobe_device_fifo_close(&writer);
    assert_int_not_equal(access(path, F_OK), 0);
}

static struct strobe_fifo_state look(const char *path)
{
    struct strobe_fifo_state state = {0};
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0 && strobe_fifo_state_look(fd, &state));
    close(fd);
    return state;
}

static void the_ring_is_made_when_a_recorder_asks_and_not_before(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer;
    struct strobe_device_fifo_reader reader;
    struct stat st;
    assert_int_equal(
        strobe_device_fifo_make(&(struct strobe_device_fifo_options){.dir = dir}, &writer), 0);
    const char *name = strrchr(writer.path, '/') + 1;
    assert_int_equal(put(&writer, 1, 16), STROBE_OK); /* goes nowhere */
    assert_int_equal(stat(writer.path, &st), 0);
    assert_int_equal(st.st_size, 4096);
    assert_int_equal(strobe_device_fifo_open(dir, name, &reader), STROBE_ERR_BUSY);
    strobe_device_fifo_ask(dir, name, (uint32_t)getpid() + 1, true); /* another's */
    assert_false(strobe_device_fifo_is_asked(&writer));
    strobe_device_fifo_ask(dir, name, 0, true);
    assert_true(strobe_device_fifo_is_asked(&writer));
    strobe_device_fifo_ask(dir, name, 0, false); /* a recorder that leaves */
    assert_false(strobe_device_fifo_is_asked(&writer));
    strobe_device_fifo_ask(dir, name, (uint32_t)getpid(), true);
    assert_int_equal(strobe_device_fifo_extend(&writer, 1 << 20), STROBE_OK);
    assert_false(strobe_device_fifo_is_asked(&writer));
    assert_int_equal(put(&writer, 0, 16), STROBE_OK); /* kept until it comes */
    uint32_t next = 0;
    open_reader(&writer, &reader);
    take_all(&reader, &next);
    assert_int_equal(next, 1);
    strobe_device_fifo_release(&reader, dir, false);
    strobe_device_fifo_close(&writer);
}

static void a_file_that_is_being_made_is_nobodys_to_remove(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s/1-1-0-0.device", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_false(look(path).is_made);
    assert_true(look(path).is_alive);
    strobe_device_fifo_ask(dir, "1-1-0-0.device", 0, true); /* left as it is */
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 0);
    unlink(path);
}

static void a_dead_programs_stream_says_whether_it_holds_data(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 0);
    struct strobe_device_fifo_reader reader;
    static const uint8_t trace[16] = {1};
    char path[sizeof writer.path];
    memcpy(path, writer.path, sizeof path);
    open_reader(&writer, &reader);
    put(&writer, 0, 16);
    assert_true(look(path).is_alive);
    strobe_device_fifo_close(&writer);
    assert_false(look(path).is_alive);
    assert_true(look(path).has_data); /* a frame */
    uint32_t next = 0;
    take_all(&reader, &next);
    assert_int_equal(strobe_device_fifo_save(&reader, trace, 1, "x", 1), STROBE_OK);
    strobe_device_fifo_give_back(&reader);
    assert_true(look(path).has_data); /* what the recorder saved */
    strobe_device_fifo_forget(&reader);
    assert_false(look(path).has_data);
    reader.head->version = STROBE_DEVICE_FIFO_OLDEST; /* what a Strobe before this one left */
    assert_true(look(path).is_made && !look(path).is_alive && !look(path).has_data);
    strobe_device_fifo_release(&reader, dir, true);
}

static void each_recorder_that_comes_is_described_to_once(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(false, 0);
    assert_false(strobe_device_fifo_must_describe(&writer));
    struct strobe_device_fifo_reader reader;
    open_reader(&writer, &reader);
    assert_true(strobe_device_fifo_must_describe(&writer));
    assert_false(strobe_device_fifo_must_describe(&writer));
    strobe_device_fifo_detach(&reader);
    assert_false(strobe_device_fifo_is_wanted(&writer));
    strobe_device_fifo_attach(&reader);
    assert_true(strobe_device_fifo_must_describe(&writer));
    strobe_device_fifo_close(&writer);
    strobe_device_fifo_release(&reader, dir, true);
}

static void a_killed_producers_frames_are_all_there(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer;
    int ready[2];
    char name[96] = "";
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        writer = make(true, 0);
        for (uint32_t i = 0; i < 5000; i++)
            put(&writer, i, 16);
        const char *own = strrchr(writer.path, '/') + 1;
        if (write(ready[1], own, strlen(own)) > 0)
            pause();
        _exit(1);
    }
    assert_true(read(ready[0], name, sizeof name - 1) > 0);
    struct strobe_device_fifo_reader reader;
    assert_int_equal(strobe_device_fifo_open(dir, name, &reader), STROBE_OK);
    assert_true(strobe_device_fifo_is_live(&reader));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(strobe_device_fifo_is_live(&reader));
    uint32_t next = 0;
    take_all(&reader, &next);
    assert_int_equal(next, 5000);
    strobe_device_fifo_release(&reader, dir, true);
    close(ready[0]);
    close(ready[1]);
}

enum { LAYOUT = 5 };
static const uint8_t a_trace[16] = "a trace's uuid.";

/* What a successor finds; its bytes are a number. NOTFOUND: nothing. */
static enum strobe_err look_at_left(struct strobe_device_fifo_reader *reader, uint32_t layout,
                                    uint64_t *number)
{
    uint8_t trace[16];
    void *bytes;
    size_t n_bytes;
    enum strobe_err err = strobe_device_fifo_left(reader, trace, layout, &bytes, &n_bytes);
    if (err)
        return err;
    assert_int_equal(n_bytes, sizeof *number);
    assert_memory_equal(trace, a_trace, sizeof trace);
    memcpy(number, bytes, sizeof *number);
    free(bytes);
    return STROBE_OK;
}

static void a_successor_goes_on_where_its_predecessor_saved_its_state(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 0);
    struct strobe_device_fifo_reader first, second;
    open_reader(&writer, &first);
    uint32_t next = 0;
    for (uint64_t i = 0; i < 30; i++) {
        put(&writer, (uint32_t)i, 16);
        if (i % 10 == 4) { /* three times: both slots are used */
            take_all(&first, &next);
            assert_int_equal(strobe_device_fifo_save(&first, a_trace, LAYOUT, &i, sizeof i), 0);
            strobe_device_fifo_give_back(&first);
        }
    }
    take_all(&first, &next); /* taken, and never stored: it dies here */
    const char *name = strrchr(writer.path, '/') + 1;
    uint64_t number;
    assert_int_equal(strobe_device_fifo_open(dir, name, &second), STROBE_OK);
    assert_int_equal(look_at_left(&second, LAYOUT + 1, &number), STROBE_ERR_NOTFOUND);
    assert_int_equal(look_at_left(&second, LAYOUT, &number), STROBE_OK);
    assert_int_equal(number, 24);
    next = 25;
    take_all(&second, &next);
    assert_int_equal(next, 30);
    strobe_device_fifo_forget(&second);
    strobe_device_fifo_release(&second, dir, false);
    assert_int_equal(strobe_device_fifo_open(dir, name, &second), STROBE_OK);
    assert_int_equal(look_at_left(&second, LAYOUT, &number), STROBE_ERR_NOTFOUND);
    strobe_device_fifo_close(&writer);
    strobe_device_fifo_release(&first, dir, false);
    strobe_device_fifo_release(&second, dir, true);
}

static void a_recorder_that_dies_while_it_saves_leaves_the_state_before(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 0);
    struct strobe_device_fifo_reader first, second;
    open_reader(&writer, &first);
    const char *name = strrchr(writer.path, '/') + 1;
    uint32_t next = 0;
    uint64_t number = 1;
    put(&writer, 0, 16);
    take_all(&first, &next);
    assert_int_equal(strobe_device_fifo_save(&first, a_trace, LAYOUT, &number, sizeof number), 0);
    strobe_device_fifo_give_back(&first);
    put(&writer, 1, 16);
    take_all(&first, &next);
    struct strobe_device_fifo_slot half = {.magic = STROBE_DEVICE_FIFO_SLOT_MAGIC,
                                           .read = STROBE_DEVICE_FIFO_SLOT_NONE,
                                           .layout = LAYOUT};
    off_t at = (off_t)(first.slots_off + STROBE_DEVICE_FIFO_SLOT_BYTES);
    assert_int_equal(pwrite(first.fd, &half, sizeof half, at), sizeof half);
    assert_int_equal(strobe_device_fifo_open(dir, name, &second), STROBE_OK);
    assert_int_equal(look_at_left(&second, LAYOUT, &number), STROBE_OK);
    assert_int_equal(number, 1);
    next = 1;
    take_all(&second, &next);
    assert_int_equal(next, 2);
    strobe_device_fifo_release(&second, dir, false);

    number = 2; /* and one that dies before it gives back what it saved leaves the newer one */
    assert_int_equal(strobe_device_fifo_save(&first, a_trace, LAYOUT, &number, sizeof number), 0);
    assert_int_equal(strobe_device_fifo_open(dir, name, &second), STROBE_OK);
    assert_int_equal(look_at_left(&second, LAYOUT, &number), STROBE_OK);
    assert_int_equal(number, 2);
    take_all(&second, &next);
    assert_int_equal(next, 2);
    strobe_device_fifo_close(&writer);
    strobe_device_fifo_release(&first, dir, false);
    strobe_device_fifo_release(&second, dir, true);
}

static void counts_that_cannot_be_and_cut_files_are_refused(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer = make(true, 0);
    struct strobe_device_fifo_reader reader;
    open_reader(&writer, &reader);
    const uint32_t *words;
    size_t n_words;
    put(&writer, 1, 16);
    writer.head->written = 3ull << 30;
    assert_int_equal(strobe_device_fifo_next(&reader, &words, &n_words), STROBE_ERR_CORRUPT);
    assert_int_equal(n_words, 0);
    writer.head->written = 60;
    assert_int_equal(strobe_device_fifo_next(&reader, &words, &n_words), STROBE_ERR_CORRUPT);
    writer.head->written = 64;
    sigaction(SIGBUS, &on_sigbus, NULL);
    assert_int_equal(truncate(writer.path, 0), 0);
    (void)*(volatile const uint32_t *)reader.data; /* guarded: no SIGBUS */
    assert_int_equal(strobe_device_fifo_next(&reader, &words, &n_words), STROBE_ERR_CORRUPT);
    assert_false(strobe_device_fifo_is_live(&reader));
    strobe_device_fifo_release(&reader, dir, true);
}

static void a_small_file_size_limit_is_an_error_and_no_signal(void **state)
{
    (void)state;
    struct strobe_device_fifo_writer writer;
    struct strobe_device_fifo_options options = {.dir = dir};
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    enum strobe_err err = strobe_device_fifo_make(&options, &writer);
    if (!err)
        err = strobe_device_fifo_extend(&writer, 1 << 20);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(err, STROBE_ERR_LIMIT);
    strobe_device_fifo_close(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_comes_out_in_order_over_many_turns_of_the_ring),
        cmocka_unit_test(a_full_ring_waits_drops_and_counts),
        cmocka_unit_test(a_count_that_goes_back_is_refused),
        cmocka_unit_test(a_producer_that_is_faster_waits_and_loses_nothing),
        cmocka_unit_test(nobody_records_so_frames_are_discarded_and_the_file_goes),
        cmocka_unit_test(the_ring_is_made_when_a_recorder_asks_and_not_before),
        cmocka_unit_test(a_file_that_is_being_made_is_nobodys_to_remove),
        cmocka_unit_test(a_dead_programs_stream_says_whether_it_holds_data),
        cmocka_unit_test(each_recorder_that_comes_is_described_to_once),
        cmocka_unit_test(a_killed_producers_frames_are_all_there),
        cmocka_unit_test(a_successor_goes_on_where_its_predecessor_saved_its_state),
        cmocka_unit_test(a_recorder_that_dies_while_it_saves_leaves_the_state_before),
        cmocka_unit_test(counts_that_cannot_be_and_cut_files_are_refused),
        cmocka_unit_test(a_small_file_size_limit_is_an_error_and_no_signal),
    };
    struct strobe_map_guard guard;
    strobe_map_guard_add(&guard, &guard, sizeof guard);
    strobe_map_guard_remove(&guard);
    sigaction(SIGBUS, NULL, &on_sigbus);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
