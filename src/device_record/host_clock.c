/* host_clock.c - see the header.  SPDX-License-Identifier: MIT */
#include "device_record/host_clock.h"

#include "base/assert.h"

enum { LEAST_NS = 10000000, MOST_NS = 1000000000 };

void strobe_host_clock_read(struct strobe_host_clock *clock, uint64_t tick, uint64_t mono_ns,
                            double error)
{
    STROBE_ASSERT(tick >= clock->tick && mono_ns >= clock->mono);
    if (!clock->mono0) {
        clock->tick0 = tick;
        clock->mono0 = mono_ns;
        clock->error0 = error;
    }
    clock->tick = tick;
    clock->mono = mono_ns;
    clock->error = error;
    if (mono_ns > clock->mono0)
        clock->ticks_per_ns = (double)(tick - clock->tick0) / (double)(mono_ns - clock->mono0);
}

bool strobe_host_clock_is_due(const struct strobe_host_clock *clock, uint64_t mono_ns)
{
    STROBE_ASSERT(clock->mono >= clock->mono0);
    uint64_t rest = (clock->mono - clock->mono0) / 2;
    rest = rest < LEAST_NS ? LEAST_NS : rest > MOST_NS ? MOST_NS : rest;
    return mono_ns - clock->mono >= rest;
}

uint64_t strobe_host_clock_tick(const struct strobe_host_clock *clock, uint64_t mono_ns)
{
    STROBE_ASSERT(clock->ticks_per_ns > 0);
    double since = (double)(int64_t)(mono_ns - clock->mono) * clock->ticks_per_ns;
    return clock->tick + (uint64_t)(int64_t)since;
}

double strobe_host_clock_error(const struct strobe_host_clock *clock)
{
    STROBE_ASSERT(clock->ticks_per_ns > 0);
    return (clock->error + (clock->error0 + clock->error) / 2) / clock->ticks_per_ns;
}
