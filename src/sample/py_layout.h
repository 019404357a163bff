/* py_layout.h - where CPython keeps what leads from its runtime to the frames of a thread, and from a frame to its name.
 *
 *   _PyRuntime ─► interpreter ─► thread state ─► frame ─► frame of the caller ...
 *                                                  └─► code: names, file, table of lines
 *
 * 3.9 to 3.12 have one layout per minor version; 3.13 tells its own in front of _PyRuntime. Others, and builds without a
 * GIL, are none that we know. All offsets are of 64-bit machines.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_LAYOUT_H
#define STROBE_SAMPLE_PY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/py_line.h"

enum {
    STROBE_PY_FIRST = 9,           /* 3.9 */
    STROBE_PY_TELLS = 13,          /* from here on the target has its offsets */
    STROBE_PY_LAST = 13,           /* later ones are left out */
    STROBE_PY_OFFSETS_BYTES = 584, /* of what 3.13 tells */
    STROBE_PY_FRAME_BYTES = 112,   /* that are read of a frame */
    STROBE_PY_CODE_BYTES = 160     /* and of a code object */
};

/* How the frames of one activation of the evaluator are kept apart from those of another. */
enum strobe_py_entry {
    STROBE_PY_ENTRY_EACH = 0, /* 3.9, 3.10: each frame is an activation */
    STROBE_PY_ENTRY_FLAG =
        1, /* 3.11: a flag of the outermost one; the activation's cframe is in the C stack */
    STROBE_PY_ENTRY_FRAME = 2, /* 3.12, 3.13: behind it there is a frame in the C stack */
};

struct strobe_py_layout {
    uint32_t minor;
    enum strobe_py_entry entry;
    enum strobe_py_table table;
    uint32_t interpreters_head;                     /* of _PyRuntime */
    uint32_t interpreter_next, threads_head;        /* of an interpreter */
    uint32_t thread_next, thread_id, thread_native; /* of a thread state; native 0: it has none */
    uint32_t thread_frame;                          /* the frame, or the cframe */
    uint32_t cframe_frame, cframe_previous;         /* of a cframe; previous 0: there is none */
    uint32_t frame_code, frame_previous, frame_at;  /* of a frame; at: see at_is_pointer */
    uint32_t frame_flag;                            /* its owner, or whether it is an entry */
    uint32_t code_name, code_file, code_first_line, code_table; /* of a code object */
    uint32_t code_bytes;                                        /* where its instructions begin */
    uint32_t ascii_bytes, compact_bytes;                        /* of the head of a text */
    uint32_t at_unit; /* of 3.9 and 3.10: bytes of an instruction; 0: `at` is an address */
};

/* The layout of 3.`minor`. False: it is not a known one, or tells its own. */
bool strobe_py_layout_of(uint32_t minor, struct strobe_py_layout *out);

/* The layout that the first STROBE_PY_OFFSETS_BYTES of _PyRuntime tell. False: none, a build without a GIL, or offsets that can't be right. */
bool strobe_py_layout_read(const uint8_t *bytes, struct strobe_py_layout *out);

#endif
