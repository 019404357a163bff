/* stream.h - a trace, finished or still growing, as the events of a Tracy client.
 *
 * Blocks are taken in the order of the file and turned into events part by part: memory is bounded by
 * a block, the names, and 128 K events of locks and memory that are put in order of time. A server
 * trusts its client and dies of what it does not expect, so everything it could stumble over (ends
 * without a begin, times of unknown queries, frees of unknown blocks) is left out and counted.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BRIDGE_STREAM_H
#define STROBE_BRIDGE_STREAM_H

#include "bridge/wire_out.h"
#include "file/decode.h"
#include "query/client_facts.h"
#include "query/trace.h"

enum {
    STROBE_BRIDGE_MAX_LOCS = 32764, /* static locations; servers stop at 32,766 */
    STROBE_BRIDGE_MAX_HELD = 1 << 17,
};

struct strobe_bridge_thread {
    uint32_t tid; /* on the wire */
    uint32_t depth;
    uint64_t fiber; /* that it runs, 0: none */
    uint64_t next_pos;
    uint8_t is_seen;
    struct strobe_joiner joiner;
};

struct strobe_bridge_lock {
    uint64_t loc;
    uint32_t holder; /* tid + 1 of who has it */
    uint32_t n_shared, n_exclusive;
    uint32_t n_threads;
    uint32_t threads[64];
    uint8_t is_announced;
};

struct strobe_bridge_context { /* of a GPU */
    uint8_t *pending;          /* owned: a bit per query that waits for its time */
    uint8_t is_announced;
};

struct strobe_bridge_plot {
    uint64_t pointer;
};

/* An event of a lock or of memory, until its turn. */
struct strobe_bridge_held {
    uint64_t tick, order;
    uint64_t id;   /* lock, or string id of the pool */
    uint64_t a, b; /* address and size; location */
    uint32_t process, tid;
    uint8_t kind, is_shared;
};

struct strobe_bridge_stream {
    struct strobe_wire_out out;
    struct strobe_trace *trace; /* owned */
    struct strobe_client_facts facts;
    const char *path;   /* borrowed */
    uint64_t offset;    /* blocks before this are sent */
    uint64_t init_tick; /* zero of the wire's times */
    double timer_mul;
    int is_own; /* one client, on a clock of its own */
    int as_ns;  /* ticks are sent as ns: the clock jumped */

    struct strobe_block_iter *iter; /* owned; NULL: between two looks at the file */
    struct strobe_block block;
    struct strobe_events events;
    uint32_t part; /* the next one of the block */
    int in_part, has_block;
    struct strobe_cursor cursor;
    uint32_t thread; /* of the part */

    struct strobe_texts texts; /* what pointers stand for */
    struct strobe_idmap loc_ids, thread_ids, tids, fiber_ids, lock_ids, context_ids, plot_ids,
        live_ids, gpu_stacks, pool_ids;
    struct strobe_bridge_thread *threads;   /* owned: by index in thread_ids */
    uint32_t *fiber_depths;                 /* owned */
    struct strobe_bridge_lock *locks;       /* owned */
    struct strobe_bridge_context *contexts; /* owned */
    struct strobe_bridge_plot *plots;       /* owned */
    uint8_t *live;                          /* owned: by index in live_ids */
    uint32_t *gpu_depths;                   /* owned */
    uint32_t *pool_epochs;                  /* owned: discards so far, by index in pool_ids */
    uint32_t threads_room, fiber_depths_room, locks_room, contexts_room, plots_room, live_room,
        gpu_depths_room, pool_epochs_room;
    struct strobe_bridge_held *held; /* owned */
    uint32_t n_held, held_room;
    uint32_t held_at, held_end; /* being sent; 0, 0: none are */
    uint64_t serial_tick;

    uint32_t current_tid; /* that the server has in mind */
    int is_closed;        /* the trace's file was closed in good order */
    uint64_t n_zones, n_open, n_left_out;
};

/* Open a trace for a server of `protocol`. VERSION: no such protocol. Free after a failure too. */
enum strobe_err strobe_bridge_stream_open(const char *path, uint32_t protocol,
                                          struct strobe_bridge_stream *out);
void strobe_bridge_stream_free(struct strobe_bridge_stream *stream);

/* The welcome message, as long as stream->out.table.welcome_bytes. */
void strobe_bridge_welcome(struct strobe_bridge_stream *stream, uint8_t *out);

/* Put events into the frame until it is full. END: all that the file holds now was put. */
enum strobe_err strobe_bridge_fill(struct strobe_bridge_stream *stream);
/* Look at a file that may have grown. END: it has not. */
enum strobe_err strobe_bridge_refresh(struct strobe_bridge_stream *stream);
/* Answer a query of the server (13 bytes) into the frame. 1: it says good-bye, 2: it wants to. */
int strobe_bridge_answer(struct strobe_bridge_stream *stream, const uint8_t *query);

/* stream_events.c: what is no zone. 0 without memory. */
int strobe_bridge_put_event(struct strobe_bridge_stream *stream, uint32_t process,
                            struct strobe_bridge_thread *thread, const struct strobe_event *event);
/* Put what is held in order and begin to send it, the first half or all; strobe_bridge_put_held goes
 * on with that while the frame has room. */
void strobe_bridge_sort_held(struct strobe_bridge_stream *stream, int all);
int strobe_bridge_put_held(struct strobe_bridge_stream *stream);

/* names.c: pointers of the wire. */
uint64_t strobe_bridge_loc(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id,
                           int *is_over);
uint64_t strobe_bridge_text(struct strobe_bridge_stream *stream, const char *text, size_t n);
uint64_t strobe_bridge_name(struct strobe_bridge_stream *stream, uint32_t process, const char *text,
                            size_t n);
uint64_t strobe_bridge_fiber(struct strobe_bridge_stream *stream, uint32_t process, uint64_t fiber,
                             uint32_t **depth);
struct strobe_bridge_thread *strobe_bridge_thread(struct strobe_bridge_stream *stream,
                                                  uint32_t thread);

/* A tick as the server gets it: of a client that is alone on its own clock, its own time. */
static inline uint64_t strobe_bridge_raw(const struct strobe_bridge_stream *stream, uint64_t tick)
{
    if (stream->is_own)
        return (uint64_t)strobe_trace_own_time(stream->trace, 0, tick);

    return stream->as_ns
               ? stream->init_tick + (uint64_t)strobe_clock_rel(&stream->trace->clock, tick)
               : tick;
}

/* Events that follow are this thread's. */
static inline void strobe_bridge_turn_to(struct strobe_bridge_stream *stream, uint32_t tid)
{
    if (stream->current_tid == tid)
        return;
    strobe_wire_thread(&stream->out, tid);
    stream->current_tid = tid;
}

/* Where the open zones of the thread, or of the fiber that runs on it, are counted; events that follow are the thread's.
 * NULL: none is open. What belongs to a zone that is not there would be the end of the server: it is counted as left out. */
static inline uint32_t *strobe_bridge_open_zone(struct strobe_bridge_stream *stream,
                                                uint32_t process,
                                                struct strobe_bridge_thread *thread)
{
    uint32_t *depth = &thread->depth;
    if (thread->fiber)
        strobe_bridge_fiber(stream, process, thread->fiber, &depth);
    if (!*depth) {
        stream->n_left_out++;
        return NULL;
    }
    strobe_bridge_turn_to(stream, thread->tid);
    return depth;
}

#endif
