/* symbols.h - names of code addresses: module and offset where the module is known, the function where the trace
 * tells it or the module's file is at hand with the same build id.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_SYMBOLS_H
#define STROBE_QUERY_SYMBOLS_H

#include "query/trace.h"

struct strobe_symbols;

/* NULL without memory. The trace must outlive it. */
struct strobe_symbols *strobe_symbols_open(struct strobe_trace *trace);
void strobe_symbols_close(struct strobe_symbols *symbols); /* NULL is allowed */

/* "function (module+0x12)", "inlined < function (image 0x1234)", "module+0x12" or "0x1234"; valid until the next
 * call. */
const char *strobe_symbols_name(struct strobe_symbols *symbols, uint32_t process, uint64_t address,
                                uint32_t *n_bytes);

/* The functions at an address, the innermost first, a line feed between them; "[module]" where none is known, "[unknown]" without a
 * module. Into `room`; their length. */
uint32_t strobe_symbols_functions(struct strobe_symbols *symbols, uint32_t process,
                                  uint64_t address, char *room, size_t n_room);

#endif
