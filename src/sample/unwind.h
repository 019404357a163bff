/* unwind.h - the callers of a sample, from its registers and the copy of its stack.
 *
 * For each frame, in this order: the row of .eh_frame (cfi.h), which a cache keeps by address; where the file
 * has none (code that was made at run time), a step by frame pointer; else the walk ends there and is cut.
 * The stack is never searched for what looks like an address.
 *
 * Callers are given as their return address - 1: an address in the call, so that a name or a line that is
 * looked up by it is that of the call, and not of what follows it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_UNWIND_H
#define STROBE_SAMPLE_UNWIND_H

#include "sample/maps.h"

enum {
    STROBE_UNWIND_REGS = 17,
    STROBE_UNWIND_CACHE = 1 << 15,
    STROBE_UNWIND_WIDE = 32,
    STROBE_UNWIND_MAX = 512
};

/* Registers by DWARF's numbers: 6 frame pointer, 7 stack pointer, 16 program counter. */
enum { STROBE_UNWIND_BX = 3, STROBE_UNWIND_BP = 6, STROBE_UNWIND_SP = 7, STROBE_UNWIND_IP = 16 };

struct strobe_unwind_sample {
    uint64_t regs[STROBE_UNWIND_REGS];
    const uint8_t *stack; /* borrowed: n_stack bytes from the stack pointer upwards */
    uint64_t n_stack;
};

enum strobe_unwind_end {
    STROBE_UNWIND_WHOLE = 0, /* reached the outermost frame */
    STROBE_UNWIND_CUT,       /* nothing describes a frame */
    STROBE_UNWIND_SHORT,     /* the copy of the stack, or the room, ended */
};

struct strobe_unwinder {
    struct strobe_unwind_cached {
        uint64_t vaddr;
        uint32_t module; /* 0: empty */
        struct strobe_cfi_row row;
        bool has_row;
    } cache[STROBE_UNWIND_CACHE];
    /* Rows that hold for many addresses, the last ones that were looked up: an interpreter's loop has thousands with one row. */
    struct strobe_unwind_wide {
        struct strobe_cfi_span span;
        uint32_t module; /* 0: empty */
        struct strobe_cfi_row row;
    } wide[STROBE_UNWIND_WIDE];
    uint32_t n_wide;             /* that were put there so far */
    uint64_t n_looked, n_missed; /* rows asked for; of these not in the cache */
};

/* A stack: addresses, the innermost first, and the stack pointer of each frame. */
struct strobe_unwind_stack {
    uint64_t addresses[STROBE_UNWIND_MAX], sps[STROBE_UNWIND_MAX];
    uint32_t n;
};

/* The stack of a sample; at least one frame. */
enum strobe_unwind_end strobe_unwind_run(struct strobe_unwinder *unwinder, struct strobe_maps *maps,
                                         const struct strobe_unwind_sample *sample,
                                         struct strobe_unwind_stack *out);

/* Add the outer frames of the same thread's stack before: where that has the outermost frame of this one, at the same place with the same address. A
 * thread deep in calls returns to the same callers, which a copy of the stack is too short for. False: it has not. */
bool strobe_unwind_join(struct strobe_unwind_stack *stack,
                        const struct strobe_unwind_stack *before);

#endif
