/* tables.h - what a viewer needs one by one: zones of fibers, spans and threads that several clients saw, messages, frames,
 * plots, locks. Kept in memory up to a bound; what is beyond is counted and told.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_TABLES_H
#define STROBE_QUERY_TABLES_H

#include "query/pixels.h"
#include "query/view.h"

enum {
    STROBE_TABLES_MAX_ROWS = 1 << 20,   /* of each sort */
    STROBE_TABLES_MAX_TEXT = 16 << 20,  /* bytes of messages */
    STROBE_TABLES_MAX_EVENTS = 30 << 20 /* a trace with more is not paired over all threads */
};

enum strobe_table_kind {
    STROBE_TABLE_THREAD = 2, /* a thread with several tracks */
    STROBE_TABLE_FIBER = 3,
    STROBE_TABLE_SPANS = 4,
    STROBE_TABLE_MESSAGES = 5,
    STROBE_TABLE_FRAMES = 6,
    STROBE_TABLE_PLOT = 7,
    STROBE_TABLE_LOCK = 8,
};

struct strobe_table_value {
    uint64_t tick;
    double value;
};

/* A track of one of these kinds. */
struct strobe_table {
    enum strobe_table_kind kind;
    uint32_t process;
    uint32_t thread;               /* THREAD: its first track */
    uint64_t id;                   /* fiber, lock; frames and plots: the string's */
    struct strobe_pixel_row *rows; /* owned: zones, frames, holds; by end */
    uint32_t n_rows, rows_room;
    struct strobe_table_value *values; /* owned: PLOT */
    uint32_t n_values, values_room;
    uint32_t n_depths;
    uint64_t open_since; /* FRAMES, LOCK: of what has begun; UINT64_MAX: nothing */
};

struct strobe_message {
    uint64_t tick;
    uint32_t process, thread;
    uint32_t severity; /* as stored */
    uint32_t color;
    uint32_t text; /* in tables->texts */
};

/* A point of a flow; arrows go from each to the next one of the same process and flow. */
struct strobe_flow_point {
    uint64_t flow;
    uint64_t tick;
    uint32_t process, thread;
    uint32_t depth; /* of the zone that it is in */
};

struct strobe_tables {
    struct strobe_view *view;    /* borrowed */
    struct strobe_table *tables; /* owned */
    uint32_t n_tables, tables_room;
    struct strobe_message *messages; /* owned: by tick */
    uint32_t n_messages, messages_room;
    struct strobe_texts texts;
    struct strobe_flow_point *flows; /* owned: by process, flow, tick */
    uint32_t n_flows, flows_room;
    uint32_t next_block; /* blocks before were looked at */
    uint64_t n_rows, n_values;
    uint64_t n_left_out;
    uint64_t paired_bytes; /* size of the file when fibers and spans were paired */
    int is_unpaired;       /* the trace is too large for that */
};

/* Read what is new since the last call. Zero-initialise but for `view` before the first; free once. */
enum strobe_err strobe_tables_update(struct strobe_tables *tables);
void strobe_tables_free(struct strobe_tables *tables);

/* The table of a track, NULL: none. */
const struct strobe_table *strobe_tables_find(const struct strobe_tables *tables,
                                              enum strobe_table_kind kind, uint32_t process,
                                              uint64_t id);

#endif
