/* pair.h - pairs what no track has alone, once, and writes it behind a trace's events: PAIRED blocks, as docs/file-format.md says.
 * Readers then need neither the time nor the memory for it. Memory is bounded: rows are sorted in a file.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PAIR_H
#define STROBE_QUERY_PAIR_H

#include "file/file_write.h"

/* To be called when all else is written, before strobe_file_finish. Writes nothing for a trace that has nothing to pair.
 * `folder`: where the sort makes its file; NULL: where the trace is. An error leaves a trace that readers pair themselves. */
enum strobe_err strobe_pair_write(struct strobe_file_writer *writer, const char *folder);

/* The same where the trace is: as the last of a recovery (collector/recover.h). */
enum strobe_err strobe_pair_write_last(struct strobe_file_writer *writer);

#endif
