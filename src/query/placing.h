/* placing.h - the clocks of several traces on one: which are the same, which were compared while they recorded (CLOCK_EXCHANGE),
 * and how well each is known then. Nothing is assumed of clocks that were never compared: they are placed by the wall clock, and
 * said to be.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PLACING_H
#define STROBE_QUERY_PLACING_H

#include "query/clock_fit.h"
#include "query/trace.h"

/* How far two files' clocks are apart. */
struct strobe_placing_clock {
    int is_one; /* they are the same clock */
    uint64_t
        error_ns; /* at most, of a time of the one on the other's line: by their readings and the errors of these */
};

/* Compare the clock of a trace with that of another, by the readings that both recorders took. */
struct strobe_placing_clock strobe_placing_compare(const struct strobe_trace *base,
                                                   const struct strobe_trace *other);

/* The origin of its times on CLOCK_REALTIME; 0: nobody read that clock, as in what is imported from a file without it. */
int64_t strobe_placing_started_unix_ns(const struct strobe_trace *trace);

/* 1: a file of another profiler, with times of the wall clock and no host: whoever merges it says that it is of the same host. */
int strobe_placing_is_of_host(const struct strobe_trace *trace);

/* Where a trace's times come from. */
struct strobe_placing_row {
    uint32_t how;                  /* enum strobe_clock_how */
    struct strobe_retime map;      /* owned; no pieces: its ticks are those of the base */
    struct strobe_clock_fit fit;   /* owned: COMPARED and THROUGH */
    uint64_t error_ns;             /* SAME: as of strobe_placing_clock */
    uint64_t likely_ns, proven_ns; /* the most, but where a clock was stepped */
    uint64_t unsure_ns;            /* and there */
    uint32_t n_steps, n_exchanges,
        n_flows; /* flows: from host to host, that made the bounds closer */
};

struct strobe_placing {
    struct strobe_placing_row *rows; /* owned: one for each trace */
    uint32_t n;
    uint32_t
        base; /* the trace whose clock all get: the longest recording of those that most others were compared with */
};

/* Place `n` traces. NOMEM; INVALID: *failed has no clock that could be placed at all. */
enum strobe_err strobe_placing_run(struct strobe_trace *const *traces, uint32_t n,
                                   struct strobe_placing *out, uint32_t *failed);
void strobe_placing_free(struct strobe_placing *placing);

#endif
