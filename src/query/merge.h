/* merge.h - traces put together: the ranks of a job, the services of one host, the hosts of a cluster.
 *
 * Events of traces of one clock are copied as they are; those of other clocks are put on the axis of the longest recording
 * (placing.h), with an error that the result says. Processes get numbers of their own.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_MERGE_H
#define STROBE_QUERY_MERGE_H

#include "query/placing.h"

/* What came of it. */
struct strobe_merge_result {
    uint32_t failed;               /* index of the trace that an error is about */
    struct strobe_placing placing; /* owned: freed by strobe_merge_result_free */
};

/* Write `n` traces into one at `path`, which must not be there (BUSY). `names`: how each is called in the result. INVALID:
 * `failed` has no clock, or there is none to put it on. The file is gone after a failure. */
enum strobe_err strobe_merge_write(struct strobe_trace *const *traces, const char *const *names,
                                   uint32_t n, const char *path,
                                   struct strobe_merge_result *result);
void strobe_merge_result_free(struct strobe_merge_result *result);

#endif
