/* python.c - the Python in what is recorded.
 * An interpreter joins by itself, through the package that is installed in it (python/_strobe_join.py); the recorder only sets the
 * environment. What it can't see in the session's folder it looks for in /proc, so that a trace says which
 * interpreters are missing from it.  SPDX-License-Identifier: MIT */
#include "recorder/python.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/descendants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A process may become an interpreter without being new, by exec. */
#define LOOK_ANYWAY_NS 10000000000ull

bool strobe_recorder_python_mode(const char *mode)
{
    return !strcmp(mode, "functions") || !strcmp(mode, "lines") || !strcmp(mode, "marks") ||
           !strcmp(mode, "off");
}

int strobe_recorder_python_environment(const char *mode)
{
    const char *now = getenv("STROBE_PYTHON");
    bool only_marks =
        mode && !strcmp(mode, "marks"); /* functions stay untraced: samples name them */
    if (!mode && now && now[0])
        return 0;
    if (only_marks ? setenv("STROBE_PYTHON_MARKS", "1", 1) : unsetenv("STROBE_PYTHON_MARKS"))
        return errno;
    return setenv("STROBE_PYTHON", !mode ? "functions" : only_marks ? "off" : mode, 1) ? errno : 0;
}

bool strobe_recorder_python_add(const char *variable, const char *value)
{
    char *list = NULL;
    const char *now = getenv(variable);
    if (!value[0] || strchr(value, ':'))
        return false;
    bool done = asprintf(&list, "%s%s%s", now ? now : "", now && now[0] ? ":" : "", value) > 0 &&
                !setenv(variable, list, 1);
    free(list);
    return done;
}

static bool is_off(void)
{
    const char *mode = getenv("STROBE_PYTHON");
    return mode && !strcmp(mode, "off");
}

static bool is_interpreter(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return !strncmp(name, "python", 6) || !strncmp(name, "pypy", 4);
}

static const char why[] =
    "not traced: it has no strobe package (pip install strobe-profiler==" STROBE_VERSION
    "), or was started "
    "with -S, or is not CPython 3.9 or later with the GIL";

/* ---- one that has not joined ---- */

/* The program of a process; false: there is none any more. */
static bool read_exe(uint32_t pid, char *out, size_t cap)
{
    char path[64];
    STROBE_ASSERT(pid && cap > 1);
    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    ssize_t n = readlink(path, out, cap - 1);
    out[n > 0 ? n : 0] = 0;
    return n > 0;
}

bool strobe_recorder_python_is(uint32_t pid, char *out, size_t cap)
{
    return read_exe(pid, out, cap) && is_interpreter(out);
}

static void note(struct strobe_python_watch *watch, const struct strobe_python_seen *one,
                 struct strobe_collector *collector, const char *more)
{
    char text[sizeof one->exe + sizeof why + 100];
    STROBE_ASSERT(!strobe_collector_knows(collector, one->pid));
    snprintf(text, sizeof text, "%s (pid %u) is %s%s", one->exe, one->pid, why, more);
    strobe_collector_note(collector, 0, text);
    if (!watch->n_told++)
        snprintf(watch->first, sizeof watch->first, "%s", one->exe);
}

static void meet(struct strobe_python_watch *watch, uint32_t pid, const char *exe)
{
    STROBE_ASSERT(watch->n_seen <= STROBE_PYTHONS_MAX);
    for (uint32_t i = 0; i < watch->n_seen; i++)
        if (watch->seen[i].pid == pid)
            return;
    if (watch->n_seen == STROBE_PYTHONS_MAX) {
        watch->full = true;
        return;
    }
    struct strobe_python_seen *one = &watch->seen[watch->n_seen++];
    *one = (struct strobe_python_seen){.pid = pid, .n_looks = 1};
    snprintf(one->exe, sizeof one->exe, "%s", exe);
}

/* Whether nothing more is to be learned of it; if it ended without a join, that is noted. */
static bool is_settled(struct strobe_python_watch *watch, struct strobe_python_seen *one,
                       struct strobe_collector *collector)
{
    char exe[1024];
    if (strobe_collector_knows(collector, one->pid))
        return true;
    if (read_exe(one->pid, exe, sizeof exe)) {
        one->n_looks++;
        one->gone = false;
        return !is_interpreter(exe); /* by exec it became another program */
    }
    if (!one->gone) {
        one->gone = true;
        return false;
    }
    if (one->n_looks > 1)
        note(watch, one, collector, "");
    return true;
}

static void settle(struct strobe_python_watch *watch, struct strobe_collector *collector)
{
    for (uint32_t i = 0; i < watch->n_seen;) {
        if (is_settled(watch, &watch->seen[i], collector))
            watch->seen[i] = watch->seen[--watch->n_seen];
        else
            i++;
    }
}

/* ---- all of them ---- */

static uint32_t look_over(struct strobe_python_watch *watch, struct strobe_collector *collector)
{
    enum { DESCENDANTS_MAX = 512 };
    uint32_t pids[DESCENDANTS_MAX];
    char exe[1024];
    uint32_t n = strobe_descendants_list(pids, DESCENDANTS_MAX, UINT32_MAX);
    STROBE_ASSERT(n <= DESCENDANTS_MAX);
    for (uint32_t i = 0; i < n; i++)
        if (read_exe(pids[i], exe, sizeof exe) && is_interpreter(exe) &&
            !strobe_collector_knows(collector, pids[i]))
            meet(watch, pids[i], exe);
    return n;
}

void strobe_recorder_python_look(struct strobe_python_watch *watch,
                                 struct strobe_collector *collector, uint64_t newest)
{
    uint64_t now = strobe_clock_mono_ns();
    if (is_off())
        return;
    settle(watch, collector);
    if (now < watch->next_ns || (newest && newest == watch->newest && now < watch->look_anyway_ns))
        return;
    watch->newest = newest;
    uint32_t n = look_over(watch, collector);
    watch->next_ns = now + n * 50000000ull; /* many cost no more than a few */
    watch->look_anyway_ns = now + LOOK_ANYWAY_NS;
}

void strobe_recorder_python_end(struct strobe_python_watch *watch, const char *command,
                                struct strobe_collector *collector)
{
    char text[1600], exe[1024];
    if (is_off())
        return;
    look_over(watch, collector); /* those that outlive the recording */
    for (uint32_t i = 0; i < watch->n_seen; i++) {
        struct strobe_python_seen *one = &watch->seen[i];
        bool lives = read_exe(one->pid, exe, sizeof exe);
        if (strobe_collector_knows(collector, one->pid) || (lives && !is_interpreter(exe)) ||
            (!lives && one->n_looks < 2))
            continue;
        note(watch, one, collector,
             lives ? ", or had not come so far when the recording ended" : "");
    }
    watch->n_seen = 0;
    if (watch->full)
        strobe_collector_note(collector, 0,
                              "more Python interpreters than can be watched had not joined at "
                              "once: some of them may not be traced");
    if (watch->n_told || strobe_collector_status(collector).n_procs || !is_interpreter(command))
        return;
    snprintf(text, sizeof text, "%.1024s is %s", command, why);
    snprintf(watch->first, sizeof watch->first, "%s", command);
    strobe_collector_note(collector, 0, text);
}
