/* record_pid.h - the session of a process that is given by its pid.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_PID_H
#define STROBE_CLI_RECORD_PID_H

#include <stdint.h>

#include "base/err.h"

/* The session in whose folder process `pid` (as /proc here has it) keeps its file, and by STROBE_DIR the folder of all. NOTFOUND: it has no such
 * file; ACCESS: it has one that can't be reached from here. */
enum strobe_err strobe_cli_find_session_of(uint32_t pid, char out[64]);

/* Say what to type to record it from inside. */
void strobe_cli_show_nsenter(uint32_t pid);

#endif
