/* loops_lttng.c - the loops of zone/loops.h in LTTng-ust.  SPDX-License-Identifier: MIT */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "zone/lttng_points.h"

#include "zone/loops.h"

void bench_zones(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        lttng_ust_tracepoint(strobe_bench, zone_begin, 1);
        BENCH_BARRIER();
        lttng_ust_tracepoint(strobe_bench, zone_end, 1);
    }
}

void bench_zone_costs(uint64_t n, uint32_t *ticks)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t start = bench_ticks();
        lttng_ust_tracepoint(strobe_bench, zone_begin, 2);
        BENCH_BARRIER();
        lttng_ust_tracepoint(strobe_bench, zone_end, 2);
        ticks[i] = (uint32_t)(bench_ticks() - start);
    }
}

int bench_is_recorded(void)
{
    return lttng_ust_tracepoint_enabled(strobe_bench, zone_begin) != 0;
}
