/* test_hosts_packet.c - hosts/packet.h: only what was signed with the key is read.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hosts/packet.h"

static const char key_text[] = "a key of more than sixteen bytes";

static struct strobe_clock_packet make(const struct strobe_sha256_key *key)
{
    struct strobe_clock_packet packet = {
        .kind = STROBE_CLOCK_PACKET_QUESTION, .number = 7, .from = {1, 2}, .name = "node1"};
    strobe_clock_packet_sign(&packet, key);
    return packet;
}

/* RFC 4231, test cases 1, 2 and 6. */
static void codes_are_those_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *key, *message;
        size_t n_key;
        uint8_t code[4];
    } cases[] = {
        {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
         "Hi There",
         20,
         {0xb0, 0x34, 0x4c, 0x61}},
        {"Jefe", "what do ya want for nothing?", 4, {0x5b, 0xdc, 0xc1, 0x46}},
        {NULL,
         "Test Using Larger Than Block-Size Key - Hash Key First",
         131,
         {0x60, 0xe4, 0x31, 0x59}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strobe_sha256_key key;
        uint8_t code[32], longest[131];
        memset(longest, 0xaa, sizeof longest);
        strobe_sha256_key(cases[i].key ? (const void *)cases[i].key : longest, cases[i].n_key,
                          &key);
        strobe_sha256_sign(&key, cases[i].message, strlen(cases[i].message), code);
        assert_memory_equal(code, cases[i].code, sizeof cases[i].code);
    }
}

static void a_signed_packet_is_read_and_any_changed_byte_is_refused(void **state)
{
    (void)state;
    struct strobe_sha256_key key, other;
    struct strobe_clock_packet packet, read;
    strobe_sha256_key(key_text, sizeof key_text - 1, &key);
    strobe_sha256_key(key_text, sizeof key_text - 2, &other);
    packet = make(&key);
    assert_true(strobe_clock_packet_read(&packet, sizeof packet, &key, &read));
    assert_int_equal(read.number, 7);
    assert_string_equal(read.name, "node1");
    assert_false(strobe_clock_packet_read(&packet, sizeof packet, &other, &read));
    assert_false(strobe_clock_packet_read(&packet, sizeof packet - 1, &key, &read));
    for (size_t i = 0; i < sizeof packet; i++) {
        ((uint8_t *)&packet)[i] ^= 1;
        assert_false(strobe_clock_packet_read(&packet, sizeof packet, &key, &read));
        ((uint8_t *)&packet)[i] ^= 1;
    }
}

static void names_have_an_end_and_nothing_for_a_terminal(void **state)
{
    (void)state;
    struct strobe_sha256_key key;
    struct strobe_clock_packet packet, read;
    strobe_sha256_key(key_text, sizeof key_text - 1, &key);
    packet = make(&key);
    memset(packet.name, 'x', sizeof packet.name);
    packet.name[1] = '\033';
    strobe_clock_packet_sign(&packet, &key);
    assert_true(strobe_clock_packet_read(&packet, sizeof packet, &key, &read));
    assert_int_equal(strlen(read.name), sizeof read.name - 1);
    assert_int_equal(read.name[1], '?');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_those_of_the_standard),
        cmocka_unit_test(a_signed_packet_is_read_and_any_changed_byte_is_refused),
        cmocka_unit_test(names_have_an_end_and_nothing_for_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
