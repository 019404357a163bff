/* callback.h - a callable for the interpreter's own callbacks: as little as can lie between it and a C function.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_CALLBACK_H
#define STROBE_PY_CALLBACK_H

#include "py.h"

/* By the vectorcall protocol: `n_args` has a flag in its highest bit, `names` is NULL here. */
typedef PyObject *(*strobe_py_vectorcall)(PyObject *self, PyObject *const *args, size_t n_args,
                                          PyObject *names);

/* An object whose call is a call of `function`. A new reference; NULL with an exception. From 3.12 on. */
PyObject *strobe_py_callback(strobe_py_vectorcall function);

#endif
