/* scene.h - the part of the small ray tracer that all variants of a film share: the work itself.
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PROGRAM_SCENE_H
#define BENCH_PROGRAM_SCENE_H

#ifdef __cplusplus
extern "C" {
#endif

enum { FILM_WIDTH = 32, FILM_HEIGHT = 32, FILM_TILE = 16 };

/* Brightness of one pixel; about a microsecond. Never inlined, so that every film runs the same
 * code. */
float scene_pixel(int x, int y);

/* The same picture three times: without zones, with bare clock reads and stores, with the tracer
 * under test. Zones: frame, tile, row, pixel. */
float film_bare(void);
float film_limit(void);
float film_traced(void);

/* 1 once somebody takes the events. */
int film_is_recorded(void);

#ifdef __cplusplus
}
#endif

#endif
