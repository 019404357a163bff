/* tracks.h - the tracks of a trace: their numbers, their order on the page, and which of them a question chooses.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_ENGINE_TRACKS_H
#define STROBE_ENGINE_TRACKS_H

#include "engine/engine.h"

/* Numbers: kind << 28 | index. */
enum strobe_track_kind {
    STROBE_TRACK_PROCESS = 1,
    STROBE_TRACK_THREAD = 2,
    STROBE_TRACK_TABLE = 3, /* an index in engine->tables */
    STROBE_TRACK_CORE = 4,  /* of a device: the index of the first thread that is known of it */
    STROBE_TRACK_CPU = 5,   /* a processor of the host: its number */
};
#define STROBE_TRACK_CPUS 0xfffffffu /* what they are below, as if it were one */

/* Beside zones, a thread may have: */
enum { STROBE_MARKS_STATES = 1, STROBE_MARKS_SAMPLES = 2 };
static inline uint32_t strobe_track_id(enum strobe_track_kind kind, uint32_t index)
{
    return (uint32_t)kind << 28 | (index & 0xfffffff);
}

/* A track as it is shown. */
struct strobe_track_row {
    uint32_t id, parent;
    const char *kind;
    const char *name; /* borrowed: until the visitor returns */
    uint32_t n_name;
    uint32_t n_depths;
    uint32_t marks; /* STROBE_MARKS_… */
    uint64_t pid, tid;
    const struct strobe_plot *plot; /* of a plot, where it is told; NULL: not */
};
typedef void (*strobe_track_visitor)(void *context, const struct strobe_track_row *row);

/* Visit all, parents before children, in the order in which they are shown. */
void strobe_tracks_visit(struct strobe_engine *engine, strobe_track_visitor visit, void *context);

/* The rows of strips that a track shows: of the thread, or of those that are one with it. In the order of threads; how many there are, of
 * which the first `room` are in `out`. */
uint32_t strobe_track_strips(const struct strobe_engine *engine, uint32_t track,
                             enum strobe_strip_kind kind, uint32_t *out, uint32_t room);

/* The track that shows a thread, and a process: clients in one process share them. */
uint32_t strobe_track_of_thread(const struct strobe_engine *engine, uint32_t thread);
uint32_t strobe_track_of_process(const struct strobe_engine *engine, uint32_t process);

/* The track that shows a table: of a thread with several tracks, the thread. */
uint32_t strobe_track_of_table(const struct strobe_engine *engine, uint32_t table);

/* The table of a track (of a thread that has one, too), NULL: none. */
const struct strobe_table *strobe_track_table(const struct strobe_engine *engine, uint32_t track);

/* What `tracks` of a question chooses. A track stands for those below it. */
struct strobe_choice {
    uint8_t *threads; /* owned: by index; NULL: all */
    uint32_t n_threads;
    uint8_t *tables; /* owned: likewise */
    uint32_t n_tables;
};

/* Read it; 0 without memory. Free it in any case. */
int strobe_choice_read(struct strobe_engine *engine, const struct strobe_json *question,
                       struct strobe_choice *choice);
void strobe_choice_free(struct strobe_choice *choice);

static inline int strobe_choice_has_thread(const struct strobe_choice *choice, uint32_t thread)
{
    return !choice->threads || (thread < choice->n_threads && choice->threads[thread]);
}
/* A thread's table is chosen with the thread. */
int strobe_choice_has_table(const struct strobe_choice *choice, const struct strobe_engine *engine,
                            uint32_t table);

#endif
