/* stack_symbols.h - what a trace says of the addresses in its call stacks.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_STACK_SYMBOLS_H
#define STROBE_QUERY_STACK_SYMBOLS_H

#include "query/trace.h"

/* A function at an address: the innermost one first, then those that it was inlined into. */
struct strobe_stack_symbol {
    uint32_t function, file, image; /* in the symbols' texts */
    uint32_t line;
    uint32_t inlined;
    uint32_t next;  /* index + 1, by `inlined` */
    uint64_t start; /* of the function; 0: not known */
};

/* What SYMBOL records say, by address. Zero-initialise; load; free once. */
struct strobe_stack_symbols {
    struct strobe_texts texts;
    struct strobe_idmap ids;          /* (process, address) */
    uint32_t *first;                  /* owned: index + 1 in rows */
    struct strobe_stack_symbol *rows; /* owned */
    uint32_t first_room, n_rows, rows_room;
    uint64_t n_bytes; /* of the file when they were read */
};

/* Read them, if the file has grown since. */
enum strobe_err strobe_stack_symbols_load(struct strobe_trace *trace,
                                          struct strobe_stack_symbols *symbols);
void strobe_stack_symbols_free(struct strobe_stack_symbols *symbols);

/* The first symbol of an address; NULL: none is known. */
const struct strobe_stack_symbol *strobe_stack_symbol_of(const struct strobe_stack_symbols *symbols,
                                                         uint32_t process, uint64_t address);

/* The functions at an address, the innermost first, a line feed between them; "[module]" where no record names one, "[unknown]" without
 * a module. Into `room`; their length. For readers without the modules' files. */
uint32_t strobe_stack_functions(const struct strobe_trace *trace,
                                const struct strobe_stack_symbols *symbols, uint32_t process,
                                uint64_t address, char *room, size_t n_room);

/* The path of the module around an address, as text of the trace; 0: none. */
uint32_t strobe_stack_module_of(const struct strobe_trace *trace, uint32_t process,
                                uint64_t address);

#endif
