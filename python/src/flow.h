/* flow.h - code that may stop in its middle and go on later: generators, coroutines, async generators; and all code
 * that goes over the shadow stack.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_FLOW_H
#define STROBE_PY_FLOW_H

#include "code.h"

/* A run of flagged code begins: `first` of its activation, or a resume. `activation` tells a generator from others
 * while it lives; NULL: not known, no links. */
void strobe_py_run_begin(struct strobe_py_code *code, bool first, const void *activation);

/* It ends: `last`: by return or exception, else by a yield or an await. */
void strobe_py_run_end(struct strobe_py_code *code, bool last, const void *activation);

/* The function is left by an exception: its zone says which. `error`: the exception or its type, borrowed. */
void strobe_py_raised(PyObject *error);

#endif
