/* test_report_messages.c - op messages become ops; what cannot be decoded becomes a fault.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "report/host.h"

struct fixture {
    struct strobe_report_faults faults;
    struct strobe_report_host host;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    strobe_report_host_open(&fixture.host, &fixture.faults);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    strobe_report_host_close(&f->host);
    strobe_report_faults_free(&f->faults);
    return 0;
}

static void say(struct fixture *f, const char *text, int64_t ns)
{
    struct strobe_report_span span = {text, strlen(text)};
    assert_int_equal(strobe_report_host_message(&f->host, span, ns, (uint64_t)ns, false),
                     STROBE_OK);
}

#define FULL(id)                                                                                  \
    "TT_DNN_DEVICE_OP: \"Op\", 11, 0, false, " #id " ->\n{\"op_code\": \"Op\", \"op_hash\": 11, " \
    "\"device_id\": 0, \"global_call_count\": " #id ", \"program_cache_hit\": false}"
#define CACHED(id) "TT_DNN_DEVICE_OP: \"Op\", 11, 0, true, " #id

static void a_cached_message_takes_the_description_of_its_hash(void **state)
{
    struct fixture *f = *state;
    say(f, FULL(1024), 1);
    say(f, CACHED(2048), 2);
    const struct strobe_report_op *op = strobe_report_host_find(&f->host, 2048);
    assert_non_null(op);
    assert_int_equal(op->desc, strobe_report_host_find(&f->host, 1024)->desc);
    assert_int_equal(op->cache_hit, 1);
    assert_int_equal(strobe_report_host_find(&f->host, 1024)->cache_hit, 0);
    assert_int_equal(strobe_report_faults_total(&f->faults), 0);
}

static void a_cached_message_before_its_full_one_is_completed_and_named(void **state)
{
    struct fixture *f = *state;
    say(f, CACHED(1024), 1);
    say(f, FULL(2048), 2);
    strobe_report_host_resolve(&f->host);
    assert_int_equal(strobe_report_host_find(&f->host, 1024)->desc,
                     strobe_report_host_find(&f->host, 2048)->desc);
    assert_int_equal(f->faults.counts[STROBE_REPORT_FAULT_CACHED_EARLY], 1);
}

static void older_messages_have_no_cache_hit(void **state)
{
    struct fixture *f = *state;
    say(f, FULL(1024), 1);
    say(f, "TT_DNN_DEVICE_OP: \"Op\", 11, 0, 2048", 2);
    assert_non_null(strobe_report_host_find(&f->host, 2048));
    assert_int_equal(strobe_report_host_find(&f->host, 2048)->cache_hit, -1);
}

static void bad_json_keeps_what_the_first_line_says(void **state)
{
    struct fixture *f = *state;
    say(f, "TT_DNN_DEVICE_OP: \"Op\", 11, 0, true, 1024 ->\n{\"op_code\": ", 1);
    strobe_report_host_resolve(&f->host);
    const struct strobe_report_op *op = strobe_report_host_find(&f->host, 1024);
    assert_non_null(op);
    assert_int_equal(op->device, 0);
    assert_true(f->host.descs.all[op->desc]->partial);
    assert_int_equal(f->faults.counts[STROBE_REPORT_FAULT_BAD_JSON], 1);
    assert_int_equal(strobe_report_faults_total(&f->faults), 1);
}

static void ops_between_begin_and_end_belong_to_the_trace(void **state)
{
    struct fixture *f = *state;
    say(f, FULL(1024), 1);
    say(f, "TT_METAL_TRACE_BEGIN: 0, 4", 2);
    say(f, CACHED(2048), 3);
    say(f, "TT_METAL_TRACE_END: 0, 4", 4);
    say(f, CACHED(3072), 5);
    say(f, "TT_METAL_TRACE_REPLAY: 0, 4", 6);
    assert_int_equal(strobe_report_host_find(&f->host, 1024)->trace, -1);
    assert_int_equal(strobe_report_host_find(&f->host, 2048)->trace, 4);
    assert_int_equal(strobe_report_host_find(&f->host, 3072)->trace, -1);
    assert_int_equal(strobe_report_host_replay(&f->host, 0, 4, 1), 6);
    assert_int_equal(strobe_report_host_replay(&f->host, 0, 4, 2), -1);
}

static void equal_descriptions_are_kept_once(void **state)
{
    struct fixture *f = *state;
    say(f, FULL(1024), 1);
    say(f, FULL(2048), 2);
    assert_int_equal(f->host.descs.n, 1);
    assert_int_equal(f->host.n_ops, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_cached_message_takes_the_description_of_its_hash),
        TEST(a_cached_message_before_its_full_one_is_completed_and_named),
        TEST(older_messages_have_no_cache_hit),
        TEST(bad_json_keeps_what_the_first_line_says),
        TEST(ops_between_begin_and_end_belong_to_the_trace),
        TEST(equal_descriptions_are_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
