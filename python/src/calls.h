/* calls.h - the functions of the module that emit one event each.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_CALLS_H
#define STROBE_PY_CALLS_H

#include "py.h"

extern PyMethodDef strobe_py_calls[];

#endif
