/* test_base_protobuf.c - protobuf's wire format: what is written is what the format says, what is damaged is said.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/protobuf.h"

static void fields_are_the_bytes_of_the_format(void **state)
{
    (void)state;
    static const uint8_t want[] = {0x08, 0x96, 0x01,                           /* 1: 150 */
                                   0x12, 0x02, 'h',  'i',                      /* 2: "hi" */
                                   0x18, 0x03,                                 /* 3: sint -2 */
                                   0x21, 1,    0,    0,    0,   0, 0, 0, 0x80, /* 4: fixed64 */
                                   0x2a, 0x02, 0x08, 0x01,                     /* 5: { 1: 1 } */
                                   0x32, 0x03, 0x01, 0xac, 0x02}; /* 6: packed 1, 300 */
    struct strobe_out out = {0}, inner = {0};
    strobe_protobuf_put_u(&out, 1, 150);
    strobe_protobuf_put_text(&out, 2, "hi", 2);
    strobe_protobuf_put_sint(&out, 3, -2);
    strobe_protobuf_put_fixed64(&out, 4, 0x8000000000000001);
    strobe_protobuf_put_u(&inner, 1, 1);
    strobe_protobuf_put_message(&out, 5, &inner);
    strobe_protobuf_put_packed(&out, 6, (const uint64_t[]){1, 300}, 2);
    strobe_protobuf_put_packed(&out, 7, NULL, 0);
    assert_int_equal(out.len, sizeof want);
    assert_memory_equal(out.at, want, sizeof want);
    assert_int_equal(inner.len, 0);
    strobe_out_free(&out);
    strobe_out_free(&inner);
}

static void a_text_of_any_bytes_is_written_as_utf8(void **state)
{
    (void)state;
    struct strobe_out out = {0};
    strobe_protobuf_put_text(&out, 1, "a\xff", 2);
    assert_int_equal(out.len, 6);
    assert_memory_equal(out.at,
                        "\x0a\x04"
                        "a\xef\xbf\xbd",
                        6);
    strobe_out_free(&out);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct strobe_out out = {0};
    strobe_protobuf_put_u(&out, 1, UINT64_MAX);
    strobe_protobuf_put_double(&out, 2, 0.5);
    strobe_protobuf_put_bytes(&out, 3, "abc", 3);
    struct strobe_protobuf in = strobe_protobuf_over(out.at, out.len);
    assert_true(strobe_protobuf_next(&in));
    assert_int_equal(in.field, 1);
    assert_true(in.number == UINT64_MAX);
    assert_true(strobe_protobuf_next(&in));
    assert_true(strobe_protobuf_double(in.number) == 0.5);
    assert_true(strobe_protobuf_next(&in));
    assert_int_equal(in.number, 3);
    assert_memory_equal(in.bytes, "abc", 3);
    assert_false(strobe_protobuf_next(&in));
    assert_false(in.is_bad);
    strobe_out_free(&out);
}

static uint64_t sum_of(const uint8_t *bytes, size_t n, int is_fixed64)
{
    struct strobe_protobuf in = strobe_protobuf_over(bytes, n);
    uint64_t sum = 0, number;
    while (strobe_protobuf_next(&in)) {
        struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(&in, is_fixed64);
        while (strobe_protobuf_numbers_next(&numbers, &number))
            sum += number;
    }
    return sum;
}

static void repeated_numbers_come_packed_or_one_by_one(void **state)
{
    (void)state;
    static const uint8_t packed[] = {0x0a, 3, 1, 2, 4}, single[] = {0x08, 1, 0x08, 2, 0x08, 4},
                         fixed[] = {0x0a, 8, 7, 0, 0, 0, 0, 0, 0, 0};
    assert_int_equal(sum_of(packed, sizeof packed, 0), 7);
    assert_int_equal(sum_of(single, sizeof single, 0), 7);
    assert_int_equal(sum_of(fixed, sizeof fixed, 1), 7);
}

static void damage_ends_the_message_and_is_said(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[12];
        size_t n;
    } bad[] = {
        {{0x0a, 5, 'a'}, 3},  /* longer than what is left */
        {{0x08}, 1},          /* no number */
        {{0x09, 1, 2, 3}, 4}, /* half of a fixed64 */
        {{0x0b}, 1},          /* a group */
        {{0x00, 0}, 2},       /* field 0 */
        {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, 11}, /* no end */
        {{0x80, 0x80, 0x80, 0x80, 0x10, 0}, 6}, /* a field over the highest */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct strobe_protobuf in = strobe_protobuf_over(bad[i].bytes, bad[i].n);
        assert_false(strobe_protobuf_next(&in));
        assert_true(in.is_bad);
        assert_false(strobe_protobuf_next(&in));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_the_bytes_of_the_format),
        cmocka_unit_test(a_text_of_any_bytes_is_written_as_utf8),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(repeated_numbers_come_packed_or_one_by_one),
        cmocka_unit_test(damage_ends_the_message_and_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
