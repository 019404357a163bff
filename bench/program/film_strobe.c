/* film_strobe.c - the film with Strobe's zones.  SPDX-License-Identifier: MIT */
#include "program/scene.h"

#include <strobe/strobe.h>

#define FILM     film_traced
#define FILM_ROW traced_row
#define BEGIN(handle, name) \
    {                       \
        STROBE_ZONE(handle, name);
#define END(handle)          \
    STROBE_ZONE_END(handle); \
    }
#include "program/film.h"

int film_is_recorded(void)
{
    return strobe_recording();
}
