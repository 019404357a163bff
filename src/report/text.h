/* text.h - text that grows, and numbers written as Python writes them.
 * The reports must equal, byte for byte, what Python's str(), repr(), round() and "%.0f" give.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_TEXT_H
#define STROBE_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty text. After a failed allocation `failed` stays set and nothing is added. */
struct strobe_report_text {
    char *at; /* owned: cap bytes, always with a NUL after len; NULL while empty */
    size_t len;
    size_t cap;
    bool failed;
};

/* A piece of somebody else's text. */
struct strobe_report_span {
    const char *at; /* borrowed: for as long as the text it points into */
    size_t len;
};

void strobe_report_text_add(struct strobe_report_text *text, const char *bytes, size_t len);
void strobe_report_text_adds(struct strobe_report_text *text, const char *string);
void strobe_report_text_addc(struct strobe_report_text *text, char c);
void strobe_report_text_int(struct strobe_report_text *text, int64_t value);
void strobe_report_text_uint(struct strobe_report_text *text, uint64_t value);
void strobe_report_text_format(struct strobe_report_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The shortest digits that read back as the same double, as Python's repr: 1.5, 1e+16, nan. */
void strobe_report_text_double(struct strobe_report_text *text, double value);

/* One CSV cell as the report has it: every ',' becomes ';', quotes only where csv needs them. */
void strobe_report_text_cell(struct strobe_report_text *text, const char *bytes, size_t len);

/* Forget the content, keep the memory. */
void strobe_report_text_clear(struct strobe_report_text *text);
void strobe_report_text_free(struct strobe_report_text *text);

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

/* 64 bits that differ where the bytes differ; not for hostile keys. */
uint64_t strobe_report_hash(const void *bytes, size_t len);

#endif
