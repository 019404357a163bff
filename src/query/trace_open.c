/* trace_open.c - a trace by the path of its file.  SPDX-License-Identifier: MIT */
#include "query/trace.h"

enum strobe_err strobe_trace_open(const char *path, unsigned flags, struct strobe_trace **out)
{
    struct strobe_file *file;
    *out = NULL;
    enum strobe_err err = strobe_file_open(path, &file);
    return err ? err : strobe_trace_open_file(file, flags, out);
}
