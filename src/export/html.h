/* html.h - a trace as one HTML file: the viewer's page with the trace inside. It opens from disk, with no
 * server and no network.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_HTML_H
#define STROBE_EXPORT_HTML_H

#include "base/err.h"
#include "base/out.h"
#include "query/trace.h"

/* What the page says and shows at first. */
struct strobe_html_options {
    const char *name; /* borrowed: of the trace */
    int is_piece;     /* it is cut from a larger one */
    int has_range;    /* the view begins with [from_ns, to_ns] after the origin, else with all */
    int64_t from_ns, to_ns;
    int with_sql;        /* the page's SQL, too: queries, explanations, comparisons */
    const char *notes;   /* borrowed: the text of file/notes.h, or NULL */
    const char *sources; /* borrowed: of strobe_html_sources; with it the page has its disassembler.
                          * NULL: neither */
};

/* Write the page with the bytes of the file `fd` (read from its start) in it. STROBE_ERR_IO: the file
 * can't be read. */
enum strobe_err strobe_html_write(int fd, const struct strobe_html_options *options,
                                  struct strobe_out *out);

/* The texts of the source files that symbols of the trace name, as far as they are on this machine and at most 8 MiB in all: JSON, an object of
 * texts by path. To be freed; NULL without memory. *n_files: how many. */
char *strobe_html_sources(struct strobe_trace *trace, uint32_t *n_files);

#endif
