/* text.h - numbers and cells as Python writes them, and pieces of text. The text itself is a struct strobe_out in memory.
 * The reports must equal, byte for byte, what Python's str(), repr(), round() and "%.0f" give.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_TEXT_H
#define STROBE_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* A piece of somebody else's text. */
struct strobe_report_span {
    const char *at; /* borrowed: for as long as the text it points into */
    size_t len;
};

/* The shortest digits that read back as the same double, as Python's repr: 1.5, 1e+16, nan. */
void strobe_report_text_double(struct strobe_out *text, double value);

/* One CSV cell as the report has it, of any bytes: every ',' becomes ';', quotes only where csv needs them. */
void strobe_report_text_cell(struct strobe_out *text, const char *bytes, size_t len);

/* Python's round(value, digits) for a float: half to even on the exact binary value. */
double strobe_report_round(double value, int digits);

/* Python's round(value) as an integer: half to even; 0 for what does not fit. */
int64_t strobe_report_round_int(double value);

bool strobe_report_span_is(struct strobe_report_span span, const char *string);
bool strobe_report_span_has(struct strobe_report_span span, const char *needle);
struct strobe_report_span strobe_report_span_trim(struct strobe_report_span span);
/* The value of `key` in the loose JSON that a mark's meta data is: without quotes; false: not there. */
bool strobe_report_meta_member(struct strobe_report_span meta, const char *key,
                               struct strobe_report_span *out);

/* A whole decimal integer, spaces around it allowed. False when it is anything else or too big. */
bool strobe_report_span_int(struct strobe_report_span span, int64_t *out);
bool strobe_report_span_uint(struct strobe_report_span span, uint64_t *out);

#endif
