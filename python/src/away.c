/* away.c - see the header.
 *
 * Whoever puts a function into a seat raises an audit event before it does: then the thread's other seat, if nobody has it, is
 * given a watchman for one event. At that event the change is done:
 *
 *   OURS ──► the seat is free    a tool left it, or the program cleared it: it is OURS again (on_next)
 *   OURS ──► AWAY                another tool has it: the watchman leaves, and comes again with the next change
 *   AWAY ──► OURS                it has left it
 *
 * Calls that ended meanwhile have no end in the trace. So when a thread's seat changes hands, what runs on it is noted: by address
 * and by the word of its end, as code may die. When it is ours again, those that do not run any more get their ends, and what
 * runs now and did not then begins at that moment.
 * Nothing of this lies on the way of a call.  SPDX-License-Identifier: MIT */
#include "away.h"

#include <stdlib.h>

#include "callable.h"
#include "emit.h"
#include "seat.h"
#include "shadow.h"
#include "thread.h"
#include "tracer.h"

enum { MAX_NOTED = 64, CALL = 0, RETURN = 3 };

/* A frame that ran when the seat changed hands. */
struct noted {
    const void *frame, *code; /* borrowed, and only compared */
    struct strobe_py_code
        *full;     /* borrowed, and only compared: to end it on the shadow stack, else NULL */
    uint64_t word; /* of its zone; 0: it has none */
};

struct strobe_py_away {
    bool is_away;
    const void *called; /* the C function that changed the seat; NULL: not told */
    uint32_t n;
    struct noted at[MAX_NOTED]; /* innermost first */
};

static struct strobe_py_seat *own, *other; /* NULL: nothing is watched */
static strobe_py_tracefunc tell;
static PyInterpreterState *home;
static bool was_away;

/* ---- what runs ---- */

/* A new reference or NULL; leaves no exception. */
static PyObject *frame_back(PyObject *frame)
{
    PyObject *back = PyObject_GetAttrString(frame, "f_back");
    PyErr_Clear();
    if (back == Py_None)
        Py_CLEAR(back);
    return back;
}

static struct noted note_of(PyObject *frame)
{
    struct strobe_py_code *code = strobe_py_find_of_frame(frame);
    struct noted noted = {frame, code->code, NULL, 0};
    if (code->flags & STROBE_PY_FULL)
        noted.full = code;
    else if (!(code->flags & STROBE_PY_FILTERED))
        noted.word = code->loc.word;
    return noted;
}

/* Note what runs on the thread. */
static void note(struct strobe_py_thread *me)
{
    if (!me->away) {
        me->away = calloc(1, sizeof *me->away);
        strobe_py_own_thread();
    }
    struct strobe_py_away *away = me->away;
    if (!away)
        return;
    bool told = me->frame && me->frame_version == strobe_py_code_version &&
                !(me->frame_code->flags & STROBE_PY_FILTERED);
    away->is_away = false;
    away->called = told ? me->called : NULL;
    away->n = 0;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame && away->n < MAX_NOTED) {
        away->at[away->n++] = note_of(frame);
        PyObject *back = frame_back(frame);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
}

/* Which of the noted frames is it? Another one of the same code at the same place passes for it. `n`: none. */
static uint32_t find_noted(const struct strobe_py_away *away, PyObject *frame)
{
    PyObject *code = strobe_py_late.frame_code(frame);
    uint32_t i = 0;
    while (i < away->n && (away->at[i].frame != frame || away->at[i].code != code))
        i++;
    Py_DECREF(code);
    return i;
}

/* The frames that run, from `frame` outwards, up to one that was noted, which is *known: how many come before it. Owned by the caller. */
static uint32_t find_new(const struct strobe_py_away *away, PyObject *frame, PyObject **found,
                         uint32_t *known)
{
    uint32_t n = 0;
    *known = away->n;
    Py_XINCREF(frame);
    while (frame && n < MAX_NOTED && (*known = find_noted(away, frame)) == away->n) {
        found[n++] = frame;
        frame = frame_back(frame);
    }
    Py_XDECREF(frame);
    return n;
}

static void end_word(uint64_t word)
{
    struct strobe_loc loc = {.word = word};
    const volatile struct strobe_gate *gate = strobe_gate_now;
    if (strobe_gate_is_open(gate) && strobe_gate_knows(gate, word))
        strobe_emit(word ^ 1ull << 63, &loc);
}

/* As of on_profile: calls that began before it heard of them are not told. */
static bool is_known_end(struct strobe_py_thread *me)
{
    if (!me->n_profiled)
        return false;
    me->n_profiled--;
    return true;
}

static void end_call(struct strobe_py_thread *me, const struct strobe_py_away *away)
{
    struct strobe_loc *loc = away->called ? strobe_py_called_last(me, away->called) : NULL;
    if (loc && is_known_end(me)) {
        if (strobe_py_tracer.full)
            strobe_py_shadow_end(NULL, loc);
        else
            strobe_py_end(loc);
    }
}

static void end_frame(struct strobe_py_thread *me, const struct noted *gone)
{
    bool known = is_known_end(me);
    if (gone->full)
        strobe_py_shadow_end(gone->full, NULL);
    else if (known && gone->word)
        end_word(gone->word);
}

static void begin_frame(struct strobe_py_thread *me, PyObject *frame)
{
    struct strobe_py_code *code = strobe_py_find_of_frame(frame);
    me->n_profiled++;
    if (code->flags & STROBE_PY_FULL)
        strobe_py_shadow_begin(code, NULL);
    else if (!(code->flags & STROBE_PY_FILTERED))
        strobe_py_begin(&code->loc);
}

/* The seat is ours again, in `frame`: tell what nobody heard. A recursion so deep that no frame is found again is left as it is. */
static void catch_up(struct strobe_py_thread *me, PyObject *frame)
{
    PyObject *new[MAX_NOTED];
    struct strobe_py_away *away = me->away;
    uint32_t known, n_new = find_new(away, frame, new, &known);
    end_call(me, away);
    for (uint32_t i = 0; known < away->n && i < known; i++)
        end_frame(me, &away->at[i]);
    for (uint32_t i = n_new; i-- > 0;) {
        if (known < away->n)
            begin_frame(me, new[i]);
        Py_DECREF(new[i]);
    }
    away->is_away = false;
    away->n = 0;
    me->frame = NULL;
}

/* The seat is ours: was it another's, or nobody's for so short a time that only the end of the call that cleared it is missing? */
static bool missed(const struct strobe_py_thread *me)
{
    return me->away->is_away || (me->away->called && me->called == me->away->called);
}

/* ---- the change ---- */

/* The watchman. */
static int on_next(PyObject *self, PyObject *frame, int what, PyObject *arg)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    if (me->busy || !own)
        return 0;
    PyObject *type, *value, *trace;
    me->busy++;
    PyErr_Fetch(&type, &value, &trace);
    strobe_py_seat_leave(other);
    bool ours = strobe_py_seat_is_ours(own), taken = !ours && strobe_py_seat_take(own, tell);
    if (!ours && !taken) {
        was_away = true;
        if (me->away)
            me->away->is_away = true;
    } else if (me->away && (taken || missed(me))) {
        PyObject *from = what == CALL ? frame_back(frame) : frame;
        catch_up(me, from);
        if (what == CALL)
            Py_XDECREF(from);
    }
    PyErr_Restore(type, value, trace);
    me->busy--;
    /* the trace function is called before the profile function: this event is past it */
    if (taken && own == &strobe_py_trace_seat && (what == CALL || what == RETURN))
        tell(self, frame, what, arg);
    return 0;
}

/* A seat of the calling thread is about to get another function, and not from us. */
static void on_change(struct strobe_py_seat *seat)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    if (!own || seat != own || me->busy || PyInterpreterState_Get() != home)
        return;
    PyObject *type, *value, *trace;
    me->busy++;
    PyErr_Fetch(&type, &value, &trace);
    if (strobe_py_seat_is_ours(own))
        note(me);
    if (!strobe_py_seat_take(other, on_next))
        was_away = true; /* another tool has both */
    PyErr_Restore(type, value, trace);
    me->busy--;
}

void strobe_py_away_start(struct strobe_py_seat *seat, struct strobe_py_seat *watched_from,
                          strobe_py_tracefunc function)
{
    own = seat;
    other = watched_from;
    tell = function;
    home = PyInterpreterState_Get();
    was_away = false;
    strobe_py_seats_watch(on_change);
}

bool strobe_py_away_stop(void)
{
    if (own)
        strobe_py_seat_take_all(other, NULL);
    own = other = NULL;
    return was_away;
}
