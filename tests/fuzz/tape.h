/* tape.h - an input read as a row of choices, so that the fuzzer's changes of it are changes of what happens. Behind its end
 * there are zeros.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_TAPE_H
#define STROBE_TESTS_TAPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tape {
    const uint8_t *at, *end; /* borrowed */
};

static inline size_t tape_left(const struct tape *tape)
{
    return (size_t)(tape->end - tape->at);
}

/* Up to n bytes where they are; *n is how many there were. */
static inline const uint8_t *tape_take(struct tape *tape, size_t *n)
{
    const uint8_t *at = tape->at;
    *n = *n < tape_left(tape) ? *n : tape_left(tape);
    tape->at += *n;
    return at;
}

static inline uint64_t tape_number(struct tape *tape, size_t n_bytes)
{
    uint64_t number = 0;
    const uint8_t *at = tape_take(tape, &n_bytes);
    memcpy(&number, at, n_bytes);
    return number;
}

static inline uint8_t tape_byte(struct tape *tape)
{
    return (uint8_t)tape_number(tape, 1);
}

#endif
