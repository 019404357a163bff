/* counters.h - performance counters of ops: one value per op, core and counter.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_COUNTERS_H
#define STROBE_REPORT_COUNTERS_H

#include "report/devlog.h"

struct strobe_report_counter_value {
    uint64_t run;
    int64_t counter; /* trace counter; -1 */
    uint64_t time;
    double value, ref;
    int64_t x, y;          /* the core's place */
    uint32_t device, core; /* indices of the log */
    uint16_t kind;         /* into names */
};

/* All zero is empty. */
struct strobe_report_counters {
    struct strobe_report_counter_value *values; /* owned */
    size_t n, cap;
    char **names; /* owned: counter names, in the order they were seen */
    uint32_t n_names;
    uint32_t last_name; /* the newest, looked at first */
};

/* Book a counter marker; what is not one is ignored. False without memory. */
bool strobe_report_counters_take(struct strobe_report_counters *counters,
                                 const struct strobe_report_marker *marker);

/* Index of a counter's name; UINT32_MAX when it never occurred. */
uint32_t strobe_report_counters_name(const struct strobe_report_counters *counters,
                                     const char *name);

/* By device, op, core; the first of doubled values stays in front. Before any metric. */
void strobe_report_counters_sort(struct strobe_report_counters *counters);
void strobe_report_counters_free(struct strobe_report_counters *counters);

#endif
