/* symbolize.h - names of the addresses that samples have, put into the trace at the end of a recording, so that it opens on any machine.
 *
 * Debug information is a stranger's, large and slow to read: a child process reads it, with limits on memory and CPU time, and
 * is ended after STROBE_SYMBOLIZE_NS. What it had found by then is in the trace; the rest is left to readers,
 * who find it by module and build id where the files are (query/symbols.h).  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_SYMBOLIZE_H
#define STROBE_SAMPLE_SYMBOLIZE_H

#include "build/build.h"
#include "sample/module.h"
#include "sample/wanted.h"

#define STROBE_SYMBOLIZE_NS 10000000000ull

/* Write SYMBOL records of all rows that have a name; the rows are sorted by it. The number of addresses that got one. */
uint32_t strobe_symbolize_run(struct strobe_build_store *store, struct strobe_wanted *wanted,
                              const struct strobe_modules *modules);

#endif
