/* diff_json.c - a comparison as JSON, for the command and for the page.  SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/assert.h"
#include "diff/diff.h"

const char *strobe_diff_verdict_name(enum strobe_diff_verdict verdict, int is_no_time)
{
    static const char *const names[] = {"slower",     "faster", "new",    "gone",
                                        "can't tell", "same",   "no test"};
    STROBE_ASSERT((size_t)verdict < sizeof names / sizeof names[0]);
    if (is_no_time && verdict <= STROBE_DIFF_FASTER)
        return verdict == STROBE_DIFF_SLOWER ? "more" : "less";
    return names[verdict];
}

static void write_row(struct strobe_json_writer *json, const struct strobe_diff_row *row,
                      int is_no_time)
{
    strobe_json_write_line(json, 2);
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_string(json, "verdict", strobe_diff_verdict_name(row->verdict, is_no_time));
    strobe_json_write_string(json, "name", row->name);
    strobe_json_write_string(json, "function", row->function);
    strobe_json_write_string(json, "file", row->file);
    strobe_json_write_double(json, "change", row->change);
    strobe_json_write_double(json, "low", row->low);
    strobe_json_write_double(json, "high", row->high);
    strobe_json_write_double(json, "p", row->p);
    strobe_json_write_double(json, "false_rate", row->false_rate);
    strobe_json_write_double(json, is_no_time ? "a" : "a_ns", row->value_ns[0]);
    strobe_json_write_double(json, is_no_time ? "b" : "b_ns", row->value_ns[1]);
    strobe_json_write_double(json, "a_count", row->count[0]);
    strobe_json_write_double(json, "b_count", row->count[1]);
    strobe_json_write_u(json, "a_runs", row->n_runs[0]);
    strobe_json_write_u(json, "b_runs", row->n_runs[1]);
    strobe_json_write_u(json, "need_runs",
                        row->verdict == STROBE_DIFF_UNKNOWN ? row->need_runs : 0);
    strobe_json_write_close(json, '}');
}

void strobe_diff_write(const struct strobe_diff_result *result, const char *of, const char *metric,
                       double floor, struct strobe_json_writer *json)
{
    strobe_json_write_u(json, "a_runs", result->n_runs[0]);
    strobe_json_write_u(json, "b_runs", result->n_runs[1]);
    strobe_json_write_string(json, "metric", metric);
    strobe_json_write_double(json, "floor", floor);
    strobe_json_write_double(json, "shift", result->has_shift ? result->shift : NAN);
    strobe_json_write_double(json, "shift_low", result->has_shift ? result->shift_low : NAN);
    strobe_json_write_double(json, "shift_high", result->has_shift ? result->shift_high : NAN);
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, of, '[');
    for (uint32_t i = 0; i < result->n_rows; i++)
        write_row(json, &result->rows[i], result->is_no_time);
    strobe_json_write_close(json, ']');
}
