/* test_base_json_tree.c - one value in memory.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/json_tree.h"

static enum strobe_err parse(struct strobe_json_tree *tree, const char *text)
{
    return strobe_json_tree_parse(tree, text, strlen(text), NULL);
}

static void check_text(const struct strobe_json_tree *tree, uint32_t node, const char *expected)
{
    size_t n;
    assert_string_equal(strobe_json_tree_text(tree, node, &n), expected);
    assert_int_equal(n, strlen(expected));
}

static void members_and_elements_are_found(void **state)
{
    (void)state;
    struct strobe_json_tree tree = {0};
    assert_int_equal(
        parse(&tree, "{\"a\":[1,2.5,\"x\",null,true],\"b\":{\"c\":-7},\"\":\"empty\"}"), STROBE_OK);
    uint32_t a = strobe_json_tree_get(&tree, 1, "a"), b = strobe_json_tree_get(&tree, 1, "b");
    assert_int_equal(tree.nodes[a].n_children, 5);
    uint32_t i = tree.nodes[a].first;
    assert_int_equal(tree.nodes[i].type, STROBE_JSON_INT);
    i = tree.nodes[i].next;
    assert_int_equal(tree.nodes[i].type, STROBE_JSON_FLOAT);
    check_text(&tree, i, "2.5");
    i = tree.nodes[i].next;
    check_text(&tree, i, "x");
    check_text(&tree, strobe_json_tree_get(&tree, b, "c"), "-7");
    check_text(&tree, strobe_json_tree_get(&tree, 1, ""), "empty");
    assert_int_equal(strobe_json_tree_get(&tree, 1, "z"), 0);
    assert_int_equal(strobe_json_tree_get(&tree, a, "a"), 0);
    assert_int_equal(strobe_json_tree_get(&tree, 0, "a"), 0);
    strobe_json_tree_free(&tree);
}

static void of_a_member_that_stands_twice_the_last_value_counts(void **state)
{
    (void)state;
    struct strobe_json_tree tree = {0};
    assert_int_equal(parse(&tree, "{\"a\":1,\"b\":2,\"\\u0061\":[3]}"), STROBE_OK);
    assert_int_equal(tree.nodes[1].n_children, 2);
    uint32_t a = tree.nodes[1].first;
    assert_int_equal(strobe_json_tree_get(&tree, 1, "a"), a);
    assert_int_equal(tree.nodes[a].type, STROBE_JSON_ARRAY);
    strobe_json_tree_free(&tree);
}

static void an_object_of_many_members_is_searched_by_hash(void **state)
{
    (void)state;
    struct strobe_json_tree tree = {0};
    struct strobe_out text = {0};
    for (int round = 0; round < 2; round++) {
        strobe_out_clear(&text);
        strobe_out_text(&text, "{\"x\":{\"in\":0");
        for (int i = 0; i < 1000; i++)
            strobe_out_format(&text, ",\"m%d\":%d", i % 700, i);
        strobe_out_text(&text, "},\"y\":1,\"x\":{"); /* the second of the same name, as large */
        for (int i = 0; i < 500; i++)
            strobe_out_format(&text, "%s\"m%d\":%d", i ? "," : "", i, i + 5000);
        strobe_out_text(&text, "}}");
        assert_int_equal(strobe_json_tree_parse(&tree, text.at, text.len, NULL), STROBE_OK);
        assert_int_equal(tree.nodes[1].n_children, 2);
        uint32_t x = strobe_json_tree_get(&tree, 1, "x");
        assert_int_equal(tree.nodes[x].n_children, 500);
        for (int i = 0; i < 700; i++) {
            char name[16], value[16];
            snprintf(name, sizeof name, "m%d", i);
            snprintf(value, sizeof value, "%d", i + 5000);
            uint32_t member = strobe_json_tree_get(&tree, x, name);
            assert_true((member != 0) == (i < 500));
            if (member)
                check_text(&tree, member, value);
        }
        assert_int_equal(strobe_json_tree_get(&tree, x, "in"), 0);
    }
    strobe_out_free(&text);
    strobe_json_tree_free(&tree);
}

static void texts_end_with_a_nul_and_outlive_the_source(void **state)
{
    (void)state;
    struct strobe_json_tree tree = {0};
    char text[] = "{\"plain\":\"a\",\"\\u0065sc\":\"b\\n\",\"n\":[12,-3.5,\"\"],\"e\":0}";
    assert_int_equal(strobe_json_tree_parse(&tree, text, sizeof text - 1, NULL), STROBE_OK);
    memset(text, 'x', sizeof text);
    check_text(&tree, strobe_json_tree_get(&tree, 1, "plain"), "a");
    check_text(&tree, strobe_json_tree_get(&tree, 1, "esc"), "b\n");
    check_text(&tree, strobe_json_tree_get(&tree, 1, "e"), "0");
    uint32_t i = tree.nodes[strobe_json_tree_get(&tree, 1, "n")].first;
    check_text(&tree, i, "12");
    check_text(&tree, i = tree.nodes[i].next, "-3.5");
    check_text(&tree, tree.nodes[i].next, "");
    static const char *const names[] = {"plain", "esc", "n", "e"};
    i = tree.nodes[1].first;
    for (int k = 0; k < 4; k++, i = tree.nodes[i].next) {
        size_t n;
        assert_string_equal(strobe_json_tree_key(&tree, i, &n), names[k]);
        assert_int_equal(n, strlen(names[k]));
    }
    char number[] = {'1', '7'}; /* nothing is behind it */
    assert_int_equal(strobe_json_tree_parse(&tree, number, sizeof number, NULL), STROBE_OK);
    check_text(&tree, 1, "17");
    strobe_json_tree_free(&tree);
}

static void elements_of_an_array_have_no_name(void **state)
{
    (void)state;
    struct strobe_json_tree tree = {0};
    size_t n;
    assert_int_equal(parse(&tree, "{\"a\":[1,{\"b\":2},3]}"), STROBE_OK);
    uint32_t i = tree.nodes[strobe_json_tree_get(&tree, 1, "a")].first;
    for (; i; i = tree.nodes[i].next)
        assert_string_equal(strobe_json_tree_key(&tree, i, &n), "");
    strobe_json_tree_free(&tree);
}

static void bounds_and_errors_leave_an_empty_tree(void **state)
{
    (void)state;
    struct strobe_json_tree tree = {.max_nodes = 4};
    assert_int_equal(parse(&tree, "[1,2,3]"), STROBE_OK);
    assert_int_equal(parse(&tree, "[1,2,3,4]"), STROBE_ERR_LIMIT);
    assert_int_equal(parse(&tree, "[1,2"), STROBE_ERR_CORRUPT);
    assert_int_equal(parse(&tree, "[1] 2"), STROBE_ERR_FORMAT);
    assert_int_equal(tree.n_nodes, 1);
    strobe_json_tree_free(&tree);
}

static void values_of_a_long_text_are_read_one_by_one(void **state)
{
    (void)state;
    struct strobe_json_tree tree = {0};
    struct strobe_json_reader reader;
    enum strobe_json_token token;
    const char *text = "[{\"a\":1},2,{\"a\":[3]}]";
    strobe_json_read_memory(&reader, text, strlen(text), NULL);
    assert_int_equal(strobe_json_read_next(&reader, &token), STROBE_OK);
    static const uint8_t types[] = {STROBE_JSON_OBJECT, STROBE_JSON_INT, STROBE_JSON_OBJECT};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(strobe_json_read_next(&reader, &token), STROBE_OK);
        assert_int_equal(strobe_json_tree_read(&tree, &reader, token), STROBE_OK);
        assert_int_equal(tree.nodes[1].type, types[i]);
    }
    assert_int_equal(tree.nodes[strobe_json_tree_get(&tree, 1, "a")].type, STROBE_JSON_ARRAY);
    assert_int_equal(strobe_json_read_next(&reader, &token), STROBE_OK);
    assert_int_equal(token, STROBE_TOKEN_ARRAY_END);
    strobe_json_read_close(&reader);
    strobe_json_tree_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements_are_found),
        cmocka_unit_test(of_a_member_that_stands_twice_the_last_value_counts),
        cmocka_unit_test(an_object_of_many_members_is_searched_by_hash),
        cmocka_unit_test(texts_end_with_a_nul_and_outlive_the_source),
        cmocka_unit_test(elements_of_an_array_have_no_name),
        cmocka_unit_test(bounds_and_errors_leave_an_empty_tree),
        cmocka_unit_test(values_of_a_long_text_are_read_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
