/* py_line.h - the line that an instruction of a code object is of. Pure: the table's bytes in, a number out; they are a stranger's.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_LINE_H
#define STROBE_SAMPLE_PY_LINE_H

#include <stddef.h>
#include <stdint.h>

enum strobe_py_table {
    STROBE_PY_TABLE_LNOTAB = 0,    /* 3.9: pairs of steps, of instructions and lines */
    STROBE_PY_TABLE_RANGES = 1,    /* 3.10: pairs of a length and a step of lines; -128: no line */
    STROBE_PY_TABLE_LOCATIONS = 2, /* 3.11 and later: entries with columns */
};

/* The line of the instruction at byte `at`; `first_line` where the table has none for it. */
uint32_t strobe_py_line_of(enum strobe_py_table table, const uint8_t *bytes, size_t n,
                           uint32_t first_line, uint32_t at);

#endif
