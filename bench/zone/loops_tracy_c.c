/* loops_tracy_c.c - the loops of zone/loops.h in Tracy's C macros.  SPDX-License-Identifier: MIT */
#include "zone/loops.h"

#include <tracy/TracyC.h>

void bench_zones(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        TracyCZoneN(zone, "zone", 1);
        BENCH_BARRIER();
        TracyCZoneEnd(zone);
    }
}

void bench_zone_costs(uint64_t n, uint32_t *ticks)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t start = bench_ticks();
        {
            TracyCZoneN(zone, "measured zone", 1);
            BENCH_BARRIER();
            TracyCZoneEnd(zone);
        }
        ticks[i] = (uint32_t)(bench_ticks() - start);
    }
}

int bench_is_recorded(void)
{
    return TracyCIsConnected;
}
