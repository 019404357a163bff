/* number.c - see number.h.
 *
 * Doubles: most have few digits behind the point. For those value * 10^k is a whole number r for some
 * small k, up to the error of one multiplication; r and 10^k are exact while r < 2^53 and k <= 22, so
 * r / 10^k is rounded once and is what a reader makes of the digits: if it equals value, the digits
 * are right, and with r < 10^15 no other number of so few digits reads back the same. The
 * others go through the C library.  SPDX-License-Identifier: MIT */
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { EXACT_POWERS = 22 };

static const double powers[EXACT_POWERS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const char digit_pairs[201] = "0001020304050607080910111213141516171819"
                                     "2021222324252627282930313233343536373839"
                                     "4041424344454647484950515253545556575859"
                                     "6061626364656667686970717273747576777879"
                                     "8081828384858687888990919293949596979899";

/* ---- whole numbers ---- */

/* How many digits a number has: its bits times log10(2), and one less where the power of ten is above it. */
static unsigned count_digits(uint64_t value)
{
    static const uint64_t powers[] = {0,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      10000000000000000000ull};
    unsigned n_bits = 64 - (unsigned)__builtin_clzll(value | 1), n = n_bits * 1233 >> 12;
    return n + 1 - (value < powers[n]);
}

char *strobe_number_put_u(char *at, uint64_t value)
{
    char *end = at + count_digits(value), *first = end;
    while (value >= 100) {
        first -= 2;
        memcpy(first, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(first - 2, digit_pairs + 2 * value, 2);
    else
        first[-1] = (char)('0' + value);
    return end;
}

char *strobe_number_put_i(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return strobe_number_put_u(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

int strobe_number_parse_u(const char *text, size_t n, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return 0;
    }
    *out = value;
    return n > 0;
}

int strobe_number_parse_i(const char *text, size_t n, int64_t *out)
{
    int is_negative = n && text[0] == '-';
    uint64_t value;
    if (!strobe_number_parse_u(text + is_negative, n - (size_t)is_negative, &value) ||
        value > (uint64_t)INT64_MAX + (uint64_t)is_negative)
        return 0;
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return 1;
}

/* ---- doubles out ---- */

static int strip_zeros(const char *digits, int n)
{
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* Digits of a value that has few; 0: it has not. */
static int few_digits(double value, char *digits, int *point)
{
    if (value >= 1e15)
        return 0;
    for (int k = 0; k <= EXACT_POWERS; k++) {
        double scaled = value * powers[k];
        if (scaled >= 1e15)
            return 0;
        double whole = (double)(int64_t)(scaled + 0.5);
        if (fabs(scaled - whole) > scaled * 0x1p-52 || whole / powers[k] != value)
            continue;
        char text[STROBE_NUMBER_ROOM];
        int n = (int)(strobe_number_put_u(text, (uint64_t)whole) - text);
        *point = n - k;
        n = strip_zeros(text, n);
        memcpy(digits, text, (size_t)n);
        return n;
    }
    return 0;
}

int strobe_number_digits(double value, char digits[STROBE_NUMBER_DIGITS], int *point)
{
    STROBE_ASSERT(value > 0 && isfinite(value));
    int n = few_digits(value, digits, point);
    if (n)
        return n;
    char text[40];
    for (int precision = value < 2.3e-308 ? 1 : 15; precision <= STROBE_NUMBER_DIGITS;
         precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (precision == STROBE_NUMBER_DIGITS || strtod(text, NULL) == value)
            break; /* below 2.3e-308 even one digit may do */
    }
    const char *at = text;
    for (; *at && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[n++] = *at;
    *point = atoi(at + 1) + 1;
    return strip_zeros(digits, n);
}

static char *put_bytes(char *at, const char *bytes, int n)
{
    memcpy(at, bytes, (size_t)n);
    return at + n;
}

static char *put_zeros(char *at, int n)
{
    memset(at, '0', (size_t)n);
    return at + n;
}

static char *put_scientific(char *at, const char *digits, int n, int exponent)
{
    *at++ = digits[0];
    if (n > 1) {
        *at++ = '.';
        at = put_bytes(at, digits + 1, n - 1);
    }
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    exponent = abs(exponent);
    if (exponent < 10)
        *at++ = '0';
    return strobe_number_put_u(at, (uint64_t)exponent);
}

char *strobe_number_put_double(char *at, double value)
{
    char digits[STROBE_NUMBER_DIGITS];
    int point;
    if (isnan(value))
        return put_bytes(at, "NaN", 3);
    if (signbit(value))
        *at++ = '-';
    value = fabs(value);
    if (isinf(value))
        return put_bytes(at, "Infinity", 8);
    if (value == 0)
        return put_zeros(at, 1);
    int n = strobe_number_digits(value, digits, &point);
    if (point > 17 || point < -3)
        return put_scientific(at, digits, n, point - 1);
    if (point >= n)
        return put_zeros(put_bytes(at, digits, n), point - n);
    if (point > 0)
        at = put_bytes(at, digits, point);
    else
        at = put_zeros(at, 1);
    *at++ = '.';
    if (point < 0)
        at = put_zeros(at, -point);
    return put_bytes(at, digits + (point > 0 ? point : 0), point > 0 ? n - point : n);
}

/* ---- doubles in ---- */

/* A number in pieces: mantissa * 10^exponent. */
struct decimal {
    uint64_t mantissa;
    int n_digits; /* of the mantissa, without zeros in front */
    int64_t exponent;
    int is_negative;
};

/* Digits into the mantissa, as long as it holds them all. How many there were. */
static size_t take_digits(const char *text, size_t n, struct decimal *decimal, int step)
{
    size_t i = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
        decimal->n_digits += decimal->n_digits || text[i] != '0';
        if (decimal->n_digits <= 19)
            decimal->mantissa = decimal->mantissa * 10 + (uint64_t)(text[i] - '0');
        decimal->exponent += step;
    }
    return i;
}

static size_t take_exponent(const char *text, size_t n, struct decimal *decimal)
{
    size_t i = 1;
    int is_negative = i < n && text[i] == '-';
    i += i < n && (text[i] == '-' || text[i] == '+');
    size_t first = i;
    int64_t exponent = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        if (exponent < 100000)
            exponent = exponent * 10 + (text[i] - '0');
    decimal->exponent += is_negative ? -exponent : exponent;
    return i > first ? i : 0;
}

/* 0: it is no number of JSON. */
static int take_decimal(const char *text, size_t n, struct decimal *decimal)
{
    size_t i = decimal->is_negative = n && text[0] == '-';
    size_t whole = take_digits(text + i, n - i, decimal, 0);
    if (!whole || (whole > 1 && text[i] == '0'))
        return 0;
    i += whole;
    if (i < n && text[i] == '.') {
        size_t behind = take_digits(text + i + 1, n - i - 1, decimal, -1);
        if (!behind)
            return 0;
        i += 1 + behind;
    }
    if (i < n && (text[i] == 'e' || text[i] == 'E')) {
        size_t taken = take_exponent(text + i, n - i, decimal);
        if (!taken)
            return 0;
        i += taken;
    }
    return i == n;
}

/* The C library's way, for what has many digits. */
static double parse_slowly(const char *text, size_t n)
{
    char small[64];
    char *copy = n < sizeof small ? small : malloc(n + 1);
    if (!copy) /* so much, and no memory: what 63 digits make is nearest but for the last bit */
        n = sizeof small - 1, copy = small;
    memcpy(copy, text, n);
    copy[n] = 0;
    double value = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    return value;
}

int strobe_number_parse_double(const char *text, size_t n, double *out)
{
    struct decimal decimal = {0};
    if (!take_decimal(text, n, &decimal))
        return 0;
    int64_t exponent = decimal.exponent;
    /* both exact: one rounding, which is the right one */
    if (decimal.n_digits <= 19 && decimal.mantissa <= (uint64_t)1 << 53 &&
        exponent >= -EXACT_POWERS && exponent <= EXACT_POWERS) {
        double value = (double)decimal.mantissa;
        value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
        *out = decimal.is_negative ? -value : value;
        return 1;
    }
    *out = parse_slowly(text, n);
    return 1;
}

/* ---- for people ---- */

const char *strobe_number_show_ns(uint64_t ns, char room[32])
{
    if (ns < 1000)
        snprintf(room, 32, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(room, 32, "%.3f us", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(room, 32, "%.3f ms", (double)ns / 1e6);
    else
        snprintf(room, 32, "%.3f s", (double)ns / 1e9);
    return room;
}

const char *strobe_number_show_bytes(uint64_t n, char room[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)n;
    int unit = 0;
    while (value >= 1000 && unit < 4) {
        value /= 1000;
        unit++;
    }
    snprintf(room, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return room;
}

const char *strobe_number_show_count(uint64_t n, char room[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *at = room;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
    return room;
}
