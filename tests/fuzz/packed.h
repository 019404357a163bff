/* packed.h - a trace without its longest run of zeros. The 64 KiB of a trace's ledger are mostly zeros: an input that has them is twenty times as long as what is fuzzed,
 * and costs as much to copy, to hash and to keep. An input may be a trace as it is, too: the seeds are.
 *
 * OFFSET SIZE FIELD
 *      0    4 tag  "zero"
 *      4    4 at   where the zeros belong
 *      8    4 n    how many
 *     12      ...  the trace without them
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_PACKED_H
#define STROBE_TESTS_PACKED_H

#include <stdint.h>
#include <string.h>

struct packed_head {
    char tag[4];
    uint32_t at, n;
};
enum { PACKED_FROM = 4096, PACKED_ZEROS_MAX = 1 << 16, PACKED_INPUT_MAX = 1 << 18 };

/* The trace, and its length in *n. Valid until the next call. */
static inline const uint8_t *packed_open(const uint8_t *data, size_t *n)
{
    static uint8_t room[PACKED_INPUT_MAX + PACKED_ZEROS_MAX];
    struct packed_head head;
    if (*n < sizeof head || *n > PACKED_INPUT_MAX || memcmp(data, "zero", 4))
        return data;
    memcpy(&head, data, sizeof head);
    data += sizeof head;
    *n -= sizeof head;
    size_t at = head.at < *n ? head.at : *n;
    size_t n_zeros = head.n < PACKED_ZEROS_MAX ? head.n : PACKED_ZEROS_MAX;
    memcpy(room, data, at);
    memset(room + at, 0, n_zeros);
    memcpy(room + at + n_zeros, data + at, *n - at);
    *n += n_zeros;
    return room;
}

/* The longest run of zeros, at most PACKED_ZEROS_MAX. Looks at every eighth byte first. */
static inline size_t packed_zeros(const uint8_t *trace, size_t n, size_t *at)
{
    size_t longest = 0;
    for (size_t i = 0; i < n;) {
        size_t first = i, end;
        if (trace[i]) {
            i += 8;
            continue;
        }
        while (first && !trace[first - 1])
            first--;
        for (end = i; end < n && !trace[end] && end - first < PACKED_ZEROS_MAX;)
            end++;
        if (end - first > longest) {
            longest = end - first;
            *at = first;
        }
        i = end + 8;
    }
    return longest;
}

/* Pack a trace to `out`, which has `room` bytes; returns its length there. What is too long is cut. */
static inline size_t packed_make(const uint8_t *trace, size_t n, uint8_t *out, size_t room)
{
    struct packed_head head = {.tag = "zero"};
    size_t at = 0, n_zeros = packed_zeros(trace, n, &at);
    if (n_zeros < PACKED_FROM || room < sizeof head) {
        n = n < room ? n : room;
        memcpy(out, trace, n);
        return n;
    }
    head.at = (uint32_t)at;
    head.n = (uint32_t)n_zeros;
    memcpy(out, &head, sizeof head);
    room -= sizeof head;
    size_t before = at < room ? at : room, rest = n - at - n_zeros;
    rest = rest < room - before ? rest : room - before;
    memcpy(out + sizeof head, trace, before);
    memcpy(out + sizeof head + before, trace + at + n_zeros, rest);
    return sizeof head + before + rest;
}

#endif
