/* stacks_in.h - what importers of stack samples share: processes, threads and frames by name, samples in any order, put into a trace. Samples wait in files
 * (build/rows.h) until all were read, because their order and what one of them stands for is known only then.
 *
 *   open ──► process, thread, frame, sample … ──► strobe_stacks_in_write ──► close
 *
 * Memory is bounded: frames share 64 MiB, what finds no room is counted and said in the trace.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_STACKS_IN_H
#define STROBE_IMPORT_STACKS_IN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { STROBE_STACKS_IN_DEPTH = 4096, STROBE_STACKS_IN_NONE = 0 };

struct strobe_stacks_in;

/* A text of the file. */
struct strobe_stacks_text {
    const char *at; /* borrowed for the call */
    size_t n;
};

struct strobe_stacks_frame {
    struct strobe_stacks_text function, file, image;
    uint32_t line; /* 0: not known */
};

/* What weights mean. */
enum strobe_stacks_weight {
    STROBE_STACKS_COUNT, /* samples: a row of weight n is n samples */
    STROBE_STACKS_TIME,  /* ns: the least weight is one sample */
};

struct strobe_stacks_options {
    const char *from, *to; /* borrowed: the file that is read, for its name; the trace */
    enum strobe_stacks_weight weight;
    int has_times;      /* rows have times; else samples are put one after the other */
    uint64_t period_ns; /* of a sample; 0: not known */
};

/* How many of what. */
struct strobe_stacks_result {
    uint64_t n_samples; /* of the trace */
    uint64_t n_rows, n_set_aside, n_switches, n_processes, n_threads, n_frames;
};

enum strobe_err strobe_stacks_in_open(const struct strobe_stacks_options *options,
                                      struct strobe_stacks_in **out);
/* Free it; a trace that was not written is removed. NULL is allowed. */
void strobe_stacks_in_close(struct strobe_stacks_in *in);

/* Change what is known of weights and times before strobe_stacks_in_write. */
struct strobe_stacks_options *strobe_stacks_in_options(struct strobe_stacks_in *in);

/* The thread of a process, from 1; made at its first use. Names may be empty; the first that is not counts. STROBE_STACKS_IN_NONE: no room, counted. */
uint32_t strobe_stacks_in_thread(struct strobe_stacks_in *in, uint64_t pid,
                                 struct strobe_stacks_text process, uint64_t tid,
                                 struct strobe_stacks_text thread);

/* A made-up address that stands for a function in the thread's process. */
uint64_t strobe_stacks_in_frame(struct strobe_stacks_in *in, uint32_t thread,
                                const struct strobe_stacks_frame *frame);

/* A row: the innermost frame first, at most STROBE_STACKS_IN_DEPTH are kept. Errors of writing. */
enum strobe_err strobe_stacks_in_sample(struct strobe_stacks_in *in, uint32_t thread,
                                        int64_t time_ns, uint64_t cpu, uint64_t weight,
                                        const uint64_t *addresses, size_t n);

/* Code that the thread's process has mapped; samples of it have real addresses. `build_id`: in hex, or empty. */
void strobe_stacks_in_module(struct strobe_stacks_in *in, uint32_t thread, uint64_t base,
                             uint64_t size, uint64_t offset, struct strobe_stacks_text build_id,
                             struct strobe_stacks_text path);

/* The thread came to a processor, or left it. Errors of writing. */
enum strobe_err strobe_stacks_in_switch(struct strobe_stacks_in *in, uint32_t thread,
                                        int64_t time_ns, uint64_t cpu, int is_in);

/* Things of the file that a trace has no place for: `what` is a sentence behind the number, static. */
void strobe_stacks_in_leave_out(struct strobe_stacks_in *in, const char *what, uint64_t n);
/* A sentence for who opens the trace. */
void strobe_stacks_in_say(struct strobe_stacks_in *in, const char *sentence);

/* Write the trace. FORMAT: no row came, there is none. */
enum strobe_err strobe_stacks_in_write(struct strobe_stacks_in *in,
                                       struct strobe_stacks_result *out);

#endif
