/* ordered.h - events of all threads in the order of time, each with the zone that was open around it and its call stack.
 * For passes that pair over threads: memory, locks. Memory is bounded by what the file's blocks overlap in time, the distinct
 * stacks and the zones that are open.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_ORDERED_H
#define STROBE_QUERY_ORDERED_H

#include "query/trace.h"

/* Every distinct call stack once; rows name them by index. Zero-initialise; free once. */
struct strobe_call_stacks {
    struct strobe_idmap ids; /* (process, id of a STACK event), (NONE, number in texts) */
    uint32_t *entries;       /* owned: by index, the entry in `contents` + 1; 0: unknown */
    uint32_t entries_room;
    struct strobe_textmap contents; /* addresses as bytes, innermost first */
};

/* The addresses of a stack into `out`, innermost first, `most` at the most. How many it has; 0 where nothing is known of it. */
uint32_t strobe_call_stacks_get(const struct strobe_call_stacks *stacks, uint32_t stack,
                                uint64_t *out, uint32_t most);
void strobe_call_stacks_free(struct strobe_call_stacks *stacks);

enum { STROBE_ORDERED_FIELDS = 6 };

/* An event. Valid during the call. */
struct strobe_ordered_row {
    uint64_t tick;
    uint64_t order; /* of equal ticks: as the file has them */
    uint32_t process, thread;
    uint32_t root;  /* the thread, or the first of its tracks where it has several */
    uint32_t kind;  /* enum strobe_kind */
    uint32_t stack; /* in stacks; STROBE_IDMAP_NONE: it has none */
    uint32_t loc_process;
    uint64_t loc; /* id of the location of the innermost open zone, in loc_process; 0: none */
    uint64_t fields[STROBE_ORDERED_FIELDS]; /* its numbers */
};

/* Zero-initialise, set what is wanted, run once, free once. */
struct strobe_ordered {
    struct strobe_trace *trace; /* borrowed */
    void *context;              /* of take */
    enum strobe_err (*take)(void *context, const struct strobe_ordered_row *row);
    int (*is_over)(void *context); /* asked before each block; 1 ends it with LIMIT; NULL: never */
    uint64_t kinds;                /* wanted, bit per enum strobe_kind */
    const uint8_t *processes;      /* borrowed: by index, 0: leave it out; NULL: all */
    uint32_t n_processes;

    struct strobe_call_stacks stacks; /* result */
    uint64_t n_bad_parts;             /* result */
    uint64_t tick_last;               /* result: of all events of the trace */
};

/* 1: the trace may have events of these kinds. */
int strobe_ordered_may_have(const struct strobe_trace *trace, uint64_t kinds);

/* Hand out all events. NOMEM, what reading gives, or what `take` gave. */
enum strobe_err strobe_ordered_run(struct strobe_ordered *ordered);
void strobe_ordered_free(struct strobe_ordered *ordered);

#endif
