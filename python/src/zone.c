/* zone.c - strobe.zone: a zone by hand, as context manager, decorator and in async code.
 *
 * A zone object has no state of a use: one object serves all threads, any nesting and recursion, so
 * `zone("load")` can return the same object every time. It is found by the address of the name first,
 * by its content where that fails; both tables are bounded, and what they forget is freed with its
 * last user. The location is the place of the first use.
 *
 * `async with` is not a zone of the thread, since other tasks run meanwhile: it is a span with an id of its own,
 * kept in `spans` by task until its end.  SPDX-License-Identifier: MIT */
#include "zone.h"

#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "shadow.h"
#include "tasks.h"
#include "thread.h"
#include "tracer.h"

struct zone {
    PyObject_HEAD struct strobe_loc loc; /* its texts are owned: from malloc */
    PyObject *name;                      /* owned */
    PyObject *spans;                     /* owned, NULL: none; {task or None: [span, ...]} */
};

/* What `await` gets from __aenter__ and __aexit__: over at once, with a value. */
struct done {
    PyObject_HEAD PyObject *value; /* owned */
};

enum { N_QUICK = 1024, MAX_ZONES = 65536 };
static PyTypeObject *zone_type, *done_type;
static PyObject *by_content; /* owned: {(name, color): zone} */
static struct {
    PyObject *name; /* owned: so that its address stays its own */
    PyObject *zone; /* owned */
} quick[N_QUICK];

static size_t slot_of(PyObject *name)
{
    return (size_t)(((uintptr_t)name >> 4) * 0x9e3779b97f4a7c15ull >> 54);
}

/* ---- making ---- */

/* Where the calling Python code is. Leaves no exception. */
static void find_caller(char **file, char **function, uint32_t *line)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(); /* borrowed */
    PyObject *code = frame ? PyObject_GetAttrString(frame, "f_code") : NULL;
    PyObject *file_text = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
    PyObject *name = code ? PyObject_GetAttrString(code, "co_name") : NULL;
    *line = frame && strobe_py_late.frame_line ? (uint32_t)strobe_py_late.frame_line(frame) : 0;
    *file = strobe_py_copy_text(file_text);
    *function = strobe_py_copy_text(name);
    Py_XDECREF(code);
    Py_XDECREF(file_text);
    Py_XDECREF(name);
    PyErr_Clear();
}

static PyObject *make_zone(PyObject *name, uint32_t color, PyObject *file, uint32_t line,
                           PyObject *function)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(zone_type, Py_tp_alloc);
    struct zone *zone = (struct zone *)alloc(zone_type, 0);
    if (!zone)
        return NULL;
    char *file_text = NULL, *function_text = NULL;
    if (file && file != Py_None) {
        file_text = strobe_py_copy_text(file);
        function_text = strobe_py_copy_text(function);
    } else {
        find_caller(&file_text, &function_text, &line);
    }
    char *name_text = strobe_py_copy_text(name);
    zone->loc = (struct strobe_loc){0, name_text, function_text, file_text, line, color};
    Py_INCREF(name);
    zone->name = name;
    if (!name_text || !file_text || !function_text) {
        Py_DECREF(zone);
        return PyErr_NoMemory();
    }
    return (PyObject *)zone;
}

static void zone_dealloc(PyObject *self)
{
    struct zone *zone = (struct zone *)self;
    PyTypeObject *type = Py_TYPE(self);
    free((char *)zone->loc.name);
    free((char *)zone->loc.function);
    free((char *)zone->loc.file);
    Py_XDECREF(zone->name);
    Py_XDECREF(zone->spans);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* The zone of that name, colour and place by content: found or made. A new reference. */
static PyObject *find_or_make(PyObject *name, uint32_t color, PyObject *file, uint32_t line,
                              PyObject *function)
{
    PyObject *key = Py_BuildValue("(OIOIO)", name, color, file ? file : Py_None, line,
                                  function ? function : Py_None);
    PyObject *zone = key ? PyDict_GetItemWithError(by_content, key) : NULL; /* borrowed */
    Py_XINCREF(zone);
    if (!zone && !PyErr_Occurred()) {
        zone = make_zone(name, color, file, line, function);
        if (PyDict_Size(by_content) >= MAX_ZONES)
            PyDict_Clear(by_content);
        if (zone && PyDict_SetItem(by_content, key, zone))
            Py_CLEAR(zone);
    }
    Py_XDECREF(key);
    return zone;
}

static PyObject *remember(PyObject *name, PyObject *zone)
{
    size_t slot = slot_of(name);
    PyObject *old_name = quick[slot].name, *old_zone = quick[slot].zone;
    Py_INCREF(name);
    Py_INCREF(zone);
    quick[slot].name = name;
    quick[slot].zone = zone;
    Py_XDECREF(old_name);
    Py_XDECREF(old_zone);
    return zone;
}

static PyObject *decorate_with(PyObject *zone, PyObject *function)
{
    PyObject *module = PyImport_ImportModule("strobe._decorate"), *result = NULL;
    if (module)
        result = PyObject_CallMethod(module, "decorate", "OO", zone, function);
    Py_XDECREF(module);
    return result;
}

/* The general form: keywords, colours, places, functions to be decorated. */
static PyObject *zone_slow(PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
    static const char *const words[] = {"name", "color", "file", "line", "function"};
    PyObject *values[5];
    if (!strobe_py_arguments(args, n_args, names, words, 5, values))
        return NULL;
    if (!values[0] || !PyUnicode_Check(values[0])) {
        if (values[0] && PyCallable_Check(values[0])) /* @strobe.zone, without a name */
            return decorate_with(Py_None, values[0]);
        PyErr_SetString(PyExc_TypeError, "zone() wants a name: a str");
        return NULL;
    }
    unsigned long color = values[1] && values[1] != Py_None ? PyLong_AsUnsignedLong(values[1]) : 0;
    unsigned long line = values[3] ? PyLong_AsUnsignedLong(values[3]) : 0;
    if (PyErr_Occurred())
        return NULL;
    return find_or_make(values[0], (uint32_t)color & 0xffffff, values[2], (uint32_t)line,
                        values[4]);
}

PyObject *strobe_py_zone(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                         PyObject *names)
{
    (void)module;
    if (STROBE_PY_LIKELY(n_args == 1 && !names)) {
        size_t slot = slot_of(args[0]);
        if (STROBE_PY_LIKELY(quick[slot].name == args[0])) {
            Py_INCREF(quick[slot].zone);
            return quick[slot].zone;
        }
    }
    PyObject *zone = zone_slow(args, n_args, names);
    if (zone && n_args == 1 && !names && Py_TYPE(zone) == zone_type)
        remember(args[0], zone);
    return zone;
}

/* ---- with ---- */

/* The first zones of a thread name it. While functions are traced, a zone may be open when the generator or coroutine that began
 * it yields, which ends its function's zone, and end when that has begun anew: in any order. */
static void __attribute__((noinline, cold)) begin_slow(struct strobe_loc *loc)
{
    if (strobe_py_thread.n_met < STROBE_PY_NAME_TRIES)
        strobe_py_meet_thread();
    if (strobe_py_tracer.min_ticks)
        strobe_py_shadow_flush();
    strobe_py_begin(loc);
    if (strobe_py_tracer.source != STROBE_PY_NONE)
        strobe_zone_loose();
}

STROBE_INLINE void begin(PyObject *self)
{
    const volatile struct strobe_gate *gate = strobe_gate_now;
    struct strobe_loc *loc = &((struct zone *)self)->loc;
    if (!strobe_gate_is_open(gate))
        return;
    if (STROBE_PY_UNLIKELY(strobe_py_tracer.source != STROBE_PY_NONE ||
                           strobe_py_thread.n_met < STROBE_PY_NAME_TRIES))
        begin_slow(loc);
    else
        strobe_py_begin_open(gate, loc);
}

static PyObject *zone_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_INCREF(self);
    begin(self);
    return self;
}

static PyObject *zone_exit(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)args;
    (void)n_args;
    strobe_py_end(&((struct zone *)self)->loc);
    Py_RETURN_NONE;
}

static PyObject *zone_begin(PyObject *self, PyObject *unused)
{
    (void)unused;
    begin(self);
    Py_RETURN_NONE;
}

/* Of ranges that end in any order, whether functions are traced or not. */
static PyObject *zone_begin_loose(PyObject *self, PyObject *unused)
{
    (void)unused;
    begin(self);
    if (strobe_py_tracer.source == STROBE_PY_NONE)
        strobe_zone_loose();
    Py_RETURN_NONE;
}

static PyObject *zone_end(PyObject *self, PyObject *unused)
{
    return zone_exit(self, &unused, 0);
}

static PyObject *zone_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (PyTuple_Size(args) != 1 || (kwargs && PyDict_Size(kwargs)) ||
        !PyCallable_Check(PyTuple_GetItem(args, 0))) {
        PyErr_SetString(PyExc_TypeError, "a zone is called with one function, to decorate it");
        return NULL;
    }
    return decorate_with(self, PyTuple_GetItem(args, 0));
}

/* ---- async with ---- */

static PyObject *done(PyObject *value)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(done_type, Py_tp_alloc);
    struct done *self = (struct done *)alloc(done_type, 0);
    if (!self)
        return NULL;
    Py_INCREF(value);
    self->value = value;
    return (PyObject *)self;
}

static PyObject *done_await(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyObject *done_next(PyObject *self)
{
    PyErr_SetObject(PyExc_StopIteration, ((struct done *)self)->value);
    return NULL;
}

static void done_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((struct done *)self)->value);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* The task that runs, or None: in another framework's coroutine. A new reference; leaves no exception. */
static PyObject *running_task(void)
{
    PyObject *task = strobe_py_running_task();
    if (task)
        return task;
    Py_RETURN_NONE;
}

static PyObject *zone_aenter(PyObject *self, PyObject *unused)
{
    struct zone *zone = (struct zone *)self;
    (void)unused;
    uint64_t span = strobe_span_new_id();
    PyObject *task = running_task(), *number = PyLong_FromUnsignedLongLong(span), *list = NULL;
    if (!zone->spans)
        zone->spans = PyDict_New();
    if (number && zone->spans)
        list = PyDict_GetItemWithError(zone->spans, task);
    Py_XINCREF(list);
    if (!list && zone->spans && !PyErr_Occurred()) {
        list = PyList_New(0);
        if (list && PyDict_SetItem(zone->spans, task, list))
            Py_CLEAR(list);
    }
    bool kept = list && !PyList_Append(list, number);
    Py_XDECREF(list);
    Py_DECREF(task);
    Py_XDECREF(number);
    if (!kept)
        return NULL;
    strobe_span_begin(span, &zone->loc);
    return done(self);
}

static PyObject *zone_aexit(PyObject *self, PyObject *args)
{
    struct zone *zone = (struct zone *)self;
    (void)args;
    PyObject *task = running_task();
    PyObject *list = zone->spans ? PyDict_GetItemWithError(zone->spans, task) : NULL;
    Py_ssize_t n = list ? PyList_Size(list) : 0;
    if (n > 0) {
        strobe_span_end(PyLong_AsUnsignedLongLong(PyList_GetItem(list, n - 1)));
        if (n == 1)
            PyDict_DelItem(zone->spans, task);
        else
            PyList_SetSlice(list, n - 1, n, NULL);
    }
    Py_DECREF(task);
    return PyErr_Occurred() ? NULL : done(Py_None);
}

/* A span whose end the caller keeps the number of. */
static PyObject *zone_span_begin(PyObject *self, PyObject *unused)
{
    uint64_t span = strobe_span_new_id();
    (void)unused;
    strobe_span_begin(span, &((struct zone *)self)->loc);
    return PyLong_FromUnsignedLongLong(span);
}

/* ---- on the zone ---- */

/* What text(), value() and the others speak of: the zone of this object that is open on the calling thread, also while
 * others are open in it. A span has no such events: they go to the thread's innermost zone. */
static bool is_span(PyObject *self)
{
    struct zone *zone = (struct zone *)self;
    if (!zone->spans || PyDict_Size(zone->spans) <= 0)
        return false;
    PyObject *task = running_task();
    bool has_span = PyDict_GetItemWithError(zone->spans, task) != NULL;
    Py_DECREF(task);
    PyErr_Clear();
    return has_span;
}

static void add_text(PyObject *self, const char *text, size_t n_bytes)
{
    struct strobe_zone zone = strobe_zone_of(&((struct zone *)self)->loc);
    if (is_span(self))
        strobe_zone_text(text, n_bytes);
    else
        strobe_zone_add_text(&zone, text, n_bytes);
}

static void set_name(PyObject *self, const char *name, size_t n_bytes)
{
    struct strobe_zone zone = strobe_zone_of(&((struct zone *)self)->loc);
    if (is_span(self))
        strobe_zone_name(name, n_bytes);
    else
        strobe_zone_set_name(&zone, name, n_bytes);
}

static void set_value(PyObject *self, uint64_t value)
{
    struct strobe_zone zone = strobe_zone_of(&((struct zone *)self)->loc);
    if (is_span(self))
        strobe_zone_value(value);
    else
        strobe_zone_set_value(&zone, value);
}

static void set_color(PyObject *self, uint32_t color)
{
    struct strobe_zone zone = strobe_zone_of(&((struct zone *)self)->loc);
    if (is_span(self))
        strobe_zone_color(color);
    else
        strobe_zone_set_color(&zone, color);
}

static PyObject *zone_text(PyObject *self, PyObject *text)
{
    Py_ssize_t n;
    PyObject *keep, *shown = PyUnicode_Check(text) ? text : PyObject_Str(text);
    const char *bytes = shown ? strobe_py_text(shown, &n, &keep) : NULL;
    if (bytes) {
        add_text(self, bytes, (size_t)n);
        Py_XDECREF(keep);
    }
    if (shown != text)
        Py_XDECREF(shown);
    if (!bytes)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *zone_rename(PyObject *self, PyObject *text)
{
    Py_ssize_t n;
    PyObject *keep;
    const char *bytes = strobe_py_text(text, &n, &keep);
    if (!bytes)
        return NULL;
    set_name(self, bytes, (size_t)n);
    Py_XDECREF(keep);
    Py_RETURN_NONE;
}

static PyObject *zone_value(PyObject *self, PyObject *value)
{
    unsigned long long number = PyLong_AsUnsignedLongLongMask(value);
    if (PyErr_Occurred())
        return NULL;
    set_value(self, number);
    Py_RETURN_NONE;
}

static PyObject *zone_recolor(PyObject *self, PyObject *color)
{
    unsigned long number = PyLong_AsUnsignedLong(color);
    if (PyErr_Occurred())
        return NULL;
    set_color(self, (uint32_t)number & 0xffffff);
    Py_RETURN_NONE;
}

static PyObject *zone_get_name(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *name = ((struct zone *)self)->name;
    Py_INCREF(name);
    return name;
}

static PyObject *zone_repr(PyObject *self)
{
    struct zone *zone = (struct zone *)self;
    return PyUnicode_FromFormat("strobe.zone(%R, color=0x%06x)", zone->name, (int)zone->loc.color);
}

static PyObject *zone_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    (void)args;
    (void)kwargs;
    PyErr_SetString(PyExc_TypeError, "zones are made by strobe.zone(name)");
    return NULL;
}

static PyMethodDef zone_methods[] = {
    {"__enter__", zone_enter, METH_NOARGS, "Begin the zone on the calling thread."},
    {"__exit__", STROBE_PY_FAST(zone_exit), METH_FASTCALL, "End it."},
    {"__aenter__", zone_aenter, METH_NOARGS, "Begin a span of the running task."},
    {"__aexit__", zone_aexit, METH_VARARGS, "End it."},
    {"begin", zone_begin, METH_NOARGS, "Begin the zone; end() ends it, on the same thread."},
    {"begin_loose", zone_begin_loose, METH_NOARGS,
     "Begin the zone, which may end after zones around it, and before zones in it."},
    {"end", zone_end, METH_NOARGS, "End the zone that begin() began."},
    {"span_begin", zone_span_begin, METH_NOARGS, "Begin a span; the number to end it with."},
    {"text", zone_text, METH_O, "Add a line of text to the zone."},
    {"rename", zone_rename, METH_O, "Give the zone that is open a name of its own."},
    {"value", zone_value, METH_O, "Give the zone a number."},
    {"recolor", zone_recolor, METH_O, "Give the zone that is open a colour, 0xRRGGBB."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef zone_attributes[] = {
    {"name", zone_get_name, NULL, "its name", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char zone_doc[] = "A named zone: a context manager, a decorator, and `async with` (a span). "
                         "Made by strobe.zone().";

static PyType_Slot zone_slots[] = {
    {Py_tp_new, zone_new},         {Py_tp_dealloc, zone_dealloc},
    {Py_tp_repr, zone_repr},       {Py_tp_call, zone_call},
    {Py_tp_methods, zone_methods}, {Py_tp_getset, zone_attributes},
    {Py_tp_doc, zone_doc},         {0, NULL},
};

static PyType_Slot done_slots[] = {
    {Py_tp_new, zone_new},    {Py_tp_dealloc, done_dealloc}, {Py_am_await, done_await},
    {Py_tp_iter, done_await}, {Py_tp_iternext, done_next},   {0, NULL},
};

static PyType_Spec zone_spec = {"strobe.Zone", sizeof(struct zone), 0, Py_TPFLAGS_DEFAULT,
                                zone_slots};
static PyType_Spec done_spec = {"strobe._Done", sizeof(struct done), 0, Py_TPFLAGS_DEFAULT,
                                done_slots};

int strobe_py_add_zone(PyObject *module)
{
    if (!zone_type) { /* a second interpreter that shares the GIL shares these too */
        zone_type = (PyTypeObject *)PyType_FromSpec(&zone_spec);
        done_type = (PyTypeObject *)PyType_FromSpec(&done_spec);
        by_content = PyDict_New();
    }
    if (!zone_type || !done_type || !by_content)
        return -1;
    Py_INCREF(zone_type);
    return PyModule_AddObject(module, "Zone", (PyObject *)zone_type);
}
