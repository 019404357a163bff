/* ready.h - files that were opened ahead, for a process that may open none any more (base/confine.h).
 *
 * Who reads or writes files of a name opens them by strobe_ready_open. Where nothing was prepared that is open(2). What is to be there is prepared by
 * one thread, before others are made.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_READY_H
#define STROBE_BASE_READY_H

#include <stdbool.h>

enum { STROBE_READY_MAX = 24 };

/* open(2) with O_CLOEXEC, or a descriptor of what was prepared by that very name, at its start. -1 with errno. */
int strobe_ready_open(const char *path, int flags, unsigned mode);

/* A file without a name in `folder`, or one that was prepared. -1 with errno. NULL: in $TMPDIR or /tmp. */
int strobe_ready_unnamed(const char *folder);

/* Open `path` now for a later strobe_ready_open; the descriptor stays ours. -1 with errno. */
int strobe_ready_prepare(const char *path, int flags, unsigned mode);
/* The folder in which `path` is, likewise, and `n_unnamed` files without a name in it. -1 with errno. */
int strobe_ready_prepare_folder(const char *path, int n_unnamed);

/* From now on nothing is there but what was prepared: the rest is ENOENT, and no call is made for it. */
void strobe_ready_seal(void);
/* Whether a file is there for strobe_ready_open. */
bool strobe_ready_has(const char *path);

/* Close what was prepared and is still there. */
void strobe_ready_forget(void);

#endif
