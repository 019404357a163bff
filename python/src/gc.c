/* gc.c - garbage collections as zones, through gc.callbacks.  SPDX-License-Identifier: MIT */
#include "py.h"

#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "shadow.h"
#include "tracer.h"

static struct strobe_loc loc = {0, "garbage collection", "gc.collect", "<C>", 0, 0};
static PyObject *callback; /* owned */

static long number_of(PyObject *info, const char *key)
{
    PyObject *value = PyDict_Check(info) ? PyDict_GetItemString(info, key) : NULL; /* borrowed */
    return value ? PyLong_AsLong(value) : 0;
}

/* callback(phase, info) */
static PyObject *on_gc(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    if (n_args != 2 || !PyUnicode_Check(args[0]) || !strobe_recording())
        Py_RETURN_NONE;
    bool begins = !PyUnicode_CompareWithASCIIString(args[0], "start");
    if (strobe_py_tracer.full && begins)
        strobe_py_shadow_begin(NULL, &loc);
    else if (strobe_py_tracer.full)
        strobe_py_shadow_end(NULL, &loc);
    else if (begins)
        strobe_py_begin(&loc);
    if (begins || strobe_py_tracer.full)
        Py_RETURN_NONE;
    char text[64];
    int n = snprintf(text, sizeof text, "generation %ld", number_of(args[1], "generation"));
    strobe_zone_text(text, (size_t)n);
    strobe_zone_value((uint64_t)number_of(args[1], "collected"));
    strobe_py_end(&loc);
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyMethodDef on_gc_def = {"strobe_gc", STROBE_PY_FAST(on_gc), METH_FASTCALL, NULL};

static void change(const char *method)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *callbacks = gc ? PyObject_GetAttrString(gc, "callbacks") : NULL;
    PyObject *done = callbacks ? PyObject_CallMethod(callbacks, method, "O", callback) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(callbacks);
    Py_XDECREF(gc);
    PyErr_Clear();
}

void strobe_py_gc_start(void)
{
    if (callback)
        return;
    callback = PyCFunction_New(&on_gc_def, NULL);
    if (callback)
        change("append");
}

void strobe_py_gc_stop(void)
{
    if (callback)
        change("remove");
    Py_CLEAR(callback);
}
