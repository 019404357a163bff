/* shadow.h - the open calls of a thread, where they must be known: for lines, for calls that leave no zone because they are
 * too short or too deep.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_SHADOW_H
#define STROBE_PY_SHADOW_H

#include "code.h"

/* A call begins; `callable`: the location of a C function, else NULL and `code` says it. */
void strobe_py_shadow_begin(struct strobe_py_code *code, struct strobe_loc *callable);

/* It ends, and its line with it. A call that never began here is nothing. */
void strobe_py_shadow_end(struct strobe_py_code *code, struct strobe_loc *callable);

/* The innermost call is at `line` now. */
void strobe_py_shadow_line(struct strobe_py_code *code, uint32_t line);

/* A zone by hand begins on the calling thread: what is held back around it comes first. */
void strobe_py_shadow_flush(void);

/* End what is open on the calling thread: the tracing ends. */
void strobe_py_shadow_close(void);

/* The calling thread ends: give up its stack. Without the GIL. */
void strobe_py_shadow_leave(void);

/* Ticks of the trace's clock in `ns`. */
uint64_t strobe_py_ticks_of(uint64_t ns);

#endif
