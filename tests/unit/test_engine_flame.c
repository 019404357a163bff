/* test_engine_flame.c - a flame graph of a large trace is made step by step: no answer reads more than some of it, and the last one
 * is exact.  SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "base/json_tree.h"
#include "engine/engine.h"

enum { BLOCKS = 40, ZONES = 32768, FIRST = 1000 };

static struct small_trace small;
static struct strobe_engine *engine;

static int open_engine(void **state)
{
    struct strobe_trace *trace;
    (void)state;
    small_start(&small);
    small_record(&small, STROBE_FACT_CLOCK_SYNC,
                 (const uint64_t[]){STROBE_CLOCK_MONO, FIRST, FIRST, 0, 0, 0}, 6, NULL, 0);
    small_loc(&small, 1, 1, "work");
    small_put_records(&small);
    for (int i = 0; i < BLOCKS; i++)
        small_zones(&small, FIRST + 20ull * ZONES * (uint64_t)i, ZONES);
    small_finish(&small);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    return strobe_engine_open(trace, "small", &engine);
}

static int close_engine(void **state)
{
    (void)state;
    strobe_engine_close(engine);
    small_remove(&small);
    return 0;
}

struct flame {
    int is_exact;
    double share;
    double count; /* of the first path */
};

static struct flame ask(const char *text)
{
    struct strobe_json question = {0};
    struct strobe_reply reply = {0};
    struct strobe_json_tree answer = {0};
    struct flame found = {0};
    uint32_t n_json;
    size_t n;
    assert_true(strobe_json_parse(&question, text, strlen(text)));
    strobe_engine_answer(engine, &question, &reply);
    for (uint32_t i = 0; i < reply.n_arrays; i++)
        if (!strcmp(reply.arrays[i].name, "count") && reply.arrays[i].n)
            memcpy(&found.count, reply.arrays[i].bytes, sizeof found.count);
    uint8_t *frame = strobe_reply_finish(&reply, 1, 0, &n);
    memcpy(&n_json, frame + 4, sizeof n_json);
    assert_int_equal(strobe_json_tree_parse(&answer, (char *)frame + 8, n_json, NULL), STROBE_OK);
    found.is_exact = strstr((char *)frame + 8, "\"exact\":true") != NULL;
    const char *share = strstr((char *)frame + 8, "\"share\":");
    found.share = share ? strtod(share + 8, NULL) : -1;
    strobe_json_tree_free(&answer);
    strobe_json_free(&question);
    free(frame);
    return found;
}

static void a_flame_graph_comes_in_steps_that_end_with_all_zones(void **state)
{
    struct flame step, before = {0};
    int n_steps = 0;
    (void)state;
    do {
        step = ask("{\"ask\":\"flame\",\"limit\":10}");
        assert_true(step.count > before.count && step.share > before.share);
        assert_true(step.count - before.count <= 1 << 18); /* 2^19 events are half as many zones */
        before = step;
        n_steps++;
    } while (!step.is_exact);
    assert_true(n_steps > 2);
    assert_true(step.count == (double)BLOCKS * ZONES && step.share == 1);
}

static void a_flame_graph_of_a_part_has_the_zones_that_begin_in_it(void **state)
{
    char text[200];
    struct flame step;
    (void)state;
    snprintf(text, sizeof text, "{\"ask\":\"flame\",\"from\":%d,\"to\":%d}", 20 * ZONES + 5,
             20 * ZONES * (BLOCKS - 1) + 5);
    do
        step = ask(text);
    while (!step.is_exact);
    assert_true(step.count == (double)(BLOCKS - 2) * ZONES);
}

static void a_step_of_another_question_begins_anew(void **state)
{
    (void)state;
    struct flame first = ask("{\"ask\":\"flame\"}");
    assert_false(first.is_exact);
    ask("{\"ask\":\"flame\",\"mode\":\"up\"}");
    struct flame again = ask("{\"ask\":\"flame\"}");
    assert_true(again.count == first.count);
}

static void what_was_begun_is_given_up_at_rest(void **state)
{
    (void)state;
    struct flame first = ask("{\"ask\":\"flame\",\"mode\":\"down\"}");
    assert_false(first.is_exact);
    assert_non_null(engine->flame);
    strobe_engine_rest(engine);
    assert_null(engine->flame);
    struct flame again = ask("{\"ask\":\"flame\",\"mode\":\"down\"}");
    assert_true(again.count == first.count);
}

static void what_was_begun_is_given_up_while_others_ask(void **state)
{
    enum { AFTER_MS = 2000 };
    (void)state;
    ask("{\"ask\":\"flame\"}");
    assert_false(strobe_engine_give_up(engine, 5000, AFTER_MS));
    ask("{\"ask\":\"stats\"}");
    assert_false(strobe_engine_give_up(engine, 6999, AFTER_MS));
    struct flame second = ask("{\"ask\":\"flame\"}"); /* goes on */
    assert_false(second.is_exact);
    assert_false(strobe_engine_give_up(engine, 7000, AFTER_MS));
    ask("{\"ask\":\"stats\"}");
    assert_non_null(engine->flame);
    assert_true(strobe_engine_give_up(engine, 9000, AFTER_MS));
    assert_null(engine->flame);
    assert_false(strobe_engine_give_up(engine, 12000, AFTER_MS)); /* there is nothing */
    assert_true(ask("{\"ask\":\"flame\"}").count < second.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flame_graph_comes_in_steps_that_end_with_all_zones),
        cmocka_unit_test(a_flame_graph_of_a_part_has_the_zones_that_begin_in_it),
        cmocka_unit_test(a_step_of_another_question_begins_anew),
        cmocka_unit_test(what_was_begun_is_given_up_at_rest),
        cmocka_unit_test(what_was_begun_is_given_up_while_others_ask),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
