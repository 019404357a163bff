/* monitor.c - function, line and C-call events from sys.monitoring (3.12 and later).
 *
 * One set of events covers all threads, those that run already too. A callback costs what Python's call of it costs; code
 * that is filtered out answers DISABLE once and costs nothing after. PY_UNWIND and PY_THROW know no DISABLE: it would
 * replace the program's exception. No callback ever raises.  SPDX-License-Identifier: MIT */
#include "py.h"

#include <string.h>

#include "callable.h"
#include "callback.h"
#include "code.h"
#include "cost.h"
#include "emit.h"
#include "flow.h"
#include "shadow.h"
#include "thread.h"
#include "tracer.h"

enum { AT_FRAME_INNER = 24 }; /* the interpreter's own frame in a frame object: tested at start */

static PyObject *disable; /* owned */
static int tool = -1;
static bool links;           /* generators can be told apart */
static int spread_call = -1; /* the instruction of f(*args, **names) */

static PyObject *none(void)
{
    Py_RETURN_NONE;
}

static PyObject *stop_here(void)
{
    Py_INCREF(disable);
    return disable;
}

/* The generator that runs, by the place of its frame. */
static const void *activation(const struct strobe_py_code *code)
{
    const int linked = STROBE_PY_GENERATOR | STROBE_PY_ASYNC_GENERATOR;
    if (!links || !(code->flags & linked) || (code->flags & STROBE_PY_FULL) || !strobe_recording())
        return NULL;
    PyObject *frame = (PyObject *)PyEval_GetFrame(); /* borrowed */
    const void *inner = NULL;
    if (frame)
        memcpy(&inner, (char *)frame + AT_FRAME_INNER, sizeof inner);
    return inner;
}

static __attribute__((noinline)) struct strobe_py_code *find_slow(PyObject *code)
{
    strobe_py_meet_thread();
    struct strobe_py_code *known = strobe_py_find_code(code);
    return known ? known : strobe_py_find_code_slow(code, PyEval_GetGlobals());
}

STROBE_INLINE struct strobe_py_code *find(PyObject *code)
{
    struct strobe_py_code *known = strobe_py_find_code(code);
    if (STROBE_PY_UNLIKELY(!known || strobe_py_thread.n_met < STROBE_PY_NAME_TRIES))
        return find_slow(code);
    return known;
}

/* The calls that were open when tracing began on this thread end without having begun: not told. */
static bool is_known_end(void)
{
    if (STROBE_PY_UNLIKELY(!strobe_py_thread.n_open))
        return false;
    strobe_py_thread.n_open--;
    return true;
}

static bool counts(const struct strobe_py_code *code)
{
    return !(code->flags & (STROBE_PY_COROUTINE | STROBE_PY_FULL));
}

static PyObject *begin_flagged(struct strobe_py_code *code, bool first)
{
    if (code->flags & STROBE_PY_FILTERED)
        return stop_here();
    strobe_py_thread.n_open += counts(code);
    strobe_py_run_begin(code, first, activation(code));
    return none();
}

static PyObject *end_flagged(struct strobe_py_code *code, bool last)
{
    if (code->flags & STROBE_PY_FILTERED)
        return stop_here();
    if (!counts(code) || is_known_end())
        strobe_py_run_end(code, last, activation(code));
    return none();
}

/* ---- the events: as many arguments as each is documented to have, the code object first ---- */

static PyObject *on_start(PyObject *const *args)
{
    struct strobe_py_code *code = find(args[0]);
    if (STROBE_PY_UNLIKELY(code->flags))
        return begin_flagged(code, true);
    strobe_py_thread.n_open++;
    strobe_py_begin(&code->loc);
    return none();
}

static PyObject *on_return(PyObject *const *args)
{
    struct strobe_py_code *code = find(args[0]);
    if (STROBE_PY_UNLIKELY(code->flags))
        return end_flagged(code, true);
    if (is_known_end())
        strobe_py_end(&code->loc);
    return none();
}

static PyObject *on_resume(PyObject *const *args)
{
    return begin_flagged(find(args[0]), false);
}

static PyObject *on_yield(PyObject *const *args)
{
    return end_flagged(find(args[0]), false);
}

static PyObject *on_throw(PyObject *const *args)
{
    struct strobe_py_code *code = find(args[0]);
    if (code->flags & STROBE_PY_FILTERED)
        return none();
    strobe_py_thread.n_open += counts(code);
    strobe_py_run_begin(code, false, activation(code));
    return none();
}

static PyObject *on_unwind(PyObject *const *args)
{
    struct strobe_py_code *code = find(args[0]);
    if ((code->flags & STROBE_PY_FILTERED) || (counts(code) && !is_known_end()))
        return none();
    if (!(code->flags & STROBE_PY_FULL))
        strobe_py_raised(args[2]);
    if (code->flags)
        strobe_py_run_end(code, true, activation(code));
    else
        strobe_py_end(&code->loc);
    return none();
}

static PyObject *on_line(PyObject *const *args)
{
    struct strobe_py_code *code = find(args[0]);
    if (code->flags & STROBE_PY_FILTERED)
        return stop_here();
    strobe_py_shadow_line(code, (uint32_t)PyLong_AsLong(args[1]));
    return none();
}

/* Is it a call of the form f(*args, **names)? Asked of the instruction, which args[1] is the offset of. */
static __attribute__((noinline, cold)) bool is_spread(PyObject *const *args)
{
    PyObject *code = PyObject_GetAttrString(args[0], "co_code");
    Py_ssize_t at = PyLong_AsSsize_t(args[1]);
    bool spread = code && PyBytes_Check(code) && at >= 0 && at < PyBytes_Size(code) &&
                  (unsigned char)PyBytes_AsString(code)[at] == spread_call;
    Py_XDECREF(code);
    PyErr_Clear();
    return spread;
}

/* The location of a call that is no Python function's; NULL: not told. A method object around such a callable has no end where it is
 * called with spread arguments, from 3.13 on. */
static struct strobe_loc *find_called(PyObject *const *args)
{
    enum strobe_py_callable_kind kind = strobe_py_kind_of(args[2]);
    if (kind != STROBE_PY_OTHER && (kind == STROBE_PY_PYTHON || is_spread(args)))
        return NULL;
    if (find(args[0])->flags & STROBE_PY_FILTERED)
        return NULL;
    return strobe_py_callable_loc(args[2]);
}

static PyObject *on_call(PyObject *const *args)
{
    struct strobe_loc *loc = find_called(args);
    if (!loc)
        return none();
    strobe_py_called(&strobe_py_thread, args[2], loc);
    if (STROBE_PY_UNLIKELY(strobe_py_tracer.full)) {
        strobe_py_shadow_begin(NULL, loc);
        return none();
    }
    strobe_py_thread.n_open++;
    strobe_py_begin(loc);
    return none();
}

static PyObject *on_c_end(PyObject *const *args)
{
    struct strobe_loc *loc = strobe_py_called_last(&strobe_py_thread, args[2]);
    if (!loc && !(loc = find_called(args)))
        return none();
    if (STROBE_PY_UNLIKELY(strobe_py_tracer.full))
        strobe_py_shadow_end(NULL, loc);
    else if (is_known_end())
        strobe_py_end(loc);
    return none();
}

/* ---- switching on and off ---- */

/* What runs while the thread is busy is ours, begin and end: neither is emitted. */
#define CALLED(name)                                                                     \
    static PyObject *name##_called(PyObject *self, PyObject *const *args, size_t n_args, \
                                   PyObject *names)                                      \
    {                                                                                    \
        (void)self;                                                                      \
        (void)n_args;                                                                    \
        (void)names;                                                                     \
        return STROBE_PY_UNLIKELY(strobe_py_thread.busy) ? none() : name(args);          \
    }
CALLED(on_start)
CALLED(on_resume)
CALLED(on_throw)
CALLED(on_return)
CALLED(on_yield)
CALLED(on_unwind)
CALLED(on_line)
CALLED(on_call)
CALLED(on_c_end)

static const struct event {
    const char *name;
    strobe_py_vectorcall callback;
    int when; /* 0 always, 1 lines, 2 C functions */
} events[] = {
    {"PY_START", on_start_called, 0}, {"PY_RESUME", on_resume_called, 0},
    {"PY_THROW", on_throw_called, 0}, {"PY_RETURN", on_return_called, 0},
    {"PY_YIELD", on_yield_called, 0}, {"PY_UNWIND", on_unwind_called, 0},
    {"LINE", on_line_called, 1},      {"CALL", on_call_called, 2},
    {"C_RETURN", on_c_end_called, 2}, {"C_RAISE", on_c_end_called, 2},
};
enum { N_EVENTS = sizeof events / sizeof events[0] };

static PyObject *monitoring(void)
{
    PyObject *found = PySys_GetObject("monitoring"); /* borrowed */
    Py_XINCREF(found);
    return found;
}

static bool is_wanted(const struct event *event)
{
    return event->when == 0 || (event->when == 1 && strobe_py_tracer.lines) ||
           (event->when == 2 && strobe_py_tracer.c_functions);
}

/* A tool id that is free: not those that have an owner by convention. */
static int take_tool(PyObject *from)
{
    static const int ids[] = {3, 4};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        PyObject *done = PyObject_CallMethod(from, "use_tool_id", "is", ids[i], "strobe");
        Py_XDECREF(done);
        if (done)
            return ids[i];
        PyErr_Clear();
    }
    return -1;
}

/* Register the callbacks; the mask of their events, -1: an exception. */
static long register_all(PyObject *from, PyObject *codes)
{
    long mask = 0;
    for (int i = 0; i < N_EVENTS; i++) {
        PyObject *number = PyObject_GetAttrString(codes, events[i].name);
        PyObject *callback = strobe_py_callback(events[i].callback);
        PyObject *old = number && callback ? PyObject_CallMethod(from, "register_callback", "iOO",
                                                                 tool, number, callback)
                                           : NULL;
        if (old && is_wanted(&events[i]))
            mask |= PyLong_AsLong(number);
        Py_XDECREF(number);
        Py_XDECREF(callback);
        if (!old)
            return -1;
        Py_DECREF(old);
    }
    return mask;
}

/* Is a generator's frame where we look for it? Asked of a generator that stands. */
static bool test_links(void)
{
    PyObject *globals = PyDict_New(), *generator = NULL, *frame = NULL, *item = NULL;
    PyObject *code =
        Py_CompileString("g = (i for i in (1, 2))\nnext(g)\n", "<strobe>", Py_file_input);
    bool good = false;
    if (globals && code) {
        PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
        item = PyEval_EvalCode(code, globals, globals);
        generator = PyDict_GetItemString(globals, "g"); /* borrowed */
        frame = generator ? PyObject_GetAttrString(generator, "gi_frame") : NULL;
    }
    if (frame) {
        const char *inner;
        memcpy(&inner, (char *)frame + AT_FRAME_INNER, sizeof inner);
        good = inner > (char *)generator && inner < (char *)generator + 512;
    }
    Py_XDECREF(frame);
    Py_XDECREF(item);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    PyErr_Clear();
    return good;
}

/* Find the instruction of f(*args): the one before the return that every expression ends with. */
static void find_spread_call(void)
{
    PyObject *code = Py_CompileString("f(*a)", "<strobe>", Py_eval_input);
    PyObject *bytes = code ? PyObject_GetAttrString(code, "co_code") : NULL;
    Py_ssize_t at = bytes && PyBytes_Check(bytes) ? PyBytes_Size(bytes) - 4 : -1;
    while (at > 0 && !PyBytes_AsString(bytes)[at])
        at -= 2; /* room of the instruction's own */
    if (at > 0)
        spread_call = (unsigned char)PyBytes_AsString(bytes)[at];
    Py_XDECREF(bytes);
    Py_XDECREF(code);
    PyErr_Clear();
}

static bool switch_on(PyObject *from)
{
    PyObject *codes = PyObject_GetAttrString(from, "events");
    PyObject *done = NULL;
    disable = disable ? disable : PyObject_GetAttrString(from, "DISABLE");
    long mask = codes && disable ? register_all(from, codes) : -1;
    PyObject *renewed = mask > 0 ? PyObject_CallMethod(from, "restart_events", NULL) : NULL;
    if (renewed)
        done = PyObject_CallMethod(from, "set_events", "il", tool, mask);
    Py_XDECREF(renewed);
    Py_XDECREF(codes);
    Py_XDECREF(done);
    return done != NULL;
}

/* ---- the cost ---- */

/* As on_start and on_return, to the end of finding the code. */
static PyObject *on_probe(PyObject *self, PyObject *const *args, size_t n_args, PyObject *names)
{
    (void)self;
    (void)n_args;
    (void)names;
    struct strobe_py_code *volatile known = strobe_py_find_code(args[0]);
    (void)known;
    strobe_py_cost_emit();
    return none();
}

static bool probe(bool on, PyObject *code)
{
    static const char *const names[] = {"PY_START", "PY_RETURN"};
    PyObject *from = monitoring();
    PyObject *codes = from ? PyObject_GetAttrString(from, "events") : NULL;
    PyObject *callback = strobe_py_callback(on_probe), *done = NULL;
    long mask = 0;
    for (int i = 0; codes && callback && i < 2; i++) {
        PyObject *number = PyObject_GetAttrString(codes, names[i]);
        if (number)
            mask |= PyLong_AsLong(number);
        done = number ? PyObject_CallMethod(from, "register_callback", "iOO", tool, number,
                                            on ? callback : Py_None)
                      : NULL;
        Py_XDECREF(done);
        Py_XDECREF(number);
    }
    if (codes)
        done = PyObject_CallMethod(from, "set_local_events", "iOl", tool, code, on ? mask : 0L);
    bool good = codes && done && mask && !PyErr_Occurred();
    if (codes)
        Py_XDECREF(done);
    Py_XDECREF(callback);
    Py_XDECREF(codes);
    Py_XDECREF(from);
    PyErr_Clear();
    return good;
}

bool strobe_py_monitor_start(void)
{
    PyObject *from = monitoring();
    if (!from)
        return false;
    if (tool < 0)
        tool = take_tool(from);
    if (tool < 0)
        strobe_py_word("functions are not traced: the tool ids 3 and 4 of sys.monitoring are both "
                       "taken by other tools, which keep them");
    else
        links = test_links();
    if (tool >= 0)
        strobe_py_cost_measure(probe);
    if (strobe_py_tracer.c_functions && spread_call < 0)
        find_spread_call();
    bool on = tool >= 0 && switch_on(from);
    PyErr_Clear();
    Py_DECREF(from);
    if (!on && tool >= 0) {
        strobe_py_monitor_stop();
        strobe_py_word("functions are not traced: sys.monitoring refused");
    }
    return on;
}

void strobe_py_monitor_stop(void)
{
    PyObject *from = tool >= 0 ? monitoring() : NULL;
    if (!from)
        return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    /* some versions go on firing for an id that was freed with its events on */
    Py_XDECREF(PyObject_CallMethod(from, "set_events", "ii", tool, 0));
    PyErr_Clear();
    PyObject *codes = PyObject_GetAttrString(from, "events");
    for (int i = 0; codes && i < N_EVENTS; i++) {
        PyObject *number = PyObject_GetAttrString(codes, events[i].name);
        if (number)
            Py_XDECREF(
                PyObject_CallMethod(from, "register_callback", "iOO", tool, number, Py_None));
        Py_XDECREF(number);
        PyErr_Clear();
    }
    Py_XDECREF(codes);
    Py_XDECREF(PyObject_CallMethod(from, "free_tool_id", "i", tool));
    PyErr_Restore(type, value, trace);
    tool = -1;
    Py_DECREF(from);
}
