/* seat.h - the places in a thread state for a profile function and for a trace function, on 3.9 to 3.11.
 *
 * Each thread has one of both, and each place has one holder: what another tool holds, on whichever thread, is never
 * taken from it.  Thread: all of it under the GIL.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_SEAT_H
#define STROBE_PY_SEAT_H

#include "py.h"

#include <string.h>

enum { STROBE_PY_AT_METHOD_DEF = 16 }; /* in a C function's object, on 3.9 to 3.11 */

struct strobe_py_seat;
extern struct strobe_py_seat strobe_py_profile_seat, strobe_py_trace_seat;

/* Can seats be taken in this Python at all? */
bool strobe_py_seats_are_known(void);

/* Is the calling thread's seat nobody's or ours? Keeps a pending exception. */
bool strobe_py_seat_is_free(struct strobe_py_seat *seat);

/* Is it ours? */
bool strobe_py_seat_is_ours(struct strobe_py_seat *seat);

/* Put `function` into the calling thread's seat. False: another tool has it, and keeps it. */
bool strobe_py_seat_take(struct strobe_py_seat *seat, strobe_py_tracefunc function);

/* Make the calling thread's seat nobody's, if it is ours. */
void strobe_py_seat_leave(struct strobe_py_seat *seat);

/* Make those of the calling thread's seats that are ours nobody's. Keeps a pending exception. */
void strobe_py_seats_leave(void);

/* From now on `change` is called before anybody but us puts a function into a seat of the calling thread. There is no way back.
 * Nothing happens where this Python, or an audit hook of the program's, does not want it. */
void strobe_py_seats_watch(void (*change)(struct strobe_py_seat *seat));

/* Is one of the calling thread's seats ours? */
bool strobe_py_seats_are_ours(void);

/* Put `function` into the free seats of all threads; how many others hold. NULL: make those that are ours nobody's. */
uint32_t strobe_py_seat_take_all(struct strobe_py_seat *seat, strobe_py_tracefunc function);

/* Have the threads that `threading` starts from now on call `function` from their run() on; NULL: no more. */
void strobe_py_seat_for_new(struct strobe_py_seat *seat, strobe_py_tracefunc function);

/* What _thread.start_new_thread calls; NULL: not known. */
extern PyCFunction strobe_py_start_thread __attribute__((visibility("hidden")));

/* Is it a start of a thread that a profile function hears of? */
static inline bool strobe_py_starts_thread(PyObject *called)
{
    const PyMethodDef *def;
    memcpy(&def, (char *)called + STROBE_PY_AT_METHOD_DEF, sizeof def);
    return def->ml_meth == strobe_py_start_thread;
}

/* A thread was just started: it gets `function` before its first call. */
void strobe_py_seat_for_youngest(struct strobe_py_seat *seat, strobe_py_tracefunc function);

#endif
