/* clock_map.h - the map of a clock of its own (a Tracy client's, a device's) onto the trace's, as CLOCK_MAP records have it.
 *
 * A chain of pieces, each with its slope, continuous and rising, in integers only: whoever has the pieces
 * (docs/file-format.md, "A process with a clock of its own") computes the same, both ways. What is stored is never mapped anew:
 * a piece begins behind the latest time that was mapped. Who fits the pieces is the source's business.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_CLOCK_MAP_H
#define STROBE_BUILD_CLOCK_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { STROBE_CLOCK_MAP_PIECES = 1024 };

struct strobe_clock_map_piece {
    int64_t time;  /* on the own clock */
    uint64_t tick; /* on the trace's */
    uint64_t mult; /* ticks of the trace per tick of the own clock << 32 */
    uint64_t error_ns;
};

struct strobe_clock_map {
    struct strobe_clock_map_piece pieces[STROBE_CLOCK_MAP_PIECES]; /* the last ones, as a ring */
    uint64_t n_pieces;                                             /* ever made */
    int64_t latest; /* time that was mapped, by who says so: strobe_clock_map_see */
};

/* Another piece. `scale`: ticks of the trace per tick of the own clock; `error_ns` is rounded up. */
void strobe_clock_map_add(struct strobe_clock_map *map, int64_t time, uint64_t tick, double scale,
                          double error_ns);

/* Where the next piece may begin: the first tick that nothing up to `latest` has, and the least time that has it. */
void strobe_clock_map_behind(const struct strobe_clock_map *map, int64_t *time, uint64_t *tick);

/* The newest piece; there is one. */
const struct strobe_clock_map_piece *strobe_clock_map_last(const struct strobe_clock_map *map);

/* A time on the own clock as a tick of the trace. */
uint64_t strobe_clock_map_tick(const struct strobe_clock_map *map, int64_t time);
/* The least time that has this tick, up to pieces' ends: the time itself where ticks are finer than the own clock's. */
int64_t strobe_clock_map_time(const struct strobe_clock_map *map, uint64_t tick);

/* The piece that a time is in, for many times one after the other: good for those from `from` to before `until`. */
struct strobe_clock_map_run {
    int64_t from, until;
    struct strobe_clock_map_piece piece;
};
struct strobe_clock_map_run strobe_clock_map_run(const struct strobe_clock_map *map, int64_t time);

static inline bool strobe_clock_map_has(const struct strobe_clock_map_run *run, int64_t time)
{
    return time >= run->from && time < run->until;
}

/* The same tick as strobe_clock_map_tick has, for a time that the run has. */
static inline uint64_t strobe_clock_map_run_tick(const struct strobe_clock_map_run *run,
                                                 int64_t time)
{
    const struct strobe_clock_map_piece *piece = &run->piece;
    if (__builtin_expect(time >= piece->time, 1)) {
        uint64_t since = (uint64_t)time - (uint64_t)piece->time;
        return piece->tick + (uint64_t)((unsigned __int128)since * piece->mult >> 32);
    }
    __int128 ticks = ((__int128)time - piece->time) * (__int128)piece->mult >> 32;
    return piece->tick + (uint64_t)ticks;
}

static inline void strobe_clock_map_see(struct strobe_clock_map *map, int64_t time)
{
    if (time > map->latest)
        map->latest = time;
}

#endif
