/* clock_map.c - see the header.  SPDX-License-Identifier: MIT */
#include "build/clock_map.h"

#include "base/assert.h"

static const struct strobe_clock_map_piece *piece_at(const struct strobe_clock_map *map, uint64_t i)
{
    return &map->pieces[i % STROBE_CLOCK_MAP_PIECES];
}

static uint64_t first_kept(const struct strobe_clock_map *map)
{
    return map->n_pieces > STROBE_CLOCK_MAP_PIECES ? map->n_pieces - STROBE_CLOCK_MAP_PIECES : 0;
}

const struct strobe_clock_map_piece *strobe_clock_map_last(const struct strobe_clock_map *map)
{
    STROBE_ASSERT(map->n_pieces);
    return piece_at(map, map->n_pieces - 1);
}

struct strobe_clock_map_run strobe_clock_map_run(const struct strobe_clock_map *map, int64_t time)
{
    STROBE_ASSERT(map->n_pieces);
    uint64_t i = map->n_pieces - 1, first = first_kept(map);
    while (i > first && piece_at(map, i)->time > time)
        i--;
    struct strobe_clock_map_run run = {INT64_MIN, INT64_MAX, *piece_at(map, i)};
    if (i > first)
        run.from = run.piece.time;
    if (i + 1 < map->n_pieces)
        run.until = piece_at(map, i + 1)->time;
    STROBE_ASSERT(strobe_clock_map_has(&run, time));
    return run;
}

uint64_t strobe_clock_map_tick(const struct strobe_clock_map *map, int64_t time)
{
    struct strobe_clock_map_run run = strobe_clock_map_run(map, time);
    return strobe_clock_map_run_tick(&run, time);
}

int64_t strobe_clock_map_time(const struct strobe_clock_map *map, uint64_t tick)
{
    STROBE_ASSERT(map->n_pieces);
    uint64_t i = map->n_pieces - 1, first = first_kept(map);
    while (i > first && piece_at(map, i)->tick > tick)
        i--;
    const struct strobe_clock_map_piece *piece = piece_at(map, i);
    __int128 scaled = (__int128)(int64_t)(tick - piece->tick) * ((__int128)1 << 32);
    __int128 mult = piece->mult, time = scaled / mult;
    if (scaled > 0 && time * mult != scaled) /* rounded up; towards zero is up below it */
        time++;
    return (int64_t)((uint64_t)piece->time + (uint64_t)time);
}

void strobe_clock_map_add(struct strobe_clock_map *map, int64_t time, uint64_t tick, double scale,
                          double error_ns)
{
    STROBE_ASSERT(scale > 0);
    STROBE_ASSERT(!map->n_pieces || time > strobe_clock_map_last(map)->time);
    map->pieces[map->n_pieces % STROBE_CLOCK_MAP_PIECES] = (struct strobe_clock_map_piece){
        .time = time,
        .tick = tick,
        .mult = (uint64_t)(scale * 4294967296.0 + 0.5),
        .error_ns = error_ns < 1e18 ? (uint64_t)error_ns + 1 : (uint64_t)1e18,
    };
    map->n_pieces++;
}

void strobe_clock_map_behind(const struct strobe_clock_map *map, int64_t *time, uint64_t *tick)
{
    *time = strobe_clock_map_time(map, strobe_clock_map_tick(map, map->latest) + 1);
    *tick = strobe_clock_map_tick(map, *time);
}
