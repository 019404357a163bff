/* test_base_map.c - hash tables against plain arrays.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

enum { N_KEYS = 4096 };

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return strobe_hash_u64(*state, 7);
}

static void random_adds_and_removes_agree_with_a_plain_array(void **state)
{
    (void)state;
    struct strobe_map map = {0};
    static uint64_t plain[N_KEYS]; /* value + 1; 0: not there */
    uint64_t random = 1;
    uint32_t n = 0;
    for (int i = 0; i < 200000; i++) {
        uint64_t r = next_random(&random), key = r % N_KEYS, big = key * 0x100000001u;
        if (r >> 62 == 0) {
            assert_int_equal(strobe_map_remove(&map, big), plain[key] != 0);
            n -= plain[key] != 0;
            plain[key] = 0;
        } else {
            assert_int_equal(strobe_map_put(&map, big, (uint64_t)i), STROBE_OK);
            n += plain[key] == 0;
            plain[key] = (uint64_t)i + 1;
        }
    }
    assert_int_equal(map.n, n);
    for (uint64_t key = 0; key < N_KEYS; key++)
        assert_int_equal(strobe_map_get(&map, key * 0x100000001u, UINT64_MAX), plain[key] - 1);
    for (uint32_t i = 0; i < map.n; i++) /* a walk sees each once */
        assert_int_equal(plain[(uint32_t)map.entries[i].key], map.entries[i].value + 1);
    strobe_map_free(&map);
}

static void entries_lie_in_the_order_of_adding(void **state)
{
    (void)state;
    struct strobe_map map = {0};
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(strobe_map_put(&map, (i * 7919) % 1009, i), STROBE_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(map.entries[i].key, (i * 7919) % 1009);
        assert_int_equal(map.entries[i].value, i);
    }
    strobe_map_free(&map);
}

static void a_bounded_map_takes_no_more_and_still_finds(void **state)
{
    (void)state;
    struct strobe_map map = {.max = 10};
    uint64_t *value;
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(strobe_map_put(&map, i, i + 100), STROBE_OK);
    assert_int_equal(strobe_map_add(&map, 10, &value), STROBE_ERR_LIMIT);
    assert_int_equal(strobe_map_put(&map, 3, 5), STROBE_OK);
    assert_int_equal(strobe_map_get(&map, 3, 0), 5);
    assert_null(strobe_map_find(&map, 10));
    strobe_map_free(&map);
}

static void an_empty_map_finds_and_removes_nothing(void **state)
{
    (void)state;
    struct strobe_map map = {0};
    struct strobe_textmap texts = {0};
    assert_null(strobe_map_find(&map, 0));
    assert_false(strobe_map_remove(&map, 0));
    assert_int_equal(strobe_textmap_find(&texts, "", 0), STROBE_INDEX_NONE);
    strobe_map_free(&map);
    strobe_textmap_free(&texts);
}

static void rows_of_one_hash_come_in_the_order_of_adding(void **state)
{
    (void)state;
    struct strobe_index index = {0};
    /* hashes at the very end of the table, so that their rows wrap around to its start */
    for (uint32_t i = 0; i < 300; i++)
        assert_int_equal(strobe_index_add(&index, i % 3 ? UINT32_MAX : UINT32_MAX - 1, i),
                         STROBE_OK);
    uint32_t at, n = 0, last = 0;
    for (uint32_t i = strobe_index_first(&index, UINT32_MAX, &at); i != STROBE_INDEX_NONE;
         i = strobe_index_next(&index, &at), n++) {
        assert_true(i % 3 && i > last);
        last = i;
    }
    assert_int_equal(n, 200);
    strobe_index_free(&index);
}

static void removing_from_an_index_keeps_the_others_reachable(void **state)
{
    (void)state;
    struct strobe_index index = {0};
    for (uint32_t i = 0; i < 100; i++) /* homes close together, some at the end of the table */
        assert_int_equal(strobe_index_add(&index, UINT32_MAX - 5 + i % 10, i), STROBE_OK);
    for (uint32_t gone = 0; gone < 100; gone++) {
        uint32_t at, i = strobe_index_first(&index, UINT32_MAX - 5 + gone % 10, &at);
        while (i != gone && i != STROBE_INDEX_NONE)
            i = strobe_index_next(&index, &at);
        assert_int_equal(i, gone);
        strobe_index_remove(&index, at);
    }
    assert_int_equal(index.n, 0);
    strobe_index_free(&index);
}

static void texts_are_found_by_their_bytes(void **state)
{
    (void)state;
    struct strobe_textmap map = {0};
    char key[64];
    uint32_t entry;
    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(key, sizeof key, "%*s%u", (int)(i % 40), "", i);
        assert_int_equal(strobe_textmap_add(&map, key, (size_t)n, &entry), STROBE_OK);
        assert_int_equal(entry, i);
        map.entries[entry].value = i * 3;
    }
    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(key, sizeof key, "%*s%u", (int)(i % 40), "", i);
        entry = strobe_textmap_find(&map, key, (size_t)n);
        assert_int_equal(entry, i);
        assert_int_equal(map.entries[entry].value, i * 3);
        assert_string_equal(strobe_textmap_key(&map, entry), key);
        assert_int_equal(strobe_textmap_add(&map, key, (size_t)n, &entry), STROBE_OK);
        assert_int_equal(entry, i);
    }
    assert_int_equal(strobe_textmap_find(&map, "5000", 4), STROBE_INDEX_NONE);
    strobe_textmap_free(&map);
}

static void keys_may_be_empty_and_hold_nul(void **state)
{
    (void)state;
    struct strobe_textmap map = {.max = 3, .max_bytes = 8};
    uint32_t a, b, c, d;
    assert_int_equal(strobe_textmap_add(&map, "", 0, &a), STROBE_OK);
    assert_int_equal(strobe_textmap_add(&map, "\0", 1, &b), STROBE_OK);
    assert_int_equal(strobe_textmap_add(&map, "\0\0", 2, &c), STROBE_OK);
    assert_true(a != b && b != c && a != c);
    assert_int_equal(strobe_textmap_find(&map, "\0", 1), b);
    assert_int_equal(strobe_textmap_add(&map, "x", 1, &d), STROBE_ERR_LIMIT);
    map.max = 0;
    assert_int_equal(strobe_textmap_add(&map, "xy", 2, &d), STROBE_ERR_LIMIT); /* bytes */
    assert_int_equal(strobe_textmap_add(&map, "x", 1, &d), STROBE_OK);
    strobe_textmap_free(&map);
}

static void the_seed_changes_every_hash(void **state)
{
    (void)state;
    char bytes[64] = {0};
    assert_true(strobe_hash_seed() != 0);
    assert_int_equal(strobe_hash_seed(), strobe_hash_seed());
    for (size_t n = 0; n < sizeof bytes; n++) {
        uint64_t one = strobe_hash_bytes(bytes, n, 1);
        assert_true(one != strobe_hash_bytes(bytes, n, 2));
        for (size_t k = 0; k < n; k++) { /* and every byte counts */
            bytes[k] = 1;
            assert_true(one != strobe_hash_bytes(bytes, n, 1));
            bytes[k] = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_adds_and_removes_agree_with_a_plain_array),
        cmocka_unit_test(entries_lie_in_the_order_of_adding),
        cmocka_unit_test(a_bounded_map_takes_no_more_and_still_finds),
        cmocka_unit_test(an_empty_map_finds_and_removes_nothing),
        cmocka_unit_test(rows_of_one_hash_come_in_the_order_of_adding),
        cmocka_unit_test(removing_from_an_index_keeps_the_others_reachable),
        cmocka_unit_test(texts_are_found_by_their_bytes),
        cmocka_unit_test(keys_may_be_empty_and_hold_nul),
        cmocka_unit_test(the_seed_changes_every_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
