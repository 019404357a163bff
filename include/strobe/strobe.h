/* strobe.h - the client API: what a program calls to be seen by Strobe.
 *
 *     #include <strobe/strobe.h>
 *
 *     void work(void)
 *     {
 *         STROBE_SCOPE("work");            // a zone from here to the end of the block (C and C++)
 *         STROBE_ZONE(load, "load");       // a zone with a handle ...
 *         STROBE_TEXT("model.bin");        // ... text on the innermost open zone
 *         STROBE_ZONE_END(load);           // ... and its end
 *         STROBE_PLOT("queue", 3.0);
 *     }
 *
 * Link with -lstrobe (pkg-config strobe, CMake Strobe::Strobe), run under `strobe record`.
 * C99 and up, C++11 and up. Every call may be made from any thread and from signal handlers, costs
 * a flag test while nobody records, never allocates, never blocks for good and never fails: what
 * can't be recorded is counted. With STROBE_OFF defined, all of it compiles to nothing.
 *
 * Texts are copied during the call. Names (of zones, plots, frames, pools, fibers) are told apart
 * by their content. SPDX-License-Identifier: MIT */
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

/* A source location: static, one per place in the code. `word` is 0 until it was named to a
 * recorder; the library writes it, the rest is the program's. The program may unmap it (dlclose) at
 * any time. */
struct strobe_loc {
    uint64_t word;
    const char *name; /* NULL: the function's name is shown */
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color; /* 0xRRGGBB, 0: by name */
};

/* A name used at one place of the code; same life as a location. */
struct strobe_name {
    uint64_t word;
    const char *text;
};

/* An open zone. `on`: 0 nobody recorded when it began; 1 its begin was emitted; 3 it was emitted the
 * slow way, and so will its end be; others: it was dropped. */
struct strobe_gate;
struct strobe_zone {
    struct strobe_loc *loc; /* borrowed; NULL for a zone with a run-time location */
    uint64_t word;          /* the location's word when it began; of a run-time location its id */
    const volatile struct strobe_gate *gate; /* borrowed: the process's gate when it began */
    int on;
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

/* 1 while a recorder takes this process's events. */
STROBE_API int strobe_recording(void);

/* Join the session `name`, whose recorder runs already, in place of the one that the process is in. 0, or -1 where there is
 * no such session, or where something of this process was recorded before: then it stays where it is. */
STROBE_API int strobe_join_session(const char *name);

/* Zones with a location made at run time; the texts are copied. `function`, `file` may be NULL. */
STROBE_API struct strobe_zone strobe_zone_begin_at(const char *file, uint32_t line,
                                                   const char *function, const char *name,
                                                   size_t name_bytes, uint32_t color);
/* A zone that began at `tick` of strobe_clock_now, after everything that the thread emitted; ends as others do. */
STROBE_API void strobe_zone_begin_past(struct strobe_loc *loc, uint64_t tick);
/* Now, on the clock of the process's events. */
STROBE_API uint64_t strobe_clock_now(void);
/* On the innermost open zone of the calling thread (or of the fiber that it runs). */
STROBE_API void strobe_zone_text(const char *text, size_t n_bytes);
STROBE_API void strobe_zone_textf(const char *format, ...) STROBE_PRINTF(1, 2);
STROBE_API void strobe_zone_name(const char *name, size_t n_bytes);
STROBE_API void strobe_zone_value(uint64_t value);
STROBE_API void strobe_zone_color(uint32_t color);
/* It may end in any order: before zones that begin in it, after those that it began in. Its end comes
 * from the same thread. Where two of one location may be open at once, give each a location of its own. */
STROBE_API void strobe_zone_loose(void);

STROBE_API void strobe_message(int severity, uint32_t color, const char *text, size_t n_bytes);
STROBE_API void strobe_messagef(int severity, uint32_t color, const char *format, ...)
    STROBE_PRINTF(3, 4);

STROBE_API void strobe_plot_int(struct strobe_name *plot, int64_t value);
STROBE_API void strobe_plot_double(struct strobe_name *plot, double value);
STROBE_API void strobe_plot_config(struct strobe_name *plot, int format, int step, uint32_t color);

/* A frame is what lies between two marks of one name, or between its start and its end. */
STROBE_API void strobe_frame_mark(struct strobe_name *frame);
STROBE_API void strobe_frame_start(struct strobe_name *frame);
STROBE_API void strobe_frame_end(struct strobe_name *frame);

STROBE_API void strobe_mem_alloc(struct strobe_name *pool, const void *address, size_t size)
    STROBE_NOT_READ(2);
STROBE_API void strobe_mem_free(struct strobe_name *pool, const void *address) STROBE_NOT_READ(2);

/* Locks. An id from strobe_lock_new (any number of them); shared: 1 for readers. */
STROBE_API uint64_t strobe_lock_new(struct strobe_loc *loc, const char *name);
STROBE_API void strobe_lock_wait(uint64_t lock, int shared);
STROBE_API void strobe_lock_obtain(uint64_t lock, int shared);
STROBE_API void strobe_lock_release(uint64_t lock, int shared);

/* From enter to leave, what the thread emits belongs to the fiber, which may go on elsewhere. */
STROBE_API void strobe_fiber_enter(struct strobe_name *fiber);
STROBE_API void strobe_fiber_leave(void);

/* Async spans: told apart by id, may overlap, may end on another thread. */
STROBE_API uint64_t strobe_span_new_id(void);
STROBE_API void strobe_span_begin(uint64_t span, struct strobe_loc *loc);
STROBE_API void strobe_span_end(uint64_t span);

/* A flow links the zones in which it begins, steps and ends. */
STROBE_API void strobe_flow_begin(uint64_t flow);
STROBE_API void strobe_flow_step(uint64_t flow);
STROBE_API void strobe_flow_end(uint64_t flow);

/* The calling thread's stack, by frame pointers, belongs to the event that this thread emits next.
 */
STROBE_API void strobe_callstack(int max_frames);

STROBE_API void strobe_set_thread_name(const char *name);
STROBE_API void strobe_set_program_name(const char *name);
STROBE_API void strobe_app_info(const char *text, size_t n_bytes);
STROBE_API void strobe_plot_named(const char *plot, double value);
STROBE_API void strobe_plot_named_int(const char *plot, int64_t value);

/* Ask a flight recorder to keep what it has. */
STROBE_API void strobe_trigger(const char *reason);

/* Out-of-line forms of the zone functions, for other languages. */
STROBE_API struct strobe_zone strobe_zone_begin_call(struct strobe_loc *loc);
STROBE_API void strobe_zone_end_call(struct strobe_zone zone);

/* ---- below: what the macros are made of; not for direct use
 * -------------------------------------- */

/* The part of a thread's state that the hot path touches. `cursor` is the address of the next free
 * word of the thread's segment << 16 | words left in it (signed): one value, so that one
 * instruction takes a word and tells whether there was one. It is wiped in a forked child, which
 * therefore finds no word left and can never write into its parent's segment. */
struct strobe_hot {
    uint64_t cursor;
    uint32_t epoch; /* upper half of the ticks now being written */
};
/* The recorder's words to this process; in shared memory, see wire/ring_layout.h. */
struct strobe_gate {
    uint32_t active; /* 0: nobody records */
    uint32_t policy;
    uint64_t floor; /* words of locations below it must be named (again) first */
};
STROBE_API extern __thread struct strobe_hot *strobe_hot_now
    __attribute__((tls_model("initial-exec")));
STROBE_API extern const volatile struct strobe_gate *strobe_gate_now;
/* Emit one word the long way: new segment, new epoch, no clock. 1: emitted; others: dropped and
 * counted. That the inline callers turn a 1 into a 3 keeps the compiler from mixing the slow ways
 * into the fast one. */
STROBE_API int strobe_emit_slow(uint64_t word, uint64_t *reserved,
                                struct strobe_loc *loc) STROBE_COLD;
STROBE_API int strobe_begin_unnamed(struct strobe_loc *loc) STROBE_COLD;
STROBE_API void strobe_end_odd(struct strobe_loc *loc, uint64_t word, int on) STROBE_COLD;
STROBE_API void strobe_end_unseen(struct strobe_loc *loc) STROBE_COLD;

/* The one flag test: is somebody recording? */
STROBE_INLINE int strobe_gate_is_open(const volatile struct strobe_gate *gate)
{
#if defined(__x86_64__)
    __asm__ goto("cmpl $0, %0\n\tjne %l[open]" : : "m"(gate->active) : "cc" : open);
    return 0;
open:
    return 1;
#else /* what the recorder wrote before it, `floor` above all, is read after it */
    return STROBE_UNLIKELY(__atomic_load_n(&gate->active, __ATOMIC_ACQUIRE));
#endif
}

STROBE_INLINE uint64_t strobe_ticks(void)
{
#if defined(__x86_64__)
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "strobe.h knows the clocks of x86-64 and arm64"
#endif
}

/* Take `n_words` from the thread's segment: the cursor as it was. In one instruction, so that a
 * signal handler which emits here gets words of its own. */
STROBE_INLINE uint64_t strobe_reserve(struct strobe_hot *hot, uint64_t n_words)
{
    uint64_t step = (n_words << 19) - n_words; /* address + 8 n, words left - n */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__ volatile("xaddq %0, %1" : "+r"(step), "+m"(hot->cursor));
    return step;
#else
    return __atomic_fetch_add(&hot->cursor, step, __ATOMIC_RELAXED);
#endif
}

/* Ask for the line after the next one, so that it is here when it is written: the recorder had it last. */
STROBE_INLINE void strobe_fetch_ahead(const uint64_t *slot)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*((const char *)slot + 128)));
#else
    __builtin_prefetch((const char *)slot + 128, 1);
#endif
}

/* Read the clock, take a word, check it, fill it: in this order (docs/ring-protocol.md tells why).
 * 1: done. 0: strobe_emit_slow has to, with the word that was taken, or NULL. */
STROBE_INLINE int strobe_emit_fast(uint64_t word, uint64_t **reserved, int fetch)
{
    struct strobe_hot *hot = strobe_hot_now;
#if defined(__x86_64__)
    uint64_t lo, hi; /* rdtsc clears their upper halves */
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
#else
    uint64_t ticks = strobe_ticks(), lo = (uint32_t)ticks, hi = ticks >> 32;
#endif
    uint64_t cursor = strobe_reserve(hot, 1);
    *reserved = (uint64_t *)0;
    if (STROBE_UNLIKELY((int16_t)cursor <= 0))
        return 0;
    *reserved = (uint64_t *)(cursor >> 16);
    if (STROBE_UNLIKELY((uint32_t)hi != hot->epoch))
        return 0;
    __atomic_store_n(*reserved, word | lo, __ATOMIC_RELEASE);
    if (fetch)
        strobe_fetch_ahead(*reserved);
    return 1;
}

/* 1: done; others as of struct strobe_zone. */
STROBE_INLINE int strobe_emit_with(uint64_t word, struct strobe_loc *loc, int fetch)
{
    uint64_t *slot;
    if (STROBE_LIKELY(strobe_emit_fast(word, &slot, fetch)))
        return 1;
    return strobe_emit_slow(word, slot, loc) | 2;
}

STROBE_INLINE int strobe_emit(uint64_t word, struct strobe_loc *loc)
{
    return strobe_emit_with(word, loc, 0);
}

STROBE_INLINE struct strobe_zone strobe_zone_begin(struct strobe_loc *loc)
{
    struct strobe_zone zone;
    zone.loc = loc;
    zone.word = 0;
    zone.on = 0;
    zone.gate = strobe_gate_now;
    if (!strobe_gate_is_open(zone.gate))
        return zone;
    zone.word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    if (STROBE_UNLIKELY(zone.word < ((const struct strobe_gate *)zone.gate)->floor))
        zone.on = strobe_begin_unnamed(loc) | 2;
    else
        zone.on = strobe_emit_with(zone.word, loc, 1);
    return zone;
}

/* A zone whose begin was emitted gets its end, whatever happened to the recorder meanwhile; one that
 * nobody saw begin is told if somebody looks now. */
STROBE_INLINE void strobe_zone_end(struct strobe_zone *zone)
{
    if (zone->on == 1 && zone->loc) {
        strobe_emit(zone->word ^ 1ull << 63, zone->loc); /* begin and end differ in this bit */
    } else if (zone->on == 0) {
        if (strobe_gate_is_open(zone->gate))
            strobe_end_unseen(zone->loc);
    } else {
        strobe_end_odd(zone->loc, zone->word, zone->on);
    }
}

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
