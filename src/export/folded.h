/* folded.h - stack samples as folded stacks, a line each: what flame graph tools and speedscope read.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_FOLDED_H
#define STROBE_EXPORT_FOLDED_H

#include "base/out.h"
#include "query/samples.h"

/* "process;outermost;...;innermost COUNT", in the order of the text. */
enum strobe_err strobe_folded_write(struct strobe_trace *trace,
                                    const struct strobe_samples_options *options,
                                    struct strobe_out *out, uint64_t *n_samples,
                                    uint64_t *n_bad_parts);

#endif
