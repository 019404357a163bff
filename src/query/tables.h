/* tables.h - what a viewer needs one by one: zones of fibers, spans, GPU contexts and threads that several clients saw,
 * messages, frames, plots, locks. Zones that the writer paired stay in the file; all else is kept up to a bound, in a file without a name
 * where it is large, and what is beyond is counted and told. A large file is read step by step.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_TABLES_H
#define STROBE_QUERY_TABLES_H

#include "query/pixels.h"
#include "query/view.h"

enum {
    STROBE_TABLES_MAX_BYTES = 20 << 20, /* of all rows, texts included */
    STROBE_TABLES_STEP = 1 << 21,       /* events that one update reads */
    STROBE_TABLES_MAX_EVENTS = 30 << 20 /* a trace with more is not paired over all threads */
};

enum strobe_table_kind {
    STROBE_TABLE_THREAD = 2, /* a thread with several tracks */
    STROBE_TABLE_FIBER = 3,
    STROBE_TABLE_SPANS = 4,
    STROBE_TABLE_GPU = 5, /* one thread's zones of a context */
    STROBE_TABLE_RISC = 6,
    STROBE_TABLE_CORE = 7,
    STROBE_TABLE_DEVICE = 8,
    STROBE_TABLE_MESSAGES = 9,
    STROBE_TABLE_FRAMES = 10,
    STROBE_TABLE_PLOT = 11,
    STROBE_TABLE_LOCK = 12,
};

struct strobe_table_value {
    uint64_t tick;
    double value;
    uint32_t order; /* of reading, among equal ticks */
};

/* Something that happened to a lock or a set of frames. */
struct strobe_table_point {
    uint64_t tick;
    uint32_t order;
    uint32_t thread;
    uint32_t kind; /* of the event */
};

/* What the program said of a zone. Texts are in tables->texts. */
struct strobe_table_note {
    uint32_t text, name;
    uint64_t value;
    uint32_t color;
    uint8_t has_value;
};

/* A track of one of these kinds. */
struct strobe_table {
    enum strobe_table_kind kind;
    uint32_t process;
    uint32_t thread; /* THREAD: its first track */
    uint64_t id;     /* fiber, lock; frames and plots: the string's; GPU: the context's */
    uint64_t sub;    /* GPU, RISC: the thread's number */
    uint32_t parent; /* index + 1 of the table that it is below, 0: the process */
    uint32_t name;   /* GPU and below: in tables->texts */
    struct strobe_pixel_row *rows; /* owned: zones, frames, holds */
    uint32_t n_rows, rows_room;
    uint32_t stored; /* its rows are in the file: number + 1 in tables->paired; 0: in memory */
    struct strobe_table_value *values; /* owned: PLOT, by tick */
    uint32_t n_values, values_room, sorted_values;
    struct strobe_table_point *points; /* owned: FRAMES, LOCK, by tick */
    uint32_t n_points, points_room, sorted_points;
    uint32_t n_framed; /* FRAMES: points that the rows are made of, */
    uint64_t since;    /* and where the next one began; UINT64_MAX: none did */
    uint32_t n_depths;
};

struct strobe_message {
    uint64_t tick;
    uint32_t process, thread;
    uint32_t severity; /* as stored */
    uint32_t color;
    uint32_t text; /* in tables->texts */
    uint32_t order;
};

/* A point of a flow; arrows go from each to the next one of the same owner and flow. */
struct strobe_flow_point {
    uint64_t flow;
    uint64_t tick;
    uint32_t owner; /* index of the process whose numbers flows have: docs/file-format.md, flows */
    uint32_t thread;
    uint32_t depth; /* of the zone that it is in */
    uint32_t order;
};

/* An image of a frame, which stays in the file. */
struct strobe_table_image {
    uint64_t tick;
    uint64_t frame; /* of the unnamed ones of its process: how many marks were before it */
    uint32_t process, thread;
    uint32_t first_block, block; /* where its pieces begin, and where it is */
    uint32_t order;
};

struct strobe_tables {
    struct strobe_view *view;    /* borrowed */
    struct strobe_table *tables; /* owned */
    uint32_t n_tables, tables_room;
    struct strobe_message *messages; /* owned: by tick */
    uint32_t n_messages, messages_room;
    struct strobe_texts texts;       /* without an index: strobe_tables_keep_text */
    uint32_t *recent;                /* owned: the last texts by hash */
    struct strobe_flow_point *flows; /* owned: by owner, flow, tick */
    uint32_t n_flows, flows_room;
    struct strobe_table_note *notes; /* owned */
    uint32_t n_notes, notes_room;
    struct strobe_table_image *images; /* owned: by tick */
    uint32_t n_images, images_room;
    struct strobe_table_reader *readers; /* owned: by thread, what a part leaves to the next */
    uint32_t readers_room;
    uint32_t next_block;                 /* blocks before were looked at */
    uint32_t order;                      /* of the next event */
    uint64_t n_rows, n_values, n_points; /* of all tables; rows: of those with zones */
    uint32_t sorted_messages, sorted_flows, sorted_images; /* those before are in order */
    uint32_t n_owned_processes; /* of the trace when the flows' owners were looked up */
    uint64_t n_left_out;
    struct strobe_paired *paired; /* owned: what the writer paired; NULL: nothing */
    uint64_t paired_bytes;        /* size of the file when fibers and spans were paired */
    int is_unpaired;              /* the trace is too large for that */
    int is_held; /* set before the first update: no event can be read yet, and none is looked for */
    int no_paired; /* set before the first update: what the writer paired is not used */
    int lacks_rows; /* some of what the writer paired is damaged, and the trace too large to pair it again */
};

/* Read what is new since the last call, at most STROBE_TABLES_STEP events of it. Zero-initialise but for `view` before the
 * first; free once. */
enum strobe_err strobe_tables_update(struct strobe_tables *tables);
void strobe_tables_free(struct strobe_tables *tables);

/* What is large is not in memory until it is looked at again (base/spill.h). */
void strobe_tables_rest(struct strobe_tables *tables);

/* 1: since it was asked last, rows that the writer paired turned out to be damaged, and are paired anew: what was made of them was not all. */
int strobe_tables_mend(struct strobe_tables *tables);

/* How much of the file was read: 0 to 1. */
double strobe_tables_share(const struct strobe_tables *tables);

/* The table of a thread with several tracks (its first one), NULL: none. */
const struct strobe_table *strobe_tables_thread(const struct strobe_tables *tables,
                                                uint32_t thread);

/* Where the rows of a table are; as long as neither changes. */
static inline struct strobe_rows_place strobe_table_place(const struct strobe_tables *tables,
                                                          const struct strobe_table *table)
{
    const struct strobe_rows_place place = {
        table->rows, table->stored ? 0 : table->n_rows, table->stored ? tables->paired : NULL,
        table->stored ? table->stored - 1 : 0,
        table->kind == STROBE_TABLE_FRAMES || table->kind == STROBE_TABLE_LOCK};
    return place;
}

/* 1: its rows are zones that a program marked. */
static inline int strobe_table_has_zones(const struct strobe_table *table)
{
    return table->kind <= STROBE_TABLE_RISC;
}

#endif
