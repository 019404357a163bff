/* writer_classic.c - the classic writer, natively.  SPDX-License-Identifier: MIT */
#define PROFILE_KERNEL         9 /* with sums */
#define STROBE_DEVICE_PLATFORM "platform_native.h"
#include "writer_classic.h"

#include "strobe_device.h"

void classic_begin(void)
{
    strobe_classic_begin(STROBE_DEVICE_LANE);
    strobe_classic_guaranteed(0, 0, 1);
    strobe_classic_guaranteed(1, 0, 2);
}

void classic_end(void)
{
    strobe_classic_guaranteed(1, 1, 2);
    strobe_classic_guaranteed(0, 1, 1);
    strobe_classic_end(STROBE_DEVICE_LANE);
}

uint32_t classic_open(uint32_t id)
{
    return strobe_classic_open(STROBE_DEVICE_LANE, id, 0);
}

void classic_close(uint32_t id)
{
    strobe_classic_close(STROBE_DEVICE_LANE, id);
}

void classic_event(uint32_t id)
{
    strobe_classic_event(STROBE_DEVICE_LANE, id);
}

void classic_data(uint32_t id, const uint64_t *values, uint32_t n_values, uint32_t push)
{
    strobe_classic_data(STROBE_DEVICE_LANE, id, values, n_values, push);
}

void classic_program(uint32_t program)
{
    strobe_classic_program(program);
}

void classic_sum(uint32_t id, uint32_t start_low)
{
    strobe_classic_add(STROBE_DEVICE_LANE, 0, id, start_low);
}
