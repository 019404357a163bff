/* test_base_utf8.c - any bytes become valid UTF-8.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/utf8.h"

static void every_code_point_comes_back_and_surrogates_do_not(void **state)
{
    (void)state;
    char bytes[4];
    size_t n_bad;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        size_t n = strobe_utf8_put(bytes, code);
        int is_surrogate = code >= 0xd800 && code < 0xe000;
        assert_int_equal(strobe_utf8_length(bytes, n, &n_bad), is_surrogate ? 0 : n);
        assert_int_equal(n, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
    }
}

static void check(const char *in, const char *out)
{
    char room[64];
    size_t n = strobe_utf8_make_valid(room, sizeof room, in, strlen(in));
    room[n] = 0;
    assert_string_equal(room, out);
}

static void broken_bytes_become_one_replacement_each_run(void **state)
{
    (void)state;
#define R STROBE_UTF8_REPLACEMENT
    check("plain", "plain");
    check("\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
    check("a\xff"
          "b",
          "a" R "b");
    check("\xe2\x82", R); /* cut off: one */
    check("\xe2\x82z", R "z");
    check("\xf0\x9f\x98", R);
    check("\xc0\xaf", R R);             /* overlong: each byte */
    check("\xe0\x80\x80", R R R);       /* likewise */
    check("\xed\xa0\x80", R R R);       /* a surrogate */
    check("\xf4\x90\x80\x80", R R R R); /* beyond the last plane */
    check("\x80\x80", R R);
}

static void random_bytes_come_out_valid_and_within_three_times(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    char in[40], out[120];
    for (int i = 0; i < 200000; i++) {
        for (size_t k = 0; k < sizeof in; k++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            in[k] = (char)(random >> 60 < 6 ? 'a' : random >> 50);
        }
        size_t n = strobe_utf8_make_valid(out, sizeof out, in, sizeof in);
        assert_int_equal(strobe_utf8_valid(out, n), n);
        size_t room = random % 41, cut = strobe_utf8_make_valid(out, room, in, sizeof in);
        assert_true(cut <= room && cut + 4 > (room < n ? room : n));
        assert_int_equal(strobe_utf8_valid(out, cut), cut);
    }
}

static void a_cut_splits_no_character(void **state)
{
    (void)state;
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"; /* 1 2 3 4 1 */
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t max = 0; max < 13; max++)
        assert_int_equal(strobe_utf8_cut(text, 11, max), expected[max]);
    assert_int_equal(strobe_utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}

static void ascii_is_counted_to_the_byte(void **state)
{
    (void)state;
    char text[40];
    for (size_t n = 0; n < sizeof text; n++) {
        memset(text, 'x', sizeof text);
        text[n] = (char)0xc3;
        for (size_t all = 0; all <= sizeof text; all++)
            assert_int_equal(strobe_utf8_ascii(text, all), all < n ? all : n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back_and_surrogates_do_not),
        cmocka_unit_test(broken_bytes_become_one_replacement_each_run),
        cmocka_unit_test(random_bytes_come_out_valid_and_within_three_times),
        cmocka_unit_test(a_cut_splits_no_character),
        cmocka_unit_test(ascii_is_counted_to_the_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
