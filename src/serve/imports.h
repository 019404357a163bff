/* imports.h - files of other profilers on their way to becoming traces, each by a thread of its own, so that no page waits
 * for another's file. One import per file, however many pages want it.
 *
 *   strobe_imports_want ──► RUNNING (its thread calls `convert`) ──► DONE | FAILED, seen by strobe_import_state
 *
 * Calls are for one thread; `convert` runs on the import's own.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_IMPORTS_H
#define STROBE_SERVE_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

enum { STROBE_IMPORTS_MAX = 16 };

/* What an import's thread and the server tell each other. */
struct strobe_import_watch {
    _Atomic uint32_t per_mille; /* how far it is */
    _Atomic int is_cancelled;   /* nobody wants it any more: end soon */
    char why[256];              /* why it failed; read when it has ended */
};

/* Make a trace of the file at `path`: its path goes to `out`. 0: it can't be, and watch->why says why. Blocks. */
typedef int (*strobe_convert)(void *context, const char *path, char *out, size_t room,
                              struct strobe_import_watch *watch);

enum strobe_import_state { STROBE_IMPORT_RUNNING, STROBE_IMPORT_DONE, STROBE_IMPORT_FAILED };

struct strobe_import;
struct strobe_imports;

/* `wake` is called by an import's thread when it ends. NULL without memory. */
struct strobe_imports *strobe_imports_new(strobe_convert convert, void *context,
                                          void (*wake)(void *wake_context), void *wake_context);
void strobe_imports_free(
    struct strobe_imports *imports); /* cancels all and waits; NULL is allowed */

/* The import of a file, begun if it is not under way; one more page wants it. NULL: there are too many, or no memory. */
struct strobe_import *strobe_imports_want(struct strobe_imports *imports, const char *path);
/* A page has its answer, or is gone. Without any the import is cancelled and forgotten. */
void strobe_imports_leave(struct strobe_imports *imports, struct strobe_import *import);

/* Where it stands. DONE: `*text` is the trace's path; FAILED: why. */
enum strobe_import_state strobe_import_state(const struct strobe_import *import, const char **text);
uint32_t strobe_import_per_mille(const struct strobe_import *import);

#endif
