/* code.h - what is known of each code object: its location, and how it is to be treated.
 *
 * It hangs on the code object itself (a code extra) and is freed with it, so no name outlives its code and the
 * process does not grow with code that is made and dropped. In front of that is a table by address; an
 * entry leaves it when its code object dies, so that an address that is used again finds nothing stale.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_CODE_H
#define STROBE_PY_CODE_H

#include "py.h"

#include <strobe/strobe.h>

enum {
    STROBE_PY_FILTERED = 1,
    STROBE_PY_GENERATOR = 2,
    STROBE_PY_COROUTINE = 4,
    STROBE_PY_ASYNC_GENERATOR = 8,
    STROBE_PY_FULL = 16, /* goes over the shadow stack: lines, shortest duration, depth */
};

struct strobe_py_line {
    struct strobe_loc loc; /* its texts are the code's; line 0: a free slot */
};

struct strobe_py_code {
    struct strobe_loc loc;        /* its texts are owned */
    uint32_t flags;               /* 0: a plain function, the fast way */
    uint32_t generation;          /* of the tracing for which the flags were decided */
    PyObject *code;               /* borrowed: dies after this */
    char *name, *function, *file; /* owned; name NULL: the function's */
    char *line_name;              /* owned; NULL: the function's */
    struct strobe_py_line *lines; /* owned: a hash table by line, NULL: none yet */
    uint32_t n_lines, line_slots;
};

enum { STROBE_PY_CODE_BITS = 12 };
struct strobe_py_code_slot {
    PyObject *code;
    struct strobe_py_code *known;
};
extern struct strobe_py_code_slot strobe_py_codes[1 << STROBE_PY_CODE_BITS]
    __attribute__((visibility("hidden")));

/* Changes when a code object dies and when decisions are forgotten: a struct strobe_py_code that was kept without its code object
 * is to be asked for anew. */
extern uint32_t strobe_py_code_version __attribute__((visibility("hidden")));

/* Get the index of our code extra. False after a word why not. */
bool strobe_py_code_start(void);

/* Forget all decisions: the options changed. */
void strobe_py_code_renew(void);

/* The long way of strobe_py_find_code. `globals`: of the function, borrowed, or NULL. Never NULL; keeps a pending exception. */
struct strobe_py_code *strobe_py_find_code_slow(PyObject *code, PyObject *globals)
    __attribute__((cold, noinline));

static inline size_t strobe_py_code_slot_of(const PyObject *code)
{
    return (size_t)(((uintptr_t)code >> 4) * 0x9e3779b97f4a7c15ull >> (64 - STROBE_PY_CODE_BITS));
}

/* What is known of `code`, by the table alone; NULL: the long way. */
static inline struct strobe_py_code *strobe_py_find_code(const PyObject *code)
{
    const struct strobe_py_code_slot *slot = &strobe_py_codes[strobe_py_code_slot_of(code)];
    return STROBE_PY_LIKELY(slot->code == code) ? slot->known : NULL;
}

/* The location of a line of `code`; the code's own where there is no memory. */
struct strobe_loc *strobe_py_line_loc(struct strobe_py_code *code, uint32_t line);

#endif
