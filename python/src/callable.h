/* callable.h - where calls of what is no Python function are shown.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_CALLABLE_H
#define STROBE_PY_CALLABLE_H

#include "py.h"

#include <strobe/strobe.h>

/* Find the types, test the layout. False: C functions can't be named here. */
bool strobe_py_callable_start(void);

/* Is it a Python function or a method of one, which tells its calls itself? */
bool strobe_py_is_python(PyObject *callable);

/* The location of a callable that is none. NULL: it starts or stops the tracing, or no memory. Lifetime: until another callable is asked for. */
struct strobe_loc *strobe_py_callable_loc(PyObject *callable);

#endif
