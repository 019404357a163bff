/* random.h - numbers that depend on random_state alone, so that a run can be repeated.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_RANDOM_H
#define STROBE_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state; /* never 0 */

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t below(size_t n)
{
    return n ? next_random() % n : 0;
}

#endif
