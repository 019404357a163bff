/* perfetto_parts.h - what the reader's files share:
 *
 *   perfetto.c         life: both passes over the packets, state of their sequences
 *   perfetto_packets.c the file as packets, unpacked where they were compressed
 *   perfetto_tracks.c  descriptors and process trees: which thread, lane or plot a track is
 *   perfetto_clock.c   times of any clock as times of the trace's
 *   perfetto_events.c  track events: slices, instants, counters, flows
 *   perfetto_args.c    debug annotations as JSON
 *   perfetto_ftrace.c  switches and wake-ups of the kernel, and what programs print into its buffer
 *
 * Numbers of fields are those of perfetto_trace.proto.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_PERFETTO_PARTS_H
#define STROBE_IMPORT_PERFETTO_PARTS_H

#include "base/map.h"
#include "base/out.h"
#include "base/protobuf.h"
#include "import/bytes_in.h"
#include "import/timeline.h"
#include "wire/perfetto_fields.h"

enum {
    STROBE_PERFETTO_PACKET_MAX = 64 << 20, /* a longer one is left out */
    STROBE_PERFETTO_TEXTS_MAX = 1 << 18,   /* names of all kinds */
    STROBE_PERFETTO_TEXT_BYTES = 16 << 20, /* of all of them */
    STROBE_PERFETTO_EXTRA_MAX = 16,        /* counters beside an event */
    STROBE_PERFETTO_UNKNOWN_MAX = 1024,    /* fields of a packet that are counted one by one */
};

/* Bytes of the file, or of the reader's own. */
struct strobe_perfetto_text {
    const char *at; /* borrowed */
    size_t n;
};

/* What interned numbers stand for. */
enum strobe_perfetto_intern {
    STROBE_PERFETTO_CATEGORY = 1,
    STROBE_PERFETTO_NAME,
    STROBE_PERFETTO_ARG_NAME,
    STROBE_PERFETTO_ARG_TEXT,
    STROBE_PERFETTO_SOURCE, /* file, NUL, function, NUL, line */
};

/* What events of one writer are relative to. */
struct strobe_perfetto_sequence {
    uint32_t id;
    uint8_t is_valid; /* its state is known: it was cleared, and no packet was lost since */
    uint8_t has_track, has_thread;
    uint8_t n_extra, n_extra_doubles;
    uint64_t clock;                            /* of its times; 0: the trace's */
    uint64_t track;                            /* of events that name none */
    uint64_t extra[STROBE_PERFETTO_EXTRA_MAX]; /* tracks of counters beside events */
    uint64_t extra_doubles[STROBE_PERFETTO_EXTRA_MAX];
    uint64_t pid, tid;          /* of a thread descriptor, as old writers have it */
    uint64_t reference_us;      /* likewise: times are steps from there */
    struct strobe_map interned; /* kind and number: text + 1 */
};

struct strobe_perfetto_track {
    uint64_t uuid, parent; /* parent 0: none */
    uint64_t pid, tid;
    uint32_t name; /* text + 1; 0: none */
    uint8_t is_thread, is_process, is_counter, is_incremental, is_bytes;
    int64_t multiplier;
    uint32_t thread;      /* of the timeline, of its slices; 0: not used yet */
    uint32_t plot_thread; /* of its values, likewise */
    uint64_t plot;        /* string of the process */
    uint64_t n_begins;
    uint64_t sum; /* of an incremental counter: so far */
    double real_sum;
};

/* A moment at which a clock was compared with the trace's. */
struct strobe_perfetto_moment {
    int64_t clock_ns, trace_ns;
};

struct strobe_perfetto_clock {
    uint64_t key;
    uint64_t multiplier; /* ns of a step */
    uint64_t last;       /* of an incremental one: where it stands */
    uint8_t is_incremental;
    struct strobe_perfetto_moment *moments; /* owned: by clock_ns */
    uint32_t n_moments, moments_room;
};

struct strobe_perfetto {
    const char *path;  /* borrowed; NULL: from memory */
    const void *bytes; /* borrowed */
    size_t n_bytes;
    struct strobe_timeline *timeline;     /* borrowed */
    struct strobe_textmap texts;          /* bounded by itself */
    struct strobe_perfetto_track *tracks; /* owned */
    uint32_t n_tracks, tracks_room;
    struct strobe_perfetto_sequence *sequences; /* owned */
    uint32_t n_sequences, sequences_room;
    struct strobe_perfetto_clock *clocks; /* owned */
    uint32_t n_clocks, clocks_room;
    /* uuid, id, key: index + 1. tid: pid; pid, or pid and tid by hash: text + 1; cpu: tid + 1 that runs on it; tid: it was named by the kernel */
    struct strobe_map track_ids, sequence_ids, clock_ids, tid_pids, process_names, thread_names,
        cpu_tids;
    uint64_t trace_clock;
    uint64_t n_rows;           /* events so far: their order */
    struct strobe_rows *flows; /* owned: points of flows, by flow and time; NULL: there is none */
    uint64_t last_flow;
    int is_flow_open;
    struct strobe_out args; /* scratch */
    uint8_t *unpacked;      /* owned: of a compressed packet */
    size_t unpacked_room;
    uint32_t n_unknown[STROBE_PERFETTO_UNKNOWN_MAX]; /* packets by the field that is not read */
    uint32_t n_sentences;
    char sentences[24][96]; /* about them */
};

/* ---- packets ---- */

/* A packet, until the return. */
typedef enum strobe_err strobe_perfetto_take(struct strobe_perfetto *perfetto, const uint8_t *bytes,
                                             size_t n);
/* All packets of the file, from its begin; *offset: the place of the one that was last looked at. CORRUPT: the file is cut off or damaged there. */
enum strobe_err strobe_perfetto_packets(struct strobe_perfetto *perfetto,
                                        strobe_perfetto_take *take, uint64_t *offset);

/* ---- texts ---- */

/* The number of a text, from 1; 0: there is no room for it. */
uint32_t strobe_perfetto_keep(struct strobe_perfetto *perfetto, const void *text, size_t n);
/* A text by its number; 0: an empty one. Until the next strobe_perfetto_keep. */
struct strobe_perfetto_text strobe_perfetto_kept(const struct strobe_perfetto *perfetto,
                                                 uint64_t number);
/* What a number of a sequence stands for; empty: nobody said. */
struct strobe_perfetto_text strobe_perfetto_interned(const struct strobe_perfetto *perfetto,
                                                     const struct strobe_perfetto_sequence *from,
                                                     enum strobe_perfetto_intern kind,
                                                     uint64_t number);
uint64_t strobe_perfetto_intern_key(enum strobe_perfetto_intern kind, uint64_t number);

/* ---- tracks ---- */

/* What a packet says of tracks, threads and processes: the first pass. */
enum strobe_err strobe_perfetto_learn(struct strobe_perfetto *perfetto, const uint8_t *bytes,
                                      size_t n);
/* All packets were learned from: threads and processes with a track are in the trace, with or without events. */
void strobe_perfetto_describe(struct strobe_perfetto *perfetto);
/* The track of an id, made where nobody described it; NULL: no room. Until the next one. */
struct strobe_perfetto_track *strobe_perfetto_track(struct strobe_perfetto *perfetto,
                                                    uint64_t uuid);
/* The thread or lane of the timeline that a track's slices stand on; 0: no room. */
uint32_t strobe_perfetto_thread_of(struct strobe_perfetto *perfetto,
                                   struct strobe_perfetto_track *track);
/* A thread of the timeline that carries what belongs to the track's process; *plot: the string of the plot that the track is. 0: no room. */
uint32_t strobe_perfetto_plot_of(struct strobe_perfetto *perfetto,
                                 struct strobe_perfetto_track *track, uint64_t *plot);
/* A thread by both numbers; by its own alone, as the kernel has it. 0: no room. */
uint32_t strobe_perfetto_thread(struct strobe_perfetto *perfetto, uint64_t pid, uint64_t tid);
uint32_t strobe_perfetto_kernel_thread(struct strobe_perfetto *perfetto, uint64_t tid,
                                       struct strobe_perfetto_text name);
/* All events were read: what lanes are. */
void strobe_perfetto_settle(struct strobe_perfetto *perfetto);

/* ---- clocks ---- */

/* A time of a clock on the trace's. 0: nobody compared them. */
int strobe_perfetto_time(struct strobe_perfetto *perfetto, uint32_t sequence, uint64_t clock,
                         uint64_t timestamp, int64_t *out);
void strobe_perfetto_snapshot(struct strobe_perfetto *perfetto, uint32_t sequence,
                              struct strobe_protobuf message);

/* ---- events ---- */

/* A track event; has_time 0: the event itself may say it. */
enum strobe_err strobe_perfetto_event(struct strobe_perfetto *perfetto,
                                      struct strobe_perfetto_sequence *sequence, int has_time,
                                      int64_t time, struct strobe_protobuf message);
/* Points of flows in the order of time become rows: begin, step, end. */
enum strobe_err strobe_perfetto_write_flows(struct strobe_perfetto *perfetto);
/* A row at the next place. */
struct strobe_row strobe_perfetto_row(struct strobe_perfetto *perfetto, uint32_t thread,
                                      int64_t time, enum strobe_timeline_kind kind);
/* The number of a location in a thread's process. */
uint64_t strobe_perfetto_loc(struct strobe_perfetto *perfetto, uint32_t thread,
                             struct strobe_perfetto_text name, struct strobe_perfetto_text function,
                             struct strobe_perfetto_text file, uint32_t line);
/* The debug annotations of an event as an object of JSON; empty: it has none, or they are too long. Until the next call. */
struct strobe_perfetto_text strobe_perfetto_args(struct strobe_perfetto *perfetto,
                                                 const struct strobe_perfetto_sequence *sequence,
                                                 struct strobe_protobuf event);

/* ---- the kernel's events ---- */
enum strobe_err strobe_perfetto_ftrace(struct strobe_perfetto *perfetto,
                                       struct strobe_protobuf bundle);

#endif
