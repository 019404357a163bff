/* nest.h - the zones of one lane of a device, put in the order of a thread: begins and ends by time.
 *
 * A device sends a zone when it closes, children before parents. So a begin can't be stored before it is sure that no zone that
 * began earlier is still to come. That is what the table of open zones is for: at the time of a table, every zone that had begun
 * was either closed, and then comes before the next table, or it stands in the table. So with each table all that began up to the
 * table before it is handed on, and what waits is what two tables lie apart.
 *
 *     zones ──► waiting, by begin ──► strobe_nest_advance(until) ──► steps: begin, begin, end, …
 *     table of open zones ─────────────────┘
 *
 * A source without tables is handed on when too many wait: then a parent may come when its children are out. It is stored where it
 * was in time, and counted as late. One nest belongs to one thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORD_NEST_H
#define STROBE_DEVICE_RECORD_NEST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "device/stream.h"
#include "file/encode.h"

#define STROBE_NEST_OPEN UINT64_MAX /* end of a zone that is not closed */

/* What a lane made: a zone, or a mark, which has a time and no end. */
enum strobe_nest_kind {
    STROBE_NEST_ZONE = 0,
    STROBE_NEST_EVENT = 1,
    STROBE_NEST_DATA = 2,
    /* Zones that a device added up are two, of one time and side by side: what is put in later goes before or behind both. */
    STROBE_NEST_SUM = 3, /* its value: all their cycles; its program: their number */
    STROBE_NEST_SUM_RANGE =
        4 /* its value: the most cycles of one, and in the lower half the least */
};

/* 24 bytes, and of a zone those that the decoder makes (device/stream.h): what waits is most of a recorder's memory for a device. */
struct strobe_nest_zone {
    uint64_t start;    /* cycles */
    uint64_t end;      /* cycles; of a mark: its value */
    uint32_t id : 29;  /* 27 bits, and some for zones of our own */
    uint32_t kind : 3; /* enum strobe_nest_kind */
    uint32_t program;
};
static_assert(sizeof(struct strobe_nest_zone) == 24,
              "what waits is stored, and bounded by its number");
static_assert(
    sizeof(struct strobe_device_zone) == sizeof(struct strobe_nest_zone) &&
        offsetof(struct strobe_device_zone, start) == 0 &&
        offsetof(struct strobe_device_zone, end) == 8 &&
        offsetof(struct strobe_device_zone, id) == 16 &&
        offsetof(struct strobe_device_zone, program) == 20,
    "a zone of the decoder is one of kind 0: its id has 27 bits, the lower ones of the word");

struct strobe_nest {
    struct strobe_nest_zone *waiting; /* owned: by begin, a parent before its children */
    /* owned: begun and not ended, outermost first. Their kind is 1 where the begin was handed on without a program */
    struct strobe_nest_zone *stack;
    uint32_t n_waiting, waiting_room, n_stack, stack_room;
    uint32_t
        most; /* that are to wait: room for more than a few is room for these; 0: grows as it has to */
    uint64_t out;    /* time up to which begins were handed on */
    uint64_t n_late; /* zones that began before that */
    uint64_t latest; /* time that was handed on the last time; 0: none */
};

/* A stretch of the trace's clock in cycles of the lane: at `cycles`, from `from` to before `until`, its tick is
 * tick + ((cycles + shift) * mult >> 32). */
struct strobe_nest_line {
    uint64_t from, until;
    uint64_t shift, tick, mult;
};

/* The location of an id that was asked for before, by id. */
struct strobe_nest_near {
    uint32_t key; /* id + 1, 0: none */
    uint64_t loc;
};
enum { STROBE_NEST_NEAR = 256 };

/* Who is handed what happened, in order. */
struct strobe_nest_taker {
    /* A stretch that has this time. */
    struct strobe_nest_line (*line)(void *context, uint64_t cycles);
    uint64_t (*loc)(void *context, uint32_t id);
    /* Zones (file/encode.h). An outermost one has its program as its value: behind its begin or, where it began without one,
     * since a table has none, before its end. */
    void (*steps)(void *context, const struct strobe_zone_step *steps, size_t n_steps);
    /* Whether the launch of that program is to be handed on with it; `launch` comes at once then, when the program has been. */
    bool (*is_launched)(void *context, uint32_t program);
    void (*launch)(void *context, uint64_t tick);
    void (*mark)(void *context, const struct strobe_nest_zone *mark, uint64_t tick);
    void *context;                 /* borrowed */
    struct strobe_nest_near *near; /* borrowed: STROBE_NEST_NEAR, all zero at first */
};

/* All zero is an empty nest. */
void strobe_nest_free(struct strobe_nest *nest);

/* Give back room for zones that wait beyond `room` of them, where they do not use it. */
void strobe_nest_shrink(struct strobe_nest *nest, uint32_t room);

/* Zones that closed, in the order in which they ended, and marks among them. NOMEM: none of them was taken. */
enum strobe_err strobe_nest_add(struct strobe_nest *nest, const struct strobe_nest_zone *zones,
                                size_t n_zones);

/* The same for zones alone, as the decoder makes them. */
enum strobe_err strobe_nest_add_closed(struct strobe_nest *nest,
                                       const struct strobe_device_zone *zones, size_t n_zones);

/* Hand on what happened up to `until`. `open`: zones that were open then, outermost first; those that are waiting as closed ones by now
 * are known by id and start. NOMEM: a zone's begin was not handed on; nor will its end be. */
enum strobe_err strobe_nest_advance(struct strobe_nest *nest, uint64_t until,
                                    const struct strobe_nest_zone *open, size_t n_open,
                                    const struct strobe_nest_taker *taker);

#endif
