/* test_noc_event.c - words of transfers over the NoC, in all their layouts.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/noc_event.h"

static void check(uint64_t word, enum strobe_noc_layout layout, uint32_t n_bytes, bool posted)
{
    struct strobe_noc_event event = strobe_noc_event_decode(word, layout);
    assert_string_equal(strobe_noc_event_name(event.type), "WRITE_");
    assert_int_equal(event.x, 3);
    assert_int_equal(event.y, 4);
    assert_int_equal(event.last_x, -1);
    assert_int_equal(event.noc, 1);
    assert_int_equal(event.vc, -1);
    assert_int_equal(event.n_bytes, n_bytes);
    assert_int_equal(event.posted, posted);
    assert_true(strobe_noc_event_has_target(&event));
}

static void todays_words_have_12_bits_of_pieces_and_a_posted_bit_behind_them(void **state)
{
    (void)state;
    uint64_t word = 11 | 3ull << 8 | 4ull << 16 | 0xffffull << 24 | 0xf2ull << 40;
    check(word | 0x40ull << 48, STROBE_NOC_12_BITS, 2048, false);
    check(word | 0xfffull << 48 | 1ull << 60, STROBE_NOC_12_BITS, 131040, true);
}

static void words_of_before_have_8_bits_of_pieces(void **state)
{
    (void)state;
    uint64_t word = 11 | 3ull << 8 | 4ull << 16 | 0xffffull << 24 | 0xf2ull << 40 | 0x40ull << 48;
    check(word, STROBE_NOC_8_BITS, 2048, false);
    check(word | 1ull << 56, STROBE_NOC_8_BITS, 2048, true);
    check(word | 0xffull << 48, STROBE_NOC_8_BITS, 255 * 32, false);
}

static void the_oldest_words_have_their_type_in_byte_6(void **state)
{
    (void)state;
    check(3 | 4ull << 8 | 0xffffull << 16 | 0xf2ull << 32 | 0x40ull << 40 | 11ull << 48,
          STROBE_NOC_OLDEST, 2048, false);
}

static void types_beyond_the_list_have_no_name_and_stateful_ones_no_target(void **state)
{
    (void)state;
    assert_string_equal(strobe_noc_event_name(41), "FABRIC_ROUTING_METADATA_UNAVAILABLE_2D");
    assert_string_equal(strobe_noc_event_name(42), "UNSUPPORTED");
    assert_string_equal(strobe_noc_event_name(43), "UNDEF");
    struct strobe_noc_event event = strobe_noc_event_decode(17 | 3 << 8, STROBE_NOC_12_BITS);
    assert_false(strobe_noc_event_has_target(&event));
    assert_true(strobe_noc_event_is_multicast(15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(todays_words_have_12_bits_of_pieces_and_a_posted_bit_behind_them),
        cmocka_unit_test(words_of_before_have_8_bits_of_pieces),
        cmocka_unit_test(the_oldest_words_have_their_type_in_byte_6),
        cmocka_unit_test(types_beyond_the_list_have_no_name_and_stateful_ones_no_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
