/* shadow.c - see the header.
 *
 * With a shortest duration, a begin is held back until its call has lasted that long: it is emitted, with the time when it was,
 * at the first event of the thread after that. A call that ends before leaves nothing, unless a zone by hand began inside
 * it. What native code emits inside a call that is held back comes before its begin in the stream, and the begin then gets that
 * later time.
 *
 *   HELD ──► EMITTED  old enough at a later event or at its end (emit_due), or a zone by hand begins (flush)
 *   HELD ──► gone     ended too early
 *   HIDDEN            deeper than the limit: nothing is emitted
 *
 * An open call keeps its code object: its frame may be gone long since, where another tool had the profile or trace function when
 * it ended. A stack that is given up with such calls in it, at its thread's end or because another tracing began, is
 * left to whoever next has the GIL and nothing in hand (`left`): a code object that dies may call Python code.
 *
 * SPDX-License-Identifier: MIT */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emit.h"
#include "thread.h"
#include "tracer.h"

enum { HELD, EMITTED, HIDDEN };
enum { MAX_OPEN = 1 << 22, MAX_SEARCH = 256 };

struct call {
    struct strobe_py_code *code; /* shared: the call has a reference to its code object */
    struct strobe_loc *callable; /* borrowed: of a C function, else NULL */
    uint64_t tick;               /* begin */
    uint32_t line;               /* 0: the call itself */
    uint32_t state;
};

struct strobe_py_stack {
    uint32_t n, cap, n_calls, n_due; /* open; room; without lines; those before are not HELD */
    uint32_t generation;             /* of the tracing whose calls these are */
    struct strobe_py_stack *next;    /* owned: in `left` */
    struct call calls[];
};

static struct strobe_py_stack *left; /* owned: given up, some without the GIL */

static PyObject *kept_by(const struct call *call)
{
    return call->code ? call->code->code : NULL;
}

static struct strobe_loc *loc_of(const struct call *call)
{
    if (call->callable)
        return call->callable;
    return call->line ? strobe_py_line_loc(call->code, call->line) : &call->code->loc;
}

uint64_t strobe_py_ticks_of(uint64_t ns)
{
    struct timespec a, b;
    uint64_t from = strobe_clock_now(), elapsed;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do {
        clock_gettime(CLOCK_MONOTONIC, &b);
        elapsed = (uint64_t)(b.tv_sec - a.tv_sec) * 1000000000ull + (uint64_t)b.tv_nsec -
                  (uint64_t)a.tv_nsec;
    } while (elapsed < 2000000);
    return (uint64_t)((double)ns * (double)(strobe_clock_now() - from) / (double)elapsed);
}

void strobe_py_shadow_leave(void)
{
    struct strobe_py_stack *stack = strobe_py_thread.stack;
    strobe_py_thread.stack = NULL;
    if (!stack || !stack->n) {
        free(stack);
        return;
    }
    stack->next = __atomic_load_n(&left, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&left, &stack->next, stack, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

static void free_left(void)
{
    struct strobe_py_stack *stack = __atomic_exchange_n(&left, NULL, __ATOMIC_ACQUIRE);
    for (struct strobe_py_stack *next; stack; stack = next) {
        next = stack->next;
        for (uint32_t i = 0; i < stack->n; i++)
            Py_XDECREF(kept_by(&stack->calls[i]));
        free(stack);
    }
}

/* The thread's open calls; those of an earlier tracing are forgotten. NULL: none yet. */
static struct strobe_py_stack *own_stack(void)
{
    struct strobe_py_stack *stack = strobe_py_thread.stack;
    if (STROBE_PY_LIKELY(stack && stack->generation == strobe_py_tracer.generation))
        return stack;
    strobe_py_shadow_leave();
    return NULL;
}

static struct strobe_py_stack *room(void)
{
    struct strobe_py_stack *stack = own_stack();
    if (stack && stack->n < stack->cap)
        return stack;
    if (!stack) {
        free_left();
        stack = own_stack(); /* that may have called Python code */
    }
    uint32_t cap = stack ? 2 * stack->cap : 256;
    if (cap > MAX_OPEN)
        return NULL;
    struct strobe_py_stack *larger = realloc(stack, sizeof *larger + cap * sizeof(struct call));
    if (!larger)
        return NULL;
    if (!stack) {
        memset(larger, 0, sizeof *larger);
        larger->generation = strobe_py_tracer.generation;
        strobe_py_own_thread();
    }
    larger->cap = cap;
    return strobe_py_thread.stack = larger;
}

/* Emit the begins that have waited long enough, outermost first. */
static void emit_due(struct strobe_py_stack *stack, uint64_t now)
{
    while (stack->n_due < stack->n) {
        struct call *call = &stack->calls[stack->n_due];
        if (call->state == HELD) {
            if (now - call->tick < strobe_py_tracer.min_ticks)
                return;
            strobe_zone_begin_past(loc_of(call), call->tick);
            call->state = EMITTED;
        }
        stack->n_due++;
    }
}

static void push(struct strobe_py_code *code, struct strobe_loc *callable, uint32_t line)
{
    const struct strobe_py_tracer *tracer = &strobe_py_tracer;
    struct strobe_py_stack *stack = room();
    if (!stack)
        return;
    struct call *call = &stack->calls[stack->n++];
    *call = (struct call){code, callable, 0, line, HIDDEN};
    Py_XINCREF(kept_by(call));
    stack->n_calls += !line;
    if (tracer->max_depth && stack->n_calls > tracer->max_depth)
        return;
    if (tracer->min_ticks) {
        call->state = HELD;
        call->tick = strobe_clock_now();
        emit_due(stack, call->tick);
    } else {
        call->state = EMITTED;
        strobe_py_begin(loc_of(call));
    }
}

/* Take call number `at` off, telling its end where its begin was told. */
static void pop(struct strobe_py_stack *stack, uint32_t at)
{
    struct call *call = &stack->calls[at];
    PyObject *kept = kept_by(call);
    if (call->state == HELD)
        emit_due(stack, strobe_clock_now());
    if (call->state == EMITTED)
        strobe_py_end(loc_of(call));
    stack->n_calls -= !call->line;
    if (STROBE_PY_UNLIKELY(at != --stack->n)) /* the innermost one, most of the time */
        memmove(call, call + 1, (stack->n - at) * sizeof *call);
    if (stack->n_due > at)
        stack->n_due = stack->n_due > stack->n ? stack->n : at;
    Py_XDECREF(kept); /* last of all: where its frame is gone, it dies here */
}

void strobe_py_shadow_begin(struct strobe_py_code *code, struct strobe_loc *callable)
{
    push(code, callable, 0);
}

void strobe_py_shadow_end(struct strobe_py_code *code, struct strobe_loc *callable)
{
    struct strobe_py_stack *stack = own_stack();
    if (!stack)
        return;
    /* the innermost one, unless greenlets changed places below us */
    uint32_t at = stack->n, low = stack->n > MAX_SEARCH ? stack->n - MAX_SEARCH : 0;
    while (at > low && (stack->calls[at - 1].code != code || stack->calls[at - 1].line ||
                        stack->calls[at - 1].callable != callable))
        at--;
    if (at == low) {
        if (stack->n && stack->calls[stack->n - 1].code == code && stack->calls[stack->n - 1].line)
            pop(stack, stack->n - 1); /* the line of a call that began before anybody traced */
        return;
    }
    if (at < stack->n && stack->calls[at].code == code && stack->calls[at].line)
        pop(stack, at);
    pop(stack, at - 1);
}

void strobe_py_shadow_line(struct strobe_py_code *code, uint32_t line)
{
    struct strobe_py_stack *stack = own_stack();
    if (stack && stack->n && stack->calls[stack->n - 1].line &&
        stack->calls[stack->n - 1].code == code)
        pop(stack, stack->n - 1);
    push(code, NULL, line);
}

void strobe_py_shadow_flush(void)
{
    struct strobe_py_stack *stack = own_stack();
    for (; stack && stack->n_due < stack->n; stack->n_due++) {
        struct call *call = &stack->calls[stack->n_due];
        if (call->state != HELD)
            continue;
        strobe_zone_begin_past(loc_of(call), call->tick);
        call->state = EMITTED;
    }
}

void strobe_py_shadow_close(void)
{
    struct strobe_py_stack *stack = own_stack();
    strobe_py_thread.stack = NULL;
    while (stack && stack->n)
        pop(stack, stack->n - 1);
    free(stack);
    free_left();
}
