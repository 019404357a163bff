/* utf8.h - UTF-8 as Unicode defines it: no surrogates, no overlong forms, at most U+10FFFF.
 * Names, paths and messages come from strangers and may hold any bytes; where text leaves Strobe,
 * each longest run of bytes that starts a character without ending it becomes one U+FFFD, as browsers
 * and Python do it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_UTF8_H
#define STROBE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STROBE_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the character that `text` (n > 0 bytes) begins with: 1 to 4. 0: there is none, and *n_bad bytes (at least 1) make
 * one U+FFFD. */
size_t strobe_utf8_length(const char *text, size_t n, size_t *n_bad);

/* Whether a character of `n` bytes, from strobe_utf8_length, is one that a terminal would obey: C0, DEL, C1. */
bool strobe_utf8_is_control(const char *text, size_t n);

/* The bytes at the start that are valid; n: all are. */
size_t strobe_utf8_valid(const char *text, size_t n);

/* The bytes at the start that are ASCII. */
size_t strobe_utf8_ascii(const char *text, size_t n);

/* Write valid UTF-8 to `out`, which has `room` bytes; text that does not fit is cut at a character.
 * `room` of 3 * n always fits. The bytes written; no NUL is added. */
size_t strobe_utf8_make_valid(char *out, size_t room, const char *text, size_t n);

/* At most `max`: the length of `text` cut so that no character is split. Of invalid bytes any may be last. */
size_t strobe_utf8_cut(const char *text, size_t n, size_t max);

/* Write a code point, valid or a surrogate, up to 0x10ffff. Bytes written. */
size_t strobe_utf8_put(char out[4], uint32_t code);

#endif
