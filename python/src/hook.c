/* hook.c - Python functions by the frame-evaluation hook (PEP 523), on 3.9, 3.10 and 3.11.
 *
 * The interpreter calls eval_frame in place of its own evaluator, which eval_frame calls in turn: a zone is what lies between.
 * Balanced by nature, sees every thread, a third of a profile function's cost.
 *
 * What it reads of a frame is not in any ABI: where the code object is, whether a generator's run is its first and
 * whether it was its last. So it is tried at every start, on a function, a generator and a coroutine made for it, and
 * without a full match the hook is not used.
 *
 * The hook costs C stack: 16 bytes a call on 3.9 and 3.10, which take 350 to 400 themselves (and more, 80, with a profile function). On 3.11 a
 * Python call alone takes none, and 450 with the hook. So that a recursion gets as deep as without it, at a quarter of the thread's stack
 *   3.9, 3.10   the main thread, whose stack grows as its limit allows, gets that limit raised by a quarter until the deep frame returns
 *   3.11        the hook stands aside: it takes itself out and has the profile function (profile.c), which costs no stack here, tell
 *               the calls of all threads until the deep frame returns
 *
 * SPDX-License-Identifier: MIT */
#include "py.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "code.h"
#include "cost.h"
#include "emit.h"
#include "flow.h"
#include "thread.h"
#include "tracer.h"

/* Offsets by version; the tests below prove them. A frame object in 3.9 and 3.10, an internal frame in 3.11. */
enum {
    AT_CODE = 32,
    AT_GLOBALS_39 = 48, /* 3.9, 3.10 */
    AT_GLOBALS_311 = 8,
    AT_STACKTOP_39 = 72,
    AT_LASTI_39 = 104,
    AT_LASTI_310 = 96,
    AT_STATE_310 = 108,
    AT_IS_ENTRY_311 = 68,
    AT_OWNER_311 = 69,
    AT_INNER_311 = 24, /* in a frame object: the internal frame */
    AT_LAST_INSTRUCTION_311 = 56,
    AT_GENERATOR_STATE_311 = -5,
    SUSPENDED = -1,
    OWNED_BY_THREAD = 0,
    OP_RETURN_GENERATOR = 75,
};

static strobe_py_eval evaluate; /* who was there before us */
static bool installed;
static bool out; /* for a deep frame */

static PyObject *eval_frame(PyThreadState *state, void *frame, int throwing);

static PyObject *code_of(const void *frame)
{
    PyObject *code;
    memcpy(&code, (const char *)frame + AT_CODE, sizeof code);
    return code;
}

static PyObject *globals_of(const void *frame)
{
    PyObject *globals;
    int at = strobe_py_late.version >= 0x030b00 ? AT_GLOBALS_311 : AT_GLOBALS_39;
    memcpy(&globals, (const char *)frame + at, sizeof globals);
    return globals;
}

/* 3.11 evaluates a generator function's own frame to make the generator: no run of it. */
static bool is_creation(const void *frame)
{
    return strobe_py_late.version >= 0x030b00 &&
           ((const char *)frame)[AT_OWNER_311] == OWNED_BY_THREAD;
}

/* Before a run: has the generator never run? */
static bool is_first(const void *frame)
{
    const char *at = frame;
    int32_t last;
    if (strobe_py_late.version >= 0x030b00) {
        const uint16_t *instruction;
        memcpy(&instruction, at + AT_LAST_INSTRUCTION_311, sizeof instruction);
        return (*instruction & 255) == OP_RETURN_GENERATOR;
    }
    memcpy(&last, at + (strobe_py_late.version >= 0x030a00 ? AT_LASTI_310 : AT_LASTI_39),
           sizeof last);
    return last < 0;
}

/* After a run: is the generator over? */
static bool is_last(const void *frame)
{
    const char *at = frame;
    void *top;
    if (strobe_py_late.version >= 0x030b00)
        return (int8_t)at[AT_GENERATOR_STATE_311] != SUSPENDED;
    if (strobe_py_late.version >= 0x030a00)
        return (int8_t)at[AT_STATE_310] != SUSPENDED;
    memcpy(&top, at + AT_STACKTOP_39, sizeof top);
    return top == NULL;
}

/* ---- the hook ---- */

/* __builtin_frame_address would set up a frame pointer at every level. */
STROBE_INLINE uintptr_t stack_pointer(void)
{
    uintptr_t at;
#if defined(__x86_64__)
    __asm__("mov %%rsp, %0" : "=r"(at));
#elif defined(__aarch64__)
    __asm__("mov %0, sp" : "=r"(at));
#else
    at = (uintptr_t)__builtin_frame_address(0);
#endif
    return at;
}

/* Generators, coroutines, code that is filtered or goes over the shadow stack. */
static PyObject *eval_flagged(struct strobe_py_code *code, PyThreadState *state, void *frame,
                              int throwing)
{
    const int resumed = STROBE_PY_GENERATOR | STROBE_PY_COROUTINE | STROBE_PY_ASYNC_GENERATOR;
    bool resumes = code->flags & resumed;
    if ((code->flags & STROBE_PY_FILTERED) || (resumes && is_creation(frame)))
        return evaluate(state, frame, throwing);
    strobe_py_run_begin(code, resumes ? is_first(frame) : true, resumes ? frame : NULL);
    PyObject *result = evaluate(state, frame, throwing);
    bool last = resumes ? !result || is_last(frame) : true;
    if (!result && !(code->flags & STROBE_PY_FULL))
        strobe_py_raised(PyErr_Occurred());
    strobe_py_run_end(code, last, resumes ? frame : NULL);
    return result;
}

static __attribute__((noinline)) PyObject *
eval_plain(struct strobe_py_code *code, PyThreadState *state, void *frame, int throwing)
{
    strobe_py_begin(&code->loc);
    PyObject *result = evaluate(state, frame, throwing);
    if (!result)
        strobe_py_raised(PyErr_Occurred());
    strobe_py_end(&code->loc);
    return result;
}

/* The begin's word is taken (`slot`, NULL: there was none left), but can't be filled the short way. */
static __attribute__((noinline)) PyObject *eval_begun(struct strobe_py_code *code,
                                                      PyThreadState *state, void *frame,
                                                      int throwing, uint64_t *slot)
{
    strobe_emit_slow(code->loc.word, slot, &code->loc);
    PyObject *result = evaluate(state, frame, throwing);
    if (!result)
        strobe_py_raised(PyErr_Occurred());
    strobe_py_end(&code->loc);
    return result;
}

static PyObject *eval_traced(struct strobe_py_code *code, PyThreadState *state, void *frame,
                             int throwing)
{
    if (!code)
        code = strobe_py_find_code_slow(code_of(frame), globals_of(frame));
    return code->flags ? eval_flagged(code, state, frame, throwing)
                       : eval_plain(code, state, frame, throwing);
}

/* ---- deep frames ---- */

/* Run `frame` and all it calls without the hook. */
static PyObject *eval_aside(PyThreadState *state, void *frame, int throwing)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    strobe_py_late.set_eval(interpreter, evaluate);
    out = true;
    PyObject *result = evaluate(state, frame, throwing);
    strobe_py_aside_end();
    if (installed && strobe_py_late.get_eval(interpreter) == evaluate)
        strobe_py_late.set_eval(interpreter, eval_frame);
    out = false;
    return result;
}

/* 3.11. Where nobody else can tell the calls, the hook stays as long as it can. */
static PyObject *eval_deep_311(struct strobe_py_code *code, PyThreadState *state, void *frame,
                               int throwing)
{
    if (strobe_py_aside_begin())
        return eval_aside(state, frame, throwing);
    if (stack_pointer() > strobe_py_thread.stack_last)
        return eval_traced(code, state, frame, throwing);
    strobe_py_word("a recursion went too deep for the frame hook, and other tools have the profile "
                   "and the trace function: calls inside it are not in the trace");
    return eval_aside(state, frame, throwing);
}

/* Raise the limit of the main thread's stack by a quarter, which is asked for when it grows. What it was, in `old`; false: it stays. */
static bool raise_limit(struct rlimit *old, struct rlimit *raised)
{
    if (getrlimit(RLIMIT_STACK, old) || old->rlim_cur == RLIM_INFINITY)
        return false;
    *raised = *old;
    raised->rlim_cur += raised->rlim_cur / 4;
    if (raised->rlim_cur > raised->rlim_max)
        raised->rlim_cur = raised->rlim_max;
    return !setrlimit(RLIMIT_STACK, raised);
}

/* 3.9 and 3.10, on the main thread. A mark of 0: the frames inside are no news. */
static PyObject *eval_deep_39(struct strobe_py_code *code, PyThreadState *state, void *frame,
                              int throwing)
{
    struct rlimit old, raised, now;
    const uintptr_t mark = strobe_py_thread.stack_mark;
    bool is_raised = raise_limit(&old, &raised);
    strobe_py_thread.stack_mark = 0;
    PyObject *result = eval_traced(code, state, frame, throwing);
    strobe_py_thread.stack_mark = mark;
    if (is_raised && !getrlimit(RLIMIT_STACK, &now) && now.rlim_cur == raised.rlim_cur)
        setrlimit(RLIMIT_STACK, &old);
    return result;
}

enum way { TRACE, PASS_ON, DEEP };

/* What is to be done with a frame of a thread that is new, or deep, or whose calls the profile function tells. */
static enum way look_around(void)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    if (me->busy || strobe_py_aside_tells())
        return PASS_ON;
    if (!me->stack_mark)
        return TRACE;
    if (!me->stack_end && (strobe_py_late.version >= 0x030b00 || getpid() == gettid()))
        strobe_py_measure_stack();
    if (stack_pointer() < me->stack_end)
        return DEEP;
    me->apart = false;
    if (me->n_met < STROBE_PY_NAME_TRIES)
        strobe_py_meet_thread();
    if (me->n_met >= STROBE_PY_NAME_TRIES)
        me->stack_mark = me->stack_end;
    return TRACE;
}

static __attribute__((noinline)) PyObject *
eval_slow(struct strobe_py_code *code, PyThreadState *state, void *frame, int throwing)
{
    enum way way = look_around();
    if (way == PASS_ON)
        return evaluate(state, frame, throwing);
    if (way == TRACE)
        return eval_traced(code, state, frame, throwing);
    return strobe_py_late.version >= 0x030b00 ? eval_deep_311(code, state, frame, throwing)
                                              : eval_deep_39(code, state, frame, throwing);
}

/* A call from Python code has no evaluation of its own, unless the hook is in. A call from C code always has one: it was the hook's if that
 * has looked around since the profile function was last heard. */
bool strobe_py_hook_told(PyObject *frame)
{
    const char *inner;
    memcpy(&inner, (char *)frame + AT_INNER_311, sizeof inner);
    return inner[AT_IS_ENTRY_311] && !strobe_py_thread.apart;
}

/* ---- the fast way ---- */

/* The end, in a function of its own: what it needs must not be kept over the evaluation. A begin that was emitted gets its end,
 * whatever became of the recorder. */
static __attribute__((noinline)) PyObject *end_frame(PyObject *result, struct strobe_py_code *code)
{
    if (STROBE_PY_UNLIKELY(!result))
        strobe_py_raised(PyErr_Occurred());
    strobe_emit(code->loc.word ^ 1ull << 63, &code->loc);
    return result;
}

/* strobe_py_begin, spelled out: whatever is not the common case is a tail call of a function that does all of it. So this one
 * keeps one word over the evaluation, and each level of a recursion costs 16 bytes of C stack. */
static PyObject *eval_frame(PyThreadState *state, void *frame, int throwing)
{
    PyObject *object = code_of(frame);
    const struct strobe_py_code_slot *known = &strobe_py_codes[strobe_py_code_slot_of(object)];
    if (STROBE_PY_UNLIKELY(known->code != object))
        return eval_slow(NULL, state, frame, throwing);
    struct strobe_py_code *code = known->known;
    const volatile struct strobe_gate *gate = strobe_gate_now;
    if (STROBE_PY_UNLIKELY(code->flags || stack_pointer() < strobe_py_thread.stack_mark))
        return eval_slow(code, state, frame, throwing);
    if (!strobe_gate_is_open(gate))
        return evaluate(state, frame, throwing);
    uint64_t word = code->loc.word;
    if (!strobe_gate_knows(gate, word))
        return eval_plain(code, state, frame, throwing);
    uint64_t *slot;
    if (STROBE_PY_UNLIKELY(!strobe_emit_fast(word, &slot, 1)))
        return eval_begun(code, state, frame, throwing, slot);
    return end_frame(evaluate(state, frame, throwing), code);
}

/* ---- the test ---- */

static struct {
    PyObject *codes[3]; /* borrowed: function, generator, coroutine */
    char seen[3][8];    /* what was seen of each, run by run */
} test;

/* A letter per run: . a plain run, c a creation, F first, M middle, L last, B first and last at once, X wrong globals. */
static PyObject *eval_test(PyThreadState *state, void *frame, int throwing)
{
    PyObject *code = code_of(frame);
    int which = 0;
    while (which < 3 && test.codes[which] != code)
        which++;
    if (which == 3)
        return evaluate(state, frame, throwing);
    size_t n = strlen(test.seen[which]);
    bool creates = which && is_creation(frame);
    bool first = which && !creates && is_first(frame);
    bool good = PyDict_Check(globals_of(frame)) &&
                PyDict_GetItemString(globals_of(frame), "strobe_test") != NULL;
    PyObject *result = evaluate(state, frame, throwing);
    bool last = which && !creates && (!result || is_last(frame));
    if (strobe_py_late.version >= 0x030b00 && !((char *)frame)[AT_IS_ENTRY_311])
        good = false;
    if (n < sizeof test.seen[0] - 1)
        test.seen[which][n] = !good     ? 'X'
                              : !which  ? '.'
                              : creates ? 'c'
                              : first   ? (last ? 'B' : 'F')
                                        : (last ? 'L' : 'M');
    return result;
}

static bool saw(int which, const char *old, const char *new)
{
    return !strcmp(test.seen[which], strobe_py_late.version >= 0x030b00 ? new : old);
}

/* Run the test's code under eval_test and compare. */
static bool test_hook(void)
{
    static const char source[] = "strobe_test = 1\n"
                                 "def f(): pass\n"
                                 "def g():\n"
                                 "    yield 1\n"
                                 "    yield 2\n"
                                 "class A:\n"
                                 "    def __await__(self):\n"
                                 "        yield 1\n"
                                 "async def c():\n"
                                 "    await A()\n"
                                 "codes = f.__code__, g.__code__, c.__code__\n";
    static const char runs[] = "f()\n"
                               "list(g())\n"
                               "k = c()\n"
                               "k.send(None)\n"
                               "try:\n"
                               "    k.send(None)\n"
                               "except StopIteration:\n"
                               "    pass\n";
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    PyObject *globals = PyDict_New(), *made = NULL, *ran = NULL;
    PyObject *making = Py_CompileString(source, "<strobe>", Py_file_input);
    PyObject *running = Py_CompileString(runs, "<strobe>", Py_file_input);
    memset(&test, 0, sizeof test);
    if (globals && making && running) {
        PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
        made = PyEval_EvalCode(making, globals, globals);
    }
    PyObject *codes = made ? PyDict_GetItemString(globals, "codes") : NULL; /* borrowed */
    for (Py_ssize_t i = 0; codes && i < 3; i++)
        test.codes[i] = PyTuple_GetItem(codes, i);
    if (codes) {
        strobe_py_late.set_eval(interpreter, eval_test);
        ran = PyEval_EvalCode(running, globals, globals);
        strobe_py_late.set_eval(interpreter, evaluate);
    }
    bool good = ran && saw(0, ".", ".") && saw(1, "FML", "cFML") && saw(2, "FL", "cFL");
    Py_XDECREF(ran);
    Py_XDECREF(made);
    Py_XDECREF(making);
    Py_XDECREF(running);
    Py_XDECREF(globals);
    PyErr_Clear();
    return good;
}

/* ---- the cost ---- */

/* As eval_frame, with all that it looks at. */
static PyObject *eval_probe(PyThreadState *state, void *frame, int throwing)
{
    PyObject *object = code_of(frame);
    const struct strobe_py_code_slot *known = &strobe_py_codes[strobe_py_code_slot_of(object)];
    if (known->code == object)
        return evaluate(state, frame, throwing); /* of an earlier tracing */
    strobe_py_cost_emit();
    PyObject *result = evaluate(state, frame, throwing);
    strobe_py_cost_emit();
    return result;
}

static bool probe(bool on, PyObject *code)
{
    (void)code;
    strobe_py_late.set_eval(PyInterpreterState_Get(), on ? eval_probe : evaluate);
    return true;
}

/* ---- switching on and off ---- */

bool strobe_py_hook_start(void)
{
    const struct strobe_py_late *late = &strobe_py_late;
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (!late->get_eval || !late->set_eval || late->version >= 0x030c00)
        return false;
    if (late->get_eval(interpreter) == eval_frame) {
        installed = true;
        return true;
    }
    evaluate = late->get_eval(interpreter);
    if (!test_hook())
        return false;
    strobe_py_cost_measure(probe);
    late->set_eval(interpreter, eval_frame);
    return installed = true;
}

void strobe_py_hook_stop(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (!installed)
        return;
    installed = false;
    /* another tool may have put itself before us: then we stay below it and only pass on */
    if (strobe_py_late.get_eval(interpreter) == eval_frame)
        strobe_py_late.set_eval(interpreter, evaluate);
    else if (!out && !strobe_py_tracer.ends)
        strobe_py_word("another tool's frame evaluator lies over ours: ours stays, idle");
}
