/* zones_tracy.c - the 16 places of recorder/nested.h in Tracy.  SPDX-License-Identifier: MIT */
#include "recorder/nested.h"

#include <tracy/TracyC.h>

#define PLACE(i)                                          \
    {                                                     \
        "place " #i, "nested_begin", __FILE__, 100 + i, 0 \
    }
static const struct ___tracy_source_location_data places[NESTED_LOCATIONS] = {
    PLACE(0), PLACE(1), PLACE(2),  PLACE(3),  PLACE(4),  PLACE(5),  PLACE(6),  PLACE(7),
    PLACE(8), PLACE(9), PLACE(10), PLACE(11), PLACE(12), PLACE(13), PLACE(14), PLACE(15)};
static TracyCZoneCtx open_zones[NESTED_DEPTH];
static unsigned n_open;

void nested_begin(unsigned location)
{
    open_zones[n_open++] = ___tracy_emit_zone_begin(&places[location], 1);
}

void nested_end(void)
{
    ___tracy_emit_zone_end(open_zones[--n_open]);
}

int nested_is_recorded(void)
{
    return TracyCIsConnected;
}
