/* test_import_chrome.c - Chrome's JSON in memory becomes a trace: what becomes of pairs, of damage and of too much.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/chrome.h"
#include "query/trace.h"
#include "query/walk.h"

static char path[64];
static struct strobe_timeline_result made;

static int name_file(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/strobe-chrome-%d-XXXXXX", (int)getpid());
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static enum strobe_err import(const char *text)
{
    return strobe_chrome_import_bytes(text, strlen(text), path, &made);
}

/* Zones of the trace that have an end, and the ticks of all. */
struct found {
    uint64_t n_ended, n_open, ticks;
};

static enum strobe_err add(void *context, const struct strobe_batch *batch)
{
    struct found *found = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        int is_ended = batch->zones[i].state == STROBE_ZONE_ENDED;
        found->n_ended += is_ended;
        found->n_open += !is_ended;
        found->ticks += is_ended ? batch->zones[i].ticks : 0;
    }
    return STROBE_OK;
}

static struct found read_back(void)
{
    struct found found = {0};
    struct strobe_trace *trace;
    assert_int_equal(strobe_trace_open(path, 0, &trace), STROBE_OK);
    struct strobe_walk walk = {.trace = trace, .context = &found, .zones = add, .want_open = 1};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    strobe_trace_close(trace);
    return found;
}

#define EVENT(phase, ts, more) \
    "{\"ph\":\"" phase "\",\"ts\":" #ts ",\"pid\":1,\"tid\":1,\"name\":\"z\"" more "},"

static void a_begin_and_its_end_are_one_zone(void **state)
{
    (void)state;
    assert_int_equal(
        import("[" EVENT("B", 1, "") EVENT("B", 2, "") EVENT("E", 3, "") EVENT("E", 5, "") "]"),
        STROBE_OK);
    assert_int_equal(made.n_zones, 2);
    assert_int_equal(made.n_set_aside, 0);
    assert_int_equal(read_back().ticks, 5000); /* ns: 1 us and 4 us */
}

static void a_begin_without_its_end_stays_open(void **state)
{
    (void)state;
    assert_int_equal(import("[" EVENT("B", 1, "") EVENT("X", 7, ",\"dur\":2") "]"), STROBE_OK);
    struct found found = read_back();
    assert_int_equal(found.n_open, 1);
    assert_int_equal(found.n_ended, 1);
}

static void an_end_without_its_begin_is_set_aside(void **state)
{
    (void)state;
    assert_int_equal(import("[" EVENT("E", 1, "") EVENT("e", 2, ",\"id\":1") EVENT("i", 3, "") "]"),
                     STROBE_OK);
    assert_int_equal(made.n_set_aside, 2);
    assert_int_equal(made.n_messages, 1);
}

static void spans_of_one_id_nest_and_are_forgotten_with_their_end(void **state)
{
    (void)state;
    assert_int_equal(import("[" EVENT("b", 1, ",\"id\":1") EVENT("b", 2, ",\"id\":1")
                                EVENT("e", 3, ",\"id\":1") EVENT("e", 4, ",\"id\":\"0x1\"")
                                    EVENT("e", 5, ",\"id\":1") "]"),
                     STROBE_OK);
    assert_int_equal(made.n_spans, 2);
    assert_int_equal(made.n_set_aside, 1);
}

static void an_event_that_is_no_json_costs_itself_alone(void **state)
{
    (void)state;
    assert_int_equal(import("[{\"ph\":\"X\",\"ts\":1,\"name\":\"\\q\"}, {a:1}, 5, \"x\", {}," EVENT(
                         "X", 2, ",\"dur\":1") "]"),
                     STROBE_OK);
    assert_int_equal(made.n_zones, 1);
    assert_int_equal(made.n_set_aside, 5);
}

static void a_cut_file_gives_what_came_before(void **state)
{
    static const char text[] =
        "{\"traceEvents\":[" EVENT("X", 1, ",\"dur\":1") EVENT("X", 2, ",\"dur\":1") "]}";
    size_t n_both = sizeof text - 4; /* without ",]}" */
    (void)state;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        enum strobe_err err = strobe_chrome_import_bytes(text, n, path, &made);
        assert_int_equal(made.n_zones, n >= n_both ? 2 : n >= 16 + (n_both - 16) / 2 ? 1 : 0);
        assert_int_equal(made.is_cut, made.n_zones > 0);
        assert_true(err == STROBE_ERR_CORRUPT || err == STROBE_ERR_FORMAT);
    }
    assert_int_equal(strobe_chrome_import_bytes(text, sizeof text - 1, path, &made), STROBE_OK);
}

static void what_is_no_trace_is_refused(void **state)
{
    static const char *const bad[] = {"", "hello", "5", "\"ph\""};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(import(bad[i]), STROBE_ERR_FORMAT);
}

static void a_file_may_be_one_by_its_first_bytes(void **state)
{
    (void)state;
    assert_true(strobe_chrome_is_file((const uint8_t *)" \n[", 3));
    assert_true(strobe_chrome_is_file((const uint8_t *)"\xef\xbb\xbf{", 4));
    assert_true(strobe_chrome_is_file((const uint8_t *)"\x1f\x8b", 2));
    assert_false(strobe_chrome_is_file((const uint8_t *)"", 0));
    assert_false(strobe_chrome_is_file((const uint8_t *)"\0[", 2));
    assert_false(strobe_chrome_is_file((const uint8_t *)"tracy", 5));
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, name_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(a_begin_and_its_end_are_one_zone),
        WITH_FILE(a_begin_without_its_end_stays_open),
        WITH_FILE(an_end_without_its_begin_is_set_aside),
        WITH_FILE(spans_of_one_id_nest_and_are_forgotten_with_their_end),
        WITH_FILE(an_event_that_is_no_json_costs_itself_alone),
        WITH_FILE(a_cut_file_gives_what_came_before),
        WITH_FILE(what_is_no_trace_is_refused),
        cmocka_unit_test(a_file_may_be_one_by_its_first_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
