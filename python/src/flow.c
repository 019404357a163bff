/* flow.c - generators, coroutines, exceptions.
 *
 *   generator         a zone per resume; a flow with an id of its own links them
 *   async generator   likewise
 *   coroutine         in an asyncio task: one zone from its first entry to its end, on the task's track, whatever it awaits;
 *                     elsewhere (other frameworks, sent by hand): a zone per resume
 *
 * SPDX-License-Identifier: MIT */
#include "flow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit.h"
#include "shadow.h"
#include "tasks.h"
#include "thread.h"

/* A number for a generator: other processes have other ones. Used again after the generator's end only. */
static uint64_t flow_id(const void *activation)
{
    return (uint64_t)getpid() << 40 | ((uintptr_t)activation >> 4 & 0xffffffffffull);
}

void strobe_py_run_begin(struct strobe_py_code *code, bool first, const void *activation)
{
    if (code->flags & STROBE_PY_FILTERED)
        return;
    if (code->flags & STROBE_PY_FULL) {
        strobe_py_shadow_begin(code, NULL);
        return;
    }
    if (code->flags & STROBE_PY_COROUTINE) {
        if (!strobe_py_task_enter(first, code->function) || first)
            strobe_py_begin(&code->loc);
        return;
    }
    strobe_py_begin(&code->loc);
    if (activation && first)
        strobe_flow_begin(flow_id(activation));
    else if (activation)
        strobe_flow_step(flow_id(activation));
}

void strobe_py_run_end(struct strobe_py_code *code, bool last, const void *activation)
{
    if (code->flags & STROBE_PY_FILTERED)
        return;
    if (code->flags & STROBE_PY_FULL) {
        strobe_py_shadow_end(code, NULL);
        return;
    }
    if (code->flags & STROBE_PY_COROUTINE) {
        if (last || !strobe_py_task_runs())
            strobe_py_end(&code->loc);
        strobe_py_task_leave();
        return;
    }
    if (last && activation)
        strobe_flow_end(flow_id(activation));
    strobe_py_end(&code->loc);
}

void strobe_py_raised(PyObject *error)
{
    if (!error || !strobe_recording())
        return;
    PyObject *type, *value, *trace;
    strobe_py_thread.busy++;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *kind = PyType_Check(error) ? error : (PyObject *)Py_TYPE(error);
    PyObject *name = PyObject_GetAttrString(kind, "__name__");
    char *text = name ? strobe_py_copy_text(name) : NULL;
    char said[160] = "raised ";
    if (text) {
        strncat(said, text, sizeof said - 8);
        strobe_zone_text(said, strlen(said));
    }
    free(text);
    Py_XDECREF(name);
    PyErr_Restore(type, value, trace);
    strobe_py_thread.busy--;
}
