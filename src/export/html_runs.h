/* html_runs.h - the bytes of a trace in the order in which a page wants them: all but the events first, which is little and enough for
 * a picture from afar.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_HTML_RUNS_H
#define STROBE_EXPORT_HTML_RUNS_H

#include "base/err.h"
#include "base/out.h"

struct strobe_html_run {
    uint64_t at, n_bytes;
};

struct strobe_html_runs {
    struct strobe_html_run *first, *rest; /* owned: both by offset */
    uint32_t n_first, first_room, n_rest, rest_room;
    uint64_t n_bytes, n_first_bytes; /* of the file; of `first` */
};

/* Look which bytes of a file are blocks of events. What is no trace is `first` as a whole. Zero-initialise before, free after a
 * failure too. IO, NOMEM. */
enum strobe_err strobe_html_runs_find(int fd, struct strobe_html_runs *out);
void strobe_html_runs_free(struct strobe_html_runs *runs);

/* How many pieces `first` becomes. */
uint64_t strobe_html_runs_first_pieces(const struct strobe_html_runs *runs);

/* Put all of them as pieces, an element each, with the places of its bytes ("AT+N AT+N …") and the bytes as base64. IO, NOMEM. */
enum strobe_err strobe_html_runs_put(const struct strobe_html_runs *runs, int fd,
                                     struct strobe_out *out);

void strobe_html_put_base64(struct strobe_out *out, const uint8_t *bytes, size_t n);

#endif
