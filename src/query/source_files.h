/* source_files.h - source files of this machine that a trace names. What a caller asks for must be a name that a record of the trace has: nothing else
 * is ever read.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_SOURCE_FILES_H
#define STROBE_QUERY_SOURCE_FILES_H

#include "query/trace.h"

enum { STROBE_SOURCE_FILE_MAX = 2 << 20 };

/* The file's text, to be freed; NULL with *why in words. Not of a file that is newer than the trace, or has a NUL. */
char *strobe_source_file_read(const struct strobe_trace *trace, const char *path, size_t *n_bytes,
                              const char **why);

#endif
