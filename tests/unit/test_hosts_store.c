/* test_hosts_store.c - what a file can't take at once is kept for later, and counted where there is no later.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include <signal.h>
#include <sys/resource.h>

#include "hosts/internal.h"
#include "query/trace.h"

static struct small_trace small;
static struct strobe_hosts hosts;
static struct rlimit before;

static int begin(void **state)
{
    (void)state;
    small_start(&small);
    memset(&hosts, 0, sizeof hosts);
    hosts.writer = small.writer;
    signal(SIGXFSZ, SIG_IGN);
    return getrlimit(RLIMIT_FSIZE, &before);
}

static int end(void **state)
{
    (void)state;
    strobe_records_free(&hosts.records);
    small_remove(&small);
    return 0;
}

/* From now on the file can't grow; or it can again. */
static void limit_file(int is_limited)
{
    struct stat st;
    assert_int_equal(stat(small.path, &st), 0);
    struct rlimit limit = before;
    limit.rlim_cur = is_limited ? (rlim_t)st.st_size : before.rlim_cur;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* How often the file has a text. */
static uint32_t count_text(const char *text)
{
    static char bytes[1 << 20];
    uint32_t n_found = 0;
    int fd = open(small.path, O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_true(n > 0);
    for (char *at = bytes; (at = memmem(at, (size_t)(bytes + n - at), text, strlen(text))); at++)
        n_found++;
    return n_found;
}

static void a_record_that_finds_the_file_full_is_stored_later(void **state)
{
    (void)state;
    strobe_hosts_note(&hosts, "remark 1");
    limit_file(1);
    strobe_hosts_store(&hosts, false);
    limit_file(0);
    assert_int_equal(hosts.records.n_records, 1);
    assert_int_equal(hosts.status.n_unstored, 0);
    strobe_hosts_note(&hosts, "remark 2");
    strobe_hosts_store(&hosts, false);
    assert_int_equal(hosts.records.n_records, 0);
    small_finish(&small);
    assert_int_equal(count_text("remark 1"), 1);
    assert_int_equal(count_text("remark 2"), 1);
    assert_int_equal(hosts.status.n_unstored, 0);
}

static void what_finds_no_room_to_the_end_is_counted(void **state)
{
    (void)state;
    strobe_hosts_note(&hosts, "remark 1");
    strobe_hosts_note(&hosts, "remark 2");
    limit_file(1);
    strobe_hosts_store(&hosts, true);
    limit_file(0);
    assert_int_equal(hosts.status.n_unstored, 2);
    small_finish(&small);
    assert_int_equal(count_text("remark 1"), 0);
}

static void records_that_become_too_many_are_counted(void **state)
{
    (void)state;
    static char text[1000];
    uint64_t n_made = 0;
    memset(text, 'x', sizeof text - 1);
    limit_file(1);
    while (!hosts.status.n_unstored) {
        strobe_hosts_note(&hosts, text);
        strobe_hosts_store(&hosts, false);
        n_made++;
    }
    limit_file(0);
    assert_int_equal(hosts.status.n_unstored, n_made);
    strobe_hosts_note(&hosts, "remark 1");
    assert_true(hosts.records.n_records > 1); /* kinds and the host are said again */
    strobe_hosts_store(&hosts, true);
    assert_int_equal(hosts.records.n_records, 0);
    assert_int_equal(hosts.status.n_unstored, n_made);
    small_finish(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_that_finds_the_file_full_is_stored_later, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_finds_no_room_to_the_end_is_counted, begin, end),
        cmocka_unit_test_setup_teardown(records_that_become_too_many_are_counted, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
