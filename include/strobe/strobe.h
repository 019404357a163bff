/* strobe.h - the client API: what a program calls to be recorded by Strobe.
 *
 *     #include <strobe/strobe.h>
 *
 *     void work(void)
 *     {
 *         STROBE_SCOPE("work");              // a zone from here to the end of the block (C and C++)
 *         STROBE_ZONE(load, "load");         // a zone with a handle ...
 *         STROBE_ZONE_TEXT(load, "a.bin");   // ... a text on it
 *         STROBE_ZONE_END(load);             // ... and its end
 *         STROBE_PLOT("queue", 3.0);
 *     }
 *
 * Link with -lstrobe (pkg-config strobe, CMake Strobe::Strobe), run under `strobe record`. C99 and up, C++11 and up,
 * gcc or clang, Linux on x86-64 or arm64. With STROBE_OFF defined, all of it compiles to nothing.
 *
 * What this header declares is the promise: names, types and meaning stay within a major version (while that is 0: within
 * a minor one). What the inline functions below need is in strobe/inline_abi.h and is no part of it. strobe/facade.h is
 * experimental.
 *
 * RULES OF EVERY CALL, unless the call says otherwise:
 *   when     any time between the program's first and last instruction: in constructors, destructors, after fork.
 *   threads  any thread, without a lock of the caller's. An event belongs to the calling thread.
 *   signals  any signal handler, also one that interrupts another call of this header.
 *   errors   none: nothing is returned, errno is kept. An event that can't be stored is dropped and counted with its
 *            cause; `strobe info` shows both. Pointers must be valid; NULL is allowed only where it is named.
 *   memory   nothing is allocated from the heap. Texts are copied during the call and need no terminating NUL where a
 *            length is passed. A text of an event may be of any length; of a registered name 64 KiB are kept, of a
 *            location's file and function 1,400 bytes each.
 *   cost     while nobody records: a load and a branch. While recorded: a zone's begin and end 35 instructions together,
 *            any other event one function call and a copy of its fields. The first use of a location or name per
 *            recorder registers it: some microseconds, under a lock of the process.
 *   macros   the arguments of STROBE_ macros are evaluated only while somebody records, but for those of STROBE_ZONE,
 *            STROBE_SCOPE, STROBE_THREAD_NAME, STROBE_PROGRAM_NAME and STROBE_APP_INFO and their variants.
 *   ids      a process has 2^30 - 1 locations and names at most; events of further ones are dropped (no room for a name).
 *   waiting  where shared memory is full, a call waits for the recorder, for at most one second in which it gives back
 *            nothing and ten in all, and drops then; with `strobe record --policy drop` it drops at once. In a handler on an alternate signal stack it never waits.
 *
 * Names of zones, plots, frames, pools and fibers are compared by their content.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_STROBE_H
#define STROBE_STROBE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STROBE_API          __attribute__((visibility("default")))
#define STROBE_INLINE       static inline __attribute__((always_inline, unused))
#define STROBE_COLD         __attribute__((cold, noinline))
#define STROBE_LIKELY(x)    __builtin_expect(!!(x), 1)
#define STROBE_UNLIKELY(x)  __builtin_expect(!!(x), 0)
#define STROBE_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#error "strobe.h needs gcc or clang"
#endif
#if !defined(__clang__) && \
    __GNUC__ >= 11 /* a pointer that is a number only: fresh memory may be passed */
#define STROBE_NOT_READ(argument) __attribute__((access(none, argument)))
#else
#define STROBE_NOT_READ(argument)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

/* A source location: static, one per place in the code. `word` is the library's: start it with 0 and leave it alone; the
 * rest is the program's. The texts must stay while a zone of it may begin. dlclose may unmap all of it at any time. */
struct strobe_loc {
    uint64_t word;
    const char *name; /* NULL: the function's name is shown */
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color; /* 0xRRGGBB, 0: chosen by name */
};

/* A name that one place of the code uses; same lifetime as a location. */
struct strobe_name {
    uint64_t word;
    const char *text;
};

/* What became of a begin; strobe_zone.on. */
enum strobe_emit_result {
    STROBE_EMIT_IDLE = 0,   /* nobody recorded: nothing was emitted */
    STROBE_EMIT_STORED = 1, /* the event is in the stream */
    STROBE_EMIT_SLOW = 2,   /* bit: the slow path decided */
    STROBE_EMIT_STORED_SLOW = 3
    /* all others: dropped and counted; the value keeps the cause, so that the end is dropped for the same */
};

/* An open zone: what strobe_zone_begin returned. Copy it freely, change nothing in it, end it once. */
struct strobe_gate;
struct strobe_zone {
    struct strobe_loc *loc; /* borrowed; NULL for a zone with a run-time location */
    uint64_t word;          /* the location's word when it began; of a run-time location its id */
    const volatile struct strobe_gate *gate; /* borrowed: the process's gate when it began */
    int on;                                  /* enum strobe_emit_result, or a dropped one's cause */
};

/* A lock of the program, as the trace knows it. The program owns the memory; the fields are the library's. */
struct strobe_lock {
    uint64_t id;
    uint64_t made;          /* when, by strobe_clock_now */
    struct strobe_loc *loc; /* borrowed: where it is made; NULL: not known */
    uint32_t recorder;      /* the recorder that it is registered with */
    uint32_t is_shared;     /* readers may hold it together */
    char name[64];          /* given by the program, cut; "": the location's */
};

enum strobe_severity {
    STROBE_TRACE = 0,
    STROBE_DEBUG = 1,
    STROBE_INFO = 2,
    STROBE_WARNING = 3,
    STROBE_ERROR = 4,
    STROBE_FATAL = 5
};

enum strobe_plot_format {
    STROBE_NUMBER = 0,
    STROBE_BYTES = 1,
    STROBE_PERCENT = 2,
    STROBE_WATT = 3
};

#ifdef STROBE_OFF
#include "strobe/strobe_off.h"
#else

/* ---- the recording ---- */

/* 1 while a recorder drains this process, else 0. May change right after the call. */
STROBE_API int strobe_recording(void);

/* Leave the process's session and join the session `name`, whose recorder runs already. 0: joined. -1: there is no such
 * session, or something of this process was recorded before; the process then stays in its session. Not from signal
 * handlers. Makes system calls. */
STROBE_API int strobe_join_session(const char *name);

/* Now, on the clock of the process's events. The unit is the trace's tick: a difference means nothing to a program. */
STROBE_API uint64_t strobe_clock_now(void);

/* Ask a flight recorder (`strobe record --flight`) to keep what it has. For other recorders it is an event only. */
STROBE_API void strobe_trigger(const char *reason);

/* ---- zones ---- */

/* Begin a zone of a location on the calling thread. Begin and end must come from one thread, or from one fiber. Zones of a
 * thread nest: a zone that ends while zones that began in it are open leaves those unfinished. Inline. */
STROBE_INLINE struct strobe_zone strobe_zone_begin(struct strobe_loc *loc);

/* End a zone; once per begin. A begin that was emitted gets its end also when the recorder left meanwhile. The end of a
 * zone that began while nobody recorded, or in a parent before a fork, is emitted if somebody records now: the trace shows
 * an end without a begin. Inline. */
STROBE_INLINE void strobe_zone_end(struct strobe_zone *zone);

/* The same as functions, for other languages. */
STROBE_API struct strobe_zone strobe_zone_begin_call(struct strobe_loc *loc);
STROBE_API void strobe_zone_end_call(struct strobe_zone zone);

/* Begin a zone with a location made at run time. `function` and `file` may be NULL. Registers the texts the first time, then
 * looks them up by content: dearer than a static location. */
STROBE_API struct strobe_zone strobe_zone_begin_at(const char *file, uint32_t line,
                                                   const char *function, const char *name,
                                                   size_t name_bytes, uint32_t color);

/* Begin a zone at `tick` of strobe_clock_now, which must not be before the thread's last event. End it with
 * strobe_zone_end of a zone of the same location, or with the next end that fits. */
STROBE_API void strobe_zone_begin_past(struct strobe_loc *loc, uint64_t tick);

/* Say something about an open zone of the calling thread: a line of text (several add up), a name in place of its location's,
 * a number, a colour (of these three the last counts). The zone may have open zones in it. Of several open zones of one
 * location the innermost gets it. A zone that nobody saw begin gets nothing; of one whose begin was dropped it is dropped
 * too. Not after the zone's end. */
STROBE_API void strobe_zone_add_text(const struct strobe_zone *zone, const char *text,
                                     size_t n_bytes);
STROBE_API void strobe_zone_set_name(const struct strobe_zone *zone, const char *name,
                                     size_t n_bytes);
STROBE_API void strobe_zone_set_value(const struct strobe_zone *zone, uint64_t value);
STROBE_API void strobe_zone_set_color(const struct strobe_zone *zone, uint32_t color);

/* The same, about the innermost open zone of the calling thread (or of the fiber that it runs): no handle is needed.
 * strobe_zone_textf formats with vsnprintf and cuts after 16,383 bytes; in a signal handler use conversions of integers
 * and texts only. */
STROBE_API void strobe_zone_text(const char *text, size_t n_bytes);
STROBE_API void strobe_zone_textf(const char *format, ...) STROBE_PRINTF(1, 2);
STROBE_API void strobe_zone_name(const char *name, size_t n_bytes);
STROBE_API void strobe_zone_value(uint64_t value);
STROBE_API void strobe_zone_color(uint32_t color);

/* Let the innermost open zone end out of order: before zones that began in it, or after the zone that it began in. Those
 * others stay open. Call it right after the begin; the end still comes from the same thread. Two such zones that are open
 * at once need two locations. */
STROBE_API void strobe_zone_loose(void);

/* ---- messages, plots, frames, memory ---- */

/* A line of text at a point of time. `severity`: enum strobe_severity; `color`: 0xRRGGBB, 0: none. The second form as
 * strobe_zone_textf. */
STROBE_API void strobe_message(int severity, uint32_t color, const char *text, size_t n_bytes);
STROBE_API void strobe_messagef(int severity, uint32_t color, const char *format, ...)
    STROBE_PRINTF(3, 4);

/* A value of a plot, at this time. The forms with a text look the name up by content in each call. */
STROBE_API void strobe_plot_int(struct strobe_name *plot, int64_t value);
STROBE_API void strobe_plot_double(struct strobe_name *plot, double value);
STROBE_API void strobe_plot_named(const char *plot, double value);
STROBE_API void strobe_plot_named_int(const char *plot, int64_t value);

/* How a plot is drawn. `format`: enum strobe_plot_format; `step` 1: values hold until the next. Only the recorder of the moment
 * learns it: repeat it while recording. */
STROBE_API void strobe_plot_config(struct strobe_name *plot, int format, int step, uint32_t color);

/* A frame is what lies between two marks of one name, or between its start and its end. A name uses one of the two. */
STROBE_API void strobe_frame_mark(struct strobe_name *frame);
STROBE_API void strobe_frame_start(struct strobe_name *frame);
STROBE_API void strobe_frame_end(struct strobe_name *frame);

/* A block of memory was allocated or is about to be freed. `address` is a number only: it is never read. Order matters:
 * call strobe_mem_free before the block is given back. */
STROBE_API void strobe_mem_alloc(struct strobe_name *pool, const void *address, size_t size)
    STROBE_NOT_READ(2);
STROBE_API void strobe_mem_free(struct strobe_name *pool, const void *address) STROBE_NOT_READ(2);

/* ---- locks ---- */

/* Make a lock known, before any other thread can use it. `loc` may be NULL and must outlive the lock; `is_shared` 1: readers
 * may hold it together. Each recorder that comes later learns of it by itself. */
STROBE_API void strobe_lock_open(struct strobe_lock *lock, struct strobe_loc *loc, int is_shared);

/* Give it a name, of which 63 bytes are kept. Not while another thread uses the lock. */
STROBE_API void strobe_lock_rename(struct strobe_lock *lock, const char *name, size_t n_bytes);

/* The calling thread is about to wait for the lock; has obtained it; has released it. `shared` 1: as a reader. Each wait is
 * followed by an obtain; an obtain without a wait (try_lock) is allowed. */
STROBE_API void strobe_lock_will_wait(struct strobe_lock *lock, int shared);
STROBE_API void strobe_lock_obtained(struct strobe_lock *lock, int shared);
STROBE_API void strobe_lock_released(struct strobe_lock *lock, int shared);

/* Where the calling thread last waited for it or obtained it. */
STROBE_API void strobe_lock_mark(struct strobe_lock *lock, struct strobe_loc *loc);

/* The lock is about to be destroyed. */
STROBE_API void strobe_lock_close(struct strobe_lock *lock);

/* ---- fibers, spans, flows ---- */

/* From enter to leave, what the thread emits belongs to the fiber, which may go on on another thread later. Enter in a
 * fiber changes to the other one. A fiber runs on one thread at a time. */
STROBE_API void strobe_fiber_enter(struct strobe_name *fiber);
STROBE_API void strobe_fiber_leave(void);

/* Asynchronous spans: identified by an id, may overlap, may end on another thread of the process. strobe_span_new_id
 * returns an id that differs from all others of this process and, practically, of others; it works while nobody records. */
STROBE_API uint64_t strobe_span_new_id(void);
STROBE_API void strobe_span_begin(uint64_t span, struct strobe_loc *loc);
STROBE_API void strobe_span_end(uint64_t span);

/* A flow links the zones in which it begins, steps and ends, over threads and processes. The id is the program's choice. */
STROBE_API void strobe_flow_begin(uint64_t flow);
STROBE_API void strobe_flow_step(uint64_t flow);
STROBE_API void strobe_flow_end(uint64_t flow);

/* ---- context ---- */

/* Emit the calling thread's stack, at most `max_frames` (and 96) return addresses, found by frame pointers. It belongs to
 * the event that this thread emits next. Code without frame pointers ends it early. */
STROBE_API void strobe_callstack(int max_frames);

/* Name the calling thread (63 bytes are kept) or the program (255). Also while nobody records: later recorders learn it. */
STROBE_API void strobe_set_thread_name(const char *name);
STROBE_API void strobe_set_program_name(const char *name);

/* A text about the program, such as its version: an event, listed by `strobe csv --kind notes`. Nothing while nobody
 * records. */
STROBE_API void strobe_app_info(const char *text, size_t n_bytes);

#include "strobe/inline_abi.h"

#ifdef __cplusplus
} /* extern "C" */

namespace strobe
{
/* A zone from its construction to the end of its scope. */
class Zone
{
  public:
    explicit Zone(struct strobe_loc *loc) : zone_(strobe_zone_begin(loc)) {}
    ~Zone()
    {
        strobe_zone_end(&zone_);
    }
    Zone(const Zone &) = delete;
    Zone &operator=(const Zone &) = delete;

    /* On this zone, also while others are open in it. */
    void text(const char *text, size_t n_bytes) const
    {
        strobe_zone_add_text(&zone_, text, n_bytes);
    }
    void name(const char *name, size_t n_bytes) const
    {
        strobe_zone_set_name(&zone_, name, n_bytes);
    }
    void value(uint64_t value) const
    {
        strobe_zone_set_value(&zone_, value);
    }
    void color(uint32_t color) const
    {
        strobe_zone_set_color(&zone_, color);
    }

  private:
    struct strobe_zone zone_;
};
} // namespace strobe
#endif

#define STROBE_JOIN2(a, b) a##b
#define STROBE_JOIN(a, b)  STROBE_JOIN2(a, b)

#define STROBE_LOC(variable, name, color) \
    static struct strobe_loc variable = {0, name, __func__, __FILE__, __LINE__, color}
#define STROBE_NAME(variable, text) static struct strobe_name variable = {0, text}

/* A zone with a handle: STROBE_ZONE(h, "name"); ... STROBE_ZONE_END(h); */
#define STROBE_ZONE(handle, name)   STROBE_ZONE_COLOR(handle, name, 0)
#define STROBE_ZONE_COLOR(handle, name, color)                    \
    STROBE_LOC(STROBE_JOIN(strobe_loc_of_, handle), name, color); \
    struct strobe_zone handle = strobe_zone_begin(&STROBE_JOIN(strobe_loc_of_, handle))
#define STROBE_ZONE_STACK(handle, name, frames) \
    strobe_callstack(frames);                   \
    STROBE_ZONE(handle, name)
#define STROBE_ZONE_END(handle) strobe_zone_end(&(handle))
/* On that zone, also while others are open in it. */
#define STROBE_ZONE_TEXT(handle, text) \
    STROBE_IF_ON(strobe_zone_add_text(&(handle), text, __builtin_strlen(text)))
#define STROBE_ZONE_RENAME(handle, name) \
    STROBE_IF_ON(strobe_zone_set_name(&(handle), name, __builtin_strlen(name)))
#define STROBE_ZONE_VALUE(handle, value)   STROBE_IF_ON(strobe_zone_set_value(&(handle), value))
#define STROBE_ZONE_RECOLOR(handle, color) STROBE_IF_ON(strobe_zone_set_color(&(handle), color))

/* A zone to the end of the block. */
#ifdef __cplusplus
#define STROBE_SCOPE_COLOR(name, color)                          \
    STROBE_LOC(STROBE_JOIN(strobe_loc_, __LINE__), name, color); \
    ::strobe::Zone STROBE_JOIN(strobe_zone_, __LINE__)(&STROBE_JOIN(strobe_loc_, __LINE__))
#else
#define STROBE_SCOPE_COLOR(name, color)                          \
    STROBE_LOC(STROBE_JOIN(strobe_loc_, __LINE__), name, color); \
    struct strobe_zone STROBE_JOIN(strobe_zone_, __LINE__)       \
        __attribute__((cleanup(strobe_zone_end), unused)) =      \
            strobe_zone_begin(&STROBE_JOIN(strobe_loc_, __LINE__))
#endif
#define STROBE_SCOPE(name)    STROBE_SCOPE_COLOR(name, 0)
#define STROBE_FUNCTION()     STROBE_SCOPE_COLOR(NULL, 0)

/* On the innermost open zone. */
#define STROBE_TEXT(text)     STROBE_IF_ON(strobe_zone_text(text, __builtin_strlen(text)))
#define STROBE_TEXTF(...)     STROBE_IF_ON(strobe_zone_textf(__VA_ARGS__))
#define STROBE_RENAME(name)   STROBE_IF_ON(strobe_zone_name(name, __builtin_strlen(name)))
#define STROBE_VALUE(value)   STROBE_IF_ON(strobe_zone_value(value))
#define STROBE_RECOLOR(color) STROBE_IF_ON(strobe_zone_color(color))

#define STROBE_MESSAGE(severity, text) \
    STROBE_IF_ON(strobe_message(severity, 0, text, __builtin_strlen(text)))
#define STROBE_MESSAGEF(severity, ...) STROBE_IF_ON(strobe_messagef(severity, 0, __VA_ARGS__))

#define STROBE_PLOT(name, value)     STROBE_WITH_NAME(name, strobe_plot_double(&strobe_name_, value))
#define STROBE_PLOT_INT(name, value) STROBE_WITH_NAME(name, strobe_plot_int(&strobe_name_, value))
#define STROBE_PLOT_CONFIG(name, format, step, color) \
    STROBE_WITH_NAME(name, strobe_plot_config(&strobe_name_, format, step, color))
#define STROBE_FRAME()              STROBE_WITH_NAME("frame", strobe_frame_mark(&strobe_name_))
#define STROBE_FRAME_NAMED(name)    STROBE_WITH_NAME(name, strobe_frame_mark(&strobe_name_))
#define STROBE_FRAME_START(name)    STROBE_WITH_NAME(name, strobe_frame_start(&strobe_name_))
#define STROBE_FRAME_END(name)      STROBE_WITH_NAME(name, strobe_frame_end(&strobe_name_))
#define STROBE_ALLOC(address, size) STROBE_ALLOC_IN("heap", address, size)
#define STROBE_FREE(address)        STROBE_FREE_IN("heap", address)
#define STROBE_ALLOC_IN(pool, address, size) \
    STROBE_WITH_NAME(pool, strobe_mem_alloc(&strobe_name_, address, size))
#define STROBE_FREE_IN(pool, address) \
    STROBE_WITH_NAME(pool, strobe_mem_free(&strobe_name_, address))
#define STROBE_FIBER_ENTER(name) STROBE_WITH_NAME(name, strobe_fiber_enter(&strobe_name_))
#define STROBE_FIBER_LEAVE()     STROBE_IF_ON(strobe_fiber_leave())
#define STROBE_SPAN_BEGIN(span, name) \
    STROBE_IF_ON(STROBE_LOC(strobe_loc_, name, 0); strobe_span_begin(span, &strobe_loc_))
#define STROBE_SPAN_END(span)     STROBE_IF_ON(strobe_span_end(span))
#define STROBE_FLOW_BEGIN(flow)   STROBE_IF_ON(strobe_flow_begin(flow))
#define STROBE_FLOW_STEP(flow)    STROBE_IF_ON(strobe_flow_step(flow))
#define STROBE_FLOW_END(flow)     STROBE_IF_ON(strobe_flow_end(flow))
#define STROBE_TRIGGER(reason)    STROBE_IF_ON(strobe_trigger(reason))
#define STROBE_THREAD_NAME(name)  strobe_set_thread_name(name)
#define STROBE_PROGRAM_NAME(name) strobe_set_program_name(name)
#define STROBE_APP_INFO(text)     strobe_app_info(text, __builtin_strlen(text))

#define STROBE_IF_ON(...)                               \
    do {                                                \
        if (STROBE_UNLIKELY(strobe_gate_now->active)) { \
            __VA_ARGS__;                                \
        }                                               \
    } while (0)
#define STROBE_WITH_NAME(text, ...) STROBE_IF_ON(STROBE_NAME(strobe_name_, text); __VA_ARGS__)

#endif /* STROBE_OFF */

#endif
