/* lttng_points.h - a zone in LTTng-ust: a tracepoint at its begin, one at its end, each with the
 * location's number.  SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER strobe_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "zone/lttng_points.h"

#if !defined(BENCH_ZONE_LTTNG_POINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_ZONE_LTTNG_POINTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(strobe_bench, zone_begin, LTTNG_UST_TP_ARGS(unsigned, location),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, location,
                                                                       location)))
LTTNG_UST_TRACEPOINT_EVENT(strobe_bench, zone_end, LTTNG_UST_TP_ARGS(unsigned, location),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, location,
                                                                       location)))

#endif
#include <lttng/tracepoint-event.h>
