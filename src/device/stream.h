/* stream.h - decodes a device stream: frames of 32-bit words in, zones, events and descriptions out.
 * Normative: docs/device-protocol.md; words: kernel/strobe_device_words.h.
 *
 *   frames ──► lanes (core, RISC) ──► zones in batches, in the order in which they ended
 *                                 └─► events, data, sums, drops, in between
 *
 * Does no I/O, starts no thread, allocates only when it meets a new core. It does not trust its input:
 * what makes no sense is skipped and counted (`bad`), and decoding goes on at the next frame that does.
 * Nothing of a frame is kept after strobe_device_stream_feed but the lanes' state, and one event, data
 * record or L zone per lane whose time the next record of the lane must confirm.
 *
 * Order. Zones of a lane come in the order of their ends, children before parents; a stall zone may
 * end after the zone that comes behind it. All that is not a zone comes between the zones as it was
 * written. Lanes interleave frame by frame.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_STREAM_H
#define STROBE_DEVICE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "strobe_device_words.h"

struct strobe_device_stream;

/* One zone, in cycles of its core's clock. 24 bytes, so that a batch stays in the cache. */
struct strobe_device_zone {
    uint64_t start, end;
    uint32_t id;      /* 27 bits */
    uint32_t program; /* runtime id in effect */
};

/* Which track it is. Cores are numbered from 0 in the order in which the stream first names them, by a
 * CORE frame or any other; one without a CORE frame gets a `core` call too: kind WORKER, logical = physical. */
struct strobe_device_lane {
    uint32_t core; /* index */
    uint32_t risc; /* 0-23 */
    uint32_t core_yx;
};

struct strobe_device_mark { /* an event, or data */
    uint64_t time;          /* cycles */
    uint32_t id, program;
    const uint64_t *values; /* borrowed for the call; NULL: an event */
    uint32_t n_values;
    bool is_begin, is_end; /* types 0 and 1: a zone's begin or end, not paired; no values */
};

struct strobe_device_sum {
    uint32_t id, program, count, min, max; /* cycles */
    uint64_t sum;
};

struct strobe_device_text {
    const char *bytes; /* borrowed for the call; no NUL at the end; may be any bytes */
    uint32_t n_bytes;
};

struct strobe_device_hello {
    uint32_t version, device, arch, frequency_khz, grid_x, grid_y, n_riscs, mode, policy, epoch,
        pid, flags;
    uint64_t start_ns;
    struct strobe_device_text backend;
};

struct strobe_device_core_facts {
    uint32_t index, core_yx, logical_yx, kind, flat_id, n_riscs;
};

struct strobe_device_name {
    uint32_t flags, id, line; /* flags: STROBE_NAME_… */
    struct strobe_device_text name, file;
};

enum { STROBE_DEVICE_MAX_SOURCES = 32 };

struct strobe_device_program {
    uint32_t program, trace_id, n_sources;
    struct strobe_device_text name, sources[STROBE_DEVICE_MAX_SOURCES];
};

struct strobe_device_launch {
    uint32_t program, trace_id, trace_counter, pid, tid, n_cores;
    uint64_t sequence, host_ns, flow;
};

struct strobe_device_clock {
    uint32_t core; /* index, or STROBE_CORE_NONE: the device's reference clock */
    uint64_t cycles, before_ns, after_ns;
};

struct strobe_device_open { /* one level */
    uint32_t id;
    uint64_t start;
};

struct strobe_device_total {
    uint64_t emitted; /* UINT64_MAX: not counted */
    uint64_t dropped, stalled_cycles;
    uint32_t n_stalls, undelivered;
};

struct strobe_device_counter {
    uint32_t type, ref_count;
    uint64_t value;
};

struct strobe_device_memory {
    uint32_t kind, pool;
    uint64_t address, n_bytes, host_ns;
};

/* Another device's reference clock = scale * this one's + shift. */
struct strobe_device_link {
    uint32_t other, n_messages, error_ns;
    double scale, shift;
};

struct strobe_device_classic_words {
    const uint32_t *words;   /* borrowed for the call; decode with classic.h */
    uint32_t n_words, flags; /* flags: STROBE_CLASSIC_… */
    uint32_t end_words, needed_words, program_words; /* as in struct strobe_frame_classic */
};

/* Why something was not decoded. `count` is of what the text names. */
#define STROBE_DEVICE_BAD_LIST(X)                                            \
    X(FRAME, 0, "64-byte units that are no frame")                           \
    X(FIELD, 1, "frames whose fields contradict each other")                 \
    X(RUN, 2, "words at the end of a run that are no record")                \
    X(GAP_WORDS, 3, "words of a lane that are missing: frames were lost")    \
    X(NO_CURSOR, 4, "S zones without a zone that places them, behind a gap") \
    X(NO_TIMER, 5, "records behind a gap whose high time is not known")      \
    X(OVERLAP, 6, "words of a lane that came twice")                         \
    X(LATCH, 7, "times repaired: the clock's halves were read apart")        \
    X(CORES, 8, "frames of cores above the limit")                           \
    X(VERSION, 9, "frames of a newer version")

enum strobe_device_bad {
#define X(name, number, text) STROBE_DEVICE_BAD_##name = number,
    STROBE_DEVICE_BAD_LIST(X)
#undef X
        STROBE_DEVICE_N_BAD
};

/* The reader's side. Any may be NULL. Called from strobe_device_stream_feed and _close, in order. */
struct strobe_device_calls {
    void *context; /* borrowed: handed to every call */
    /* A batch of one lane. `zones` is reused after the call. */
    void (*zones)(void *context, const struct strobe_device_lane *lane,
                  const struct strobe_device_zone *zones, size_t n_zones);
    void (*event)(void *context, const struct strobe_device_lane *lane,
                  const struct strobe_device_mark *mark);
    void (*data)(void *context, const struct strobe_device_lane *lane,
                 const struct strobe_device_mark *mark);
    void (*sum)(void *context, const struct strobe_device_lane *lane,
                const struct strobe_device_sum *sum);
    /* The lane itself dropped `count` records here. */
    void (*drop)(void *context, const struct strobe_device_lane *lane, uint32_t count);
    /* Zones of a lane that are open at `cycles`, outermost first; n_open 0: none. `final`: they will
     * not be closed. Their zones come later, once closed, with the same id and start. */
    void (*open)(void *context, const struct strobe_device_lane *lane, uint64_t cycles, bool final,
                 const struct strobe_device_open *open, size_t n_open);
    /* The device says how much the lane emitted, dropped and waited so far. `bye`: for good. */
    void (*total)(void *context, const struct strobe_device_lane *lane,
                  const struct strobe_device_total *total, bool bye);
    void (*classic)(void *context, const struct strobe_device_lane *lane,
                    const struct strobe_device_classic_words *words);
    void (*counters)(void *context, const struct strobe_device_lane *lane, uint64_t cycles,
                     uint32_t program, const struct strobe_device_counter *counters,
                     size_t n_counters);
    void (*hello)(void *context, const struct strobe_device_hello *hello);
    void (*core)(void *context, const struct strobe_device_core_facts *core);
    void (*name)(void *context, const struct strobe_device_name *name);
    void (*program)(void *context, const struct strobe_device_program *program);
    void (*launch)(void *context, const struct strobe_device_launch *launch);
    void (*clock)(void *context, const struct strobe_device_clock *clock);
    void (*memory)(void *context, const struct strobe_device_memory *memory);
    void (*link)(void *context, const struct strobe_device_link *link);
    void (*bye)(void *context, uint32_t reason);
    /* Something was not decoded. `lane` may be NULL. Called per frame, not per record. */
    void (*bad)(void *context, const struct strobe_device_lane *lane, enum strobe_device_bad why,
                uint64_t count);
};

struct strobe_device_stream_options {
    uint32_t max_cores; /* 0: 4096 */
    bool scalar;        /* do not use vector instructions, also where the machine has them */
};

/* A decoder without state. `calls` is copied. NOMEM. */
enum strobe_err strobe_device_stream_open(const struct strobe_device_calls *calls,
                                          const struct strobe_device_stream_options *options,
                                          struct strobe_device_stream **out);
/* Decode all whole frames at `words` (aligned to 4 bytes). `*n_used`, a multiple of 16, is how many
 * words they were: the caller hands in the rest again, with what follows. A rest is never longer than
 * STROBE_EXT_MAX_WORDS + 16 words. NOMEM: a new core found no memory; its frame is used and counted as
 * CORES. All else is counted, not returned. */
enum strobe_err strobe_device_stream_feed(struct strobe_device_stream *stream,
                                          const uint32_t *words, size_t n_words, size_t *n_used);
/* Hand out what waits for its confirmation: at the end of a stream, or when it pauses. */
void strobe_device_stream_flush(struct strobe_device_stream *stream);
/* Flush and free. NULL is allowed. */
void strobe_device_stream_close(struct strobe_device_stream *stream);

/* Where a lane stands, for a successor that goes on with the stream's next frame. May be stored. */
struct strobe_device_saved {
    uint32_t core_yx, risc, program, timer;
    uint64_t cursor;
    uint32_t head; /* count of the next word */
    uint32_t flags;
};
enum {
    STROBE_SAVED_TIMER = 1,
    STROBE_SAVED_CURSOR = 2,
    STROBE_SAVED_BROKEN = 4
}; /* these are known; words were no record */
STROBE_WORD_AT(strobe_device_saved, cursor, 4);
STROBE_WORD_AT(strobe_device_saved, head, 6);
STROBE_WORDS_OF(strobe_device_saved, 8);

/* All lanes that have state, at most `max`; returns how many there are. What waits for its confirmation is not in it: flush
 * before. */
uint32_t strobe_device_stream_save(const struct strobe_device_stream *stream,
                                   struct strobe_device_saved *lanes, uint32_t max);
/* The opposite, for a stream that has decoded nothing yet. Cores that are new get their `core` call. NOMEM, LIMIT (too many
 * cores), INVALID (no such RISC): lanes before are loaded. */
enum strobe_err strobe_device_stream_load(struct strobe_device_stream *stream,
                                          const struct strobe_device_saved *lanes,
                                          uint32_t n_lanes);

/* The rest of where a stream stands: its epoch, and the cores in the order of their numbers. */
struct strobe_device_saved_stream {
    uint32_t n_cores, epoch, has_epoch;
};
/* `core_yx` (NULL: none) gets at most `max` cores. */
void strobe_device_stream_save_cores(const struct strobe_device_stream *stream,
                                     struct strobe_device_saved_stream *out, uint32_t *core_yx,
                                     uint32_t max);
/* The opposite, before strobe_device_stream_load; no `core` calls come. NOMEM, LIMIT. */
enum strobe_err strobe_device_stream_load_cores(struct strobe_device_stream *stream,
                                                const struct strobe_device_saved_stream *saved,
                                                const uint32_t *core_yx);

/* What was decoded so far: for tests and for the report. */
struct strobe_device_stream_counts {
    uint64_t n_frames, n_words, n_zones, n_events, n_data, n_sums, n_dropped;
    uint64_t n_bad[STROBE_DEVICE_N_BAD];
};
void strobe_device_stream_count(const struct strobe_device_stream *stream,
                                struct strobe_device_stream_counts *out);

const char *strobe_device_bad_text(enum strobe_device_bad why);

#endif
