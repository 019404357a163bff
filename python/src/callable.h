/* callable.h - where calls of what is no Python function are shown.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_CALLABLE_H
#define STROBE_PY_CALLABLE_H

#include "py.h"

#include <strobe/strobe.h>

#include "thread.h"

/* Find the types, test the layout. False: C functions can't be named here. */
bool strobe_py_callable_start(void);

enum strobe_py_callable_kind {
    STROBE_PY_OTHER = 0,
    STROBE_PY_PYTHON = 1, /* a Python function or a method of one: it tells its calls itself */
    STROBE_PY_BOUND = 2,  /* a method object around something else */
};
enum strobe_py_callable_kind strobe_py_kind_of(PyObject *callable);

/* The location of a callable that is none. NULL: it is this module's, or no memory. Lifetime: until another callable is asked for. */
struct strobe_loc *strobe_py_callable_loc(PyObject *callable);

/* Counts the entries that were given to another callable. */
extern uint32_t strobe_py_callable_version __attribute__((visibility("hidden")));

/* A call begins: remember where it is shown, for its end. */
static inline void strobe_py_called(struct strobe_py_thread *me, const PyObject *callable,
                                    struct strobe_loc *loc)
{
    me->called = callable;
    me->called_loc = loc;
    me->called_version = strobe_py_callable_version;
}

/* A call ends: where its begin was shown, if nothing else was called since; else NULL. */
static inline struct strobe_loc *strobe_py_called_last(struct strobe_py_thread *me,
                                                       const PyObject *callable)
{
    if (me->called != callable || me->called_version != strobe_py_callable_version)
        return NULL;
    me->called = NULL;
    return me->called_loc;
}

#endif
