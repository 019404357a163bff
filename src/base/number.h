/* number.h - numbers as text: fast, exact, without a locale.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_NUMBER_H
#define STROBE_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum {
    STROBE_NUMBER_ROOM = 32,   /* bytes that hold any number written here */
    STROBE_NUMBER_DIGITS = 17, /* of a double, at the most */
};

/* Write a number at a place with STROBE_NUMBER_ROOM bytes; the place after. No NUL is added. */
char *strobe_number_put_u(char *at, uint64_t value);
char *strobe_number_put_i(char *at, int64_t value);

/* A double with the fewest digits that read back as the same: 0.1, 1e+17, -2. Fixed from 1e-4 to below 1e17.
 * NaN, Infinity and -Infinity are written as such. */
char *strobe_number_put_double(char *at, double value);

/* The fewest digits that read back as `value`, which is finite and above 0:
 * value = 0.DIGITS * 10^*point. Their number; no NUL, no zero at the end. */
int strobe_number_digits(double value, char digits[STROBE_NUMBER_DIGITS], int *point);

/* Parse a number that fills `text`: decimal digits, for _i with a '-' in front. 0: it is something
 * else, or does not fit. */
int strobe_number_parse_u(const char *text, size_t n, uint64_t *out);
int strobe_number_parse_i(const char *text, size_t n, int64_t *out);

/* The double nearest to a number in JSON's form (no NUL needed). 0: it is no such number. Beyond
 * the range it is infinite. */
int strobe_number_parse_double(const char *text, size_t n, double *out);

/* For people: "1.234 ms", "12.3 MB", "12,345,678". `room` has 32 bytes. */
const char *strobe_number_show_ns(uint64_t ns, char room[32]);
const char *strobe_number_show_bytes(uint64_t n, char room[32]);
const char *strobe_number_show_count(uint64_t n, char room[32]);

#endif
