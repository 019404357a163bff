/* test_flame.c - of all paths the largest ones are chosen, as sorting them would.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/flame.h"

enum { PATHS = 3000, DEPTH = 5, NAMES = 7 };

static struct strobe_flame flame;
static uint64_t weights[PATHS * DEPTH];

/* Small weights, so that many nodes are equal, and a few that need all bytes. */
static int fill(void **state)
{
    uint32_t random = 12345;
    (void)state;
    for (uint32_t i = 0; i < PATHS; i++) {
        uint32_t locs[DEPTH], n = 1 + i % DEPTH;
        for (uint32_t d = 0; d < n; d++)
            locs[d] = 1 + ((random = random * 1664525 + 1013904223) >> 16) % NAMES;
        uint64_t weight = i % 500 ? 1 + random % 3 : 1ull << (i / 500 * 8);
        assert_int_equal(strobe_flame_add_path(&flame, locs, n, weight), STROBE_OK);
    }
    for (uint32_t i = flame.n_nodes; i-- > 0;) {
        const struct strobe_flame_node *node = &flame.nodes[i];
        weights[i] = node->total > weights[i] ? node->total : weights[i];
        if (node->parent)
            weights[node->parent - 1] += weights[i];
    }
    return flame.n_nodes > 1000 ? 0 : -1;
}

static int drain(void **state)
{
    (void)state;
    strobe_flame_free(&flame);
    return 0;
}

static int by_weight(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (weights[x] != weights[y])
        return weights[x] > weights[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* *out: by node, its number among the kept ones + 1, 0: it is not kept. */
static void keep_by_sorting(uint32_t limit, uint32_t *out)
{
    uint32_t order[PATHS * DEPTH], n = 0;
    for (uint32_t i = 0; i < flame.n_nodes; i++)
        order[i] = i;
    qsort(order, flame.n_nodes, sizeof *order, by_weight);
    memset(out, 0, flame.n_nodes * sizeof *out);
    for (uint32_t i = 0; i < flame.n_nodes && i < limit; i++)
        out[order[i]] = 1;
    for (uint32_t i = 0; i < flame.n_nodes; i++)
        out[i] = out[i] ? ++n : 0;
}

static void check(uint32_t limit)
{
    static uint32_t kept[PATHS * DEPTH];
    struct strobe_flame out;
    uint32_t n = limit < flame.n_nodes ? limit : flame.n_nodes;
    keep_by_sorting(limit, kept);
    assert_int_equal(strobe_flame_choose(&flame, limit, &out), STROBE_OK);
    assert_int_equal(out.n_nodes, n);
    assert_int_equal(out.n_left_out, flame.n_nodes - n);
    for (uint32_t i = 0; i < flame.n_nodes; i++) {
        if (!kept[i])
            continue;
        struct strobe_flame_node node = flame.nodes[i];
        node.parent = node.parent ? kept[node.parent - 1] : 0;
        const struct strobe_flame_node *chosen = &out.nodes[kept[i] - 1];
        assert_int_equal(chosen->parent, node.parent);
        assert_int_equal(chosen->loc, node.loc);
        assert_true(chosen->total == node.total && chosen->self == node.self);
        assert_true(!node.parent || node.parent < kept[i]); /* the parent of what is kept is too */
    }
    strobe_flame_free(&out);
}

static void the_largest_paths_are_chosen_with_their_parents(void **state)
{
    (void)state;
    for (uint32_t limit = 0; limit < 300; limit++)
        check(limit);
    check(flame.n_nodes - 1);
    check(flame.n_nodes);
    check(UINT32_MAX);
}

static void nothing_is_chosen_of_nothing(void **state)
{
    struct strobe_flame none = {0}, out;
    (void)state;
    assert_int_equal(strobe_flame_choose(&none, 10, &out), STROBE_OK);
    assert_int_equal(out.n_nodes, 0);
    strobe_flame_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_paths_are_chosen_with_their_parents),
        cmocka_unit_test(nothing_is_chosen_of_nothing),
    };
    return cmocka_run_group_tests(tests, fill, drain);
}
