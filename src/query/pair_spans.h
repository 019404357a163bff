/* pair_spans.h - begins and ends of spans, in the order of the file, become spans in fixed memory. By id they go through a sort in a file; an end
 * straight behind its begin, as importers write them, is paired at once. Rules: docs/file-format.md, "Spans".  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PAIR_SPANS_H
#define STROBE_QUERY_PAIR_SPANS_H

#include "file/replay.h"

/* A span that ended, or one that is open; or a begin or an end alone, which is none. */
struct strobe_pair_span {
    uint64_t begin, end; /* end UINT64_MAX: it is open */
    uint64_t loc;
    uint32_t process; /* index */
    uint32_t is_none;
    uint64_t place_tick,
        place_seq; /* by time, pairing would come to it here; of an open one, behind all others */
};
typedef enum strobe_err strobe_pair_span_sink(void *context, const struct strobe_pair_span *span);

struct strobe_pair_spans;

/* `folder` as of base/sort.h. `at_once`: pairs that stand together may be paired so. NOMEM. */
enum strobe_err strobe_pair_spans_open(const char *folder, int at_once, strobe_pair_span_sink *sink,
                                       void *context, struct strobe_pair_spans **out);
void strobe_pair_spans_close(struct strobe_pair_spans *spans); /* NULL is allowed */

/* A begin or an end, `seq` in the order of the file; what is paired at once goes to the sink. Errors of the sort and of the sink. */
enum strobe_err strobe_pair_spans_add(struct strobe_pair_spans *spans, uint32_t process,
                                      const struct strobe_loose *loose, uint64_t seq);

/* All came: the others go to the sink. */
enum strobe_err strobe_pair_spans_end(struct strobe_pair_spans *spans);

/* 1: an id was paired at once that is used elsewhere, too: what the sink got may be wrong, and all must be done again without that. */
int strobe_pair_spans_is_mixed(const struct strobe_pair_spans *spans);

#endif
