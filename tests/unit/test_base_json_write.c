/* test_base_json_write.c - JSON that any reader takes.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "base/json_tree.h"
#include "base/json_write.h"

static void write_some(struct strobe_json_writer *json)
{
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_string(json, "a\"b", "x\ny");
    strobe_json_write_open(json, "list", '[');
    strobe_json_write_u(json, NULL, UINT64_MAX);
    strobe_json_write_i(json, NULL, -5);
    strobe_json_write_double(json, NULL, 0.25);
    strobe_json_write_double(json, NULL, INFINITY);
    strobe_json_write_bool(json, NULL, 1);
    strobe_json_write_close(json, ']');
    strobe_json_write_open(json, "empty", '{');
    strobe_json_write_close(json, '}');
    strobe_json_write_line(json, 2);
    strobe_json_write_string(json, "none", NULL);
    strobe_json_write_line(json, 0);
    strobe_json_write_close(json, '}');
}

static void commas_and_quotes_come_by_themselves(void **state)
{
    (void)state;
    struct strobe_out out = {0};
    struct strobe_json_writer json = {.out = &out};
    write_some(&json);
    assert_string_equal(
        strobe_out_string(&out),
        "{\"a\\\"b\":\"x\\ny\",\"list\":[18446744073709551615,-5,0.25,null,true],\"empty\":{},\n"
        "  \"none\":null\n}");
    strobe_out_clear(&out);
    json = (struct strobe_json_writer){.out = &out, .is_spaced = 1};
    write_some(&json);
    assert_string_equal(strobe_out_string(&out),
                        "{\"a\\\"b\": \"x\\ny\", \"list\": [18446744073709551615, -5, 0.25, null, "
                        "true], \"empty\": {},\n"
                        "  \"none\": null\n}");
    strobe_out_free(&out);
}

static void a_name_may_be_any_bytes(void **state)
{
    (void)state;
    struct strobe_out out = {0};
    struct strobe_json_writer json = {.out = &out};
    strobe_json_write_open(&json, NULL, '{');
    strobe_json_write_name(&json, "a\0\xff", 3);
    strobe_json_write_u(&json, NULL, 1);
    strobe_json_write_name(&json, "bc", 1);
    strobe_json_write_open(&json, NULL, '[');
    strobe_json_write_close(&json, ']');
    strobe_json_write_close(&json, '}');
    assert_string_equal(strobe_out_string(&out), "{\"a\\u0000\xef\xbf\xbd\":1,\"b\":[]}");
    strobe_out_free(&out);
}

static void any_bytes_come_back_as_valid_text(void **state)
{
    (void)state;
    struct strobe_out out = {0};
    struct strobe_json_writer json = {.out = &out};
    struct strobe_json_tree tree = {0};
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    strobe_json_write_text(&json, NULL, all, sizeof all);
    assert_int_equal(strobe_json_tree_parse(&tree, out.at, out.len, NULL), STROBE_OK);
    size_t n;
    const char *text = strobe_json_tree_text(&tree, 1, &n);
    assert_int_equal(n, 128 + 128 * 3);
    assert_memory_equal(text, all, 128);
    strobe_json_tree_free(&tree);
    strobe_out_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_quotes_come_by_themselves),
        cmocka_unit_test(a_name_may_be_any_bytes),
        cmocka_unit_test(any_bytes_come_back_as_valid_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
