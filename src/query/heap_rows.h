/* heap_rows.h - places that allocate, put together by what they have in common: rows of `strobe memory` and of the page's panel.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_HEAP_ROWS_H
#define STROBE_QUERY_HEAP_ROWS_H

#include "query/heap.h"

enum strobe_heap_by {
    STROBE_HEAP_BY_STACK = 0,    /* names are stacks: outermost;...;innermost */
    STROBE_HEAP_BY_FUNCTION = 1, /* that called the allocator */
    STROBE_HEAP_BY_ZONE = 2,     /* that was open, the innermost */
    STROBE_HEAP_BY_POOL = 3,
    STROBE_HEAP_N_BY = 4,
};
enum strobe_heap_order {
    STROBE_HEAP_LIVE = 0,
    STROBE_HEAP_PEAK = 1,
    STROBE_HEAP_BYTES = 2,
    STROBE_HEAP_ALLOCS = 3,
    STROBE_HEAP_TEMPORARY = 4,
    STROBE_HEAP_GROWTH = 5, /* live at the end less live at the start */
    STROBE_HEAP_N_ORDERS = 6,
};

/* Words for them; NULL: there is no such number. */
const char *strobe_heap_by_name(unsigned by);
const char *strobe_heap_order_name(unsigned order);

struct strobe_heap_row {
    uint32_t process; /* of its first place */
    uint32_t name;    /* in the rows' texts */
    struct strobe_heap_sums sums;
    uint64_t peak_bytes, n_peak; /* that lived when all was at its peak */
};

/* Functions at an address, the innermost first, a line feed between them, into `room`. */
struct strobe_heap_names {
    void *context;
    uint32_t (*functions)(void *context, uint32_t process, uint64_t address, char *room,
                          size_t n_room);
};

/* Zero-initialise; free once. */
struct strobe_heap_rows {
    struct strobe_texts texts;
    struct strobe_idmap ids;      /* (process, text) */
    struct strobe_heap_row *rows; /* owned: ids.n, in the order that was wanted */
    uint32_t rows_room;
};

/* Put the places of a heap together. NOMEM; free it in any case. */
enum strobe_err strobe_heap_rows_make(const struct strobe_trace *trace,
                                      const struct strobe_heap *heap, enum strobe_heap_by by,
                                      enum strobe_heap_order order,
                                      const struct strobe_heap_names *names,
                                      struct strobe_heap_rows *out);
void strobe_heap_rows_free(struct strobe_heap_rows *rows);

/* The figure that an order goes by. */
int64_t strobe_heap_row_weight(const struct strobe_heap_row *row, enum strobe_heap_order order);

/* The name of one place. */
enum { STROBE_HEAP_NAME_ROOM = 1 << 16 };
size_t strobe_heap_site_name(const struct strobe_trace *trace, const struct strobe_heap *heap,
                             uint32_t site, enum strobe_heap_by by,
                             const struct strobe_heap_names *names,
                             char room[STROBE_HEAP_NAME_ROOM]);

/* A stack as outermost;...;innermost; a text in brackets where none is known. Its length. */
size_t strobe_call_stacks_name(const struct strobe_call_stacks *stacks, uint32_t stack,
                               uint32_t process, const struct strobe_heap_names *names, char *room,
                               size_t n_room);

#endif
