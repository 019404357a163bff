/* flow.c - generators, coroutines, exceptions.
 *
 *   generator         a zone per resume; a flow with an id of its own links them
 *   async generator   likewise; an await that a coroutine of the task is suspended in does not end it
 *   coroutine         in an asyncio task: one zone from its first entry to its end, on the task's track, whatever it awaits;
 *                     elsewhere (other frameworks, sent by hand): a zone per resume
 *
 * A suspended task is left from the inside out, with nothing of the program's between: so a generator that is left right after a
 * coroutine was, is left by an await of that one. It stays open, and its next resume opens nothing: `awaiting` remembers which.
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

/* Generators that stay open over an await. One that never went on leaves a stale entry: a new one at its place takes it out when
 * it starts. */
enum { N_AWAITING = 4096, N_PROBES = 16 };
static const void *awaiting[N_AWAITING];

static const void **awaiting_slot(const void *wanted, const void *activation)
{
    size_t at = (size_t)(((uintptr_t)activation >> 4) * 0x9e3779b97f4a7c15ull >> 52);
    for (size_t i = 0; i < N_PROBES; i++)
        if (awaiting[(at + i) % N_AWAITING] == wanted)
            return &awaiting[(at + i) % N_AWAITING];
    return NULL;
}

/* True: the generator was kept open. It isn't any more. */
static bool take_awaiting(const void *activation)
{
    const void **slot = activation ? awaiting_slot(activation, activation) : NULL;
    if (slot)
        *slot = NULL;
    return slot != NULL;
}

static bool keep_awaiting(const void *activation)
{
    const void **slot = activation ? awaiting_slot(NULL, activation) : NULL;
    if (slot)
        *slot = activation;
    return slot != NULL;
}

void strobe_py_run_begin(struct strobe_py_code *code, bool first, const void *activation)
{
    if (code->flags & STROBE_PY_FILTERED)
        return;
    if (code->flags & STROBE_PY_FULL) {
        strobe_py_shadow_begin(code, NULL);
        return;
    }
    strobe_py_thread.suspending = 0;
    if (code->flags & STROBE_PY_COROUTINE) {
        if (!strobe_py_task_enter(first, code->function) || first)
            strobe_py_begin(&code->loc);
        return;
    }
    if (take_awaiting(activation) && !first)
        return;
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
        if (!strobe_py_thread.n_coroutines)
            return; /* entered before anybody traced */
        bool in_task = strobe_py_task_runs();
        if (last || !in_task)
            strobe_py_end(&code->loc);
        strobe_py_task_leave();
        strobe_py_thread.suspending = !last && in_task && strobe_py_task_runs();
        return;
    }
    if (!last && strobe_py_thread.suspending && keep_awaiting(activation))
        return;
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
