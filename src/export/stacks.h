/* stacks.h - a trace's stack samples as small numbers, for formats that name each function once: every address is looked up once, and samples
 * come thread by thread. Memory grows with the distinct addresses of the trace, never with its samples: these are sorted in files.
 *
 *   strobe_stacks_open ──► strobe_stacks_each (calls back for each sample, in order) ──► strobe_stacks_close
 *
 * Samples, and names of functions, are those of query/samples.h: counts add up to the same.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_STACKS_H
#define STROBE_EXPORT_STACKS_H

#include "query/samples.h"
#include "query/texts.h"
#include "query/trace.h"

/* A function of a file. */
struct strobe_stacks_function {
    uint32_t name, file; /* in the stacks' texts */
};

/* A function at an address: an address has several where one was inlined into the other. */
struct strobe_stacks_line {
    uint32_t function; /* index */
    uint32_t line;     /* 0: not known */
};

/* An address of a process. */
struct strobe_stacks_place {
    uint64_t address;
    uint32_t first, n; /* in lines: the innermost function first */
    uint32_t module;   /* index + 1 in trace->modules; 0: none is known */
};

/* One sample, or several of the same stack. Valid during the call. */
struct strobe_stacks_sample {
    uint32_t process, thread; /* indices */
    uint64_t tick;
    const uint32_t *places; /* indices, the innermost first */
    uint32_t n_places;
};

struct strobe_stacks {
    struct strobe_trace *trace; /* borrowed */
    struct strobe_texts texts;
    struct strobe_idmap function_ids;         /* (name, file) */
    struct strobe_stacks_function *functions; /* owned */
    uint32_t functions_room;
    struct strobe_stacks_line *lines; /* owned */
    uint32_t n_lines, lines_room;
    struct strobe_idmap place_ids;      /* (process, address) */
    struct strobe_stacks_place *places; /* owned */
    uint32_t places_room;
    uint64_t n_samples, n_bad_parts;
    uint64_t hz;              /* the rate that the recorder sampled at; 0: not known */
    struct strobe_sort *sort; /* owned */
};

enum strobe_stacks_order {
    STROBE_STACKS_BY_TIME,  /* of a thread: in the order in which they were taken */
    STROBE_STACKS_BY_STACK, /* of a thread: equal stacks one after the other */
};

/* Read all samples. NOMEM, errors of sort.h and what reading gives; close it in any case. */
enum strobe_err strobe_stacks_open(struct strobe_trace *trace,
                                   const struct strobe_samples_options *options,
                                   enum strobe_stacks_order order, struct strobe_stacks *out);
void strobe_stacks_close(struct strobe_stacks *stacks);

typedef enum strobe_err strobe_stacks_call(void *context,
                                           const struct strobe_stacks_sample *sample);

/* Hand out all samples, once: threads by index. Ends with the first error of `call`. */
enum strobe_err strobe_stacks_each(struct strobe_stacks *stacks, strobe_stacks_call *call,
                                   void *context);

/* What a sample stands for, in ns of CPU time, to the nearest; 0: not known. */
uint64_t strobe_stacks_period_ns(const struct strobe_stacks *stacks);

#endif
