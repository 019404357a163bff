/* counting.c - a module that counts calls by itself, to judge the tracer by: from 3.12 on a tool of sys.monitoring of its own, before a
 * frame evaluator below the tracer's. And a C function that calls back, for programs that need one.
 *
 *   start()            begin to count
 *   counts()           {(qualified or plain name, file, line): runs}, and for sys.monitoring {...: [per event]}
 *   call_back(f, n)    call f() n times from C
 *
 * On the stable ABI, as the tracer; knows nothing of it.  SPDX-License-Identifier: MIT */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

enum { N_EVENTS = 6, TOOL = 5 };
typedef PyObject *(*eval_function)(PyThreadState *, void *, int);

static PyObject *counted; /* {code: [n, ...]} */
static eval_function before;

static void count(PyObject *code, int event)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *list = PyDict_GetItemWithError(counted, code); /* borrowed */
    if (!list) {
        list = Py_BuildValue("[iiiiii]", 0, 0, 0, 0, 0, 0);
        if (list && !PyDict_SetItem(counted, code, list))
            Py_DECREF(list);
    }
    if (list) {
        long n = PyLong_AsLong(PyList_GetItem(list, event));
        PyList_SetItem(list, event, PyLong_FromLong(n + 1));
    }
    PyErr_Restore(type, value, trace);
}

/* ---- sys.monitoring ---- */

static PyObject *on_event(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    if (n_args > 0)
        count(args[0], (int)PyLong_AsLong(self));
    Py_RETURN_NONE;
}

static PyMethodDef event_def = {"on_event", (PyCFunction)(void (*)(void))on_event, METH_FASTCALL,
                                NULL};

static int start_monitoring(PyObject *monitoring)
{
    static const char *const names[N_EVENTS] = {"PY_START",  "PY_RESUME", "PY_THROW",
                                                "PY_RETURN", "PY_YIELD",  "PY_UNWIND"};
    PyObject *events = PyObject_GetAttrString(monitoring, "events");
    PyObject *done = PyObject_CallMethod(monitoring, "use_tool_id", "is", TOOL, "counting");
    long mask = 0;
    for (int i = 0; events && done && i < N_EVENTS; i++) {
        PyObject *event = PyObject_GetAttrString(events, names[i]);
        PyObject *number = PyLong_FromLong(i);
        PyObject *callback = PyCFunction_New(&event_def, number);
        mask |= PyLong_AsLong(event);
        Py_XDECREF(
            PyObject_CallMethod(monitoring, "register_callback", "iOO", TOOL, event, callback));
        Py_XDECREF(callback);
        Py_XDECREF(number);
        Py_XDECREF(event);
    }
    Py_XDECREF(done);
    Py_XDECREF(events);
    if (!PyErr_Occurred())
        Py_XDECREF(PyObject_CallMethod(monitoring, "set_events", "il", TOOL, mask));
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- the frame evaluator ---- */

static int is_311;

/* 3.11 evaluates a generator function's frame once to make the generator: no run. */
static int is_creation(PyObject *code, const char *frame)
{
    PyObject *flags = PyObject_GetAttrString(code, "co_flags");
    long value = flags ? PyLong_AsLong(flags) : 0;
    Py_XDECREF(flags);
    return is_311 && (value & (0x20 | 0x80 | 0x200)) && frame[69] == 0;
}

static PyObject *eval_counting(PyThreadState *state, void *frame, int throwing)
{
    PyObject *code;
    memcpy(&code, (char *)frame + 32, sizeof code);
    if (!is_creation(code, frame))
        count(code, 0);
    return before(state, frame, throwing);
}

static int start_evaluator(void)
{
    eval_function (*get)(PyInterpreterState *) = NULL;
    void (*set)(PyInterpreterState *, eval_function) = NULL;
    void *at = dlsym(RTLD_DEFAULT, "_PyInterpreterState_GetEvalFrameFunc");
    memcpy(&get, &at, sizeof at);
    at = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
    memcpy(&set, &at, sizeof at);
    is_311 = !strncmp(Py_GetVersion(), "3.11", 4);
    before = get(PyInterpreterState_Get());
    set(PyInterpreterState_Get(), eval_counting);
    return 0;
}

/* ---- the module ---- */

static PyObject *start(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    counted = PyDict_New();
    if (!counted || (monitoring ? start_monitoring(monitoring) : start_evaluator()))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *counts(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyDict_Copy(counted);
}

static PyObject *call_back(PyObject *self, PyObject *args)
{
    PyObject *function;
    int n;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &function, &n))
        return NULL;
    for (int i = 0; i < n; i++) {
        PyObject *result = PyObject_CallObject(function, NULL);
        if (!result)
            return NULL;
        Py_DECREF(result);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", start, METH_NOARGS, NULL},
    {"counts", counts, METH_NOARGS, NULL},
    {"call_back", call_back, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "counting", .m_size = -1,
                                        .m_methods = methods};

PyMODINIT_FUNC PyInit_counting(void);
PyMODINIT_FUNC PyInit_counting(void)
{
    return PyModule_Create(&definition);
}
