/* diff_format.h - a comparison as text: a table, Markdown for a pull request, a page of HTML, CSV, JSON.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_DIFF_FORMAT_H
#define STROBE_CLI_DIFF_FORMAT_H

#include "base/out.h"
#include "cli/diff_rows.h"

struct strobe_diff_show {
    const struct strobe_diff_subject *subject; /* borrowed */
    const char *format;                        /* table, markdown, html, csv, json */
    const char *metric;                        /* mean, self, total */
    uint32_t limit;                            /* rows of table, markdown and html */
    int all;                                   /* rows that did not change, too */
    double floor;
};

/* 0: there is no such format. */
int strobe_diff_knows(const char *format);
void strobe_diff_put(struct strobe_out *out, const struct strobe_diff_result *result,
                     const struct strobe_diff_show *show);

#endif
