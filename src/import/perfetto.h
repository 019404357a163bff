/* perfetto.h - a trace of Perfetto's protobuf as a trace; docs/perfetto-files.md says what becomes of what. The file is read twice: who its tracks are, then
 * its events. Memory is bounded; packets that a trace has no place for are counted by kind and said in notes of the trace.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_PERFETTO_H
#define STROBE_IMPORT_PERFETTO_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "import/timeline.h"

/* 1: the first bytes of a file, unpacked, are those of such a file. */
int strobe_perfetto_is_file(const uint8_t *bytes, size_t n);
/* The same of a file; 0 where it can't be read. */
int strobe_perfetto_find(const char *path);

/* Read the file at `from` into a new trace at `to`. FORMAT: it is no such file. With CORRUPT and is_cut the trace is there, with what came before. */
enum strobe_err strobe_perfetto_import(const char *from, const char *to,
                                       struct strobe_timeline_result *out);
/* The same from memory. */
enum strobe_err strobe_perfetto_import_bytes(const void *bytes, size_t n, const char *to,
                                             struct strobe_timeline_result *out);

#endif
