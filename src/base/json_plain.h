/* json_plain.h - the bytes of a JSON string that stand for themselves. Small and in every loop, so inline.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_JSON_PLAIN_H
#define STROBE_BASE_JSON_PLAIN_H

#include <stdint.h>
#include <string.h>

/* From `at` on, bytes that are neither quote nor backslash nor control character, and are ASCII: eight at once. Where another is, or `end`. */
static inline __attribute__((always_inline)) const char *strobe_json_plain(const char *at,
                                                                           const char *end)
{
    const uint64_t each = 0x0101010101010101u;
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t quote = word ^ each * '"', slash = word ^ each * '\\';
        uint64_t control = (word - each * 0x20) & ~word;
        quote = (quote - each) & ~quote; /* the high bit where a byte is 0 */
        slash = (slash - each) & ~slash;
        uint64_t found = (quote | slash | control | word) & each * 0x80;
        if (!found)
            continue;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return at +
               (__builtin_ctzll(found) >> 3); /* a borrow can only flag bytes behind the first */
#else
        break;
#endif
    }
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' &&
           *at != '\\')
        at++;
    return at;
}

#endif
