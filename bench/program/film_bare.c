/* film_bare.c - the film without zones.  SPDX-License-Identifier: MIT */
#include "program/scene.h"

#define FILM                film_bare
#define FILM_ROW            bare_row
#define BEGIN(handle, name) {
#define END(handle)         }
#include "program/film.h"
