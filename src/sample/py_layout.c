/* py_layout.c - see py_layout.h. The numbers are those of the headers of each version, by offsetof.  SPDX-License-Identifier: MIT */
#include "sample/py_layout.h"

#include <string.h>

#include "base/assert.h"

enum { OFFSET_MAX = 1 << 18 };

/* 3.9 and 3.10 differ in where a frame has its instruction, and in the table of lines. */
#define BEFORE_3_11(minor_, table_, frame_at_, at_unit_)                                          \
    {                                                                                             \
        .minor = minor_, .entry = STROBE_PY_ENTRY_EACH, .table = table_, .interpreters_head = 32, \
        .threads_head = 8, .thread_next = 8, .thread_id = 176, .thread_frame = 24,                \
        .frame_code = 32, .frame_previous = 24, .frame_at = frame_at_, .code_name = 112,          \
        .code_file = 104, .code_first_line = 40, .code_table = 120, .ascii_bytes = 48,            \
        .compact_bytes = 72, .at_unit = at_unit_                                                  \
    }

static const struct strobe_py_layout known[] = {
    BEFORE_3_11(9, STROBE_PY_TABLE_LNOTAB, 104, 1),
    BEFORE_3_11(10, STROBE_PY_TABLE_RANGES, 96, 2),
    {.minor = 11,
     .entry = STROBE_PY_ENTRY_FLAG,
     .table = STROBE_PY_TABLE_LOCATIONS,
     .interpreters_head = 40,
     .threads_head = 16,
     .thread_next = 8,
     .thread_id = 152,
     .thread_native = 160,
     .thread_frame = 56,
     .cframe_frame = 8,
     .cframe_previous = 16,
     .frame_code = 32,
     .frame_previous = 48,
     .frame_at = 56,
     .frame_flag = 68,
     .code_name = 128,
     .code_file = 112,
     .code_first_line = 72,
     .code_table = 136,
     .code_bytes = 184,
     .ascii_bytes = 48,
     .compact_bytes = 72},
    {.minor = 12,
     .entry = STROBE_PY_ENTRY_FRAME,
     .table = STROBE_PY_TABLE_LOCATIONS,
     .interpreters_head = 40,
     .threads_head = 72,
     .thread_next = 8,
     .thread_id = 136,
     .thread_native = 144,
     .thread_frame = 56,
     .cframe_frame = 0,
     .cframe_previous = 8,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_at = 56,
     .frame_flag = 70,
     .code_name = 128,
     .code_file = 112,
     .code_first_line = 68,
     .code_table = 136,
     .code_bytes = 192,
     .ascii_bytes = 40,
     .compact_bytes = 56},
};

bool strobe_py_layout_of(uint32_t minor, struct strobe_py_layout *out)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].minor == minor) {
            *out = known[i];
            return true;
        }
    return false;
}

/* ---- what 3.13 tells ---- */

static uint64_t word_at(const uint8_t *bytes, uint32_t offset)
{
    uint64_t word;
    STROBE_ASSERT(offset + sizeof word <= STROBE_PY_OFFSETS_BYTES);
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* Whether what is read of a frame, of a code object and of a text has all that is needed. */
static bool is_within(const struct strobe_py_layout *l)
{
    const uint32_t of_frame[] = {l->frame_code, l->frame_previous, l->frame_at, l->frame_flag};
    const uint32_t of_code[] = {l->code_name, l->code_file, l->code_first_line, l->code_table};
    for (size_t i = 0; i < sizeof of_frame / sizeof of_frame[0]; i++)
        if (of_frame[i] + 8 > STROBE_PY_FRAME_BYTES || of_code[i] + 8 > STROBE_PY_CODE_BYTES)
            return false;
    return l->ascii_bytes >= 40 && l->ascii_bytes <= 64;
}

bool strobe_py_layout_read(const uint8_t *bytes, struct strobe_py_layout *out)
{
    enum { VERSION = 8, FREE_THREADED = 16 };
    struct strobe_py_layout l = {.entry = STROBE_PY_ENTRY_FRAME,
                                 .table = STROBE_PY_TABLE_LOCATIONS};
    const struct {
        uint32_t *field;
        uint32_t offset;
    } fields[] = {
        {&l.interpreters_head, 40}, {&l.interpreter_next, 64}, {&l.threads_head, 72},
        {&l.thread_next, 168},      {&l.thread_frame, 184},    {&l.thread_id, 192},
        {&l.thread_native, 200},    {&l.frame_previous, 232},  {&l.frame_code, 240},
        {&l.frame_at, 248},         {&l.frame_flag, 264},      {&l.code_file, 280},
        {&l.code_name, 296},        {&l.code_table, 304},      {&l.code_first_line, 312},
        {&l.code_bytes, 344},       {&l.ascii_bytes, 560},
    };
    uint64_t version = word_at(bytes, VERSION);
    if (memcmp(bytes, "xdebugpy", 8) || version >> 24 != 3 || word_at(bytes, FREE_THREADED))
        return false;
    l.minor = version >> 16 & 255;
    if (l.minor < STROBE_PY_TELLS || l.minor > STROBE_PY_LAST)
        return false;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint64_t value = word_at(bytes, fields[i].offset);
        if (value >= OFFSET_MAX)
            return false;
        *fields[i].field = (uint32_t)value;
    }
    l.compact_bytes = l.ascii_bytes + 16; /* and the UTF-8 form with its length */
    *out = l;
    return is_within(&l);
}
