/* import_device.h - strobe import of a folder that a tt-metal run left.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_IMPORT_DEVICE_H
#define STROBE_CLI_IMPORT_DEVICE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* The files of a run, as far as they are there; "": not. */
struct strobe_cli_device_log {
    char log[PATH_MAX], sync[PATH_MAX], sources[PATH_MAX], new_sources[PATH_MAX];
    char messages[PATH_MAX], tracy[PATH_MAX], folder[PATH_MAX];
    char times[PATH_MAX], figures[PATH_MAX]; /* of the op report: host zones; the run's own */
    uint64_t n_bytes;                        /* of all of them */
};

/* The run's files: `path` is its folder, the one above its .logs, or the device log itself. False: there is no device log. */
bool strobe_cli_device_log_find(const char *path, struct strobe_cli_device_log *found);

/* Open them ahead, for a process that may open none. errno; 0: done. */
int strobe_cli_device_log_prepare(const struct strobe_cli_device_log *found);

/* Make the trace and say what became of it. 0: made, 1: made in part, 2: nothing was. */
int strobe_cli_device_log_import(const struct strobe_cli_device_log *found, const char *to);

#endif
