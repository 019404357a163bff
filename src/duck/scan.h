/* scan.h - the tables of a trace as table functions of DuckDB.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DUCK_SCAN_H
#define STROBE_DUCK_SCAN_H

#include <stdatomic.h>

#include "duck/library.h"
#include "sql/sql.h"

/* What scans read; it outlives them. */
struct strobe_duck_scans {
    const struct strobe_duck_library *library; /* borrowed */
    struct strobe_sql *sql;                    /* borrowed: gets what scans met of damage */
    const char *const *paths;                  /* borrowed: n_paths */
    unsigned n_paths;
    const atomic_int *stop; /* borrowed: not 0 ends every scan */
};

/* Make the tables known to a connection, each as a function of its name. 0: DuckDB refuses. */
int strobe_duck_scans_register(struct strobe_duck_scans *scans, duck_object db,
                               duck_object connection);

#endif
