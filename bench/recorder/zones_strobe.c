/* zones_strobe.c - the 16 places of recorder/nested.h in Strobe.  SPDX-License-Identifier: MIT */
#include "recorder/nested.h"

#include <strobe/strobe.h>

#define PLACE(i)                                             \
    {                                                        \
        0, "place " #i, "nested_begin", __FILE__, 100 + i, 0 \
    }
static struct strobe_loc places[NESTED_LOCATIONS] = {
    PLACE(0), PLACE(1), PLACE(2),  PLACE(3),  PLACE(4),  PLACE(5),  PLACE(6),  PLACE(7),
    PLACE(8), PLACE(9), PLACE(10), PLACE(11), PLACE(12), PLACE(13), PLACE(14), PLACE(15)};
static struct strobe_zone open_zones[NESTED_DEPTH];
static unsigned n_open;

void nested_begin(unsigned location)
{
    open_zones[n_open++] = strobe_zone_begin(&places[location]);
}

void nested_end(void)
{
    strobe_zone_end(&open_zones[--n_open]);
}

int nested_is_recorded(void)
{
    return strobe_recording();
}
