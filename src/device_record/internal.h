/* internal.h - what the files of this room share: one device.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORD_INTERNAL_H
#define STROBE_DEVICE_RECORD_INTERNAL_H

#include "base/map.h"
#include "device/classic.h"
#include "device/stream.h"
#include "device_record/device.h"
#include "device_record/nest.h"

enum {
    STROBE_DEVICE_PROGRAMS = 8192, /* whose names and launches are remembered: the last ones */
    STROBE_DEVICE_FLOWS = 65536,   /* launches that have not begun, of all programs */
    STROBE_DEVICE_TABLE = 16,      /* open zones of a table */
    STROBE_DEVICE_RISCS = 24,
    STROBE_DEVICE_POOLS = 5,
    STROBE_DEVICE_WAITING = 3 << 18, /* zones of all lanes that wait, at most: see lanes.c */
    STROBE_DEVICE_LANE_LEAST = 64,   /* of one lane, however many there are */
    STROBE_DEVICE_LANE_MOST = 8192,
    STROBE_DEVICE_RECENT = 4, /* zones of a classic buffer that its next piece may repeat */
};

struct strobe_device_slot {
    uint32_t program;
    uint32_t
        lane; /* that the flows of its launches end on: the first that ran it; UINT32_MAX: none */
    uint32_t first_flow,
        last_flow; /* its launches that have not begun: places + 1 in `flows`, 0: none */
    char name[64];
};

/* A launch that has not begun. */
struct strobe_device_flow {
    uint64_t flow;
    uint32_t next; /* of the same program, or of the free places: place + 1, 0: none */
};

/* What the classic form needs to know of a lane. */
struct strobe_device_buffer_lane {
    struct strobe_device_pairs pairs;
    struct strobe_nest_zone recent[STROBE_DEVICE_RECENT]; /* the last zones, as a ring */
    uint32_t n_recent;
    bool is_full; /* its part of DRAM was */
};

/* A processor of a core. */
struct strobe_device_track {
    struct strobe_build_track *track; /* borrowed from the build; NULL: over the budget */
    struct strobe_nest nest;
    struct strobe_nest_zone table[STROBE_DEVICE_TABLE]; /* zones that were open at table_time */
    uint32_t n_table;
    uint64_t table_time; /* cycles of the core */
    bool has_table;
    uint64_t latest;                                /* time that it sent, of its cycles; 0: none */
    uint64_t n_zones, n_marks, n_summed, n_dropped; /* since the device's last reset */
    uint64_t total_emitted,
        total_dropped;        /* as the device counts; emitted: UINT64_MAX if it does not */
    bool is_damaged, has_gap; /* words made no sense; words did not come */
    uint32_t n_resets;        /* that left zones open on its track: it has another one then */
    struct strobe_device_buffer_lane *buffer; /* owned; NULL: streaming */
};

struct strobe_device_place {
    struct strobe_device_track *lanes[STROBE_DEVICE_RISCS]; /* owned; NULL: not seen yet */
    struct strobe_device_core_facts facts;
    bool has_facts;
};

struct strobe_device_trace {
    struct strobe_device_trace_options options;
    struct strobe_build *build;          /* owned */
    struct strobe_device_stream *stream; /* owned */
    struct strobe_device_axis clock;
    struct strobe_map locs;                         /* id and form to location */
    struct strobe_nest_near near[STROBE_NEST_NEAR]; /* those of `locs` that zones had last */
    struct strobe_device_slot *programs;            /* owned: STROBE_DEVICE_PROGRAMS, by number */
    struct strobe_device_flow *flows;               /* owned: STROBE_DEVICE_FLOWS */
    uint32_t free_flow, n_flows;       /* first free place + 1; places that were ever used */
    struct strobe_device_place *cores; /* owned */
    uint32_t n_cores, n_lanes;         /* lanes: of all cores, with a track */
    uint32_t n_riscs, epoch;
    bool has_hello, has_bye, has_buffers;
    bool is_classic, is_trace_only;       /* ids are hashes; RISC 0 stands for its core */
    bool is_virtual;                      /* what it takes for the host's time is made up too */
    struct strobe_nest_zone *items;       /* owned: what a CLASSIC frame had */
    struct strobe_device_marker *markers; /* owned: likewise */
    uint32_t n_items, items_room, markers_room;
    struct strobe_device_full_buffer full; /* the worst */
    uint32_t full_core, full_risc, n_full;
    bool is_resumed;                     /* by a successor: the clock's fit goes on */
    uint64_t pools[STROBE_DEVICE_POOLS]; /* names of the pools of memory: strings; 0: none yet */
    uint64_t last_ns;                    /* the latest host time that the stream had */
    struct strobe_device_link link;      /* n_messages 0: none */
    uint64_t n_lost_flows, n_late, n_unmatched;
    uint64_t n_unread; /* launches since its classic buffers were read last */
    uint64_t n_bad[STROBE_DEVICE_N_BAD];
};

/* Whose name an id is. */
enum strobe_device_name_of {
    STROBE_DEVICE_NAME_SITE = 0,
    STROBE_DEVICE_NAME_CLASSIC = 1, /* a hash of 16 bits */
    STROBE_DEVICE_NAME_SUM = 2,     /* a site's zones that were added up */
};
/* The location of an id. */
uint64_t strobe_device_loc(struct strobe_device_trace *trace, uint32_t id,
                           enum strobe_device_name_of what);
/* Say which cores' timers stand apart from the others', if any do. */
void strobe_device_note_skew(struct strobe_device_trace *trace);
/* The newest piece of the clock's map goes to the trace. */
void strobe_device_note_clock(struct strobe_device_trace *trace);
/* The flow that ends where `lane` begins to run `program`, 0: none; and the program's name. */
uint64_t strobe_device_take_flow(struct strobe_device_trace *trace, uint32_t program, uint32_t lane,
                                 const char **name);

/* ---- saved.c ---- */

/* A device as a predecessor left it: all but its calls and options. */
enum strobe_err strobe_device_saved_load(struct strobe_device_trace *trace,
                                         const struct strobe_device_left *left);

/* ---- tracks.c ---- */

/* The track of a lane, made at its first use; NULL: there is no memory for it, and what it makes is refused. */
struct strobe_device_track *strobe_device_lanes_track(struct strobe_device_trace *trace,
                                                      const struct strobe_device_lane *lane);
/* That of one that made something; NULL: it has not. */
struct strobe_device_track *strobe_device_lanes_known(struct strobe_device_trace *trace,
                                                      const struct strobe_device_lane *lane);
/* A thread of the trace for a lane. False: over the budget; the lane keeps the one that it has. */
bool strobe_device_lanes_new_track(struct strobe_device_trace *trace,
                                   struct strobe_device_track *lane,
                                   const struct strobe_device_place *core, uint32_t index,
                                   uint32_t risc);
void strobe_device_lanes_core(struct strobe_device_trace *trace,
                              const struct strobe_device_core_facts *core);
/* The name of a lane's RISC; `out` is room for one. */
const char *strobe_device_lanes_risc(const struct strobe_device_trace *trace, uint32_t core,
                                     uint32_t risc, char out[24]);

/* ---- lanes.c ---- */

/* Zones that are open there began in another file: they begin in this one too. */
void strobe_device_lanes_begin_again(struct strobe_device_trace *trace, uint32_t core,
                                     uint32_t risc);

/* The calls of the stream that are about lanes. */
void strobe_device_lanes_calls(struct strobe_device_calls *calls);
/* The device was reset: what was open stays open for good, clocks begin anew. */
void strobe_device_lanes_reset(struct strobe_device_trace *trace);
/* Words of a lane made no sense, or (`gap`) did not come: records of it are missing. */
void strobe_device_lanes_damaged(struct strobe_device_trace *trace,
                                 const struct strobe_device_lane *lane, bool gap);
/* Hand on what is known for sure, however little it is: before a flush. */
void strobe_device_lanes_hand_on(struct strobe_device_trace *trace);
/* The device has said good-bye: its counts are the last ones. */
void strobe_device_lanes_settle(struct strobe_device_trace *trace);
/* Hand on all that waits, note what does not add up. */
void strobe_device_lanes_end(struct strobe_device_trace *trace);
/* So many records can't be stored. */
void strobe_device_lanes_refuse(struct strobe_device_trace *trace, uint64_t n);
/* Zones and marks of a lane, by begin; nothing that began before `until` is still to come. */
void strobe_device_lanes_add(struct strobe_device_trace *trace, const struct strobe_device_lane *at,
                             const struct strobe_nest_zone *zones, uint32_t n_zones,
                             uint64_t until);

/* ---- classic.c ---- */

/* The stream's call for marker words. */
void strobe_device_classic_take(void *context, const struct strobe_device_lane *lane,
                                const struct strobe_device_classic_words *words);
/* The zones that a lane's words left open, as its table. */
void strobe_device_classic_open(struct strobe_device_track *lane);
/* All frames were read: note what was missing. */
void strobe_device_classic_end(struct strobe_device_trace *trace);
void strobe_device_lanes_free(struct strobe_device_trace *trace);

#endif
