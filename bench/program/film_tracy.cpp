// film_tracy.cpp - the film with Tracy's zones.  SPDX-License-Identifier: MIT
#include "program/scene.h"

#include <tracy/Tracy.hpp>

#define FILM     film_traced
#define FILM_ROW traced_row
#define BEGIN(handle, name) \
    {                       \
        ZoneScopedN(name);
#define END(handle) }
#include "program/film.h"

int film_is_recorded(void)
{
    return TracyIsConnected;
}
