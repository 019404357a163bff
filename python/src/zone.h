/* zone.h - strobe.zone: the object that a `with` statement uses, one per name and colour.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_ZONE_H
#define STROBE_PY_ZONE_H

#include "py.h"

/* zone(name, color=0, file=None, line=0, function=None): the zone of that name, the same object every time.
 * `name` may also be a function to be decorated. */
PyObject *strobe_py_zone(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                         PyObject *names);

/* Make the types and put them into the module. 0, or -1 with an exception. */
int strobe_py_add_zone(PyObject *module);

#endif
