/* py_stack.h - the Python frames of a thread of another process, read while it runs.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_STACK_H
#define STROBE_SAMPLE_PY_STACK_H

#include "sample/py_layout.h"
#include "sample/py_memory.h"

enum { STROBE_PY_FRAMES = 256, STROBE_PY_THREADS_MAX = 4096 };

/* An interpreter in a process. */
struct strobe_py_target {
    struct strobe_py_layout layout;
    uint64_t runtime, code_type; /* addresses in the process */
};

/* A frame, as it was read. */
struct strobe_py_frame {
    uint64_t code;       /* address of its code object */
    uint64_t activation; /* an address in the C frame of its evaluator; 0: not known */
    uint32_t at;         /* byte of the instruction */
};

struct strobe_py_stack {
    struct strobe_py_frame frames[STROBE_PY_FRAMES]; /* the innermost first */
    uint32_t n;
    bool is_cut; /* there are more, or they could not be read */
};

/* The address of the thread state of `tid`, a number in the process's own pid namespace. 0: it has none, or it can't be read. */
uint64_t strobe_py_stack_find(struct strobe_py_memory *memory,
                              const struct strobe_py_target *target, uint32_t tid, bool is_main);
/* Whether a thread state is still that of `tid`. */
bool strobe_py_stack_is_of(struct strobe_py_memory *memory, const struct strobe_py_target *target,
                           uint64_t state, uint32_t tid, bool is_main);
/* Read its frames. What they say is not checked: one that names no code object ends the stack (py_names.h). */
void strobe_py_stack_read(struct strobe_py_memory *memory, const struct strobe_py_target *target,
                          uint64_t state, struct strobe_py_stack *out);
/* The frames of a record of the kernel's (py_kernel.h). False: it can't be right. */
bool strobe_py_stack_take(const void *bytes, size_t n_bytes, const struct strobe_py_layout *layout,
                          struct strobe_py_stack *out);

#endif
