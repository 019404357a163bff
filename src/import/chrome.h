/* chrome.h - a file of Chrome's JSON trace format as a trace; docs/chrome-files.md says what becomes of what.
 * Memory is bounded, whatever the file's size; what a trace has no place for is counted and told in notes of the trace.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_CHROME_H
#define STROBE_IMPORT_CHROME_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "import/timeline.h"

/* Read the file at `from` into a new trace at `to`. FORMAT: it is no such file. With CORRUPT and is_cut the trace is there,
 * with what came before. */
enum strobe_err strobe_chrome_import(const char *from, const char *to,
                                     struct strobe_timeline_result *out);

/* The same from memory. */
enum strobe_err strobe_chrome_import_bytes(const void *bytes, size_t n_bytes, const char *to,
                                           struct strobe_timeline_result *out);

/* 1: the first bytes of a file may be those of such a file. */
int strobe_chrome_is_file(const uint8_t *bytes, size_t n_bytes);

#endif
