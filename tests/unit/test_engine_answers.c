/* test_engine_answers.c - the engine's answers about a small trace: 100 zones of 10 ticks of 1 ns, one every 20.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "base/json_tree.h"
#include "engine/engine.h"

enum { N_ZONES = 100, FIRST = 1000 };

/* The engine, and the answer to the last question. */
static struct small_trace small;
static struct strobe_engine *engine;
static struct strobe_json_tree answer;
static uint8_t *frame;

static int open_engine(void **state)
{
    struct strobe_trace *trace;
    (void)state;
    small_start(&small);
    small_record(&small, STROBE_FACT_CLOCK_SYNC,
                 (const uint64_t[]){STROBE_CLOCK_MONO, FIRST, FIRST, 0, 0, 0}, 6, NULL, 0);
    small_loc(&small, 1, 1, "work");
    small_put_records(&small);
    small_zones(&small, FIRST, N_ZONES);
    small_finish(&small);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    return strobe_engine_open(trace, "small", &engine);
}

static int close_engine(void **state)
{
    (void)state;
    strobe_engine_close(engine);
    strobe_json_tree_free(&answer);
    free(frame);
    frame = NULL;
    small_remove(&small);
    return 0;
}

static void ask(const char *text)
{
    struct strobe_json question = {0};
    struct strobe_reply reply = {0};
    uint32_t n_json;
    size_t n;
    assert_true(strobe_json_parse(&question, text, strlen(text)));
    strobe_engine_answer(engine, &question, &reply);
    free(frame);
    frame = strobe_reply_finish(&reply, 1, 0, &n);
    assert_non_null(frame);
    memcpy(&n_json, frame + 4, sizeof n_json);
    assert_int_equal(strobe_json_tree_parse(&answer, (char *)frame + 8, n_json, NULL), STROBE_OK);
    strobe_json_free(&question);
}

/* A member of the answer, by a path of names with dots between. */
static uint32_t find(const char *path)
{
    char names[64], *rest = names;
    uint32_t node = 1;
    snprintf(names, sizeof names, "%s", path);
    for (char *name = strsep(&rest, "."); name && node; name = strsep(&rest, "."))
        node = strobe_json_tree_get(&answer, node, name);
    return node;
}

static const char *text_at(const char *path)
{
    size_t n;
    return strobe_json_tree_text(&answer, find(path), &n);
}

static uint64_t number_at(const char *path)
{
    return strtoull(text_at(path), NULL, 10);
}

static void statistics_count_each_zone_and_its_time(void **state)
{
    (void)state;
    ask("{\"ask\":\"stats\"}");
    assert_int_equal(number_at("arrays.loc.n"), 1);
    double count, total;
    memcpy(&count, frame + number_at("arrays.count.at"), sizeof count);
    memcpy(&total, frame + number_at("arrays.total.at"), sizeof total);
    assert_true(count == N_ZONES);
    assert_true(total == 10.0 * N_ZONES);
}

static void a_histogram_has_the_least_and_the_most(void **state)
{
    (void)state;
    ask("{\"ask\":\"histogram\",\"loc\":1}");
    assert_int_equal(number_at("count"), N_ZONES);
    assert_int_equal(number_at("min"), 10);
    assert_int_equal(number_at("max"), 10);
}

static void a_search_counts_all_that_it_finds_and_lists_as_many_as_were_asked_for(void **state)
{
    (void)state;
    ask("{\"ask\":\"find\",\"text\":\"WOR\",\"what\":[\"zones\"],\"limit\":3}");
    assert_int_equal(number_at("total"), N_ZONES);
    assert_int_equal(strobe_json_tree_node(&answer, find("hits"))->n_children, 3);
    ask("{\"ask\":\"find\",\"text\":\"nowhere\",\"what\":[\"zones\"],\"limit\":3}");
    assert_int_equal(number_at("total"), 0);
}

static void names_of_locations_are_told_once_asked_for(void **state)
{
    (void)state;
    ask("{\"ask\":\"names\",\"locs\":[1,99,-5,\"x\"]}");
    assert_non_null(strstr((char *)frame + 8, "\"work\""));
}

static void what_is_no_question_is_answered_in_words(void **state)
{
    static const char *const odd[] = {"{}",   "[]",          "1",
                                      "null", "{\"ask\":5}", "{\"ask\":\"no such\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        ask(odd[i]);
        assert_string_equal(text_at("error"), "there is no such question");
    }
}

static void questions_with_senseless_numbers_are_answered(void **state)
{
    static const char *const odd[] = {
        "{\"ask\":\"pixels\",\"width\":-1,\"budget\":1e300,\"lanes\":[[1e300,-1,99],[],5,\"x\"]}",
        "{\"ask\":\"zone\",\"track\":4294967295,\"depth\":1e9,\"at\":-1e300}",
        "{\"ask\":\"step\",\"track\":0,\"to\":7}",
        "{\"ask\":\"instances\",\"loc\":4294967295,\"limit\":-1,\"sort\":[]}",
        "{\"ask\":\"stats\",\"from\":1e300,\"to\":-1e300,\"tracks\":[1e300,\"x\"]}",
        "{\"ask\":\"flame\",\"limit\":0,\"mode\":{}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        ask(odd[i]);
}

static void only_what_may_take_long_is_slow(void **state)
{
    struct strobe_json question = {0};
    (void)state;
    assert_true(strobe_json_parse(&question, "{\"ask\":\"stats\"}", 15));
    assert_true(strobe_engine_is_slow(&question));
    assert_true(strobe_json_parse(&question, "{\"ask\":\"trace\"}", 15));
    assert_false(strobe_engine_is_slow(&question));
    assert_true(strobe_json_parse(&question, "[]", 2));
    assert_false(strobe_engine_is_slow(&question));
    strobe_json_free(&question);
}

static void a_key_tells_questions_apart_by_what_they_ask(void **state)
{
    static const char *const members[] = {"loc", "tracks", NULL};
    struct strobe_json question = {0};
    char *keys[3];
    static const char *const texts[] = {"{\"loc\":1,\"tracks\":[1,2]}",
                                        "{ \"tracks\" : [1, 2], \"loc\":1}",
                                        "{\"loc\":1,\"tracks\":[12]}"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(strobe_json_parse(&question, texts[i], strlen(texts[i])));
        keys[i] = strobe_engine_key(engine, &question, members);
        assert_non_null(keys[i]);
    }
    assert_string_equal(keys[0], keys[1]);
    assert_string_not_equal(keys[0], keys[2]);
    for (int i = 0; i < 3; i++)
        free(keys[i]);
    strobe_json_free(&question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_count_each_zone_and_its_time),
        cmocka_unit_test(a_histogram_has_the_least_and_the_most),
        cmocka_unit_test(a_search_counts_all_that_it_finds_and_lists_as_many_as_were_asked_for),
        cmocka_unit_test(names_of_locations_are_told_once_asked_for),
        cmocka_unit_test(what_is_no_question_is_answered_in_words),
        cmocka_unit_test(questions_with_senseless_numbers_are_answered),
        cmocka_unit_test(only_what_may_take_long_is_slow),
        cmocka_unit_test(a_key_tells_questions_apart_by_what_they_ask),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
