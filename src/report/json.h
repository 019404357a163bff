/* json.h - a small JSON reader and Python's repr() of what it read.
 * Accepts what Python's json module accepts, NaN and Infinity included; nothing else.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_JSON_H
#define STROBE_REPORT_JSON_H

#include "base/err.h"
#include "report/text.h"

enum strobe_report_json_type {
    STROBE_REPORT_JSON_NULL,
    STROBE_REPORT_JSON_FALSE,
    STROBE_REPORT_JSON_TRUE,
    STROBE_REPORT_JSON_INT,
    STROBE_REPORT_JSON_FLOAT,
    STROBE_REPORT_JSON_STRING,
    STROBE_REPORT_JSON_LIST,
    STROBE_REPORT_JSON_DICT,
};

/* Nodes are numbers; 0 is "no such node". Node 1 is the whole text. */
struct strobe_report_json_node {
    enum strobe_report_json_type type;
    uint32_t key, key_len; /* of a dict's member: offset into strings */
    uint32_t text, len;    /* of a string or a number: offset into strings */
    uint32_t first, last;  /* children of a list or dict */
    uint32_t next;         /* the next child of the same parent */
};

/* One parsed text; use it again and again, its memory is kept. All zero is empty. */
struct strobe_report_json {
    struct strobe_report_json_node *nodes; /* owned */
    uint32_t n_nodes, cap_nodes;
    struct strobe_report_text strings; /* decoded strings and the digits of numbers */
};

/* Parse all of `bytes`. FORMAT where Python would raise, LIMIT when nested deeper than 100. */
enum strobe_err strobe_report_json_parse(struct strobe_report_json *json, const char *bytes,
                                         size_t len);
void strobe_report_json_free(struct strobe_report_json *json);

/* A dict's member, 0 when absent or `node` is no dict. Of doubled keys the last. */
uint32_t strobe_report_json_get(const struct strobe_report_json *json, uint32_t node,
                                const char *key);
uint32_t strobe_report_json_first(const struct strobe_report_json *json, uint32_t node);
uint32_t strobe_report_json_next(const struct strobe_report_json *json, uint32_t node);
struct strobe_report_span strobe_report_json_key(const struct strobe_report_json *json,
                                                 uint32_t node);

/* The text of a string or number; empty for anything else. */
struct strobe_report_span strobe_report_json_text(const struct strobe_report_json *json,
                                                  uint32_t node);

/* An integer's (or a string of digits') value. */
bool strobe_report_json_int(const struct strobe_report_json *json, uint32_t node, int64_t *out);
bool strobe_report_json_uint(const struct strobe_report_json *json, uint32_t node, uint64_t *out);
bool strobe_report_json_number(const struct strobe_report_json *json, uint32_t node, double *out);

/* Python's str() of a node: a string as it is, everything else as its repr(). */
void strobe_report_json_str(const struct strobe_report_json *json, uint32_t node,
                            struct strobe_report_text *out);

/* Python's repr() of a string. */
void strobe_report_python_repr(struct strobe_report_text *out, const char *bytes, size_t len);

#endif
