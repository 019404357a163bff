/* pick.h - which files of a folder are a run's, by their names. Opens nothing.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_IMPORT_PICK_H
#define STROBE_DEVICE_IMPORT_PICK_H

#include <stdbool.h>
#include <stddef.h>

/* Paths of a run's files, borrowed from the list that they were picked from; NULL: not there. */
struct strobe_device_log_picked {
    const char *log;                   /* profile_log_device.csv, or what the caller said */
    const char *sync;                  /* sync_device_info.csv */
    const char *sources, *new_sources; /* zone source locations: of all runs, of this one */
    const char *messages;              /* tracy_ops_data.csv */
    const char *times, *figures;       /* of the op report: host zones; the run's own */
    const char *tracy;                 /* the capture: by its usual name, else the only one */
};

/* The device log among `paths`: that of a folder .logs before any other. NULL: there is none. */
const char *strobe_device_log_pick_log(const char *const *paths, size_t n_paths);

/* The files beside `log`, which is one of `paths` or another file in the folder of its name. */
void strobe_device_log_pick(const char *const *paths, size_t n_paths, const char *log,
                            struct strobe_device_log_picked *out);

#endif
