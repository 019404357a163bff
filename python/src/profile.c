/* profile.c - the C profile function and the C trace function, on 3.9 to 3.11.
 *
 *   for C functions   the only source of their calls: then it tells Python's too
 *   aside             for the frame hook, while a deep recursion runs without it (hook.c)
 *   for lines         the trace function
 *
 * How they get into the threads, and what other tools hold: seat.h; tools that come and go: away.h.  SPDX-License-Identifier: MIT */
#include "py.h"

#include "away.h"
#include "callable.h"
#include "code.h"
#include "emit.h"
#include "flow.h"
#include "seat.h"
#include "shadow.h"
#include "thread.h"
#include "tracer.h"

enum { CALL = 0, LINE = 2, RETURN = 3, C_CALL = 4, C_EXCEPTION = 5, C_RETURN = 6 };

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

struct strobe_py_code *strobe_py_find_of_frame(PyObject *frame)
{
    return find(frame);
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

static void c_begin(struct strobe_py_thread *me, PyObject *callable)
{
    struct strobe_loc *loc = strobe_py_callable_loc(callable);
    if (!loc)
        return;
    me->n_profiled++;
    strobe_py_called(me, callable, loc);
    if (STROBE_PY_UNLIKELY(strobe_py_tracer.full))
        strobe_py_shadow_begin(NULL, loc);
    else
        strobe_py_begin(loc);
}

static void c_end(struct strobe_py_thread *me, PyObject *callable)
{
    struct strobe_loc *loc = strobe_py_called_last(me, callable);
    if (!loc)
        loc = strobe_py_callable_loc(callable);
    if (!loc || !is_known_end(me))
        return;
    if (STROBE_PY_UNLIKELY(strobe_py_tracer.full))
        strobe_py_shadow_end(NULL, loc);
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

/* Another tracing began, or code died: an end that another tool heard in our place left `frame` as it was. */
static __attribute__((noinline, cold)) void look_again(struct strobe_py_thread *me)
{
    me->frame_version = strobe_py_code_version;
    me->frame = NULL;
    if (me->profile_generation != strobe_py_tracer.generation)
        me->n_profiled = 0;
    me->profile_generation = strobe_py_tracer.generation;
}

static int on_profile(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    (void)self;
    if (STROBE_PY_UNLIKELY(me->busy || strobe_py_tracer.source != STROBE_PY_PROFILE))
        return 0;
    if (STROBE_PY_UNLIKELY(me->frame_version != strobe_py_code_version))
        look_again(me);
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
        if (find_again(me, frame)->flags & STROBE_PY_FILTERED)
            return 0;
        if (what == C_CALL)
            c_begin(me, arg);
        else
            c_end(me, arg);
    }
    if (STROBE_PY_UNLIKELY(what == C_RETURN && arg && strobe_py_starts_thread(arg)))
        strobe_py_seat_for_youngest(&strobe_py_profile_seat, on_profile);
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

/* ---- switching on and off ---- */

bool strobe_py_profile_start(bool lines)
{
    struct strobe_py_seat *seat = lines ? &strobe_py_trace_seat : &strobe_py_profile_seat;
    const strobe_py_tracefunc function = lines ? on_trace : on_profile;
    if (!strobe_py_seats_are_known()) {
        strobe_py_word("this Python lacks a way to set a profile function for all threads");
        return false;
    }
    if (!strobe_py_seat_is_free(seat)) {
        strobe_py_word(
            lines ? "lines are not traced: a debugger or coverage tool has this Python's "
                    "trace function, and keeps it; functions are traced"
                  : "C functions are not traced: another profiler (cProfile?) has this "
                    "Python's profile function, and keeps it; Python functions are traced");
        return false;
    }
    strobe_py_seat_for_new(seat, function); /* first: it calls a function of threading's */
    uint32_t n_others = strobe_py_seat_take_all(seat, function);
    if (n_others)
        strobe_py_word("nothing is traced on %u threads: another tool has their %s function, and "
                       "keeps it",
                       n_others, lines ? "trace" : "profile");
    strobe_py_away_start(seat, lines ? &strobe_py_profile_seat : &strobe_py_trace_seat, function);
    return true;
}

void strobe_py_profile_stop(void)
{
    bool lines = strobe_py_tracer.source == STROBE_PY_TRACE;
    struct strobe_py_seat *seat = lines ? &strobe_py_trace_seat : &strobe_py_profile_seat;
    bool was_away = strobe_py_away_stop();
    if (!strobe_py_seat_is_ours(seat))
        strobe_py_word("another tool took this Python's %s function over while tracing: what came "
                       "after is not in the trace",
                       lines ? "trace" : "profile");
    else if (was_away)
        strobe_py_word("another tool had this Python's %s function for a time while tracing: what "
                       "was called then is not in the trace",
                       lines ? "trace" : "profile");
    strobe_py_seat_take_all(seat, NULL);
    strobe_py_seat_for_new(seat, NULL);
}

/* ---- aside ---- */

static bool everywhere; /* the frame hook is out: what all threads call is told here */

/* Tells calls that begin while the hook stands aside; an end whose begin the hook told is the hook's. A thread whose last such
 * call has ended lets go of this function by itself. The hook may be back when a call is heard of that began without it. */
static int on_aside(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    (void)self;
    if (me->busy)
        return 0;
    bool told = !everywhere && (what != CALL || strobe_py_hook_told(frame));
    me->apart = true;
    me->stack_mark = ~(uintptr_t)0; /* the hook looks around, should it be back */
    if (told && !me->n_aside) {
        strobe_py_seats_leave();
    } else if (what == CALL) {
        me->n_aside++;
        begin(find(frame));
    } else if (what == RETURN && me->n_aside) {
        me->n_aside--;
        end(find(frame), !arg);
    } else if (what == C_RETURN && arg && everywhere && strobe_py_starts_thread(arg)) {
        strobe_py_seat_for_youngest(&strobe_py_profile_seat, on_aside);
    }
    return 0;
}

bool strobe_py_aside_begin(void)
{
    if (!strobe_py_seats_are_known())
        return false;
    bool profiled = !strobe_py_seat_is_free(&strobe_py_profile_seat);
    if (profiled && !strobe_py_seat_is_free(&strobe_py_trace_seat))
        return false;
    everywhere = true;
    if (strobe_py_seat_take_all(profiled ? &strobe_py_trace_seat : &strobe_py_profile_seat,
                                on_aside))
        strobe_py_word("while a recursion was too deep for the frame hook, calls on threads with "
                       "another tool's profile function are not in the trace");
    return true;
}

void strobe_py_aside_end(void)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    everywhere = false;
    if (me->n_aside)
        strobe_py_word("another tool took this Python's profile function over in a recursion too "
                       "deep for the frame hook: calls inside it are not in the trace");
    me->n_aside = 0;
    strobe_py_seats_leave();
}

bool strobe_py_aside_tells(void)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    if (me->n_aside && !everywhere && !strobe_py_seats_are_ours())
        me->n_aside = 0; /* another tool took it over */
    return everywhere || me->n_aside;
}
