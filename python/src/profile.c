/* profile.c - the C profile function and the C trace function, on 3.9 to 3.11.
 *
 *   for C functions   the only source of their calls: then it tells Python's too
 *   aside             for the frame hook, while a deep recursion runs without it (hook.c)
 *   for lines         the trace function
 *
 * Both are per thread and have one holder: what another tool holds is never taken from it. Threads that run are given ours
 * one by one; new ones by threading.setprofile or settrace, whose function puts ours in its place at its first event.
 * Threads of _thread alone are not seen.  SPDX-License-Identifier: MIT */
#include "py.h"

#include "callable.h"
#include "code.h"
#include "emit.h"
#include "flow.h"
#include "shadow.h"
#include "thread.h"
#include "tracer.h"

enum { CALL = 0, LINE = 2, RETURN = 3, C_CALL = 4, C_EXCEPTION = 5, C_RETURN = 6 };

static PyObject *mark;   /* owned: what sys.getprofile() and sys.gettrace() show of ours */
static bool aside;       /* the frame hook stands aside */
static bool aside_blind; /* it does, but another tool has the profile function */

static __attribute__((noinline)) struct strobe_py_code *find_slow(PyObject *frame, PyObject *code)
{
    PyObject *type, *value, *trace;
    strobe_py_meet_thread();
    struct strobe_py_code *known = strobe_py_find_code(code);
    if (known)
        return known;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *globals = PyObject_GetAttrString(frame, "f_globals");
    known = strobe_py_find_code_slow(code, globals);
    Py_XDECREF(globals);
    PyErr_Restore(type, value, trace);
    return known;
}

STROBE_INLINE struct strobe_py_code *find(PyObject *frame)
{
    PyObject *code = strobe_py_late.frame_code(frame);
    struct strobe_py_code *known = strobe_py_find_code(code);
    if (STROBE_PY_UNLIKELY(!known || strobe_py_thread.n_met < STROBE_PY_NAME_TRIES))
        known = find_slow(frame, code);
    Py_DECREF(code); /* the frame has it too */
    return known;
}

/* A generator's or coroutine's run is a zone here, and nothing more: this hook can't tell its first from its last. */
static void begin(struct strobe_py_code *code)
{
    if (code->flags & STROBE_PY_FILTERED)
        return;
    if (code->flags & STROBE_PY_FULL)
        strobe_py_shadow_begin(code, NULL);
    else
        strobe_py_begin(&code->loc);
}

static void end(struct strobe_py_code *code, bool raised)
{
    if (code->flags & STROBE_PY_FILTERED)
        return;
    if (code->flags & STROBE_PY_FULL) {
        strobe_py_shadow_end(code, NULL);
        return;
    }
    if (raised)
        strobe_py_raised(PyErr_Occurred());
    strobe_py_end(&code->loc);
}

/* Ends of calls that began before this thread was profiled are not told: of the outermost ones of a new thread, too. */
static bool is_known_end(struct strobe_py_thread *me)
{
    if (STROBE_PY_UNLIKELY(!me->n_profiled))
        return false;
    me->n_profiled--;
    return true;
}

static void c_call(struct strobe_py_thread *me, PyObject *callable, bool begins)
{
    struct strobe_loc *loc = strobe_py_callable_loc(callable);
    if (!loc)
        return;
    if (begins)
        me->n_profiled++;
    else if (!is_known_end(me))
        return;
    if (STROBE_PY_UNLIKELY(strobe_py_tracer.full) && begins)
        strobe_py_shadow_begin(NULL, loc);
    else if (STROBE_PY_UNLIKELY(strobe_py_tracer.full))
        strobe_py_shadow_end(NULL, loc);
    else if (begins)
        strobe_py_begin(loc);
    else
        strobe_py_end(loc);
}

/* The code of the frame that the thread is in: asked for at its call, remembered until another frame comes or it returns. */
STROBE_INLINE struct strobe_py_code *find_again(struct strobe_py_thread *me, PyObject *frame)
{
    if (STROBE_PY_LIKELY(me->frame == frame))
        return me->frame_code;
    me->frame = frame;
    return me->frame_code = find(frame);
}

static int on_profile(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    (void)self;
    if (STROBE_PY_UNLIKELY(me->busy || strobe_py_tracer.source != STROBE_PY_PROFILE))
        return 0;
    if (STROBE_PY_UNLIKELY(me->profile_generation != strobe_py_tracer.generation)) {
        me->profile_generation = strobe_py_tracer.generation;
        me->n_profiled = 0;
        me->frame = NULL;
    }
    if (what == CALL) {
        me->frame = NULL;
        me->n_profiled++;
        begin(find_again(me, frame));
    } else if (what == RETURN) {
        struct strobe_py_code *code = find_again(me, frame);
        me->frame = NULL;
        if (is_known_end(me))
            end(code, !arg);
    } else if (what >= C_CALL && what <= C_RETURN && strobe_py_tracer.c_functions && arg) {
        if (!(find_again(me, frame)->flags & STROBE_PY_FILTERED))
            c_call(me, arg, what == C_CALL);
    }
    return 0;
}

static int on_trace(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    (void)self;
    (void)arg;
    if (strobe_py_thread.busy || strobe_py_tracer.source != STROBE_PY_TRACE)
        return 0;
    struct strobe_py_code *code = find(frame);
    if (what == CALL)
        begin(code);
    else if (what == RETURN)
        end(code, false);
    else if (what == LINE && !(code->flags & STROBE_PY_FILTERED))
        strobe_py_shadow_line(
            code, strobe_py_late.frame_line ? (uint32_t)strobe_py_late.frame_line(frame) : 0);
    return 0;
}

/* ---- one holder ---- */

static bool is_free(const char *getter)
{
    PyObject *get = PySys_GetObject(getter); /* borrowed */
    PyObject *held = get ? PyObject_CallObject(get, NULL) : NULL;
    bool is = held == Py_None || held == mark;
    Py_XDECREF(held);
    PyErr_Clear();
    return is;
}

typedef int (*strobe_py_setter)(PyThreadState *, strobe_py_tracefunc, PyObject *);

/* Put `function` (NULL: none) into every thread of this interpreter that runs. */
static void set_all(strobe_py_setter set, strobe_py_tracefunc function)
{
    PyThreadState *state = strobe_py_late.first_thread(PyInterpreterState_Get());
    for (; state; state = strobe_py_late.next_thread(state))
        if (set(state, function, function ? mark : NULL))
            PyErr_Clear();
}

static void call_threading(const char *name, PyObject *argument)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *done = threading ? PyObject_CallMethod(threading, name, "O", argument) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(threading);
    PyErr_Clear();
}

/* The first event of a new thread: put the C function in the place of this one. */
static PyObject *begin_thread(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    PyThreadState *state = PyThreadState_Get();
    if (strobe_py_tracer.source == STROBE_PY_PROFILE)
        strobe_py_late.set_profile(state, on_profile, mark);
    else if (strobe_py_tracer.source == STROBE_PY_TRACE)
        strobe_py_late.set_trace(state, on_trace, mark);
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyMethodDef begin_thread_def = {"strobe", begin_thread, METH_VARARGS, NULL};

static bool prepare(void)
{
    const struct strobe_py_late *late = &strobe_py_late;
    if (!mark)
        mark = PyCFunction_New(&begin_thread_def, NULL);
    return mark && late->frame_code && late->first_thread && late->next_thread &&
           late->set_profile && late->set_trace;
}

bool strobe_py_profile_start(bool lines)
{
    if (!prepare()) {
        strobe_py_word("this Python lacks a way to set a profile function for all threads");
        return false;
    }
    if (!is_free(lines ? "gettrace" : "getprofile")) {
        strobe_py_word(
            lines ? "lines are not traced: a debugger or coverage tool has this Python's "
                    "trace function, and keeps it; functions are traced"
                  : "C functions are not traced: another profiler (cProfile?) has this "
                    "Python's profile function, and keeps it; Python functions are traced");
        return false;
    }
    set_all(lines ? strobe_py_late.set_trace : strobe_py_late.set_profile,
            lines ? on_trace : on_profile);
    call_threading(lines ? "settrace" : "setprofile", mark);
    return true;
}

void strobe_py_profile_stop(void)
{
    bool lines = strobe_py_tracer.source == STROBE_PY_TRACE;
    if (!is_free(lines ? "gettrace" : "getprofile")) {
        strobe_py_word("another tool took this Python's %s function over while tracing: what came "
                       "after is not in the trace",
                       lines ? "trace" : "profile");
        return;
    }
    set_all(lines ? strobe_py_late.set_trace : strobe_py_late.set_profile, NULL);
    call_threading(lines ? "settrace" : "setprofile", Py_None);
}

/* ---- aside ---- */

static void drop_here(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    strobe_py_late.set_profile(PyThreadState_Get(), NULL, NULL);
    PyErr_Restore(type, value, trace);
}

/* Tells calls that begin while the hook is away; an end whose begin the hook told is the hook's. A thread whose last such
 * call has ended lets go of this function by itself. */
static int on_aside(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    (void)self;
    if (me->busy || (what != CALL && what != RETURN))
        return 0;
    if (!aside && !me->n_aside) {
        drop_here();
        return 0;
    }
    if (what == CALL) {
        me->n_aside++;
        me->stack_mark = ~(
            uintptr_t)0; /* the hook asks n_aside first, should it be back before this call ends */
        begin(find(frame));
    } else if (me->n_aside) {
        me->n_aside--;
        end(find(frame), !arg);
    }
    return 0;
}

bool strobe_py_aside_begin(void)
{
    if (!prepare() || !is_free("getprofile")) {
        strobe_py_word(
            "a recursion went too deep for the frame hook, and another profiler has the profile "
            "function: calls inside it are not in the trace");
        aside_blind = true;
        return false;
    }
    aside = true;
    set_all(strobe_py_late.set_profile, on_aside);
    return true;
}

void strobe_py_aside_end(void)
{
    if (aside_blind) {
        aside_blind = false;
        return;
    }
    aside = false;
    if (!strobe_py_thread.n_aside)
        drop_here();
}
