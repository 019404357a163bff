/* python.c - the Python in what is recorded.
 * An interpreter joins by itself, through the package that is installed in it (python/_strobe_join.py); the recorder only sets the
 * environment. What it can't see in the session's folder it looks for in /proc, so that a trace says which
 * interpreters are missing from it.  SPDX-License-Identifier: MIT */
#include "recorder/python.h"

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
    return !strcmp(mode, "functions") || !strcmp(mode, "lines") || !strcmp(mode, "off");
}

int strobe_recorder_python_environment(const char *mode)
{
    const char *now = getenv("STROBE_PYTHON");
    if (!mode && now && now[0])
        return 0;
    return setenv("STROBE_PYTHON", mode ? mode : "functions", 1) ? errno : 0;
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
    "not traced: it has no strobe package (pip install strobe-profiler), or was started "
    "with -S, or is not CPython 3.9 or later with the GIL";

/* An interpreter without a file: the second look tells. */
static void meet(struct strobe_python_watch *watch, uint32_t pid, const char *exe,
                 struct strobe_collector *collector)
{
    uint32_t i = 0;
    while (i < watch->n_seen && watch->seen[i].pid != pid)
        i++;
    if (i == STROBE_PYTHONS_MAX) {
        if (!watch->full)
            strobe_collector_note(collector, 0, "more Python interpreters are not traced");
        watch->full = true;
        return;
    }
    if (i == watch->n_seen) {
        watch->seen[watch->n_seen++].pid = pid;
        watch->is_unsure = true;
        return;
    }
    if (watch->seen[i].told)
        return;
    char text[1600];
    snprintf(text, sizeof text, "%.1024s (pid %u) is %s", exe, pid, why);
    strobe_collector_note(collector, 0, text);
    watch->seen[i].told = true;
}

static void look_at(struct strobe_python_watch *watch, uint32_t pid,
                    struct strobe_collector *collector)
{
    char path[64], exe[1024];
    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    ssize_t n = readlink(path, exe, sizeof exe - 1);
    if (n <= 0)
        return;
    exe[n] = 0;
    if (is_interpreter(exe) && !strobe_collector_knows(collector, pid))
        meet(watch, pid, exe, collector);
}

void strobe_recorder_python_look(struct strobe_python_watch *watch,
                                 struct strobe_collector *collector)
{
    enum { DESCENDANTS_MAX = 512 };
    uint32_t pids[DESCENDANTS_MAX];
    uint64_t now = strobe_clock_mono_ns();
    if (is_off() || now < watch->next_ns)
        return;
    uint32_t newest = strobe_newest_pid();
    if (newest && newest == watch->newest_pid && !watch->is_unsure && now < watch->look_anyway_ns)
        return;
    watch->newest_pid = newest;
    watch->is_unsure = false;
    uint32_t n = strobe_list_descendants(pids, DESCENDANTS_MAX, UINT32_MAX);
    for (uint32_t i = 0; i < n; i++)
        look_at(watch, pids[i], collector);
    watch->next_ns = now + n * 50000000ull; /* many cost no more than a few */
    watch->look_anyway_ns = now + LOOK_ANYWAY_NS;
}

void strobe_recorder_python_end(const char *command, uint32_t n_procs,
                                struct strobe_collector *collector)
{
    char text[1600];
    if (is_off() || n_procs || !is_interpreter(command))
        return;
    snprintf(text, sizeof text, "%.1024s is %s", command, why);
    strobe_collector_note(collector, 0, text);
}
