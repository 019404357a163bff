/* tasks.h - asyncio tasks and greenlets as tracks of their own: which task a coroutine runs for.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_TASKS_H
#define STROBE_PY_TASKS_H

#include "py.h"

/* A coroutine is entered (`first`: for the first time): change to the track of its task. True: it runs for a task.
 * `name`: of the coroutine. Keeps a pending exception. */
bool strobe_py_task_enter(bool first, const char *name);

/* Whether the thread is on a task's track. */
bool strobe_py_task_runs(void);

/* The coroutine that was entered last is left: back to where it was entered. */
void strobe_py_task_leave(void);

/* The asyncio task that runs on the calling thread: a new reference, or NULL. Calls nothing of the program's; leaves no exception. */
PyObject *strobe_py_running_task(void);

/* greenlet_switched(event, (origin, target)), for greenlet.settrace(): what the thread emits belongs to the target's track from here on.
 * Raises nothing. */
PyObject *strobe_py_greenlet_switched(PyObject *module, PyObject *const *args, Py_ssize_t n_args);

#endif
