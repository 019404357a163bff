/* folders.h - where the report's files go, and the copies beside them.  SPDX-License-Identifier:
 * MIT */
#ifndef STROBE_REPORT_FOLDERS_H
#define STROBE_REPORT_FOLDERS_H

#include <stdbool.h>

#include "base/err.h"

enum { STROBE_REPORT_PATH = 4096 };

struct strobe_report_folders {
    char root[STROBE_REPORT_PATH]; /* artifacts root */
    char logs[STROBE_REPORT_PATH]; /* root/.logs, or the folder given */
    char out[STROBE_REPORT_PATH];  /* root/reports/[name/][date] */
    char suffix[512];              /* "[_name][_date]" of the files' names */
};

/* Find the folders of `dir`: a .logs folder or the root above it. `name` and `out_root` may be
 * NULL; `date` is "" for none. LIMIT for paths that are too long. */
enum strobe_err strobe_report_folders_find(struct strobe_report_folders *folders, const char *dir,
                                           const char *out_root, const char *name,
                                           const char *date);

/* Make the output folder, empty but for folders of older reports. */
enum strobe_err strobe_report_folders_make(const struct strobe_report_folders *folders);

/* Copy the capture file and npe_viz, where they exist. */
enum strobe_err strobe_report_folders_copy(const struct strobe_report_folders *folders);

/* Links without a date, in the folder above, to the dated report: the newest is always at the same
 * place. A name that is taken by a real file is left alone. */
void strobe_report_folders_link(const struct strobe_report_folders *folders, const char *name,
                                const char *date);

/* Path of an output file: out/<stem><suffix>.csv. */
void strobe_report_folders_path(const struct strobe_report_folders *folders, const char *stem,
                                char path[STROBE_REPORT_PATH]);

/* Copy one file; a reflink where the file system can. NOTFOUND when it is absent. */
enum strobe_err strobe_report_copy_file(const char *from, const char *to);

/* Begin a copy of `from` that somebody else writes while reading it. `*fd` is where; -1 when the
 * file system could clone it at once, or there is no such file. */
enum strobe_err strobe_report_copy_begin(const char *from, const char *to, int *fd);

/* Make a folder and those above it. */
enum strobe_err strobe_report_make_folder(const char *path);

#endif
