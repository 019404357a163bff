/* folder.h - the traces of one folder. Never follows a name out of it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_FOLDER_H
#define STROBE_SERVE_FOLDER_H

#include <stdint.h>

#include "base/err.h"

enum { STROBE_FOLDER_MAX = 4096 };

struct strobe_folder_file {
    char name[256];
    uint64_t n_bytes;
    int64_t mtime_ns;
};

/* Zero-initialise; free once. */
struct strobe_folder {
    struct strobe_folder_file *files; /* owned: newest first, equal ones by name descending */
    uint32_t n_files, room;
};

/* List the traces of a folder: regular files only. */
enum strobe_err strobe_folder_list(const char *path, struct strobe_folder *out);
void strobe_folder_free(struct strobe_folder *folder);

/* Open a trace of the folder for reading; -1: there is none. Symbolic links are not followed. */
int strobe_folder_open(const char *path, const char *name);

/* Remove it. */
enum strobe_err strobe_folder_delete(const char *path, const char *name);

#endif
