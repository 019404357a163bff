/* merge.h - traces of one clock put together: the ranks of a machine, the services of one host.
 *
 * Events are copied as they are; processes get numbers of their own. Two files have one clock where each reading of the one lies
 * on the line of the other: that is proven, not assumed, by the readings that both recorders took. What was recorded on
 * another clock can't be put on the same axis so, and is refused.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_MERGE_H
#define STROBE_QUERY_MERGE_H

#include "query/trace.h"

/* How far two files' clocks are apart. */
struct strobe_merge_clock {
    int is_one; /* they are the same clock */
    uint64_t
        error_ns; /* at most, of a time of the one on the other's line: by their readings and the errors of these */
};

/* Compare the clock of a trace with that of another. */
struct strobe_merge_clock strobe_merge_compare(const struct strobe_trace *base,
                                               const struct strobe_trace *other);

/* What came of it. */
struct strobe_merge_result {
    uint32_t failed;   /* index of the trace that an error is about */
    uint32_t base;     /* whose clock the result has: that of the longest recording */
    uint64_t error_ns; /* the most of all */
    uint64_t n_bytes;
};

/* Write `n` traces into one at `path`, which must not be there (BUSY). `names`: how each is called in the result. INVALID: the
 * clocks of `failed` and of `base` are not one. The file is gone after a failure. */
enum strobe_err strobe_merge_write(struct strobe_trace *const *traces, const char *const *names,
                                   uint32_t n, const char *path,
                                   struct strobe_merge_result *result);

#endif
