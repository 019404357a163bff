/* inherit.h - what a trace that is made of others says of what is missing in them: blocks that are damaged, an end that is not there. A copy
 * leaves these out, and would look whole without it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_INHERIT_H
#define STROBE_QUERY_INHERIT_H

#include "file/retime.h"
#include "query/trace.h"

struct strobe_inherit_options {
    uint64_t proc_shift; /* added to the numbers of processes */
    const struct strobe_retime
        *retime; /* borrowed: to the ticks of the new trace; NULL: they stay */
    int is_part; /* not all of the trace was copied */
    int closed;  /* the new trace gets a footer: what it counts as lost goes there too */
};

/* Put a note and LOSS records behind what was copied of `from` into `to`; nothing where `from` is whole. Of all of a trace the events that are
 * missing are counted by its footer. Of a part nobody knows whether they belong to it, as of an end that is missing: that counts as
 * one event. Reads the trace once more where it is damaged. */
enum strobe_err strobe_inherit_losses(struct strobe_trace *from,
                                      const struct strobe_inherit_options *options,
                                      struct strobe_file_writer *to);

#endif
