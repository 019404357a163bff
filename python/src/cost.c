/* cost.c - see the header. The least of some rounds counts, in CPU time of the thread: a busy machine makes rounds longer, never
 * shorter.  SPDX-License-Identifier: MIT */
#include "cost.h"

#include <time.h>

#include <strobe/facade.h>

enum { N_CALLS = 100, N_ROUNDS = 5, N_TRIES = 3, COST_PARAMETER = 0x5079 };

static uint64_t call_ps; /* 0: not known */

void strobe_py_cost_emit(void)
{
    static uint64_t sink[64];
    static uint32_t n;
    __atomic_store_n(&sink[n++ & 63], strobe_ticks(), __ATOMIC_RELEASE);
}

static int64_t cpu_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* The shortest of some rounds of calls, in ns; 0: it can't be told. */
static int64_t least(PyObject *calls)
{
    int64_t best = 0;
    for (int round = 0; round <= N_ROUNDS; round++) {
        int64_t start = cpu_ns();
        PyObject *done = PyObject_CallObject(calls, NULL);
        int64_t took = cpu_ns() - start;
        Py_XDECREF(done);
        if (!done)
            return 0;
        if (round && (took < best || round == 1)) /* the first one warms up */
            best = took;
    }
    return best;
}

/* Does sys.<name>() give something? */
static bool has_function(const char *name)
{
    PyObject *get = PySys_GetObject(name); /* borrowed */
    PyObject *found = get ? PyObject_CallObject(get, NULL) : NULL;
    bool has = found && found != Py_None;
    Py_XDECREF(found);
    return has;
}

/* Would a debugger, a coverage tool or a profiler see the calls? */
static bool is_watched(void)
{
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed; before 3.12 there is none */
    bool watched = has_function("getprofile") || has_function("gettrace");
    for (int id = 0; monitoring && !watched && id < 3; id++) {
        PyObject *owner = PyObject_CallMethod(monitoring, "get_tool", "i", id);
        watched = owner && owner != Py_None;
        Py_XDECREF(owner);
    }
    PyErr_Clear();
    return watched;
}

static PyObject *make(PyObject *globals)
{
    static const char source[] = "def f(): pass\n"
                                 "def calls():\n"
                                 "    for i in range(100): f()\n"
                                 "code = f.__code__\n";
    PyObject *code = Py_CompileString(source, "<strobe>", Py_file_input);
    PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
    PyObject *made = code ? PyEval_EvalCode(code, globals, globals) : NULL;
    Py_XDECREF(code);
    Py_XDECREF(made);
    return made ? PyDict_GetItemString(globals, "calls") : NULL; /* borrowed */
}

/* Rounds with the probe between rounds without; 0: no difference. */
static uint64_t compare(strobe_py_probe probe, PyObject *calls, PyObject *code)
{
    int64_t bare = least(calls), probed = 0;
    if (probe(true, code))
        probed = least(calls);
    probe(false, code);
    int64_t again = least(calls); /* the first rounds of all are the slowest */
    if (!bare || !again)
        return 0;
    bare = again < bare ? again : bare;
    return probed > bare ? (uint64_t)(probed - bare) * 1000 / N_CALLS : 0;
}

void strobe_py_cost_measure(strobe_py_probe probe)
{
    PyObject *type, *value, *trace;
    if (call_ps || is_watched())
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *globals = PyDict_New();
    PyObject *calls = globals ? make(globals) : NULL;
    PyObject *code = calls ? PyDict_GetItemString(globals, "code") : NULL; /* borrowed */
    for (int i = 0; code && !call_ps && i < N_TRIES;
         i++) /* one may be lost to a neighbour's load */
        call_ps = compare(probe, calls, code);
    Py_XDECREF(globals);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

void strobe_py_cost_tell(bool is_plain)
{
    strobe_parameter(COST_PARAMETER, "python: picoseconds of a traced call", 0,
                     is_plain ? (int64_t)call_ps : 0);
}
