/* test_sample_waits.c - what a thread waits for and who wakes it, of the bytes that the kernel gives.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sample/blocked.h"
#include "sample/life.h"
#include "sample/perf_record.h"
#include "sample/syscalls.h"

enum { NOBODY = 0x40000001 }; /* a number that no process has */

static const char symbols[] = "ffffffff81000000 T schedule\n"
                              "ffffffff81000100 t futex_wait_queue\n"
                              "ffffffff81000100 t an_alias_of_it\n"
                              "ffffffff81000200 T do_syscall_64\n"
                              "ffffffff81000300 T io_schedule\n"
                              "ffffffff81000400 d io_schedule\n"
                              "ffffffff81000500 T exc_page_fault\n"
                              "ffffffff81000600 T last\n";

static void read_symbols(struct strobe_blocked_names *names, const char *text)
{
    char path[] = "/tmp/strobe-symbols-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    strobe_blocked_read(names, path);
    unlink(path);
}

static void a_kernels_stack_says_what_a_thread_waits_for(void **state)
{
    static struct strobe_blocked_names names;
    const uint64_t kernel = (uint64_t)PERF_CONTEXT_KERNEL, at = 0xffffffff81000000u;
    const uint64_t lock[] = {kernel, at + 16, at + 0x1ff, at + 0x210},
                   disk[] = {kernel, at + 16, at + 0x310, at + 0x210},
                   fault[] = {kernel, at + 16, at + 0x310, at + 0x510},
                   other[] = {kernel, at + 16, at + 0x200, at + 0x410, at + 0x600};
    (void)state;
    read_symbols(&names, symbols);
    assert_int_equal(strobe_blocked_find(&names, lock, 4), STROBE_BLOCKED_LOCK);
    assert_int_equal(strobe_blocked_find(&names, disk, 4), STROBE_BLOCKED_DISK);
    assert_int_equal(strobe_blocked_find(&names, fault, 4), STROBE_BLOCKED_FAULT);
    assert_int_equal(strobe_blocked_find(&names, other, 5), STROBE_BLOCKED_OTHER);
    assert_int_equal(strobe_blocked_find(&names, NULL, 0), STROBE_BLOCKED_OTHER);
}

static void addresses_that_are_hidden_give_no_names(void **state)
{
    static struct strobe_blocked_names names;
    (void)state;
    read_symbols(&names, "0000000000000000 T io_schedule\n0000000000000000 T schedule\n");
    assert_int_equal(names.n, 0);
}

static void a_system_call_says_what_a_thread_waits_for(void **state)
{
    char text[64];
    (void)state;
    snprintf(text, sizeof text, "%d 0x7f 0x80 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n", SYS_futex);
    assert_int_equal(strobe_blocked_of_syscall(text), STROBE_BLOCKED_LOCK);
    snprintf(text, sizeof text, "%d 0x0\n", SYS_clock_nanosleep);
    assert_int_equal(strobe_blocked_of_syscall(text), STROBE_BLOCKED_SLEEP);
    assert_int_equal(strobe_blocked_of_syscall("running\n"), STROBE_BLOCKED_UNKNOWN);
    assert_int_equal(strobe_blocked_of_syscall("-1 0x7ffc 0x7f00\n"), STROBE_BLOCKED_UNKNOWN);
    assert_int_equal(strobe_blocked_of_syscall(""), STROBE_BLOCKED_UNKNOWN);
}

static const char format[] = "name: sched_waking\nID: 318\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                             "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";

static void fields_of_a_tracepoint_are_where_its_format_says(void **state)
{
    struct strobe_tracefs_field field;
    uint64_t value;
    (void)state;
    assert_int_equal(strobe_tracefs_id(format), 318);
    assert_int_equal(strobe_tracefs_id("name: x\n"), 0);
    assert_true(strobe_tracefs_field(format, "pid", &field));
    assert_int_equal(field.at, 24);
    assert_int_equal(field.n_bytes, 4);
    assert_false(strobe_tracefs_field(format, "comm[16]", &field));
    assert_false(strobe_tracefs_field(format, "prev_state", &field));
    const uint8_t raw[] = {1, 2, 3, 4, 5};
    assert_true(strobe_tracefs_value(&(struct strobe_tracefs_field){1, 4}, raw, 5, &value));
    assert_int_equal(value, 0x05040302);
    assert_false(strobe_tracefs_value(&(struct strobe_tracefs_field){2, 4}, raw, 5, &value));
    assert_false(strobe_tracefs_value(&(struct strobe_tracefs_field){9, 1}, raw, 5, &value));
}

/* A sample of sched_waking by thread 11 of process 10, with one frame: thread 77 is woken, to run on processor 3. */
struct bytes {
    struct perf_event_header head;
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, zero;
    uint64_t n_chain, chain[1];
    uint32_t n_raw;
    uint8_t raw[36];
};

static struct bytes wake_record(void)
{
    struct bytes bytes = {{PERF_RECORD_SAMPLE, 0, sizeof bytes},
                          10,
                          11,
                          5000,
                          1,
                          0,
                          1,
                          {0xffffffff81000000u},
                          36,
                          {0}};
    const uint16_t id = 318;
    const uint32_t woken = 77, target = 3;
    memcpy(bytes.raw, &id, 2);
    memcpy(bytes.raw + 24, &woken, 4);
    memcpy(bytes.raw + 32, &target, 4);
    return bytes;
}

static void a_record_of_a_wake_up_says_who_wakes_whom(void **state)
{
    struct strobe_perf_trace trace = {
        .state_id = 314, .wake_id = 318, .flags = {2, 1}, .woken = {24, 4}, .target = {32, 4}};
    const struct strobe_perf_shape shape = {.has_chain = true, .trace = &trace};
    struct bytes bytes = wake_record();
    struct strobe_perf_record record;
    (void)state;
    assert_true(strobe_perf_record_read(&bytes, sizeof bytes, &shape, &record));
    assert_int_equal(record.what, STROBE_PERF_WAKES);
    assert_int_equal(record.tid, 11);
    assert_int_equal(record.wake.tid, 77);
    assert_int_equal(record.wake.cpu, 3);
    assert_false(record.wake.is_interrupt);
    bytes.raw[2] = 8;
    assert_true(strobe_perf_record_read(&bytes, sizeof bytes, &shape, &record));
    assert_true(record.wake.is_interrupt);
    trace.state_id = 318;
    assert_true(strobe_perf_record_read(&bytes, sizeof bytes, &shape, &record));
    assert_int_equal(record.what, STROBE_PERF_OFF);
    assert_int_equal(record.sample.n_chain, 1);
    trace = (struct strobe_perf_trace){.state_id = 1, .wake_id = 2};
    assert_true(strobe_perf_record_read(&bytes, sizeof bytes, &shape, &record));
    assert_int_equal(record.what, STROBE_PERF_OTHER);
    bytes.n_raw = 37;
    assert_false(strobe_perf_record_read(&bytes, sizeof bytes, &shape, &record));
}

static struct strobe_life life;
static struct strobe_sample_clock clock_of_all;

static void turn(uint64_t time, bool is_out)
{
    struct strobe_perf_record record = {
        .what = STROBE_PERF_SWITCH, .pid = NOBODY, .tid = NOBODY, .time = time};
    record.turn.is_out = is_out;
    strobe_life_take(&life, &record);
}

static void wake_up(uint64_t time)
{
    struct strobe_perf_record record = {
        .what = STROBE_PERF_WAKES, .pid = 1, .tid = 1, .time = time, .wake = {NOBODY, 0, true}};
    strobe_life_take(&life, &record);
}

static void call(enum strobe_perf_what what, uint64_t time, int64_t number)
{
    struct strobe_perf_record record = {
        .what = what, .pid = NOBODY, .tid = NOBODY, .time = time, .call = {number, 0}};
    strobe_life_take(&life, &record);
}

/* A life that writes to a file in memory. */
static struct strobe_build_store *open_life(struct strobe_file_writer **writer)
{
    char path[64];
    struct strobe_build_store *store;
    snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("waits", 0));
    assert_int_equal(strobe_file_create(path, "", 1, writer), 0);
    struct strobe_build_store_options options = {.writer = *writer};
    assert_int_equal(strobe_build_store_open(&options, &store), 0);
    clock_of_all = (struct strobe_sample_clock){0};
    strobe_sample_clock_add(&clock_of_all, 1000, 1000);
    strobe_sample_clock_add(&clock_of_all, 1000000, 1000000);
    assert_int_equal(strobe_life_init(&life, store, &clock_of_all), 0);
    return store;
}

static void close_life(struct strobe_build_store *store, struct strobe_file_writer *writer)
{
    strobe_life_end(&life);
    strobe_life_flush(&life);
    strobe_life_free(&life);
    strobe_build_store_close(store);
    strobe_file_finish(writer);
}

static void a_wait_that_ended_has_a_wake_up_or_is_counted(void **state)
{
    struct strobe_file_writer *writer;
    struct strobe_build_store *store = open_life(&writer);
    (void)state;
    turn(2000, false);
    turn(3000, true);
    wake_up(4000); /* as it should be */
    turn(5000, false);
    assert_int_equal(life.counts.n_wakes, 1);
    wake_up(5900); /* while it is on its way out */
    turn(6000, true);
    turn(7000, false);
    assert_int_equal(life.counts.n_wakes, 2);
    wake_up(7100); /* of no wait: it runs on, and waits later */
    turn(8000, true);
    wake_up(8500);
    turn(9000, false);
    assert_int_equal(life.counts.n_wakes, 3);
    assert_int_equal(life.counts.n_unwoken, 0);
    turn(10000, true); /* and one that the kernel does not tell */
    turn(11000, false);
    assert_int_equal(life.counts.n_wakes, 3);
    assert_int_equal(life.counts.n_unwoken, 1);
    close_life(store, writer);
}

static void a_system_call_is_a_zone_once_it_has_returned_or_never_will(void **state)
{
    struct strobe_file_writer *writer;
    struct strobe_build_store *store = open_life(&writer);
    (void)state;
    life.has_zones = true;
    call(STROBE_PERF_RETURNS, 2000, SYS_read); /* it began before the recording */
    assert_int_equal(life.counts.n_calls, 0);
    call(STROBE_PERF_CALLS, 3000, SYS_write);
    assert_int_equal(life.counts.n_calls, 0);
    call(STROBE_PERF_RETURNS, 4000, SYS_write);
    assert_int_equal(life.counts.n_calls, 1);
    call(STROBE_PERF_CALLS, 5000, SYS_write); /* whose end was lost */
    call(STROBE_PERF_CALLS, 6000, SYS_read);
    assert_int_equal(life.counts.n_calls, 1);
    strobe_life_end(&life);
    assert_int_equal(life.counts.n_calls, 2);
    call(STROBE_PERF_CALLS, 7000, SYS_exit_group);
    close_life(store, writer);
}

static void system_calls_and_errors_have_names(void **state)
{
    char name[STROBE_SYSCALL_NAME];
    (void)state;
    const struct {
        long number;
        const char *name;
    } known[] = {
        {SYS_read, "read"}, {SYS_futex, "futex"}, {SYS_clone3, "clone3"}, {SYS_statx, "statx"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        strobe_syscalls_name(known[i].number, name, sizeof name);
        assert_string_equal(name, known[i].name);
    }
    strobe_syscalls_name(4000, name, sizeof name);
    assert_string_equal(name, "syscall 4000");
    assert_string_equal(strobe_syscalls_error(11), "EAGAIN");
    assert_string_equal(strobe_syscalls_error(4000), "error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernels_stack_says_what_a_thread_waits_for),
        cmocka_unit_test(addresses_that_are_hidden_give_no_names),
        cmocka_unit_test(a_system_call_says_what_a_thread_waits_for),
        cmocka_unit_test(fields_of_a_tracepoint_are_where_its_format_says),
        cmocka_unit_test(a_record_of_a_wake_up_says_who_wakes_whom),
        cmocka_unit_test(a_wait_that_ended_has_a_wake_up_or_is_counted),
        cmocka_unit_test(a_system_call_is_a_zone_once_it_has_returned_or_never_will),
        cmocka_unit_test(system_calls_and_errors_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
