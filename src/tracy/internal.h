/* internal.h - what the files of a session share: session.c (the connection), welcome.c (who the client
 * is, its clock), frames.c (of the stream), decode*.c (events; what they share among themselves:
 * decode.h), names.c (pointers, queries, answers), held.c (events that wait for a text).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_INTERNAL_H
#define STROBE_TRACY_INTERNAL_H

#include <string.h>

#include "tracy/events.h"
#include "tracy/own_clock.h"
#include "tracy/session.h"
#include "wire/ring_layout.h"

/* What a pointer or number of the client is; each space has its own query. */
enum space {
    SPACE_NONE,
    SPACE_LOC,
    SPACE_STRING,
    SPACE_PLOT,
    SPACE_FRAME,
    SPACE_FIBER,
    SPACE_THREAD,
    SPACE_EXTERNAL,
    SPACE_SYMBOL,
    SPACE_LOCK, /* never asked for: locks are announced, and named, in any order */
    SPACE_LOCK_NAME,
    N_SPACES
};

enum entry_state { ENTRY_NEW, ENTRY_ASKED, ENTRY_KNOWN };

struct entry {
    uint64_t key;
    uint64_t id; /* in the trace; THREAD: index in threads; LOCK: its holder's tid */
    union {
        char *text;    /* STRING, LOCK_NAME: owned, n_text bytes; EXTERNAL: its thread's name */
        uint64_t more; /* LOCK: id of its location */
    };
    uint32_t n_text;
    uint8_t space; /* enum space; SPACE_NONE: a free slot */
    uint8_t state; /* enum entry_state */
    uint16_t n_waiting;
};

struct addresses {
    uint64_t *list; /* owned */
    uint32_t n, room;
};

struct thread {
    struct strobe_build_track *track; /* borrowed from the build */
    uint64_t tid;
    struct addresses stack; /* belongs to its next event with a call stack */
};

/* Bytes of a size that is not known before. */
struct text {
    char *bytes; /* owned: room bytes */
    size_t n, room;
};

struct ask {
    uint64_t key;
    enum space space;
};

/* First in, first out. */
struct fifo {
    struct ask *items; /* owned: room entries, a power of 2 */
    uint32_t first, n, room;
};

/* A location whose texts are on their way. */
struct waiting_loc {
    uint64_t id;
    uint64_t pointers[3]; /* name, function, file */
    uint32_t line, color;
};

/* An event or a fact whose text is on its way. */
struct held {
    uint64_t pointer;
    uint64_t raw; /* time on the client's clock */
    uint64_t numbers[3];
    struct thread *thread; /* borrowed from the session; NULL: a parameter */
    uint64_t *stack;       /* owned: n_stack addresses */
    uint32_t n_stack;
    uint32_t kind; /* MESSAGE, CRASH, PARAMETER */
};

enum {
    RAW_FIRST_BYTES = 32 << 10, /* for decompressed frames, and at most */
    RAW_BYTES = 512 << 10,
    HISTORY_BYTES = 64 << 10, /* that a frame may refer to */
    OUT_BYTES = 16 << 10,     /* of queries that are not sent yet */
    SYMBOLS_AT_ONCE = 16,     /* unanswered: more has been seen to kill clients that exit */
    SYMBOLS_MAX = 1 << 16,    /* addresses that are asked for */
    HELD_MAX = 4096,
    STEPS = 256,
    LOC_CACHE = 256,
    SCRIPT_CACHE = 512,
    HOLD_BYTES = 1 << 20,
    CLIENT_ON_DEMAND = 1, /* flag of the welcome */
};

/* Begins and ends that the fast way takes; ends are odd. */
enum zone_form {
    ZONE_FORM_NONE = 0,
    ZONE_FORM_END_16 = 1,
    ZONE_FORM_BEGIN_16 = 2,
    ZONE_FORM_END_32 = 3,
    ZONE_FORM_BEGIN_32 = 4,
    ZONE_FORM_END_64 = 5,
    ZONE_FORM_BEGIN_64 = 6,
};

/* states of session_state, moved by strobe_tracy_session_move:
 *
 *   HELLO ──► WELCOME ──────────────► STREAM ──► OVER          any ──► OVER
 *                └──► ON_DEMAND ────────┘
 *
 *   HELLO -> WELCOME       the client speaks the number that was asked for
 *   WELCOME -> ON_DEMAND   the welcome is whole; what an on-demand client adds to it is to come
 *   WELCOME, ON_DEMAND -> STREAM   all of it is there, and the store has its process
 *   STREAM -> OVER         it said that it ends or was left, and all was answered or time is up; the socket ended;
 *                          bytes that can't be
 *   HELLO, WELCOME, ON_DEMAND -> OVER   another number, a server already, bytes that can't be, no answer in time, no
 *                          memory, left, or the socket ended
 *
 * What it is over with is its status, enum strobe_tracy_status: it runs until then. Only close decodes behind the end,
 * what is still in hold: what breaks there changes the status alone. */
enum session_state {
    SESSION_HELLO,
    SESSION_WELCOME,
    SESSION_ON_DEMAND,
    SESSION_STREAM,
    SESSION_OVER,
};

struct loc_cached {
    uint64_t pointer;
    uint64_t id;
};

struct strobe_tracy_session {
    struct strobe_tracy_session_options options;
    struct strobe_tracy_table table;
    enum session_state state;
    enum strobe_tracy_status status;
    char reason[160];

    /* the connection */
    uint64_t now, opened, hello_sent; /* ticks; hello_sent: when the peer could know of us first */
    uint8_t *in;                      /* owned: an unfinished welcome or frame */
    size_t n_in, cap_in;
    uint64_t frame_came; /* tick at which the first byte of the unfinished frame was there */
    uint8_t *raw;        /* owned: cap_raw bytes */
    size_t cap_raw;
    size_t raw_at; /* where the next frame is decompressed to */
    uint8_t out[OUT_BYTES];
    size_t n_out;
    bool stopping, terminated, crashed;
    uint64_t ending_since, stopping_since, last_answer;
    uint32_t n_bad_frames;
    uint64_t n_bytes;

    /* who it is */
    struct strobe_tracy_client client;
    struct strobe_build *build; /* owned */
    uint64_t on_demand_frames;

    /* time */
    bool own_clock;
    struct strobe_own_clock clock;
    uint64_t tick_low, tick_span; /* times that can be, on the trace's clock */
    uint64_t max_raw;             /* latest time of the frame being decoded */
    uint8_t *hold;                /* owned: frames that wait for the clock's first point */
    size_t n_hold;
    uint64_t hold_since;
    uint64_t best_time, best_tick; /* the most prompt time of the frames in hold, and its arrival */

    uint64_t skim_thread, skim_serial; /* references of strobe_tracy_skim */

    /* the stream's state */
    uint8_t zone_form[256]; /* by number: enum zone_form */
    uint64_t ref_thread, ref_serial, ref_ctx, ref_gpu;
    bool lost_thread, lost_others; /* references that a damaged frame took away */
    struct thread *current;        /* borrowed: of ThreadContext, NULL: none yet */
    uint64_t last_raw;             /* for events that carry no time */
    struct text single, second, image;
    struct addresses payload, serial_stack;
    uint64_t next_loc, next_pool;
    bool has_next_loc;
    uint64_t symbol_address; /* of the CallstackFrame events to come */
    uint32_t n_symbol_frames, symbol_inlined;
    struct text symbol_image;

    /* names */
    struct entry *entries; /* owned: n_slots, open addressing */
    uint32_t n_entries, n_slots;
    int64_t n_charged;
    struct thread **threads; /* owned, each too */
    uint32_t n_threads, cap_threads;
    struct waiting_loc *waiting; /* owned */
    uint32_t n_waiting, cap_waiting;
    struct fifo strings, locs, symbols;    /* to be asked, in this order */
    struct fifo asked_locs, asked_symbols; /* unanswered: their answers name no pointer */
    uint32_t n_asked, limit;
    uint32_t n_symbols;
    bool no_symbols;
    struct held *held; /* owned */
    uint32_t n_held, cap_held;
    uint64_t last_fiber, over_loc, cpu_plot;
    struct loc_cached loc_cache[LOC_CACHE];
    uint64_t script_told[SCRIPT_CACHE]; /* ids of frames of scripts that have a symbol record */

    /* counts */
    uint64_t n_zones, n_events, n_set_aside, n_unasked;
    const char *last_remark;
};

/* ---- little-endian fields ---- */

static inline uint64_t get64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline uint32_t get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline uint16_t get16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline uint32_t get_color(const uint8_t *at) /* blue, green, red */
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static inline uint64_t ticks_of(const struct strobe_tracy_session *s, double ns)
{
    return (uint64_t)(ns / s->options.tick_ns);
}

/* ---- session.c ---- */

/* Memory charged to the store's budget until the session is closed. */
bool strobe_tracy_charge(struct strobe_tracy_session *s, int64_t n_bytes);
/* Room for n entries of a list that grows, charged. */
bool strobe_tracy_grow(struct strobe_tracy_session *s, void *list, uint32_t n, uint32_t *room,
                       size_t item_bytes, uint32_t most);
bool strobe_tracy_text_set(struct strobe_tracy_session *s, struct text *text, const void *bytes,
                           size_t n);
/* Something to be told of an event that is stored all the same. */
void strobe_tracy_remark(struct strobe_tracy_session *s, const char *what);
/* An event that can't be right, or that there is no room for: counted as lost, and told. */
void strobe_tracy_set_aside(struct strobe_tracy_session *s, const struct thread *thread,
                            const char *why);
/* See the drawing above. */
void strobe_tracy_session_move(struct strobe_tracy_session *s, enum session_state to);
enum strobe_tracy_status strobe_tracy_break(struct strobe_tracy_session *s, const char *reason);

/* ---- welcome.c ---- */

/* The fields of a whole welcome, into s->client. */
void strobe_tracy_welcome_read(struct strobe_tracy_session *s, const uint8_t *at);
/* All that the client says of itself is there: its process is opened in the store, the stream begins. `present`: an
 * on-demand client's time of the hello, on its clock; 0: none. */
enum strobe_tracy_status strobe_tracy_welcome_take(struct strobe_tracy_session *s,
                                                   uint64_t present);
/* Times before the client began or after now can't be. */
void strobe_tracy_bound_times(struct strobe_tracy_session *s);
/* The client's own clock: its first point, with an error in ticks; its newest piece, into the records. */
void strobe_tracy_clock_start(struct strobe_tracy_session *s, uint64_t time, uint64_t tick,
                              double error);
void strobe_tracy_clock_note(struct strobe_tracy_session *s);

/* ---- frames.c ---- */

/* A frame as it came, compressed; `came`: the tick at which its first byte was there. */
enum strobe_tracy_status strobe_tracy_frame_take(struct strobe_tracy_session *s,
                                                 const uint8_t *frame, size_t n, uint64_t came);
/* Decode the frames in hold: if it is time to, or whatever the time is. */
enum strobe_tracy_status strobe_tracy_frames_poll(struct strobe_tracy_session *s);
enum strobe_tracy_status strobe_tracy_frames_release(struct strobe_tracy_session *s);

/* ---- decode.c ---- */

/* The events of one frame. False: damaged; what came before the damage is stored. */
bool strobe_tracy_decode(struct strobe_tracy_session *s, const uint8_t *at, const uint8_t *end);
/* The latest time in a frame, without storing anything; 0: none. */
uint64_t strobe_tracy_skim(struct strobe_tracy_session *s, const uint8_t *at, const uint8_t *end);
/* One event at a time of the client, on the trace's clock and with its exact own time kept. */
void strobe_tracy_put(struct strobe_tracy_session *s, struct strobe_build_track *track,
                      uint64_t raw, enum strobe_kind kind, const uint64_t *numbers,
                      const char *text, size_t n);
void strobe_tracy_put_stack(struct strobe_tracy_session *s, struct strobe_build_track *track,
                            uint64_t raw, const uint64_t *addresses, uint32_t n);

/* ---- names.c ---- */

struct entry *strobe_tracy_find(struct strobe_tracy_session *s, enum space space, uint64_t key);
/* Found or made (ENTRY_NEW). NULL: over the budget. */
struct entry *strobe_tracy_entry(struct strobe_tracy_session *s, enum space space, uint64_t key);
/* Ids of the trace for pointers of the client, asked for at their first use. */
uint64_t strobe_tracy_loc(struct strobe_tracy_session *s, uint64_t pointer);
uint64_t strobe_tracy_name(struct strobe_tracy_session *s, enum space space, uint64_t pointer);
uint64_t strobe_tracy_fiber(struct strobe_tracy_session *s, uint64_t pointer);
struct thread *strobe_tracy_thread(struct strobe_tracy_session *s, uint64_t tid, uint64_t raw);
/* The text at a pointer if it is known; else it is asked for. */
const struct entry *strobe_tracy_text(struct strobe_tracy_session *s, uint64_t pointer);
void strobe_tracy_want_symbols(struct strobe_tracy_session *s, const uint64_t *addresses,
                               uint32_t n);
void strobe_tracy_want_external(struct strobe_tracy_session *s, uint64_t tid);

/* Answers. */
void strobe_tracy_got_text(struct strobe_tracy_session *s, enum space space, uint64_t key,
                           const char *text, size_t n);
/* A copy of the text, within the budget. The first one stays. */
void strobe_tracy_keep_text(struct strobe_tracy_session *s, struct entry *entry, const char *text,
                            size_t n);
void strobe_tracy_got_thread_of(struct strobe_tracy_session *s, uint64_t tid, const char *name,
                                size_t n);
void strobe_tracy_got_loc(struct strobe_tracy_session *s, const uint8_t *fields);
void strobe_tracy_got_symbol(struct strobe_tracy_session *s, uint64_t address, uint32_t n_frames);
void strobe_tracy_got_nothing(struct strobe_tracy_session *s); /* AckServerQueryNoop */

/* Queries into the output, as many as may be unanswered. */
void strobe_tracy_pump(struct strobe_tracy_session *s);
bool strobe_tracy_query(struct strobe_tracy_session *s, enum strobe_tracy_query query,
                        uint64_t pointer);
/* Names that are still to be asked for or answered. */
uint64_t strobe_tracy_n_missing(const struct strobe_tracy_session *s);
void strobe_tracy_free_names(struct strobe_tracy_session *s);

/* ---- held.c ---- */

/* Store it now if the text at held->pointer is known, else when it comes. Takes over held->stack. */
void strobe_tracy_hold(struct strobe_tracy_session *s, struct held *held);
void strobe_tracy_release(struct strobe_tracy_session *s, const struct entry *entry);
/* Store all that waits, with pointers for texts. */
void strobe_tracy_release_all(struct strobe_tracy_session *s);

#endif
