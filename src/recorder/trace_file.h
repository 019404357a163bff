/* trace_file.h - the name of the trace while it is recorded. Anybody may rename or delete the file meanwhile; its data is the
 * recorder's until the end, so a deleted trace is written to a file again. Not thread-safe.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_TRACE_FILE_H
#define STROBE_RECORDER_TRACE_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "file/file_write.h"
#include "wire/file_layout.h"

/* states of strobe_trace_file_state, moved by strobe_trace_file_move:
 *
 *                  open            look
 *     UNWATCHED ---------> NAMED <------> NAMELESS -----> RESTORED
 *                                            |    settle
 *                                            +----------> LOST
 *
 *   UNWATCHED -> NAMED      strobe_trace_file_open: the file was just made (a flight recording has none, and stays)
 *   NAMED -> NAMELESS       strobe_trace_file_look: it was deleted, alone or with its folder, or another file took its place
 *   NAMELESS -> NAMED       strobe_trace_file_look: somebody gave it a name again
 *   NAMELESS -> RESTORED    strobe_trace_file_settle: the whole file was copied to a new name
 *   NAMELESS -> LOST        strobe_trace_file_settle: no copy could be made
 *
 * A file that is renamed stays NAMED and `path` follows it. */
enum strobe_trace_file_state {
    STROBE_TRACE_FILE_UNWATCHED = 0,
    STROBE_TRACE_FILE_NAMED,
    STROBE_TRACE_FILE_NAMELESS,
    STROBE_TRACE_FILE_RESTORED,
    STROBE_TRACE_FILE_LOST,
};

enum { STROBE_TRACE_PATH_MAX = PATH_MAX + 64 };

struct strobe_trace_file {
    enum strobe_trace_file_state state; /* strobe_trace_file_move writes it */
    int fd;                             /* owned: the file, whatever its name is; -1: UNWATCHED */
    char path[STROBE_TRACE_PATH_MAX];   /* its name, or the last that it had */
    struct strobe_file_head head;       /* as it was written */
    bool was_emptied;                   /* somebody truncated it: what was in it then is gone */
};

/* What a look found. */
enum strobe_trace_file_news {
    STROBE_TRACE_FILE_NO_NEWS = 0,
    STROBE_TRACE_FILE_IS_RENAMED, /* `path` is the new name */
    STROBE_TRACE_FILE_IS_DELETED,
    STROBE_TRACE_FILE_IS_REPLACED,    /* deleted, and another file has its name */
    STROBE_TRACE_FILE_FOLDER_IS_GONE, /* deleted with its folder */
    STROBE_TRACE_FILE_IS_EMPTIED, /* truncated; it has its head again, and what comes from now on */
};

/* Watch the file that `writer` writes at `path`. `file` is zeroed, with fd -1. After an error it is not watched. */
enum strobe_err strobe_trace_file_open(struct strobe_trace_file *file,
                                       const struct strobe_file_writer *writer, const char *path);

/* Where is it? Two or three questions to the kernel. What can't be found out (a folder that may not be read now) is no news. */
enum strobe_trace_file_news strobe_trace_file_look(struct strobe_trace_file *file);

/* The file is whole and nobody writes to it. A nameless one is copied: to its name if that is free, else to a name beside it (name-2 ...), else to
 * the nearest folder above that exists, else to the current folder, else to that of temporary files; `path` is where it is then. The
 * error is that of the last try. State: NAMED or NAMELESS. */
enum strobe_err strobe_trace_file_settle(struct strobe_trace_file *file);

/* Nothing is done to the file. Allowed in every state. */
void strobe_trace_file_close(struct strobe_trace_file *file);

/* The n-th name like `path`: the path itself, then path-2, path-3 ... */
void strobe_trace_nth_path(const char *path, uint32_t n, char *out, size_t cap);

#endif
