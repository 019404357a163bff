/* mutate.h - damages traces and mends their checksums, so that the damage reaches the decoders.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_MUTATE_H
#define STROBE_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that can grow. Zero-initialise; free bytes. */
struct mutate_bytes {
    uint8_t *bytes; /* owned */
    size_t n, room;
};
void mutate_append(struct mutate_bytes *to, const void *data, size_t n);

/* A stream of numbers that depends on its seed only. */
uint64_t mutate_random(uint64_t *state);

/* Write a damaged copy of the trace `seed` to `out`; `other` is a second trace to splice from. */
void mutate_trace(const struct mutate_bytes *seed, const struct mutate_bytes *other,
                  uint64_t *state, struct mutate_bytes *out);

#endif
