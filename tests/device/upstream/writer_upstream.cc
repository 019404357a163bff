// writer_upstream.cc - the functions of writer.h over tt-metal's own streaming header, for RISC 0: found in a wheel when the test runs.
// SPDX-License-Identifier: MIT
#include "stubs.h"

#define PROFILE_KERNEL 1
#define PROFILE_STREAMING
#include "kernel_profiler_streaming.hpp"

#include "native.h"
#include "writer.h"

namespace kernel_profiler {
uint32_t wIndex;
}

void writer_begin(void)
{
    kernel_profiler::init_profiler();
    kernel_profiler::set_host_counter(native_core()->program);
}

void writer_end(void) { kernel_profiler::finish_profiler(); }

void writer_open(uint32_t, struct writer_zone *zone) { kernel_profiler::read_wall_clock(zone->high, zone->low); }

void writer_close(uint32_t id, const struct writer_zone *zone) { kernel_profiler::mark_zone_close(id, zone->high, zone->low); }

void writer_event(uint32_t id) { kernel_profiler::record_event(id); }
