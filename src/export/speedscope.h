/* speedscope.h - a trace in speedscope's own JSON: a `sampled` profile for each thread that has samples; of a trace without samples, an
 * `evented` one for each thread that has zones.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_SPEEDSCOPE_H
#define STROBE_EXPORT_SPEEDSCOPE_H

#include "base/out.h"
#include "query/samples.h"

struct strobe_speedscope_result {
    uint64_t n_samples; /* that were written */
    uint64_t n_zones;   /* likewise; 0 where there are samples */
    uint64_t n_bad_parts;
};

/* Write it. `name`: of the whole, for people. Each sample weighs 1/HZ of a second of CPU time, or 1 where the rate is not known. Zones without an end are closed
 * with the one around them, or with the last end of their thread. NOMEM, IO, and what reading gives. */
enum strobe_err strobe_speedscope_write(struct strobe_trace *trace,
                                        const struct strobe_samples_options *options,
                                        const char *name, struct strobe_out *out,
                                        struct strobe_speedscope_result *result);

#endif
