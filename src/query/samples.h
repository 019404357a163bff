/* samples.h - what a trace's stack samples say: functions by the samples in them, or stacks by how often they were seen.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_SAMPLES_H
#define STROBE_QUERY_SAMPLES_H

#include "query/texts.h"
#include "query/trace.h"

struct strobe_samples_options {
    int folded; /* rows are stacks: process;outermost;...;innermost */
    int by_tick;
    uint64_t tick_min, tick_max;
    const uint8_t *processes; /* borrowed: by index, 0: leave it out; NULL: all */
    uint32_t n_processes;
};

/* A function, or a stack. */
struct strobe_samples_row {
    uint32_t name; /* in the samples' texts */
    uint64_t self,
        total; /* samples in it alone, and in what it called; a recursion counts once. Of a stack: the same */
    uint64_t last; /* number of the last sample that counted */
};

struct strobe_samples {
    struct strobe_texts texts;
    struct strobe_idmap ids;         /* (0, text): index in rows */
    struct strobe_samples_row *rows; /* owned */
    uint32_t rows_room;
    uint64_t n_samples;
    uint64_t n_bad_parts;
    uint64_t hz; /* the rate that the recorder sampled at; 0: not known, or not one */
};

/* Read all samples. NOMEM and what reading gives; free it in any case. */
enum strobe_err strobe_samples_run(struct strobe_trace *trace,
                                   const struct strobe_samples_options *options,
                                   struct strobe_samples *out);
void strobe_samples_free(struct strobe_samples *samples);

#endif
