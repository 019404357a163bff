/* scoped.h - ScopedZone: a zone that an object holds, from `with` or from its making to its end.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_SCOPED_H
#define STROBE_PY_SCOPED_H

#include "py.h"

/* Make the type and put it into the module. 0, or -1 with an exception. */
int strobe_py_add_scoped(PyObject *module);

#endif
