/* seat.c - see the header: taking and leaving the places for profile and trace functions.
 *
 * sys.getprofile() tells of the calling thread alone. To see who holds another thread's seat, its thread state is looked into: where,
 * is found by putting a function into an own seat and looking for it. Where it is not found, other threads' seats pass for free.
 *
 * A new thread has empty seats. One that Python code starts is given our function while its thread state is the youngest: when
 * _thread.start_new_thread returns, before the GIL is given up. Others (a profile function did not see it called) by
 * threading.setprofile or settrace, whose function puts ours in its place at its first event.  SPDX-License-Identifier: MIT */
#include "seat.h"

#include "thread.h"

typedef int (*put_function)(PyThreadState *, strobe_py_tracefunc, PyObject *);

struct strobe_py_seat {
    const char *getter, *for_new; /* of sys, of threading */
    bool traces;
    size_t at;                    /* in a thread state; 0: not known */
    strobe_py_tracefunc newcomer; /* what new threads get; NULL: nothing */
};

struct strobe_py_seat strobe_py_profile_seat = {.getter = "getprofile", .for_new = "setprofile"};
struct strobe_py_seat strobe_py_trace_seat = {
    .getter = "gettrace", .for_new = "settrace", .traces = true};

PyCFunction strobe_py_start_thread;
static PyObject *mark; /* owned: what sys.getprofile() and sys.gettrace() show of ours */

static void put(const struct strobe_py_seat *seat, PyThreadState *state,
                strobe_py_tracefunc function)
{
    PyObject *type, *value, *trace;
    put_function set = seat->traces ? strobe_py_late.set_trace : strobe_py_late.set_profile;
    PyErr_Fetch(&type, &value, &trace);
    strobe_py_thread.busy++; /* on_audit */
    if (set(state, function, function ? mark : NULL))
        PyErr_Clear(); /* an audit hook refused */
    strobe_py_thread.busy--;
    PyErr_Restore(type, value, trace);
}

/* ---- who holds it ---- */

static int on_nothing(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    (void)self;
    (void)frame;
    (void)what;
    (void)arg;
    return 0;
}

/* Find where a thread state keeps the function. The calling thread's seat is free. */
static void find_place(struct strobe_py_seat *seat)
{
    enum { FAR = 256 };
    PyThreadState *state = PyThreadState_Get();
    const strobe_py_tracefunc wanted = on_nothing;
    put(seat, state, on_nothing);
    for (size_t at = 0; at < FAR && !seat->at; at += sizeof wanted)
        if (!memcmp((char *)state + at, &wanted, sizeof wanted))
            seat->at = at;
    put(seat, state, NULL);
}

/* Is there a function and, two places behind it, an object that is not the mark? False where the place is not known. */
static bool is_others(const struct strobe_py_seat *seat, PyThreadState *state)
{
    void *function;
    PyObject *object;
    memcpy(&function, (char *)state + seat->at, sizeof function);
    memcpy(&object, (char *)state + seat->at + 2 * sizeof function, sizeof object);
    return seat->at && function && object != mark;
}

/* What sys.getprofile() or sys.gettrace() says, only to be compared. */
static const PyObject *holder(const struct strobe_py_seat *seat)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *get = PySys_GetObject(seat->getter); /* borrowed */
    PyObject *held = get ? PyObject_CallObject(get, NULL) : NULL;
    Py_XDECREF(held); /* the thread state has it too */
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return held;
}

bool strobe_py_seat_is_free(struct strobe_py_seat *seat)
{
    const PyObject *held = holder(seat);
    return held == Py_None || held == mark;
}

bool strobe_py_seat_is_ours(struct strobe_py_seat *seat)
{
    return mark && holder(seat) == mark;
}

bool strobe_py_seats_are_ours(void)
{
    return strobe_py_seat_is_ours(&strobe_py_profile_seat) ||
           strobe_py_seat_is_ours(&strobe_py_trace_seat);
}

static void (*before_change)(struct strobe_py_seat *seat);

/* Stays for good, and is asked about all that is audited. */
static int on_audit(const char *event, PyObject *args, void *unused)
{
    (void)args;
    (void)unused;
    if (strncmp(event, "sys.set", 7) || strobe_py_thread.busy)
        return 0;
    if (!strcmp(event, "sys.setprofile"))
        before_change(&strobe_py_profile_seat);
    else if (!strcmp(event, "sys.settrace"))
        before_change(&strobe_py_trace_seat);
    return 0;
}

void strobe_py_seats_watch(void (*change)(struct strobe_py_seat *seat))
{
    static bool watches;
    before_change = change;
    if (watches || !strobe_py_late.add_audit)
        return;
    watches = !strobe_py_late.add_audit(on_audit, NULL);
    PyErr_Clear();
}

/* ---- taking and leaving ---- */

bool strobe_py_seat_take(struct strobe_py_seat *seat, strobe_py_tracefunc function)
{
    if (!mark || !strobe_py_seat_is_free(seat))
        return false;
    put(seat, PyThreadState_Get(), function);
    return true;
}

void strobe_py_seat_leave(struct strobe_py_seat *seat)
{
    if (strobe_py_seat_is_ours(seat))
        put(seat, PyThreadState_Get(), NULL);
}

void strobe_py_seats_leave(void)
{
    strobe_py_seat_leave(&strobe_py_profile_seat);
    strobe_py_seat_leave(&strobe_py_trace_seat);
}

uint32_t strobe_py_seat_take_all(struct strobe_py_seat *seat, strobe_py_tracefunc function)
{
    uint32_t n_others = 0;
    if (!seat->at && !strobe_py_seat_is_free(seat))
        return 1;
    if (!seat->at)
        find_place(seat);
    PyThreadState *state = strobe_py_late.first_thread(PyInterpreterState_Get());
    for (; state; state = strobe_py_late.next_thread(state)) {
        if (is_others(seat, state))
            n_others++;
        else
            put(seat, state, function);
    }
    return n_others;
}

/* ---- new threads ---- */

/* The first event of a thread of threading's: put the C function in the place of this one, and tell it the event. */
static PyObject *begin_thread(PyObject *self, PyObject *args)
{
    static const char *const names[] = {"call",   "exception",   "line",    "return",
                                        "c_call", "c_exception", "c_return"};
    struct strobe_py_seat *seat =
        strobe_py_profile_seat.newcomer ? &strobe_py_profile_seat : &strobe_py_trace_seat;
    PyObject *frame, *name, *arg;
    int what = 0;
    (void)self;
    if (!seat->newcomer || !PyArg_ParseTuple(args, "OUO", &frame, &name, &arg)) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    put(seat, PyThreadState_Get(), seat->newcomer);
    while (what < 7 && PyUnicode_CompareWithASCIIString(name, names[what]))
        what++;
    seat->newcomer(mark, frame, what, arg);
    Py_RETURN_NONE;
}

static PyMethodDef begin_thread_def = {"strobe", begin_thread, METH_VARARGS, NULL};

void strobe_py_seat_for_new(struct strobe_py_seat *seat, strobe_py_tracefunc function)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *done =
        threading ? PyObject_CallMethod(threading, seat->for_new, "O", function ? mark : Py_None)
                  : NULL;
    seat->newcomer = function;
    Py_XDECREF(done);
    Py_XDECREF(threading);
    PyErr_Clear();
}

void strobe_py_seat_for_youngest(struct strobe_py_seat *seat, strobe_py_tracefunc function)
{
    PyThreadState *youngest = strobe_py_late.first_thread(PyInterpreterState_Get());
    if (youngest != PyThreadState_Get() && !is_others(seat, youngest))
        put(seat, youngest, function);
}

/* Keep the function that starts threads, if a profile function can be sure of it. */
static void find_start(void)
{
    PyObject *threads = PyImport_ImportModule("_thread");
    PyObject *start = threads ? PyObject_GetAttrString(threads, "start_new_thread") : NULL;
    if (start && PyCFunction_Check(start)) {
        strobe_py_start_thread = PyCFunction_GetFunction(start);
        if (!strobe_py_starts_thread(start))
            strobe_py_start_thread = NULL;
    }
    Py_XDECREF(start);
    Py_XDECREF(threads);
    PyErr_Clear();
}

bool strobe_py_seats_are_known(void)
{
    const struct strobe_py_late *late = &strobe_py_late;
    PyObject *type, *value, *trace;
    if (mark)
        return true;
    if (!late->frame_code || !late->first_thread || !late->next_thread || !late->set_profile ||
        !late->set_trace)
        return false;
    PyErr_Fetch(&type, &value, &trace);
    find_start();
    mark = PyCFunction_New(&begin_thread_def, NULL);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return mark != NULL;
}
