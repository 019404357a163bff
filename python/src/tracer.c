/* tracer.c - trace_start, trace_stop: options, the choice of a source, the words to the user.
 * SPDX-License-Identifier: MIT */
#include "tracer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "callable.h"
#include "code.h"
#include "cost.h"
#include "emit.h"
#include "shadow.h"
#include "thread.h"

struct strobe_py_tracer strobe_py_tracer;

static PyInterpreterState
    *home; /* the interpreter that traces; hooks are per interpreter, our tables are not */
static PyObject *words; /* owned: a list, NULL: nothing to say */

void strobe_py_word(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *word = PyUnicode_FromString(text);
    if (!words)
        words = PyList_New(0);
    if (word && words && PySequence_Contains(words, word) == 0)
        PyList_Append(words, word);
    Py_XDECREF(word);
    PyErr_Restore(type, value, trace);
}

static PyObject *take_words(void)
{
    PyObject *taken = words ? words : PyList_New(0);
    words = NULL;
    return taken;
}

static void free_patterns(char **patterns)
{
    for (char **at = patterns; at && *at; at++)
        free(*at);
    free(patterns);
}

/* A list of str as patterns. NULL with an exception. */
static char **copy_patterns(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    char **patterns = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *patterns);
    if (!patterns)
        return (char **)(n < 0 ? NULL : PyErr_NoMemory());
    for (Py_ssize_t i = 0; i < n; i++)
        patterns[i] = strobe_py_copy_text(PyList_GetItem(list, i));
    return patterns;
}

static void free_options(struct strobe_py_tracer *tracer)
{
    free_patterns(tracer->include);
    free_patterns(tracer->exclude);
    free(tracer->prefix);
    free(tracer->line_prefix);
    tracer->include = tracer->exclude = NULL;
    tracer->prefix = tracer->line_prefix = NULL;
}

/* ---- the choice of a source ---- */

static bool start_before_312(struct strobe_py_tracer *tracer)
{
    if (tracer->lines) {
        tracer->source = STROBE_PY_TRACE;
        if (strobe_py_profile_start(true))
            return true;
        tracer->lines = false;
        tracer->full = tracer->min_ticks || tracer->max_depth;
    } else if (tracer->c_functions) {
        tracer->source = STROBE_PY_PROFILE;
        if (strobe_py_profile_start(false))
            return true;
        tracer->c_functions = false;
    }
    tracer->source = STROBE_PY_HOOK;
    if (strobe_py_hook_start())
        return true;
    tracer->source = STROBE_PY_PROFILE;
    return strobe_py_profile_start(false);
}

static bool start_source(struct strobe_py_tracer *tracer)
{
    if (tracer->c_functions && !strobe_py_callable_start()) {
        strobe_py_word("C functions are not traced: this Python keeps their names elsewhere");
        tracer->c_functions = false;
    }
    if (strobe_py_late.version < 0x030c00)
        return start_before_312(tracer);
    tracer->source = STROBE_PY_MONITOR;
    return strobe_py_monitor_start();
}

static void stop_source(struct strobe_py_tracer *tracer)
{
    if (tracer->source == STROBE_PY_MONITOR)
        strobe_py_monitor_stop();
    else if (tracer->source == STROBE_PY_HOOK)
        strobe_py_hook_stop();
    else if (tracer->source != STROBE_PY_NONE)
        strobe_py_profile_stop();
}

/* trace_start(lines, c_functions, include, exclude, min_ns, max_depth, gc, prefix, line_prefix): words to say */
static PyObject *trace_start(PyObject *module, PyObject *args)
{
    struct strobe_py_tracer *tracer = &strobe_py_tracer;
    int lines, c_functions, gc;
    PyObject *include, *exclude, *prefix, *line_prefix;
    unsigned long long min_ns;
    unsigned int max_depth;
    (void)module;
    if (!PyArg_ParseTuple(args, "iiO!O!KIiUU", &lines, &c_functions, &PyList_Type, &include,
                          &PyList_Type, &exclude, &min_ns, &max_depth, &gc, &prefix, &line_prefix))
        return NULL;
    if (tracer->source != STROBE_PY_NONE) {
        PyErr_SetString(PyExc_RuntimeError, "functions are being traced already");
        return NULL;
    }
    if (!home)
        home = PyInterpreterState_Get();
    if (home != PyInterpreterState_Get()) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "functions are traced in one interpreter of a process: the first that asked");
        return NULL;
    }
    free_options(tracer);
    tracer->include = copy_patterns(include);
    tracer->exclude = copy_patterns(exclude);
    tracer->prefix = strobe_py_copy_text(prefix);
    tracer->line_prefix = strobe_py_copy_text(line_prefix);
    if (!tracer->include || !tracer->exclude || !tracer->prefix || !tracer->line_prefix)
        return PyErr_NoMemory();
    tracer->lines = lines;
    tracer->c_functions = c_functions;
    tracer->min_ticks = min_ns ? strobe_py_ticks_of(min_ns) : 0;
    tracer->max_depth = max_depth;
    tracer->full = lines || min_ns || max_depth;
    tracer->generation++;
    strobe_py_code_renew();
    if (gc)
        strobe_py_gc_start(); /* before calls are seen: it imports a module */
    if (!strobe_py_code_start() || !start_source(tracer)) {
        strobe_py_gc_stop();
        tracer->source = STROBE_PY_NONE;
    } else {
        strobe_py_cost_tell(!tracer->full && tracer->source <= STROBE_PY_HOOK);
    }
    return take_words();
}

/* trace_stop(): words to say */
static PyObject *trace_stop(PyObject *module, PyObject *unused)
{
    struct strobe_py_tracer *tracer = &strobe_py_tracer;
    (void)module;
    (void)unused;
    stop_source(tracer);
    strobe_py_gc_stop();
    if (tracer->source != STROBE_PY_NONE && tracer->full)
        strobe_py_shadow_close();
    tracer->source = STROBE_PY_NONE;
    tracer->min_ticks = 0;
    strobe_py_thread.n_open = 0;
    strobe_py_code_renew(); /* a hook that had to stay finds nothing to tell */
    return take_words();
}

/* trace_leave(say): stop at the program's end, and have each word said, when nothing of that is traced any more */
static PyObject *trace_leave(PyObject *module, PyObject *say)
{
    strobe_py_tracer.ends = true;
    PyObject *left = trace_stop(module, NULL);
    strobe_py_tracer.ends = false;
    for (Py_ssize_t i = 0; left && i < PyList_Size(left); i++) {
        PyObject *done = PyObject_CallFunctionObjArgs(say, PyList_GetItem(left, i), NULL);
        if (!done)
            break;
        Py_DECREF(done);
    }
    Py_XDECREF(left);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* unseen(call, *args): call(*args), of which nothing is traced on this thread. Begins and ends are left out alike, so the mark of
 * the frame hook is put where it looks around first. */
static PyObject *unseen(PyObject *module, PyObject *args)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    (void)module;
    if (PyTuple_Size(args) < 1) {
        PyErr_SetString(PyExc_TypeError, "unseen() wants a callable");
        return NULL;
    }
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
    if (!rest)
        return NULL;
    const uintptr_t mark = me->stack_mark;
    me->busy++;
    me->stack_mark = ~(uintptr_t)0;
    PyObject *result = PyObject_Call(PyTuple_GetItem(args, 0), rest, NULL);
    me->stack_mark = mark;
    me->busy--;
    Py_DECREF(rest);
    return result;
}

static PyObject *trace_is_on(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(strobe_py_tracer.source != STROBE_PY_NONE);
}

/* How calls are seen: for tests and for `doctor`-like questions. */
static PyObject *trace_source(PyObject *module, PyObject *unused)
{
    static const char *const names[] = {"off", "sys.monitoring", "frame hook", "profile function",
                                        "trace function"};
    (void)module;
    (void)unused;
    return PyUnicode_FromString(names[strobe_py_tracer.source]);
}

PyMethodDef strobe_py_tracer_methods[] = {
    {"trace_start", trace_start, METH_VARARGS, "Begin to trace functions; see strobe.trace()."},
    {"trace_stop", trace_stop, METH_NOARGS, "Stop tracing."},
    {"trace_leave", trace_leave, METH_O, "Stop tracing, and call this with each word to say."},
    {"unseen", unseen, METH_VARARGS, "Call the first argument with the others, untraced."},
    {"trace_is_on", trace_is_on, METH_NOARGS, "True while functions are traced."},
    {"trace_source", trace_source, METH_NOARGS, "Where the events come from."},
    {NULL, NULL, 0, NULL},
};
