/* py_names.h - names of Python frames, as addresses that no program has.
 *
 * A Python frame has no address of code. It gets one that is in no process, by its function and its line, and a SYMBOL
 * record says what it is (docs/file-format.md):
 *
 *   bits 63..57  0100000: neither the program's (below 2^56) nor the kernel's
 *   bits 56..20  number of the function, from 1
 *   bits 19..0   how many lines behind its first one
 *
 * A function is a name, a file and a first line: the same one in two processes has the same address. Code objects die and their
 * addresses are used again, so what is known of one holds only as long as its names and its table of lines are where they were; that
 * is looked at again after STROBE_PY_FRESH_NS.
 * One thread. Bounded: beyond the limits frames get no address.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_NAMES_H
#define STROBE_SAMPLE_PY_NAMES_H

#include "base/map.h"
#include "build/build.h"
#include "sample/py_stack.h"

#define STROBE_PY_ADDRESS  (1ull << 62)
#define STROBE_PY_FUNCTION (1ull << 20)
#define STROBE_PY_NO_CODE  UINT64_MAX /* in the place of an address */
#define STROBE_PY_FRESH_NS 250000000ull

enum {
    STROBE_PY_FUNCTIONS_MAX = 1 << 16,
    STROBE_PY_CODES_MAX = 1 << 16,
    STROBE_PY_PLACES_MAX = 1 << 18,
    STROBE_PY_NAME = 300, /* bytes of a name and of a path at the most */
    STROBE_PY_PATH = 600,
};

struct strobe_py_names {
    struct strobe_textmap
        functions; /* "name\0path\0line": the function's number - 1 is its entry */
    struct strobe_py_code {
        uint64_t name, file, table; /* where its texts and its table are */
        uint32_t first_line, function;
        uint64_t seen_ns; /* when it was last read */
    } * codes;            /* owned */
    uint32_t n_codes, codes_room;
    struct strobe_map code_ids; /* process << 48 ^ address: index in codes */
    struct strobe_map places;   /* index << 32 | byte of the instruction: address */
    struct strobe_map told;     /* process << 37 ^ low bits of the address: it is in the trace */
    uint64_t n_left_out;
};

void strobe_py_names_free(struct strobe_py_names *names); /* zeroes are allowed */

/* The address of a frame of `process`, a number that is never used again, at a time of any clock that does not go back. 0: its names can't
 * be read, or there are too many; STROBE_PY_NO_CODE: it has no code object. */
uint64_t strobe_py_names_address(struct strobe_py_names *names, struct strobe_py_memory *memory,
                                 const struct strobe_py_target *target, uint32_t process,
                                 const struct strobe_py_frame *frame, uint64_t now_ns);

/* Put what the address is into the trace, if this process's part does not have it yet. */
void strobe_py_names_tell(struct strobe_py_names *names, struct strobe_build *build,
                          uint32_t process, uint64_t address);

#endif
