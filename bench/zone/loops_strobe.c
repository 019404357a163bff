/* loops_strobe.c - the loops of zone/loops.h in Strobe.  SPDX-License-Identifier: MIT */
#include "zone/loops.h"

#include <strobe/strobe.h>

void bench_zones(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        STROBE_ZONE(zone, "zone");
        BENCH_BARRIER();
        STROBE_ZONE_END(zone);
    }
}

void bench_zone_costs(uint64_t n, uint32_t *ticks)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t start = bench_ticks();
        {
            STROBE_SCOPE("measured zone");
            BENCH_BARRIER();
        }
        ticks[i] = (uint32_t)(bench_ticks() - start);
    }
}

int bench_is_recorded(void)
{
    return strobe_recording();
}
