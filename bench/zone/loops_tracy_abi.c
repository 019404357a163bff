/* loops_tracy_abi.c - the loops of zone/loops.h by calls of libTracyClient's functions, as a program makes them that was built with
 * Tracy's own header.  SPDX-License-Identifier: MIT */
#include "zone/loops.h"

#include <tracy/TracyC.h>

void bench_zones(uint64_t n)
{
    static const struct ___tracy_source_location_data loc = {"zone", __func__, __FILE__, __LINE__,
                                                             0};
    for (uint64_t i = 0; i < n; i++) {
        TracyCZoneCtx zone = ___tracy_emit_zone_begin(&loc, 1);
        BENCH_BARRIER();
        ___tracy_emit_zone_end(zone);
    }
}

void bench_zone_costs(uint64_t n, uint32_t *ticks)
{
    static const struct ___tracy_source_location_data loc = {"measured zone", __func__, __FILE__,
                                                             __LINE__, 0};
    for (uint64_t i = 0; i < n; i++) {
        uint64_t start = bench_ticks();
        TracyCZoneCtx zone = ___tracy_emit_zone_begin(&loc, 1);
        BENCH_BARRIER();
        ___tracy_emit_zone_end(zone);
        ticks[i] = (uint32_t)(bench_ticks() - start);
    }
}

int bench_is_recorded(void)
{
    return ___tracy_connected();
}
