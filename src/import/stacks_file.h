/* stacks_file.h - files of stack samples as traces; docs/importing.md says what becomes of what. Files are recognized by their content. Memory is bounded;
 * what a trace has no place for is counted by kind and said in notes of the trace.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_STACKS_FILE_H
#define STROBE_IMPORT_STACKS_FILE_H

#include "base/err.h"
#include "import/bytes_in.h"
#include "import/stacks_in.h"

enum strobe_stacks_format {
    STROBE_STACKS_NO_FILE, /* it is none of these */
    STROBE_STACKS_FOLDED,
    STROBE_STACKS_PERF_SCRIPT,
    STROBE_STACKS_SPEEDSCOPE,
    STROBE_STACKS_PPROF,
    STROBE_STACKS_PERF_DATA,
    STROBE_STACKS_N_FORMATS,
};

/* What a format is called. */
const char *strobe_stacks_format_name(enum strobe_stacks_format format);

/* What a file's first bytes, unpacked, say. */
enum strobe_stacks_format strobe_stacks_file_format(const uint8_t *bytes, size_t n);
/* The same of a file; NO_FILE where it can't be read. */
enum strobe_stacks_format strobe_stacks_file_find(const char *path);

/* Read the file at `from` into a new trace at `to`. FORMAT: it is no such file, or has no sample. CORRUPT: it is damaged; there is no trace. */
enum strobe_err strobe_stacks_file_import(const char *from, const char *to,
                                          enum strobe_stacks_format format,
                                          struct strobe_stacks_result *out);
/* The same from memory. */
enum strobe_err strobe_stacks_file_import_bytes(const void *bytes, size_t n, const char *to,
                                                enum strobe_stacks_format format,
                                                struct strobe_stacks_result *out);

/* ---- the formats: samples to `in`. CORRUPT, FORMAT, LIMIT, NOMEM, errors of reading and writing ---- */
enum strobe_err strobe_folded_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in);
enum strobe_err strobe_perf_script_read(struct strobe_bytes_in *source,
                                        struct strobe_stacks_in *in);
enum strobe_err strobe_speedscope_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in);
enum strobe_err strobe_pprof_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in);
enum strobe_err strobe_perf_data_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in);

#endif
