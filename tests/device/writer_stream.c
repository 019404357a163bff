/* writer_stream.c - the streaming writer, natively.  SPDX-License-Identifier: MIT */
#define PROFILE_KERNEL 1
#define PROFILE_STREAMING
#define STROBE_DEVICE_PLATFORM "platform_native.h"
#include "strobe_device.h"
#include "writer.h"

void writer_begin(void)
{
    strobe_stream_begin(STROBE_DEVICE_LANE);
}

void writer_end(void)
{
    strobe_stream_end(STROBE_DEVICE_LANE);
}

void writer_program(uint32_t program)
{
    strobe_stream_program(STROBE_DEVICE_LANE, program);
}

void writer_validate(int valid)
{
    strobe_stream_validate(STROBE_DEVICE_LANE, (uint32_t)valid);
}

void writer_open(uint32_t id, struct writer_zone *zone)
{
    struct strobe_stream_zone opened;
    strobe_stream_open(STROBE_DEVICE_LANE, id, &opened);
    *zone = (struct writer_zone){opened.start_low, opened.start_high, opened.top};
}

void writer_close(uint32_t id, const struct writer_zone *zone)
{
    struct strobe_stream_zone opened = {zone->low, zone->high, zone->top};
    strobe_stream_close(STROBE_DEVICE_LANE, id, &opened);
}

void writer_sum(uint32_t id, const struct writer_zone *zone)
{
    strobe_stream_close_sum(STROBE_DEVICE_LANE, id, zone->low, zone->high);
}

void writer_event(uint32_t id)
{
    strobe_stream_event(STROBE_DEVICE_LANE, id);
}

void writer_data(uint32_t id, const uint64_t *values, uint32_t n_values)
{
    strobe_stream_data(STROBE_DEVICE_LANE, id, values, n_values);
}
