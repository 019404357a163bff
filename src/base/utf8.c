/* utf8.c - see utf8.h.  SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

#include "base/assert.h"

static int follows(unsigned char byte, unsigned char low, unsigned char high)
{
    return byte >= low && byte <= high;
}

size_t strobe_utf8_length(const char *text, size_t n, size_t *n_bad)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned char c = at[0], low = 0x80, high = 0xbf;
    STROBE_ASSERT(n);
    if (c < 0x80)
        return 1;
    *n_bad = 1;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    /* the second byte alone tells overlong forms, surrogates and what is beyond the last plane */
    if (c == 0xe0)
        low = 0xa0;
    else if (c == 0xed)
        high = 0x9f;
    else if (c == 0xf0)
        low = 0x90;
    else if (c == 0xf4)
        high = 0x8f;
    if (n < 2 || !follows(at[1], low, high))
        return 0;
    for (size_t i = 2; i < length; i++) {
        *n_bad = i;
        if (i >= n || !follows(at[i], 0x80, 0xbf))
            return 0;
    }
    return length;
}

size_t strobe_utf8_ascii(const char *text, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    while (i < n && !((unsigned char)text[i] & 0x80))
        i++;
    return i;
}

bool strobe_utf8_is_control(const char *text, size_t n)
{
    const unsigned char *at = (const unsigned char *)text;
    if (n == 1)
        return at[0] < 0x20 || at[0] == 0x7f;
    return n == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

size_t strobe_utf8_valid(const char *text, size_t n)
{
    size_t i = 0, n_bad;
    while ((i += strobe_utf8_ascii(text + i, n - i)) < n) {
        size_t length = strobe_utf8_length(text + i, n - i, &n_bad);
        if (!length)
            break;
        i += length;
    }
    return i;
}

size_t strobe_utf8_cut(const char *text, size_t n, size_t max)
{
    if (n <= max)
        return n;
    for (size_t back = 1; back <= 3 && back <= max; back++) {
        size_t n_bad, at = max - back;
        if (((unsigned char)text[at] & 0xc0) == 0x80)
            continue;
        return strobe_utf8_length(text + at, n - at, &n_bad) > back ? at : max;
    }
    return max;
}

size_t strobe_utf8_make_valid(char *out, size_t room, const char *text, size_t n)
{
    size_t done = 0;
    while (n) {
        size_t n_bad = 0, part = strobe_utf8_valid(text, n);
        if (part > room - done) {
            part = strobe_utf8_cut(text, part, room - done);
            n = part; /* the last */
        }
        memcpy(out + done, text, part);
        done += part;
        text += part;
        n -= part;
        if (!n || room - done < 3)
            break;
        size_t length = strobe_utf8_length(text, n, &n_bad);
        STROBE_ASSERT(!length && n_bad && n_bad <= n);
        (void)length;
        memcpy(out + done, STROBE_UTF8_REPLACEMENT, 3);
        done += 3;
        text += n_bad;
        n -= n_bad;
    }
    STROBE_ASSERT(done <= room);
    return done;
}

size_t strobe_utf8_put(char out[4], uint32_t code)
{
    STROBE_ASSERT(code <= 0x10ffff);
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00u >> n & 0xf0) | code);
    return n;
}
