/* notes.h - the viewer's notes on a trace: a JSON text in a file beside it, `NAME.notes.json`.
 * What is in the text is the page's affair (docs/viewer-protocol.md, "notes"); here it is only kept.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_NOTES_H
#define STROBE_FILE_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { STROBE_NOTES_MAX_BYTES = 64 << 10 };

/* The notes on the trace at `path`: `*text` is owned by the caller, NUL-terminated, to be freed; NULL where there are none.
 * STROBE_ERR_LIMIT: they are too long to be ours. */
enum strobe_err strobe_notes_read(const char *path, char **text);

/* A number that tells these notes from others; of NULL too. */
uint64_t strobe_notes_state(const char *text);

/* Keep them instead of those before: all or, on failure, the old ones. Symbolic links are not followed. */
enum strobe_err strobe_notes_write(const char *path, const char *text, size_t n_bytes);

/* Remove them; none there is fine. */
void strobe_notes_delete(const char *path);

#endif
