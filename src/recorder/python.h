/* python.h - the Python in what is recorded: switched on, and named where it can't be traced.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_PYTHON_H
#define STROBE_RECORDER_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"

enum { STROBE_PYTHONS_MAX = 256 };

/* Interpreters among the command's descendants that have not joined. */
struct strobe_python_watch {
    struct {
        uint32_t pid;
        bool told;
    } seen[STROBE_PYTHONS_MAX];
    uint32_t n_seen;
    bool full;      /* more than that were met */
    bool is_unsure; /* the last look met one for the first time */
    uint32_t
        newest_pid;   /* of the machine, at the last look: none is needed while no process is new */
    uint64_t next_ns; /* when the next look is due: the later, the more there are */
    uint64_t look_anyway_ns;
};

/* Is it something that STROBE_PYTHON can say? */
bool strobe_recorder_python_mode(const char *mode);

/* Set the environment by which interpreters of the command join: `mode` NULL: as it is, else functions. 0 or errno. */
int strobe_recorder_python_environment(const char *mode);

/* Add a module or a file to a list of them in the environment. False: not one, or no memory. */
bool strobe_recorder_python_add(const char *variable, const char *value);

/* Look over this process's descendants, if it is time to: an interpreter that was there at the look before too and did not join
 * is noted in the trace, once. */
void strobe_recorder_python_look(struct strobe_python_watch *watch,
                                 struct strobe_collector *collector);

/* The command is over: note it if it was an interpreter by its name and nothing ever joined. */
void strobe_recorder_python_end(const char *command, uint32_t n_procs,
                                struct strobe_collector *collector);

#endif
