/* limit.c - what tracing Python can't cost less than: callbacks on the same hooks and the same events that read the clock and store 16
 * bytes, and context managers that do nothing or read the clock twice. On the stable ABI, like the tracer.
 *
 *   start("monitor" | "hook" | "profile", c_functions), stop()
 *   empty(), clock()       a new context manager each time
 *
 * SPDX-License-Identifier: MIT */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include <strobe/strobe.h>

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
#define FAST(function) ((PyCFunction)(void (*)(void))(function))

enum { N_STORED = 1 << 16, TOOL = 4 };
static volatile struct { /* volatile: nobody reads them */
    uint64_t tick;
    const void *what;
} stored[N_STORED];
static uint32_t n_stored;

static inline void store(const void *what)
{
    uint32_t at = n_stored++ & (N_STORED - 1);
    stored[at].tick = strobe_ticks();
    stored[at].what = what;
}

/* ---- sys.monitoring ---- */

static PyObject *on_event(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    (void)n_args;
    store(args[0]);
    Py_RETURN_NONE;
}

static PyMethodDef event_def = {"on_event", FAST(on_event), METH_FASTCALL, NULL};

static long register_events(PyObject *monitoring, int c_functions, PyObject *callback)
{
    static const char *const names[] = {"PY_START",  "PY_RESUME", "PY_THROW",
                                        "PY_RETURN", "PY_YIELD",  "PY_UNWIND",
                                        "CALL",      "C_RETURN",  "C_RAISE"};
    PyObject *events = PyObject_GetAttrString(monitoring, "events");
    long mask = 0;
    for (int i = 0; i < (c_functions ? 9 : 6); i++) {
        PyObject *event = PyObject_GetAttrString(events, names[i]);
        mask |= PyLong_AsLong(event);
        Py_XDECREF(
            PyObject_CallMethod(monitoring, "register_callback", "iOO", TOOL, event, callback));
        Py_XDECREF(event);
    }
    Py_XDECREF(events);
    return mask;
}

static int start_monitor(int c_functions)
{
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    PyObject *callback = PyCFunction_New(&event_def, NULL);
    Py_XDECREF(PyObject_CallMethod(monitoring, "use_tool_id", "is", TOOL, "limit"));
    long mask = register_events(monitoring, c_functions, callback);
    Py_XDECREF(PyObject_CallMethod(monitoring, "set_events", "il", TOOL, mask));
    Py_XDECREF(callback);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- the frame hook and the profile function ---- */

typedef PyObject *(*eval_function)(PyThreadState *, void *, int);
static eval_function evaluate;

static PyObject *eval_frame(PyThreadState *state, void *frame, int throwing)
{
    void *code;
    memcpy(&code, (char *)frame + 32, sizeof code);
    store(code);
    PyObject *result = evaluate(state, frame, throwing);
    store(code);
    return result;
}

static int set_hook(int on)
{
    eval_function (*get)(PyInterpreterState *) = NULL;
    void (*set)(PyInterpreterState *, eval_function) = NULL;
    void *at = dlsym(RTLD_DEFAULT, "_PyInterpreterState_GetEvalFrameFunc");
    memcpy(&get, &at, sizeof at);
    at = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
    memcpy(&set, &at, sizeof at);
    if (on)
        evaluate = get(PyInterpreterState_Get());
    set(PyInterpreterState_Get(), on ? eval_frame : evaluate);
    return 0;
}

static int with_c;

static int on_profile(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    (void)self;
    (void)arg;
    if (what < 4 || with_c)
        store(frame);
    return 0;
}

static int set_profile(int on)
{
    int (*set)(PyThreadState *, int (*)(PyObject *, PyObject *, int, PyObject *), PyObject *) =
        NULL;
    void *at = dlsym(RTLD_DEFAULT, "_PyEval_SetProfile");
    memcpy(&set, &at, sizeof at);
    return set(PyThreadState_Get(), on ? on_profile : NULL, NULL);
}

static char mode[16];

static PyObject *start(PyObject *self, PyObject *args)
{
    const char *wanted;
    int c_functions = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "s|i", &wanted, &c_functions))
        return NULL;
    strncpy(mode, wanted, sizeof mode - 1);
    with_c = c_functions;
    int failed = mode[0] == 'm'   ? start_monitor(c_functions)
                 : mode[0] == 'h' ? set_hook(1)
                                  : set_profile(1);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    if (mode[0] == 'm')
        return PyObject_CallMethod(PySys_GetObject("monitoring"), "set_events", "ii", TOOL, 0);
    if (mode[0] == 'h')
        set_hook(0);
    else
        set_profile(0);
    Py_RETURN_NONE;
}

/* ---- context managers ---- */

static PyTypeObject *empty_type, *clock_type;

static PyObject *give_self(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_INCREF(self);
    return self;
}

static PyObject *give_none(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    (void)args;
    (void)n_args;
    Py_RETURN_NONE;
}

static PyObject *clock_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    store(self);
    Py_INCREF(self);
    return self;
}

static PyObject *clock_exit(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)args;
    (void)n_args;
    store(self);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef empty_methods[] = {
    {"__enter__", give_self, METH_NOARGS, NULL},
    {"__exit__", FAST(give_none), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef clock_methods[] = {
    {"__enter__", clock_enter, METH_NOARGS, NULL},
    {"__exit__", FAST(clock_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *make_type(const char *name, PyMethodDef *methods)
{
    PyType_Slot slots[] = {{Py_tp_methods, methods}, {Py_tp_dealloc, dealloc}, {0, NULL}};
    PyType_Spec spec = {name, sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
    return (PyTypeObject *)PyType_FromSpec(&spec);
}

static PyObject *make(PyTypeObject *type)
{
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static PyObject *make_empty(PyObject *self, PyObject *name)
{
    (void)self;
    (void)name;
    return make(empty_type);
}

static PyObject *make_clock(PyObject *self, PyObject *name)
{
    (void)self;
    (void)name;
    return make(clock_type);
}

static PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"empty", make_empty, METH_O, NULL},
    {"clock", make_clock, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "limit", .m_size = -1,
                                        .m_methods = methods};

PyMODINIT_FUNC PyInit_limit(void);
PyMODINIT_FUNC PyInit_limit(void)
{
    empty_type = make_type("limit.Empty", empty_methods);
    clock_type = make_type("limit.Clock", clock_methods);
    return empty_type && clock_type ? PyModule_Create(&definition) : NULL;
}
