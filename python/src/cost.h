/* cost.h - what a traced call costs more than one that is not, for the overhead that `strobe info` shows.
 * Measured once in a process, before calls are traced, on a function that is made for it: nothing of that gets into the trace.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_COST_H
#define STROBE_PY_COST_H

#include "py.h"

/* How a source has the calls of one function go its way, but for the ring: `on` puts a probe in place, else it is taken out.
 * False: it can't be. */
typedef bool (*strobe_py_probe)(bool on, PyObject *code);

/* Measure, if that was not done yet, and no other tool would see the calls. Never raises. With the GIL. */
void strobe_py_cost_measure(strobe_py_probe probe);

/* Tell the recorders, this one and those that come: calls are traced from now on, and cost so much. `is_plain` false: they go
 * another way than what was measured, so the cost is not known. */
void strobe_py_cost_tell(bool is_plain);

/* What a probe does in place of an emit: the clock is read and stored. */
void strobe_py_cost_emit(void);

#endif
