/* away.h - when another tool takes our seat on a thread, and when it is free again, on 3.9 to 3.11. See seat.h.
 * Thread: under the GIL.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_AWAY_H
#define STROBE_PY_AWAY_H

#include "code.h"

struct strobe_py_seat;
struct strobe_py_thread;

/* The profile or trace function tells calls: take its seat back, whenever another tool that took it leaves it. `tell` is that function;
 * it hears of a call or return at which its seat was taken back too late for that. */
void strobe_py_away_start(struct strobe_py_seat *own, struct strobe_py_seat *other,
                          strobe_py_tracefunc tell);

/* No more. True: another tool had it for a time, so calls are missing. */
bool strobe_py_away_stop(void);

/* What is known of a frame's code, as the profile function finds it. */
struct strobe_py_code *strobe_py_find_of_frame(PyObject *frame);

#endif
