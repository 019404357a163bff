/* json.h - JSON as Python reads and prints it: base/json_tree.h with NaN and Infinity, any bytes in strings, and
 * repr().  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_JSON_H
#define STROBE_REPORT_JSON_H

#include <stdbool.h>

#include "base/json_tree.h"
#include "report/text.h"

/* Parse all of `bytes`. FORMAT where Python would raise, LIMIT when nested deeper than 100. */
enum strobe_err strobe_report_json_parse(struct strobe_json_tree *json, const char *bytes,
                                         size_t len);

/* A child of a list or dict and the next one; 0: none. */
static inline uint32_t strobe_report_json_first(const struct strobe_json_tree *json, uint32_t node)
{
    return strobe_json_tree_node(json, node)->first;
}

static inline uint32_t strobe_report_json_next(const struct strobe_json_tree *json, uint32_t node)
{
    return strobe_json_tree_node(json, node)->next;
}

struct strobe_report_span strobe_report_json_key(const struct strobe_json_tree *json,
                                                 uint32_t node);

/* The text of a string or number; empty for anything else. */
struct strobe_report_span strobe_report_json_text(const struct strobe_json_tree *json,
                                                  uint32_t node);

/* An integer's (or a string of digits') value. */
bool strobe_report_json_int(const struct strobe_json_tree *json, uint32_t node, int64_t *out);
bool strobe_report_json_uint(const struct strobe_json_tree *json, uint32_t node, uint64_t *out);
bool strobe_report_json_number(const struct strobe_json_tree *json, uint32_t node, double *out);

/* Python's str() of a node: a string as it is, everything else as its repr(). */
void strobe_report_json_str(const struct strobe_json_tree *json, uint32_t node,
                            struct strobe_out *out);

/* Python's repr() of a string. */
void strobe_report_python_repr(struct strobe_out *out, const char *bytes, size_t len);

#endif
