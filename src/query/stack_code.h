/* stack_code.h - machine code and source texts that a trace has: what its CODE and SOURCE_FILE records say. They are read when somebody asks,
 * and not kept: a trace may have hundreds of MB of them.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_STACK_CODE_H
#define STROBE_QUERY_STACK_CODE_H

#include "query/trace.h"

enum { STROBE_STACK_CODE_MAX = 1 << 20, STROBE_STACK_SOURCE_MAX = 2 << 20 };

/* Where a function begins in a process. */
struct strobe_code_place {
    uint32_t process;
    uint64_t start;
};

/* The code of the first of these places of which the trace has some, as long as it goes on without a gap, up to STROBE_STACK_CODE_MAX bytes; to be
 * freed. NULL: there is none, or no memory. */
uint8_t *strobe_stack_code_of(struct strobe_trace *trace, const struct strobe_code_place *places,
                              uint32_t n_places, uint32_t *n_bytes);
/* The text of a source file, if the trace has all of it and it is no longer than STROBE_STACK_SOURCE_MAX; likewise. */
char *strobe_stack_source_of(struct strobe_trace *trace, const char *path, size_t *n_bytes);

/* Call `take` for each record of a trace, in the order of the file, until it returns 0. Errors of the file. */
enum strobe_err strobe_stack_records(struct strobe_trace *trace,
                                     int (*take)(void *context, const struct strobe_record *record),
                                     void *context);

#endif
