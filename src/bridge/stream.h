/* stream.h - a trace, finished or still growing, as the events of a Tracy client.
 *
 * Blocks are taken in the order of the file and turned into events part by part: memory is bounded by
 * a block, the names, distinct call stacks, and 128 K events of frames, locks, memory and the scheduler that are put in order of time. A server
 * trusts its client and dies of what it does not expect, so everything it could stumble over (ends
 * without a begin, times of unknown queries, frees of unknown blocks) is left out and counted.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BRIDGE_STREAM_H
#define STROBE_BRIDGE_STREAM_H

#include "bridge/wire_out.h"
#include "file/decode.h"
#include "query/client_facts.h"
#include "query/stack_symbols.h"
#include "query/trace.h"

enum {
    STROBE_BRIDGE_MAX_LOCS = 32764, /* static locations; servers stop at 32,766 */
    STROBE_BRIDGE_MAX_HELD = 1 << 17,
    STROBE_BRIDGE_MAX_CONTEXTS = 255, /* of GPUs: servers have no more numbers */
};

struct strobe_bridge_thread {
    uint32_t tid; /* on the wire */
    uint32_t depth;
    uint32_t index;     /* in the trace */
    uint32_t context;   /* of a device's processor: the GPU context of its zones + 1 */
    uint32_t n_skipped; /* likewise: open zones that had no context */
    uint8_t is_lane;    /* it is one */
    uint64_t fiber;     /* that it runs, 0: none */
    uint64_t next_pos;
    uint8_t is_seen;
    uint32_t stack;       /* call stack of its next event: text in stream->stacks, 0: none */
    uint64_t sample_tick; /* of its last sample, as it was sent */
    struct strobe_joiner joiner;
};

enum { STROBE_BRIDGE_LOCK_THREADS = 64 }; /* a lock: servers have room for no more */

struct strobe_bridge_lock {
    uint32_t n_threads;
    struct strobe_bridge_holder {
        uint32_t tid;
        uint32_t n[2]; /* so often it has the lock: alone, shared */
    } threads[STROBE_BRIDGE_LOCK_THREADS];
    uint8_t is_announced, is_named;
};

/* A set of frames: what its first event makes it. */
enum strobe_bridge_frames { STROBE_FRAMES_NEW, STROBE_FRAMES_MARKS, STROBE_FRAMES_SPANS };
struct strobe_bridge_frame_set {
    uint8_t form; /* enum strobe_bridge_frames */
    uint8_t is_open;
};

struct strobe_bridge_context { /* of a GPU */
    uint8_t *pending;          /* owned: a bit per query that waits for its time */
    uint8_t is_announced;
    int64_t last_ns; /* of a device: the time that was sent last */
};

struct strobe_bridge_plot {
    uint64_t pointer;
};

/* An event of a lock, of memory, of frames or of the scheduler, until its turn. */
struct strobe_bridge_held {
    uint64_t tick, order;
    uint64_t
        id; /* lock, or string id of the pool or the frames; processor, or thread that wakes up */
    uint64_t a, b; /* address and size; location; threads before and after */
    uint32_t process, tid;
    uint32_t stack; /* in stream->stacks, 0: none */
    uint8_t kind, is_shared;
    int8_t more[5]; /* of the scheduler: reason, state ... in the order of the wire */
};

/* A question that can't be answered yet: what it is about is a name that is still to come. */
struct strobe_bridge_asked {
    uint64_t pointer;
    uint8_t query; /* enum strobe_tracy_query */
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
    struct strobe_event event;
    int has_event; /* `event` was read and its names were not there yet */

    struct strobe_texts texts; /* what pointers stand for */
    struct strobe_idmap loc_ids, thread_ids, tids, fiber_ids, lock_ids, context_ids, plot_ids,
        live_ids, gpu_stacks, pool_ids, frame_ids, device_ids;
    struct strobe_bridge_thread *threads;   /* owned: by index in thread_ids */
    uint32_t *fiber_depths;                 /* owned */
    struct strobe_bridge_lock *locks;       /* owned */
    struct strobe_bridge_context *contexts; /* owned */
    struct strobe_bridge_plot *plots;       /* owned */
    uint8_t *live;                          /* owned: by index in live_ids */
    uint32_t *gpu_depths;                   /* owned */
    uint8_t *devices;                       /* owned: by index in device_ids, lanes.c */
    uint32_t *pool_epochs;                  /* owned: discards so far, by index in pool_ids */
    struct strobe_bridge_frame_set *frames; /* owned: by index in frame_ids */
    uint32_t threads_room, fiber_depths_room, locks_room, contexts_room, plots_room, live_room,
        gpu_depths_room, pool_epochs_room, frames_room, devices_room;
    struct strobe_texts stacks;          /* addresses of call stacks, as bytes */
    uint32_t stack;                      /* of the event that is put; 0: none, or it was sent */
    struct strobe_stack_symbols symbols; /* read when a server first asks */
    struct strobe_bridge_asked *asked;   /* owned */
    uint32_t n_asked, asked_room;
    struct strobe_bridge_held *held; /* owned */
    uint32_t n_held, held_room;
    uint32_t held_at, held_end; /* being sent; 0, 0: none are */
    uint32_t n_kept;            /* of those sent, at the start of held: to be tried again */
    int is_sorted;
    uint64_t serial_tick, newest_tick, ctx_tick;

    uint32_t current_tid; /* that the server has in mind */
    int is_closed;        /* the trace's file was closed in good order */
    int is_final;         /* no more comes: names are what they are, all that is held goes out */
    uint64_t n_zones, n_open;
    uint64_t left_out[STROBE_KIND_COUNT]; /* events that were not sent, by kind */
};

/* Open a trace for a server of `protocol`; `follow`: it is being written, until the caller sets is_final.
 * VERSION: no such protocol. Free after a failure too. */
enum strobe_err strobe_bridge_stream_open(const char *path, uint32_t protocol, int follow,
                                          struct strobe_bridge_stream *out);
void strobe_bridge_stream_free(struct strobe_bridge_stream *stream);

/* The welcome message, as long as stream->out.table.welcome_bytes. */
void strobe_bridge_welcome(struct strobe_bridge_stream *stream, uint8_t *out);

/* Put events into the frame until it is full. END: all that the file holds now was put, or the next event
 * has a name that a client was asked for and has not told yet. */
enum strobe_err strobe_bridge_fill(struct strobe_bridge_stream *stream);
/* Look at a file that may have grown. END: it has not. */
enum strobe_err strobe_bridge_refresh(struct strobe_bridge_stream *stream);
/* Answer a query of the server (13 bytes) into the frame. 1: it says good-bye, 2: it wants to. */
int strobe_bridge_answer(struct strobe_bridge_stream *stream, const uint8_t *query);

/* stream_events.c: what is no zone. 0 without memory. */
int strobe_bridge_put_event(struct strobe_bridge_stream *stream, uint32_t process,
                            struct strobe_bridge_thread *thread, const struct strobe_event *event);

/* lanes.c: zones of devices. */
void strobe_bridge_lane_begin(struct strobe_bridge_stream *stream, uint32_t process,
                              struct strobe_bridge_thread *thread, uint64_t tick, uint64_t loc);
void strobe_bridge_lane_end(struct strobe_bridge_stream *stream,
                            struct strobe_bridge_thread *thread, uint64_t tick);

/* held.c: what a server wants in order of time. 0 without memory. */
int strobe_bridge_is_held(unsigned kind);
int strobe_bridge_hold(struct strobe_bridge_stream *stream, uint32_t process,
                       struct strobe_bridge_thread *thread, const struct strobe_event *event);
/* Put what is held in order and begin to send what is due: half of it where there is too much, all of it
 * at the end, else what is so old that nothing older comes. 0: nothing is due. strobe_bridge_put_held
 * goes on with it while the frame has room. */
int strobe_bridge_sort_held(struct strobe_bridge_stream *stream);
void strobe_bridge_put_held(struct strobe_bridge_stream *stream);

/* stacks.c: call stacks, samples, and what their addresses are.
 * The addresses of a CALLSTACK are kept for the next event of its thread; 0 without memory. */
int strobe_bridge_keep_stack(struct strobe_bridge_stream *stream, uint32_t process,
                             struct strobe_bridge_thread *thread, const struct strobe_event *event);
/* Send a call stack for the event that follows, of the current thread or of none. False: there is none. */
bool strobe_bridge_put_stack(struct strobe_bridge_stream *stream, uint32_t stack, bool is_serial);
/* That of the event that is put; it is used up. */
static inline uint32_t strobe_bridge_take_stack(struct strobe_bridge_stream *stream)
{
    uint32_t stack = stream->stack;
    stream->stack = 0;
    return stack;
}
void strobe_bridge_put_sample(struct strobe_bridge_stream *stream, uint32_t process,
                              struct strobe_bridge_thread *thread,
                              const struct strobe_event *event);
/* Answer a question about an address, a function or a thread of somebody else; one whose name is still to come waits until it is
 * there or nobody will send it. 0 without memory. */
int strobe_bridge_answer_later(struct strobe_bridge_stream *stream, enum strobe_tracy_query query,
                               uint64_t pointer);
/* Look again at those that wait. */
void strobe_bridge_answer_waiting(struct strobe_bridge_stream *stream);
void strobe_bridge_answer_symbol(struct strobe_bridge_stream *stream, uint64_t start);

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
/* The first of the clients that live in a process: they share its names. */
uint32_t strobe_bridge_first(const struct strobe_bridge_stream *stream, uint32_t process);
/* Whether a process may still say what something is called. */
int strobe_bridge_is_awaited(const struct strobe_bridge_stream *stream, uint32_t process);
/* Whether the names that an event, a location or a part's head needs are there. A Tracy client tells them
 * when it is asked, so that they come a little later than their first use; who has ended tells no more. */
int strobe_bridge_is_told(const struct strobe_bridge_stream *stream, uint32_t process,
                          const struct strobe_event *event);
int strobe_bridge_part_is_told(const struct strobe_bridge_stream *stream, uint32_t process,
                               uint32_t thread, const struct strobe_part *part);

/* A tick as the server gets it: of a client that is alone on its own clock, its own time. */
static inline uint64_t strobe_bridge_raw(const struct strobe_bridge_stream *stream, uint64_t tick)
{
    if (stream->is_own)
        return (uint64_t)strobe_trace_own_time(stream->trace, 0, tick);

    return stream->as_ns
               ? stream->init_tick + (uint64_t)strobe_clock_rel(&stream->trace->clock, tick)
               : tick;
}

/* A time of a process's own clock, as the server gets it. */
static inline uint64_t strobe_bridge_own_raw(const struct strobe_bridge_stream *stream,
                                             uint32_t process, uint64_t time)
{
    if (stream->is_own)
        return time;
    return strobe_bridge_raw(stream, strobe_trace_own_tick(stream->trace, process, (int64_t)time));
}

static inline void strobe_bridge_leave_out(struct strobe_bridge_stream *stream, unsigned kind)
{
    stream->left_out[kind < STROBE_KIND_COUNT ? kind : 0]++;
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
 * NULL: none is open. What belongs to a zone that is not there would be the end of the server: an event of `kind` is counted as left out. */
static inline uint32_t *strobe_bridge_open_zone(struct strobe_bridge_stream *stream,
                                                uint32_t process,
                                                struct strobe_bridge_thread *thread, unsigned kind)
{
    uint32_t *depth = &thread->depth;
    if (thread->fiber)
        strobe_bridge_fiber(stream, process, thread->fiber, &depth);
    if (!*depth) {
        strobe_bridge_leave_out(stream, kind);
        return NULL;
    }
    strobe_bridge_turn_to(stream, thread->tid);
    return depth;
}

#endif
