/* calls.c - messages, plots, frames, counters, flows, spans, memory, names: one event or one fact per call.
 * Each costs a flag test while nobody records. A name is kept for as long as the table of names has
 * room for it, so that its id is said once.  SPDX-License-Identifier: MIT */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "tasks.h"
#include "thread.h"

/* A name that was used: a plot, a frame, a pool, a counter. In a capsule, freed with it. */
struct name {
    struct strobe_name name;
    int64_t total; /* of a counter */
    char text[];
};

enum { MAX_NAMES = 16384 };
static PyObject *names;    /* owned: {name: capsule} */
static PyObject *counters; /* owned: likewise; none is ever dropped, for its total */

static void free_name(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, NULL));
}

/* The name of a text in `table`, found or made; NULL with an exception. */
static struct name *find_in(PyObject **table, PyObject *text)
{
    PyObject *keep, *capsule = *table ? PyDict_GetItemWithError(*table, text) : NULL;
    if (capsule)
        return PyCapsule_GetPointer(capsule, NULL);
    Py_ssize_t n = 0;
    if (PyErr_Occurred() || (!*table && !(*table = PyDict_New())))
        return NULL;
    const char *bytes = strobe_py_text(text, &n, &keep);
    struct name *name = bytes ? calloc(1, sizeof *name + (size_t)n + 1) : NULL;
    if (bytes && !name)
        PyErr_NoMemory();
    if (!name)
        return NULL;
    memcpy(name->text, bytes, (size_t)n);
    Py_XDECREF(keep);
    name->name.text = name->text;
    capsule = PyCapsule_New(name, NULL, free_name);
    if (table == &names && PyDict_Size(names) >= MAX_NAMES)
        PyDict_Clear(names);
    if (!capsule || PyDict_SetItem(*table, text, capsule))
        name = NULL;
    Py_XDECREF(capsule);
    return name;
}

/* The kept name of a text; NULL with an exception. Lifetime: until another name is asked for. */
static struct name *find_name(PyObject *text)
{
    return find_in(&names, text);
}

/* From `min` to `max` arguments, or an exception. */
static bool has(Py_ssize_t n_args, Py_ssize_t min, Py_ssize_t max, const char *usage)
{
    if (n_args >= min && n_args <= max)
        return true;
    PyErr_Format(PyExc_TypeError, "usage: %s", usage);
    return false;
}

/* The first `n` are there, or an exception. */
static bool wants(PyObject *const *values, Py_ssize_t n, const char *usage)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (!values[i])
            return has(0, 1, 1, usage);
    return true;
}

static PyObject *py_recording(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(strobe_recording());
}

/* _message(text, color, severity) */
static PyObject *py_message(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    (void)module;
    if (!has(n_args, 1, 3, "message(text, color, severity)"))
        return NULL;
    unsigned long color = n_args > 1 ? PyLong_AsUnsignedLong(args[1]) : 0;
    long severity = n_args > 2 ? PyLong_AsLong(args[2]) : STROBE_INFO;
    if (PyErr_Occurred())
        return NULL;
    Py_ssize_t n;
    PyObject *keep;
    const char *text = strobe_py_text(args[0], &n, &keep);
    if (!text)
        return NULL;
    strobe_message((int)severity, (uint32_t)color & 0xffffff, text, (size_t)n);
    Py_XDECREF(keep);
    Py_RETURN_NONE;
}

static bool plot_value(struct name *plot, PyObject *value)
{
    if (PyLong_Check(value)) {
        int overflow;
        long long whole = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (!overflow && !PyErr_Occurred()) {
            strobe_plot_int(&plot->name, whole);
            return true;
        }
        PyErr_Clear();
    }
    double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred())
        return false;
    strobe_plot_double(&plot->name, number);
    return true;
}

static PyObject *py_plot(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    (void)module;
    if (!has(n_args, 2, 2, "plot(name, value)"))
        return NULL;
    struct name *plot = find_name(args[0]);
    if (!plot || !plot_value(plot, args[1]))
        return NULL;
    Py_RETURN_NONE;
}

/* plot_config(name, format, step, color) */
static PyObject *py_plot_config(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    (void)module;
    if (!has(n_args, 4, 4,
             "plot_config(name, format, step, color, /)\n--\n\nSay how the plot `name` is drawn."))
        return NULL;
    long format = PyLong_AsLong(args[1]), step = PyLong_AsLong(args[2]);
    unsigned long color = PyLong_AsUnsignedLong(args[3]);
    struct name *plot = PyErr_Occurred() ? NULL : find_name(args[0]);
    if (!plot)
        return NULL;
    strobe_plot_config(&plot->name, (int)format, (int)step, (uint32_t)color & 0xffffff);
    Py_RETURN_NONE;
}

/* counter(name, add=1): the new total */
static PyObject *py_counter(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                            PyObject *names_of)
{
    static const char *const words[] = {"name", "add"};
    PyObject *values[2];
    (void)module;
    if (!strobe_py_arguments(args, n_args, names_of, words, 2, values) ||
        !wants(values, 1, "counter(name, add=1)"))
        return NULL;
    long long add = values[1] ? PyLong_AsLongLong(values[1]) : 1;
    struct name *counter = PyErr_Occurred() ? NULL : find_in(&counters, values[0]);
    if (!counter)
        return NULL;
    counter->total = (int64_t)((uint64_t)counter->total + (uint64_t)add);
    strobe_plot_int(&counter->name, counter->total);
    return PyLong_FromLongLong(counter->total);
}

static PyObject *frame_call(PyObject *const *args, Py_ssize_t n_args, PyObject *names_of,
                            void (*emit)(struct strobe_name *))
{
    static struct strobe_name unnamed = {0, "frame"};
    static const char *const words[] = {"name"};
    PyObject *name;
    if (!strobe_py_arguments(args, n_args, names_of, words, 1, &name))
        return NULL;
    struct name *frame = name && name != Py_None ? find_name(name) : NULL;
    if (PyErr_Occurred())
        return NULL;
    emit(frame ? &frame->name : &unnamed);
    Py_RETURN_NONE;
}

static PyObject *py_frame(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                          PyObject *names_of)
{
    (void)module;
    return frame_call(args, n_args, names_of, strobe_frame_mark);
}

static PyObject *py_frame_start(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                                PyObject *names_of)
{
    (void)module;
    return frame_call(args, n_args, names_of, strobe_frame_start);
}

static PyObject *py_frame_end(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                              PyObject *names_of)
{
    (void)module;
    return frame_call(args, n_args, names_of, strobe_frame_end);
}

static PyObject *number_call(PyObject *number, void (*emit)(uint64_t))
{
    unsigned long long id = PyLong_AsUnsignedLongLongMask(number);
    if (PyErr_Occurred())
        return NULL;
    emit(id);
    Py_RETURN_NONE;
}

static PyObject *py_flow_begin(PyObject *module, PyObject *id)
{
    (void)module;
    return number_call(id, strobe_flow_begin);
}

static PyObject *py_flow_step(PyObject *module, PyObject *id)
{
    (void)module;
    return number_call(id, strobe_flow_step);
}

static PyObject *py_flow_end(PyObject *module, PyObject *id)
{
    (void)module;
    return number_call(id, strobe_flow_end);
}

static PyObject *py_span_end(PyObject *module, PyObject *id)
{
    (void)module;
    return number_call(id, strobe_span_end);
}

static PyObject *py_new_id(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(strobe_span_new_id());
}

/* alloc(address, size, pool), free(address, pool) */
static PyObject *py_alloc(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                          PyObject *names_of)
{
    static const char *const words[] = {"address", "size", "pool"};
    PyObject *values[3];
    (void)module;
    if (!strobe_py_arguments(args, n_args, names_of, words, 3, values) ||
        !wants(values, 3,
               "memory_alloc(address, size, pool)\n--\n\nRecord that a block of memory was "
               "allocated from a pool."))
        return NULL;
    unsigned long long address = PyLong_AsUnsignedLongLongMask(values[0]);
    unsigned long long size = PyLong_AsUnsignedLongLongMask(values[1]);
    struct name *pool = PyErr_Occurred() ? NULL : find_name(values[2]);
    if (!pool)
        return NULL;
    strobe_mem_alloc(&pool->name, (const void *)(uintptr_t)address, (size_t)size);
    Py_RETURN_NONE;
}

static PyObject *py_free(PyObject *module, PyObject *const *args, Py_ssize_t n_args,
                         PyObject *names_of)
{
    static const char *const words[] = {"address", "pool"};
    PyObject *values[2];
    (void)module;
    if (!strobe_py_arguments(args, n_args, names_of, words, 2, values) ||
        !wants(values, 2,
               "memory_free(address, pool)\n--\n\nRecord that a block of memory was given back to "
               "a pool."))
        return NULL;
    unsigned long long address = PyLong_AsUnsignedLongLongMask(values[0]);
    struct name *pool = PyErr_Occurred() ? NULL : find_name(values[1]);
    if (!pool)
        return NULL;
    strobe_mem_free(&pool->name, (const void *)(uintptr_t)address);
    Py_RETURN_NONE;
}

static PyObject *text_call(PyObject *text, void (*use)(const char *))
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a str is wanted here");
        return NULL;
    }
    char *copy = strobe_py_copy_text(text);
    if (!copy)
        return PyErr_NoMemory();
    use(copy);
    free(copy);
    Py_RETURN_NONE;
}

/* The program's own name for a thread: Python's is not looked for any more. */
static void name_thread(const char *name)
{
    strobe_py_thread.n_met = STROBE_PY_NAME_TRIES;
    strobe_set_thread_name(name);
}

static PyObject *py_thread_name(PyObject *module, PyObject *name)
{
    (void)module;
    return text_call(name, name_thread);
}

static PyObject *py_program_name(PyObject *module, PyObject *name)
{
    (void)module;
    return text_call(name, strobe_set_program_name);
}

static PyObject *py_trigger(PyObject *module, PyObject *reason)
{
    (void)module;
    return text_call(reason, strobe_trigger);
}

static PyObject *py_join_session(PyObject *module, PyObject *name)
{
    (void)module;
    char *copy = strobe_py_copy_text(name);
    if (!copy)
        return PyErr_NoMemory();
    int joined = strobe_join_session(copy);
    free(copy);
    return PyBool_FromLong(joined == 0);
}

static void app_info(const char *text)
{
    strobe_app_info(text, strlen(text));
}

static PyObject *py_app_info(PyObject *module, PyObject *text)
{
    (void)module;
    return text_call(text, app_info);
}

PyMethodDef strobe_py_calls[] = {
    {"recording", py_recording, METH_NOARGS,
     "recording()\n--\n\nTrue while a recorder drains this process's events."},
    {"message", STROBE_PY_FAST(py_message), METH_FASTCALL,
     "message(text, color=0, severity=2, /)\n--\n\nPut a line of text on the calling thread's "
     "track."},
    {"plot", STROBE_PY_FAST(py_plot), METH_FASTCALL,
     "plot(name, value, /)\n--\n\nAdd a point to the plot `name`, now; int or float."},
    {"plot_config", STROBE_PY_FAST(py_plot_config), METH_FASTCALL,
     "plot_config(name, format, step, color, /)\n--\n\nSay how the plot `name` is drawn."},
    {"counter", STROBE_PY_FAST_KW(py_counter), METH_FASTCALL | METH_KEYWORDS,
     "counter(name, add=1)\n--\n\nAdd to the process's counter `name`, plot and return its total."},
    {"frame", STROBE_PY_FAST_KW(py_frame), METH_FASTCALL | METH_KEYWORDS,
     "frame(name=None)\n--\n\nEnd a frame here and begin the next one."},
    {"frame_start", STROBE_PY_FAST_KW(py_frame_start), METH_FASTCALL | METH_KEYWORDS,
     "frame_start(name=None)\n--\n\nBegin a frame that frame_end() ends."},
    {"frame_end", STROBE_PY_FAST_KW(py_frame_end), METH_FASTCALL | METH_KEYWORDS,
     "frame_end(name=None)\n--\n\nEnd the frame that frame_start() began."},
    {"flow_begin", py_flow_begin, METH_O,
     "flow_begin(id, /)\n--\n\nBegin a flow in the innermost open zone."},
    {"flow_step", py_flow_step, METH_O,
     "flow_step(id, /)\n--\n\nLead a flow through the innermost open zone."},
    {"flow_end", py_flow_end, METH_O,
     "flow_end(id, /)\n--\n\nEnd a flow in the innermost open zone."},
    {"span_end", py_span_end, METH_O,
     "span_end(id, /)\n--\n\nEnd a span, by the number that its begin returned."},
    {"new_id", py_new_id, METH_NOARGS,
     "new_id()\n--\n\nReturn a number that no other flow or span has."},
    {"memory_alloc", STROBE_PY_FAST_KW(py_alloc), METH_FASTCALL | METH_KEYWORDS,
     "memory_alloc(address, size, pool)\n--\n\nRecord that a block of memory was allocated from a "
     "pool."},
    {"memory_free", STROBE_PY_FAST_KW(py_free), METH_FASTCALL | METH_KEYWORDS,
     "memory_free(address, pool)\n--\n\nRecord that a block of memory was given back to a pool."},
    {"set_thread_name", py_thread_name, METH_O,
     "set_thread_name(name, /)\n--\n\nName the calling thread in the trace."},
    {"set_program_name", py_program_name, METH_O,
     "set_program_name(name, /)\n--\n\nName the program in the trace."},
    {"join_session", py_join_session, METH_O,
     "join_session(name, /)\n--\n\nJoin a session that is being recorded; False where that can't "
     "be."},
    {"app_info", py_app_info, METH_O, "app_info(text, /)\n--\n\nRecord a line about the program."},
    {"greenlet_switched", STROBE_PY_FAST(strobe_py_greenlet_switched), METH_FASTCALL,
     "greenlet_switched(event, greenlets, /)\n--\n\nFor greenlet.settrace()."},
    {"trigger", py_trigger, METH_O,
     "trigger(reason, /)\n--\n\nAsk a flight recorder to keep what it has."},
    {NULL, NULL, 0, NULL},
};
