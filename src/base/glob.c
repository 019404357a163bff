/* glob.c - see glob.h. No recursion: where a * took too little, it takes one byte more, and only the last one is asked.
 * SPDX-License-Identifier: MIT */
#include "base/glob.h"

#include <stddef.h>
#include <string.h>

/* A set that begins behind '[': whether the byte is in it. *end: behind its ']', or NULL: it is none, '[' stands for itself. */
static int is_in_set(const char *set, unsigned char byte, const char **end)
{
    int is_not = *set == '!' || *set == '^', found = 0;
    const char *first = set += is_not, *at = set;
    for (; *at && (*at != ']' || at == first); at++) {
        if (*at == '\\' && at[1])
            at++;
        unsigned char low = (unsigned char)*at, high = low;
        if (at[1] == '-' && at[2] && at[2] != ']') {
            at += at[2] == '\\' && at[3] ? 3 : 2;
            high = (unsigned char)*at;
        }
        found |= low <= byte && byte <= high;
    }
    *end = *at ? at + 1 : NULL;
    return found != is_not;
}

/* One character of the text against the pattern's next element: what follows in the pattern and in the text. 0: they differ. */
static int fits_one(const char **pattern, const char **text)
{
    const char *p = *pattern, *t = *text, *end = NULL;
    int fits;
    if (*p == '?') {
        fits = 1;
        p++;
        while (((unsigned char)t[1] & 0xc0) == 0x80)
            t++;
    } else if (*p == '[' && (fits = is_in_set(p + 1, (unsigned char)*t, &end), end)) {
        p = end;
    } else {
        p += *p == '\\' && p[1];
        fits = *p == *t;
        p++;
    }
    *pattern = p;
    *text = t + 1;
    return fits;
}

static int fits_whole(const char *pattern, const char *text)
{
    const char *after_star = NULL,
               *from = NULL; /* of the last *: what it stands before, and in the text */
    while (*text) {
        if (*pattern == '*') {
            after_star = ++pattern;
            from = text;
        } else if (!*pattern || !fits_one(&pattern, &text)) {
            if (!after_star)
                return 0;
            pattern = after_star;
            text = ++from;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

int strobe_glob_fits(const char *pattern, const char *text)
{
    return strpbrk(pattern, "*?[") ? fits_whole(pattern, text) : strstr(text, pattern) != NULL;
}
