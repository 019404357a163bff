/* python.h - the Python in what is recorded: switched on, and named where it can't be traced.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_PYTHON_H
#define STROBE_RECORDER_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"

enum { STROBE_PYTHONS_MAX = 256 };

/* Interpreters among the command's descendants that have not joined, or not yet: one may take seconds to come so far. So nothing
 * is said of one before it has ended, or the recording has. */
struct strobe_python_watch {
    struct strobe_python_seen {
        uint32_t pid;
        uint32_t
            n_looks; /* that saw it as an interpreter: one may have met a fork before its exec */
        bool gone;   /* the last look did not find it; what it left is drained before the next */
        char exe[256];
    } seen[STROBE_PYTHONS_MAX];
    uint32_t n_seen;
    uint32_t n_told;
    char first[256];  /* the program of the first that was noted, "": none */
    bool full;        /* more than that were met at once */
    uint64_t newest;  /* strobe_recorder_newest at the last look */
    uint64_t next_ns; /* when the next look is due: the later, the more there are */
    uint64_t look_anyway_ns;
};

/* Whether a process is a Python interpreter, by its program's name, which `out` gets. */
bool strobe_recorder_python_is(uint32_t pid, char *out, size_t cap);

/* Is it something that --python can say? */
bool strobe_recorder_python_mode(const char *mode);

/* Set the environment by which interpreters of the command join: `mode` NULL: as it is, else functions. 0 or errno. */
int strobe_recorder_python_environment(const char *mode);

/* Add a module or a file to a list of them in the environment. False: not one, or no memory. */
bool strobe_recorder_python_add(const char *variable, const char *value);

/* Look over this process's descendants, if it is time to. An interpreter that ended and never joined is noted in the trace. After a poll of
 * the collector. `newest` is strobe_recorder_newest. */
void strobe_recorder_python_look(struct strobe_python_watch *watch,
                                 struct strobe_collector *collector, uint64_t newest);

/* The recording is over and everything is drained: note the interpreters that have not joined; and the command, if it is one by its
 * name and nothing ever joined. */
void strobe_recorder_python_end(struct strobe_python_watch *watch, const char *command,
                                struct strobe_collector *collector);

#endif
