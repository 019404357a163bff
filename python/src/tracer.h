/* tracer.h - function tracing: the options in force, and how the sources of events hand them on.
 *
 * Sources of events, one file each:
 *   monitor.c   sys.monitoring, from 3.12 on
 *   hook.c      the frame-evaluation hook (PEP 523), before 3.12, for Python functions alone
 *   profile.c   the C profile function, before 3.12, for C functions too and where the hook can't be used;
 *               the C trace function, before 3.12, for lines; seat.c: their places in the threads, away.c: when others take these
 * What they tell goes to emit.h at once for plain functions, and to flow.c (generators, coroutines), shadow.c (lines,
 * shortest duration, depth) for the others: the `flags` of a code object say which.
 * All of it runs under the GIL.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_TRACER_H
#define STROBE_PY_TRACER_H

#include "py.h"

enum strobe_py_source {
    STROBE_PY_NONE = 0,
    STROBE_PY_MONITOR = 1,
    STROBE_PY_HOOK = 2,
    STROBE_PY_PROFILE = 3,
    STROBE_PY_TRACE = 4,
};

struct strobe_py_tracer {
    enum strobe_py_source source; /* NONE: off */
    uint32_t
        generation; /* counts the starts: what was decided for an earlier one is decided anew */
    bool lines, c_functions, full;
    bool ends; /* it stops because the program does */
    uint64_t min_ticks;
    uint32_t max_depth;
    char *prefix, *line_prefix; /* owned; "" or what zone names begin with */
    char **include, **exclude;  /* owned; end with NULL */
};
extern struct strobe_py_tracer strobe_py_tracer __attribute__((visibility("hidden")));

extern PyMethodDef strobe_py_tracer_methods[];

/* A word to the user, kept for the Python half to say: trace_start and trace_stop return them. */
void strobe_py_word(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The sources. Start: true, or false after a word why not. Stop: whatever the state. */
bool strobe_py_monitor_start(void);
void strobe_py_monitor_stop(void);
bool strobe_py_hook_start(void);
void strobe_py_hook_stop(void);
bool strobe_py_profile_start(bool lines);
void strobe_py_profile_stop(void);

/* The profile function (the trace function, if another tool has that one) tells the calls of all threads while the frame hook
 * stands aside. False: both are other tools'. */
bool strobe_py_aside_begin(void);
void strobe_py_aside_end(void);

/* Does it still tell the calling thread's calls? */
bool strobe_py_aside_tells(void);

/* Did the hook tell of this frame's run, whose begin the profile function hears of only now, with the hook back in its place? On 3.11. */
bool strobe_py_hook_told(PyObject *frame);

/* Zones for garbage collections. */
void strobe_py_gc_start(void);
void strobe_py_gc_stop(void);

#endif
