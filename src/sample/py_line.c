/* py_line.c - see py_line.h.  SPDX-License-Identifier: MIT */
#include "sample/py_line.h"

#include <stdbool.h>

#include "base/assert.h"

static uint32_t usable(int64_t line, uint32_t otherwise)
{
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : otherwise;
}

static uint32_t line_of_lnotab(const uint8_t *bytes, size_t n, uint32_t first, uint32_t at)
{
    int64_t line = first;
    uint64_t reached = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        reached += bytes[i];
        if (reached > at)
            break;
        line += (int8_t)bytes[i + 1];
    }
    return usable(line, first);
}

static uint32_t line_of_ranges(const uint8_t *bytes, size_t n, uint32_t first, uint32_t at)
{
    enum { NO_LINE = -128 };
    int64_t line = first;
    uint64_t end = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        int8_t step = (int8_t)bytes[i + 1];
        line += step == NO_LINE ? 0 : step;
        end += bytes[i];
        if (at < end)
            return step == NO_LINE ? first : usable(line, first);
    }
    return first;
}

/* ---- 3.11 and later ---- */

/* Six bits a byte, the lowest first; the bit 64 says that there are more. */
static uint64_t read_varint(const uint8_t *bytes, size_t n, size_t *at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < n && shift < 36; shift += 6) {
        uint8_t byte = bytes[(*at)++];
        value |= (uint64_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

static int64_t read_signed(const uint8_t *bytes, size_t n, size_t *at)
{
    uint64_t value = read_varint(bytes, n, at);
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* The step of lines of the entry at *at, which is left behind it. False: its instructions have no line. */
static bool read_entry(const uint8_t *bytes, size_t n, size_t *at, int64_t *step)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    STROBE_ASSERT(*at < n);
    uint8_t code = bytes[(*at)++] >> 3 & 15;
    *step = 0;
    if (code >= NO_COLUMNS && code != NONE)
        *step = read_signed(bytes, n, at);
    else if (code >= ONE_LINE && code != NONE)
        *step = code - ONE_LINE;
    for (int i = 0; code == LONG && i < 3; i++) /* where it ends */
        read_varint(bytes, n, at);
    *at += code < ONE_LINE ? 1 : code < NO_COLUMNS ? 2 : 0;
    return code != NONE;
}

static uint32_t line_of_locations(const uint8_t *bytes, size_t n, uint32_t first, uint32_t at)
{
    int64_t line = first, step;
    uint64_t end = 0;
    for (size_t i = 0; i < n;) {
        end += 2 * ((bytes[i] & 7u) + 1);
        bool has_line = read_entry(bytes, n, &i, &step);
        line += step;
        if (at < end)
            return has_line ? usable(line, first) : first;
    }
    return first;
}

uint32_t strobe_py_line_of(enum strobe_py_table table, const uint8_t *bytes, size_t n,
                           uint32_t first_line, uint32_t at)
{
    STROBE_ASSERT(bytes || !n);
    switch (table) {
    case STROBE_PY_TABLE_LNOTAB:
        return line_of_lnotab(bytes, n, first_line, at);
    case STROBE_PY_TABLE_RANGES:
        return line_of_ranges(bytes, n, first_line, at);
    case STROBE_PY_TABLE_LOCATIONS:
        return line_of_locations(bytes, n, first_line, at);
    }
    return first_line;
}
