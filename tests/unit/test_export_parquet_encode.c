/* test_export_parquet_encode.c - values come back from what Parquet stores, of every width.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "export/parquet_encode.h"

/* Reads what the document of Parquet's encodings says. */
struct bits {
    const unsigned char *at, *end;
    unsigned n_used; /* bits of the byte at hand */
};

static uint64_t take_bits(struct bits *bits, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++) {
        assert_true(bits->at < bits->end);
        value |= (uint64_t)(*bits->at >> bits->n_used & 1) << i;
        bits->n_used = (bits->n_used + 1) & 7;
        bits->at += !bits->n_used;
    }
    return value;
}

static uint64_t take_varint(struct bits *bits)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = take_bits(bits, 8);
        value |= (byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

static int64_t take_signed(struct bits *bits)
{
    uint64_t value = take_varint(bits);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void codes_of_every_width_come_back(void **state)
{
    (void)state;
    uint32_t codes[77];
    uint64_t seed = 1;
    for (unsigned width = 1; width <= 32; width++) {
        struct strobe_out out = {0};
        for (int i = 0; i < 77; i++)
            codes[i] = (uint32_t)(next_random(&seed) >> (64 - width));
        codes[0] = 0;
        codes[1] = 1;
        strobe_parquet_hybrid(&out, codes, 77, width);
        assert_int_equal(out.error, 0);
        struct bits bits = {(unsigned char *)out.at, (unsigned char *)out.at + out.len, 0};
        assert_int_equal(take_varint(&bits), 10 << 1 | 1); /* groups of eight, packed */
        for (int i = 0; i < 77; i++)
            assert_int_equal(take_bits(&bits, width), codes[i]);
        for (int i = 77; i < 80; i++) /* the last group's rest */
            assert_int_equal(take_bits(&bits, width), 0);
        assert_ptr_equal(bits.at, bits.end);
        strobe_out_free(&out);
    }
}

static void codes_that_are_all_equal_are_one_run(void **state)
{
    (void)state;
    const uint32_t codes[] = {300, 300, 300};
    struct strobe_out out = {0};
    strobe_parquet_hybrid(&out, codes, 3, 9);
    assert_int_equal(out.len, 3);
    assert_memory_equal(out.at, "\x06\x2c\x01", 3);
    strobe_out_free(&out);
}

enum { N = 300 };

/* The widths of all pieces in one, bit by bit of what occurred. */
static uint64_t check_differences(const int64_t *values, int is_packed)
{
    struct strobe_out out = {0};
    uint64_t seen = 0;
    strobe_parquet_delta(&out, values, N, is_packed);
    struct bits bits = {(unsigned char *)out.at, (unsigned char *)out.at + out.len, 0};
    assert_int_equal(take_varint(&bits), 128);
    assert_int_equal(take_varint(&bits), 4);
    assert_int_equal(take_varint(&bits), N);
    int64_t value = take_signed(&bits);
    assert_int_equal(value, values[0]);
    for (int i = 1; i < N;) {
        int64_t least = take_signed(&bits);
        unsigned widths[4];
        for (int k = 0; k < 4; k++)
            widths[k] = (unsigned)take_bits(&bits, 8);
        for (int k = 0; k < 128; k++) {
            uint64_t rest = take_bits(&bits, widths[k / 32]);
            value = (int64_t)((uint64_t)value + (uint64_t)least + rest);
            if (i < N)
                assert_int_equal(value, values[i++]);
        }
        for (int k = 0; k < 4; k++)
            seen |= 1ull << (widths[k] & 63);
    }
    assert_ptr_equal(bits.at, bits.end);
    strobe_out_free(&out);
    return seen;
}

static void differences_of_every_width_come_back(void **state)
{
    (void)state;
    int64_t values[N];
    uint64_t seed = 1;
    for (unsigned width = 0; width <= 64; width++) {
        values[0] = -5;
        for (int i = 1; i < N; i++)
            values[i] = (int64_t)((uint64_t)values[i - 1] +
                                  (width ? next_random(&seed) >> (64 - width) : 0));
        check_differences(values, 0);
        check_differences(values, 1);
    }
}

static void small_differences_are_symbols_where_they_are_packed(void **state)
{
    (void)state;
    int64_t values[N] = {0};
    uint64_t seed = 1;
    for (int i = 1; i < N; i++)
        values[i] = values[i - 1] + (int64_t)(next_random(&seed) % 6);
    assert_int_equal(check_differences(values, 0) & 1 << 4, 0);
    assert_int_equal(check_differences(values, 1) & ~1ull, 1 << 4);
    for (int i = 1; i < N; i++)
        values[i] = values[i - 1] + (int64_t)(next_random(&seed) % 14) - 7;
    assert_int_equal(check_differences(values, 1) & ~1ull, 1 << 4);
    for (int i = 1; i < N; i++)
        values[i] = values[i - 1] + (int64_t)(next_random(&seed) % 200) - 100;
    assert_int_equal(check_differences(values, 1) & ~1ull, 1 << 8);
    values[200] += 100000; /* one that is no symbol */
    assert_int_equal(check_differences(values, 1) & 1 << 8, 1 << 8);
    for (int i = 1; i < N; i++)
        values[i] = values[i - 1] + 3; /* tight bits are none */
    assert_int_equal(check_differences(values, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_every_width_come_back),
        cmocka_unit_test(codes_that_are_all_equal_are_one_run),
        cmocka_unit_test(differences_of_every_width_come_back),
        cmocka_unit_test(small_differences_are_symbols_where_they_are_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
