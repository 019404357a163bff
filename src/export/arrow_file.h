/* arrow_file.h - columns as a file of Arrow (its IPC file format, also called Feather 2): what pyarrow, polars and pandas map into
 * memory. Texts are plain; nothing is compressed.
 *
 *   "ARROW1" 0 0 | message schema | messages of batches … | end | footer | length of the footer, 4 bytes | "ARROW1"
 *   message: ff ff ff ff | length of the head, 4 bytes | head (a flatbuffer), padded to 8 | buffers, each padded to 8
 *
 * https://arrow.apache.org/docs/format/Columnar.html has the rules, Schema.fbs, Message.fbs and File.fbs the tables.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_ARROW_FILE_H
#define STROBE_EXPORT_ARROW_FILE_H

#include "base/out.h"
#include "sql/columns.h"

/* All that is left of a reader. Memory: one batch. NOMEM, IO (out->error), and what the reader gives. */
enum strobe_err strobe_arrow_file_write(struct strobe_columns *reader, struct strobe_out *out,
                                        uint64_t *n_rows);

#endif
