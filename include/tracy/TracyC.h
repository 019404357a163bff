/* TracyC.h - Tracy's C macros and functions over Strobe: a program written for Tracy 0.11 to 0.14 is compiled
 * against this file instead of Tracy's and recorded by `strobe record`. Names, arguments, struct layouts and values are
 * Tracy's; what each macro records and what each switch means here is in docs/tracy-headers.md.
 *
 * Macros are inline and need libstrobe only; the ___tracy_ functions are in libTracyClient (CMake Tracy::TracyClient
 * and pkg-config tracy give both). C99 and up, C++11 and up. Without TRACY_ENABLE, or with STROBE_OFF, all macros
 * are empty.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_C_H
#define STROBE_TRACY_C_H

#include <stddef.h>
#include <stdint.h>

#define TRACY_API __attribute__((visibility("default")))

#ifndef TracyFunction
#define TracyFunction __func__
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyLine
#define TracyLine __LINE__
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum TracyPlotFormatEnum {
    TracyPlotFormatNumber = 0,
    TracyPlotFormatMemory = 1,
    TracyPlotFormatPercentage = 2,
    TracyPlotFormatWatt = 3
};

enum TracyMessageSeverity {
    TracyMessageSeverityTrace = 0,
    TracyMessageSeverityDebug = 1,
    TracyMessageSeverityInfo = 2,
    TracyMessageSeverityWarning = 3,
    TracyMessageSeverityError = 4,
    TracyMessageSeverityFatal = 5
};

TRACY_API void ___tracy_set_thread_name(const char *name);

#if !defined(TRACY_ENABLE) || defined(STROBE_OFF)

typedef const void *TracyCZoneCtx;
typedef const void *TracyCLockCtx;
typedef const void *TracyCSharedLockCtx;

#define TracyCSetThreadName(name)
#define TracyCZone(ctx, active)
#define TracyCZoneN(ctx, name, active)
#define TracyCZoneC(ctx, color, active)
#define TracyCZoneNC(ctx, name, color, active)
#define TracyCZoneS(ctx, depth, active)
#define TracyCZoneNS(ctx, name, depth, active)
#define TracyCZoneCS(ctx, color, depth, active)
#define TracyCZoneNCS(ctx, name, color, depth, active)
#define TracyCZoneEnd(ctx)
#define TracyCZoneText(ctx, text, size)
#define TracyCZoneTextF(ctx, ...)
#define TracyCZoneName(ctx, text, size)
#define TracyCZoneNameF(ctx, ...)
#define TracyCZoneColor(ctx, color)
#define TracyCZoneValue(ctx, value)
#define TracyCAlloc(ptr, size)
#define TracyCFree(ptr)
#define TracyCMemoryDiscard(name)
#define TracyCAllocN(ptr, size, name)
#define TracyCFreeN(ptr, name)
#define TracyCAllocS(ptr, size, depth)
#define TracyCFreeS(ptr, depth)
#define TracyCMemoryDiscardS(name, depth)
#define TracyCAllocNS(ptr, size, depth, name)
#define TracyCFreeNS(ptr, depth, name)
#define TracyCSecureAlloc(ptr, size)
#define TracyCSecureFree(ptr)
#define TracyCSecureMemoryDiscard(name)
#define TracyCSecureAllocN(ptr, size, name)
#define TracyCSecureFreeN(ptr, name)
#define TracyCSecureAllocS(ptr, size, depth)
#define TracyCSecureFreeS(ptr, depth)
#define TracyCSecureMemoryDiscardS(name, depth)
#define TracyCSecureAllocNS(ptr, size, depth, name)
#define TracyCSecureFreeNS(ptr, depth, name)
#define TracyCFrameMark
#define TracyCFrameMarkNamed(name)
#define TracyCFrameMarkStart(name)
#define TracyCFrameMarkEnd(name)
#define TracyCFrameImage(image, width, height, offset, flip)
#define TracyCPlot(name, value)
#define TracyCPlotF(name, value)
#define TracyCPlotI(name, value)
#define TracyCPlotConfig(name, type, step, fill, color)
#define TracyCMessage(text, size)
#define TracyCMessageL(text)
#define TracyCMessageC(text, size, color)
#define TracyCMessageLC(text, color)
#define TracyCMessageS(text, size, depth)
#define TracyCMessageLS(text, depth)
#define TracyCMessageCS(text, size, color, depth)
#define TracyCMessageLCS(text, color, depth)
#define TracyCAppInfo(text, size)
#define TracyCLockCtx(lock)
#define TracyCLockAnnounce(lock)
#define TracyCLockTerminate(lock)
#define TracyCLockBeforeLock(lock)
#define TracyCLockAfterLock(lock)
#define TracyCLockAfterUnlock(lock)
#define TracyCLockAfterTryLock(lock, acquired)
#define TracyCLockMark(lock)
#define TracyCLockCustomName(lock, name, size)
#define TracyCSharedLockCtx(lock)
#define TracyCSharedLockAnnounce(lock)
#define TracyCSharedLockTerminate(lock)
#define TracyCSharedLockBeforeLock(lock)
#define TracyCSharedLockAfterLock(lock)
#define TracyCSharedLockAfterUnlock(lock)
#define TracyCSharedLockAfterTryLock(lock, acquired)
#define TracyCSharedLockBeforeSharedLock(lock)
#define TracyCSharedLockAfterSharedLock(lock)
#define TracyCSharedLockAfterSharedUnlock(lock)
#define TracyCSharedLockAfterTrySharedLock(lock, acquired)
#define TracyCSharedLockMark(lock)
#define TracyCSharedLockCustomName(lock, name, size)
#define TracyCIsConnected              0
#define TracyCIsStarted                0
#define TracyCBeginSamplingProfiling() 0
#define TracyCEndSamplingProfiling()
#define TracyCFiberEnter(fiber)
#define TracyCFiberLeave

#else /* TRACY_ENABLE */

#ifdef __cplusplus
} /* strobe.h has C++ of its own */
#endif
#include "strobe/facade.h"
#ifdef __cplusplus
extern "C" {
#endif

#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif
#ifndef TRACY_CALLSTACK
#define TRACY_CALLSTACK 0
#endif

/* ---- structs: the layout is Tracy's, programs are linked against it ---- */

/* OFFSET SIZE FIELD
 *      0    8 name, 8 function, 16 file; 24 line; 28 color: as struct strobe_const_loc */
struct ___tracy_source_location_data {
    const char *name;
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color;
};

/* Two words of 4 bytes, with TRACY_ON_DEMAND one of 8 behind them. What they hold is ours: struct strobe_handle. */
struct ___tracy_c_zone_context {
    uint32_t id;
    int32_t active;
#ifdef TRACY_ON_DEMAND
    uint64_t connectionId;
#endif
};

struct ___tracy_gpu_time_data {
    int64_t gpuTime;
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_zone_begin_data {
    uint64_t srcloc;
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_zone_begin_callstack_data {
    uint64_t srcloc;
    int32_t depth;
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_zone_end_data {
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_new_context_data {
    int64_t gpuTime;
    float period;
    uint8_t context;
    uint8_t flags;
    uint8_t type;
};

struct ___tracy_gpu_context_name_data {
    uint8_t context;
    const char *name;
    uint16_t len;
};

struct ___tracy_gpu_calibration_data {
    int64_t gpuTime;
    int64_t cpuDelta;
    uint8_t context;
};

struct ___tracy_gpu_time_sync_data {
    int64_t gpuTime;
    uint8_t context;
};

struct __tracy_lockable_context_data;
struct __tracy_shared_lockable_context_data;

typedef struct ___tracy_c_zone_context TracyCZoneCtx;
typedef struct __tracy_lockable_context_data *TracyCLockCtx;
typedef struct __tracy_shared_lockable_context_data *TracyCSharedLockCtx;

/* ---- functions of libTracyClient: any thread; contracts as of the macros that bear their names ---- */

TRACY_API void ___tracy_startup_profiler(void);
TRACY_API void ___tracy_shutdown_profiler(void);
TRACY_API int32_t ___tracy_profiler_started(void);
TRACY_API int32_t ___tracy_connected(void);
TRACY_API int64_t ___tracy_get_time(void);

/* A location made at run time: a number for one begin, not an address. Nothing has to be freed. */
TRACY_API uint64_t ___tracy_alloc_srcloc(uint32_t line, const char *source, size_t sourceSz,
                                         const char *function, size_t functionSz, uint32_t color);
TRACY_API uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char *source, size_t sourceSz,
                                              const char *function, size_t functionSz,
                                              const char *name, size_t nameSz, uint32_t color);

TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin(const struct ___tracy_source_location_data *srcloc,
                                                 int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_callstack(
    const struct ___tracy_source_location_data *srcloc, int32_t depth, int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_alloc(uint64_t srcloc, int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_alloc_callstack(uint64_t srcloc, int32_t depth,
                                                                 int32_t active);
TRACY_API void ___tracy_emit_zone_end(TracyCZoneCtx ctx);
TRACY_API void ___tracy_emit_zone_text(TracyCZoneCtx ctx, const char *txt, size_t size);
TRACY_API void ___tracy_emit_zone_text_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
    STROBE_PRINTF(2, 3);
TRACY_API void ___tracy_emit_zone_name(TracyCZoneCtx ctx, const char *txt, size_t size);
TRACY_API void ___tracy_emit_zone_name_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
    STROBE_PRINTF(2, 3);
TRACY_API void ___tracy_emit_zone_color(TracyCZoneCtx ctx, uint32_t color);
TRACY_API void ___tracy_emit_zone_value(TracyCZoneCtx ctx, uint64_t value);

#define STROBE_TRACY_GPU_FUNCTIONS(X)                                                  \
    X(zone_begin, const struct ___tracy_gpu_zone_begin_data)                           \
    X(zone_begin_callstack, const struct ___tracy_gpu_zone_begin_callstack_data)       \
    X(zone_begin_alloc, const struct ___tracy_gpu_zone_begin_data)                     \
    X(zone_begin_alloc_callstack, const struct ___tracy_gpu_zone_begin_callstack_data) \
    X(zone_end, const struct ___tracy_gpu_zone_end_data)                               \
    X(time, const struct ___tracy_gpu_time_data)                                       \
    X(new_context, const struct ___tracy_gpu_new_context_data)                         \
    X(context_name, const struct ___tracy_gpu_context_name_data)                       \
    X(calibration, const struct ___tracy_gpu_calibration_data)                         \
    X(time_sync, const struct ___tracy_gpu_time_sync_data)
#define X(what, type)                              \
    TRACY_API void ___tracy_emit_gpu_##what(type); \
    TRACY_API void ___tracy_emit_gpu_##what##_serial(type);
STROBE_TRACY_GPU_FUNCTIONS(X)
#undef X

TRACY_API void ___tracy_emit_memory_alloc(const void *ptr, size_t size) STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_alloc_callstack(const void *ptr, size_t size, int32_t depth)
    STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_free(const void *ptr) STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_free_callstack(const void *ptr, int32_t depth)
    STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_alloc_named(const void *ptr, size_t size, const char *name)
    STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_alloc_callstack_named(const void *ptr, size_t size,
                                                          int32_t depth, const char *name)
    STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_free_named(const void *ptr, const char *name)
    STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_free_callstack_named(const void *ptr, int32_t depth,
                                                         const char *name) STROBE_NOT_READ(1);
TRACY_API void ___tracy_emit_memory_discard(const char *name);
TRACY_API void ___tracy_emit_memory_discard_callstack(const char *name, int32_t depth);

TRACY_API void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t callstack_depth,
                                       size_t size, const char *txt);
TRACY_API void ___tracy_emit_logStringL(int8_t severity, int32_t color, int32_t callstack_depth,
                                        const char *txt);
TRACY_API void ___tracy_emit_message(const char *txt, size_t size, int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageL(const char *txt, int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageC(const char *txt, size_t size, uint32_t color,
                                      int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageLC(const char *txt, uint32_t color, int32_t callstack_depth);
TRACY_API void ___tracy_emit_message_appinfo(const char *txt, size_t size);

TRACY_API void ___tracy_emit_frame_mark(const char *name);
TRACY_API void ___tracy_emit_frame_mark_start(const char *name);
TRACY_API void ___tracy_emit_frame_mark_end(const char *name);
TRACY_API void ___tracy_emit_frame_image(const void *image, uint16_t w, uint16_t h, uint8_t offset,
                                         int32_t flip);

TRACY_API void ___tracy_emit_plot(const char *name, double val);
TRACY_API void ___tracy_emit_plot_float(const char *name, float val);
TRACY_API void ___tracy_emit_plot_int(const char *name, int64_t val);
TRACY_API void ___tracy_emit_plot_config(const char *name, int32_t type, int32_t step, int32_t fill,
                                         uint32_t color);

/* NULL without memory; every other function takes NULL. */
TRACY_API TracyCLockCtx
___tracy_announce_lockable_ctx(const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_terminate_lockable_ctx(TracyCLockCtx lock);
TRACY_API int32_t ___tracy_before_lock_lockable_ctx(TracyCLockCtx lock);
TRACY_API void ___tracy_after_lock_lockable_ctx(TracyCLockCtx lock);
TRACY_API void ___tracy_after_unlock_lockable_ctx(TracyCLockCtx lock);
TRACY_API void ___tracy_after_try_lock_lockable_ctx(TracyCLockCtx lock, int32_t acquired);
TRACY_API void ___tracy_mark_lockable_ctx(TracyCLockCtx lock,
                                          const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_custom_name_lockable_ctx(TracyCLockCtx lock, const char *name,
                                                 size_t nameSz);

TRACY_API TracyCSharedLockCtx
___tracy_announce_shared_lockable_ctx(const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_terminate_shared_lockable_ctx(TracyCSharedLockCtx lock);
TRACY_API int32_t ___tracy_before_lock_shared_lockable_ctx(TracyCSharedLockCtx lock);
TRACY_API void ___tracy_after_lock_shared_lockable_ctx(TracyCSharedLockCtx lock);
TRACY_API void ___tracy_after_unlock_shared_lockable_ctx(TracyCSharedLockCtx lock);
TRACY_API void ___tracy_after_try_lock_shared_lockable_ctx(TracyCSharedLockCtx lock,
                                                           int32_t acquired);
TRACY_API int32_t ___tracy_before_lock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock);
TRACY_API void ___tracy_after_lock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock);
TRACY_API void ___tracy_after_unlock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock);
TRACY_API void ___tracy_after_try_lock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock,
                                                                  int32_t acquired);
TRACY_API void
___tracy_mark_shared_lockable_ctx(TracyCSharedLockCtx lock,
                                  const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_custom_name_shared_lockable_ctx(TracyCSharedLockCtx lock, const char *name,
                                                        size_t nameSz);

TRACY_API void ___tracy_fiber_enter(const char *fiber);
TRACY_API void ___tracy_fiber_leave(void);
/* Sampling is not the program's business here: always 0. */
TRACY_API int ___tracy_begin_sampling_profiling(void);
TRACY_API void ___tracy_end_sampling_profiling(void);
TRACY_API int ___tracy_begin_sampling_profiler(void);
TRACY_API void ___tracy_end_sampling_profiler(void);

/* Up to 0.13 the functions for memory had an argument more: `secure`. Calls with it mean the same. (A name in
 * parentheses is the function itself.) */
#ifndef STROBE_TRACY_CLIENT /* the library defines them */
#define STROBE_TRACY_6TH(a, b, c, d, e, f, ...) f
#define STROBE_TRACY_BY_ARGS(five, four, three, two, one, ...) \
    STROBE_TRACY_6TH(__VA_ARGS__, five, four, three, two, one, 0)(__VA_ARGS__)
#define ___tracy_emit_memory_alloc(...) \
    STROBE_TRACY_BY_ARGS(x, x, strobe_tracy_alloc_old, (___tracy_emit_memory_alloc), x, __VA_ARGS__)
#define strobe_tracy_alloc_old(p, n, s) ((void)(s), (___tracy_emit_memory_alloc)(p, n))
#define ___tracy_emit_memory_alloc_callstack(...)                                                \
    STROBE_TRACY_BY_ARGS(x, strobe_tracy_alloc_s_old, (___tracy_emit_memory_alloc_callstack), x, \
                         x, __VA_ARGS__)
#define strobe_tracy_alloc_s_old(p, n, d, s) \
    ((void)(s), (___tracy_emit_memory_alloc_callstack)(p, n, d))
#define ___tracy_emit_memory_free(...) \
    STROBE_TRACY_BY_ARGS(x, x, x, strobe_tracy_free_old, (___tracy_emit_memory_free), __VA_ARGS__)
#define strobe_tracy_free_old(p, s) ((void)(s), (___tracy_emit_memory_free)(p))
#define ___tracy_emit_memory_free_callstack(...)                                                  \
    STROBE_TRACY_BY_ARGS(x, x, strobe_tracy_free_s_old, (___tracy_emit_memory_free_callstack), x, \
                         __VA_ARGS__)
#define strobe_tracy_free_s_old(p, d, s) ((void)(s), (___tracy_emit_memory_free_callstack)(p, d))
#define ___tracy_emit_memory_alloc_named(...)                                                   \
    STROBE_TRACY_BY_ARGS(x, strobe_tracy_alloc_n_old, (___tracy_emit_memory_alloc_named), x, x, \
                         __VA_ARGS__)
#define strobe_tracy_alloc_n_old(p, n, s, name) \
    ((void)(s), (___tracy_emit_memory_alloc_named)(p, n, name))
#define ___tracy_emit_memory_alloc_callstack_named(...)                                           \
    STROBE_TRACY_BY_ARGS(strobe_tracy_alloc_ns_old, (___tracy_emit_memory_alloc_callstack_named), \
                         x, x, x, __VA_ARGS__)
#define strobe_tracy_alloc_ns_old(p, n, d, s, name) \
    ((void)(s), (___tracy_emit_memory_alloc_callstack_named)(p, n, d, name))
#define ___tracy_emit_memory_free_named(...)                                                  \
    STROBE_TRACY_BY_ARGS(x, x, strobe_tracy_free_n_old, (___tracy_emit_memory_free_named), x, \
                         __VA_ARGS__)
#define strobe_tracy_free_n_old(p, s, name) ((void)(s), (___tracy_emit_memory_free_named)(p, name))
#define ___tracy_emit_memory_free_callstack_named(...)                                             \
    STROBE_TRACY_BY_ARGS(x, strobe_tracy_free_ns_old, (___tracy_emit_memory_free_callstack_named), \
                         x, x, __VA_ARGS__)
#define strobe_tracy_free_ns_old(p, d, s, name) \
    ((void)(s), (___tracy_emit_memory_free_callstack_named)(p, d, name))
#define ___tracy_emit_memory_discard(...)                                                   \
    STROBE_TRACY_BY_ARGS(x, x, x, strobe_tracy_discard_old, (___tracy_emit_memory_discard), \
                         __VA_ARGS__)
#define strobe_tracy_discard_old(name, s) ((void)(s), (___tracy_emit_memory_discard)(name))
#define ___tracy_emit_memory_discard_callstack(...)        \
    STROBE_TRACY_BY_ARGS(x, x, strobe_tracy_discard_s_old, \
                         (___tracy_emit_memory_discard_callstack), x, __VA_ARGS__)
#define strobe_tracy_discard_s_old(name, s, d) \
    ((void)(s), (___tracy_emit_memory_discard_callstack)(name, d))
#endif

/* ---- what the macros are made of ---- */

/* How this program was built, for the library. */
#ifndef STROBE_TRACY_SWITCHES
#define STROBE_TRACY_SWITCHES
#ifdef TRACY_NO_EXIT
const unsigned strobe_facade_switches = STROBE_SWITCH_FACADE | STROBE_SWITCH_NO_EXIT;
#else
const unsigned strobe_facade_switches = STROBE_SWITCH_FACADE;
#endif
#endif

/* Each is static and inline: two files of a program may be built with different switches. */
STROBE_INLINE void strobe_tracy_stack(int32_t depth)
{
#ifdef TRACY_NO_CALLSTACK
    (void)depth;
#else
    if (depth > 0)
        strobe_callstack(depth);
#endif
}

STROBE_INLINE struct strobe_handle strobe_tracy_handle(TracyCZoneCtx ctx)
{
    struct strobe_handle handle;
    handle.id = ctx.id;
    handle.state = ctx.active;
    return handle;
}

STROBE_INLINE TracyCZoneCtx strobe_tracy_ctx(struct strobe_handle handle)
{
    TracyCZoneCtx ctx;
    ctx.id = handle.id;
    ctx.active = handle.state;
#ifdef TRACY_ON_DEMAND
    ctx.connectionId = 0;
#endif
    return ctx;
}

STROBE_INLINE TracyCZoneCtx strobe_tracy_begin(struct strobe_loc *loc, int32_t depth,
                                               int32_t active)
{
    struct strobe_handle none;
    none.id = 0;
    none.state = STROBE_HANDLE_NONE;
    if (!active)
        return strobe_tracy_ctx(none);
    strobe_tracy_stack(depth);
    return strobe_tracy_ctx(strobe_handle_begin(loc));
}

STROBE_INLINE void strobe_tracy_end(TracyCZoneCtx ctx)
{
    strobe_handle_end(strobe_tracy_handle(ctx));
}

STROBE_INLINE int strobe_tracy_is_seen(TracyCZoneCtx ctx)
{
    return strobe_handle_is_seen(strobe_tracy_handle(ctx));
}

STROBE_INLINE void strobe_tracy_text(TracyCZoneCtx ctx, const char *text, size_t size)
{
    if (strobe_tracy_is_seen(ctx))
        strobe_zone_text(text, size);
}

STROBE_INLINE void strobe_tracy_name(TracyCZoneCtx ctx, const char *text, size_t size)
{
    if (strobe_tracy_is_seen(ctx))
        strobe_zone_name(text, size);
}

STROBE_INLINE void strobe_tracy_color(TracyCZoneCtx ctx, uint32_t color)
{
    if (strobe_tracy_is_seen(ctx))
        strobe_zone_color(color & 0xffffff);
}

STROBE_INLINE void strobe_tracy_value(TracyCZoneCtx ctx, uint64_t value)
{
    if (strobe_tracy_is_seen(ctx))
        strobe_zone_value(value);
}

STROBE_INLINE void strobe_tracy_alloc(const void *ptr, size_t size, int32_t depth, const char *name)
{
    strobe_tracy_stack(depth);
    strobe_text_mem_alloc(name, ptr, size);
}

STROBE_INLINE void strobe_tracy_free(const void *ptr, int32_t depth, const char *name)
{
    strobe_tracy_stack(depth);
    strobe_text_mem_free(name, ptr);
}

STROBE_INLINE void strobe_tracy_discard(const char *name, int32_t depth)
{
    strobe_tracy_stack(depth);
    strobe_text_mem_discard(name);
}

STROBE_INLINE void strobe_tracy_log(int severity, uint32_t color, int32_t depth, const char *text,
                                    size_t size)
{
    strobe_tracy_stack(depth);
    strobe_message(severity, color & 0xffffff, text, size);
}

STROBE_INLINE void strobe_tracy_image(const void *image, uint16_t width, uint16_t height,
                                      uint8_t offset, int flip)
{
#ifdef TRACY_NO_FRAME_IMAGE
    (void)image, (void)width, (void)height, (void)offset, (void)flip;
#else
    strobe_frame_image(image, width, height, offset, flip);
#endif
}

#define STROBE_TRACY_LOC(name, color)                                            \
    static struct strobe_loc TracyConcat(__tracy_source_location, TracyLine) = { \
        0, name, __func__, TracyFile, (uint32_t)TracyLine, (uint32_t)(color)}
#define STROBE_TRACY_ZONE(ctx, name, color, depth, active) \
    STROBE_TRACY_LOC(name, color);                         \
    TracyCZoneCtx ctx =                                    \
        strobe_tracy_begin(&TracyConcat(__tracy_source_location, TracyLine), depth, active);

/* ---- the macros; a semicolon at the end is there where Tracy's have one ---- */

#define TracyCSetThreadName(name) strobe_name_thread(name);

#define TracyCZone(ctx, active)         STROBE_TRACY_ZONE(ctx, NULL, 0, TRACY_CALLSTACK, active)
#define TracyCZoneN(ctx, name, active)  STROBE_TRACY_ZONE(ctx, name, 0, TRACY_CALLSTACK, active)
#define TracyCZoneC(ctx, color, active) STROBE_TRACY_ZONE(ctx, NULL, color, TRACY_CALLSTACK, active)
#define TracyCZoneNC(ctx, name, color, active) \
    STROBE_TRACY_ZONE(ctx, name, color, TRACY_CALLSTACK, active)
#define TracyCZoneS(ctx, depth, active)         STROBE_TRACY_ZONE(ctx, NULL, 0, depth, active)
#define TracyCZoneNS(ctx, name, depth, active)  STROBE_TRACY_ZONE(ctx, name, 0, depth, active)
#define TracyCZoneCS(ctx, color, depth, active) STROBE_TRACY_ZONE(ctx, NULL, color, depth, active)
#define TracyCZoneNCS(ctx, name, color, depth, active) \
    STROBE_TRACY_ZONE(ctx, name, color, depth, active)
#define TracyCZoneEnd(ctx) strobe_tracy_end(ctx);

#define TracyCZoneText(ctx, text, size) strobe_tracy_text(ctx, text, size);
#define TracyCZoneTextF(ctx, ...) \
    (strobe_tracy_is_seen(ctx) ? strobe_zone_textf(__VA_ARGS__) : (void)0);
#define TracyCZoneName(ctx, text, size) strobe_tracy_name(ctx, text, size);
#define TracyCZoneNameF(ctx, ...) \
    (strobe_tracy_is_seen(ctx) ? strobe_zone_namef(__VA_ARGS__) : (void)0);
#define TracyCZoneColor(ctx, color) strobe_tracy_color(ctx, color);
#define TracyCZoneValue(ctx, value) strobe_tracy_value(ctx, value);

#define TracyCAlloc(ptr, size)                      strobe_tracy_alloc(ptr, size, TRACY_CALLSTACK, NULL)
#define TracyCFree(ptr)                             strobe_tracy_free(ptr, TRACY_CALLSTACK, NULL)
#define TracyCMemoryDiscard(name)                   strobe_tracy_discard(name, TRACY_CALLSTACK);
#define TracyCAllocN(ptr, size, name)               strobe_tracy_alloc(ptr, size, TRACY_CALLSTACK, name)
#define TracyCFreeN(ptr, name)                      strobe_tracy_free(ptr, TRACY_CALLSTACK, name)
#define TracyCAllocS(ptr, size, depth)              strobe_tracy_alloc(ptr, size, depth, NULL)
#define TracyCFreeS(ptr, depth)                     strobe_tracy_free(ptr, depth, NULL)
#define TracyCMemoryDiscardS(name, depth)           strobe_tracy_discard(name, depth)
#define TracyCAllocNS(ptr, size, depth, name)       strobe_tracy_alloc(ptr, size, depth, name)
#define TracyCFreeNS(ptr, depth, name)              strobe_tracy_free(ptr, depth, name)

/* Up to 0.13: nothing here dies before the program does, so secure and plain are the same. */
#define TracyCSecureAlloc(ptr, size)                TracyCAlloc(ptr, size)
#define TracyCSecureFree(ptr)                       TracyCFree(ptr)
#define TracyCSecureMemoryDiscard(name)             TracyCMemoryDiscard(name)
#define TracyCSecureAllocN(ptr, size, name)         TracyCAllocN(ptr, size, name)
#define TracyCSecureFreeN(ptr, name)                TracyCFreeN(ptr, name)
#define TracyCSecureAllocS(ptr, size, depth)        TracyCAllocS(ptr, size, depth)
#define TracyCSecureFreeS(ptr, depth)               TracyCFreeS(ptr, depth)
#define TracyCSecureMemoryDiscardS(name, depth)     TracyCMemoryDiscardS(name, depth)
#define TracyCSecureAllocNS(ptr, size, depth, name) TracyCAllocNS(ptr, size, depth, name)
#define TracyCSecureFreeNS(ptr, depth, name)        TracyCFreeNS(ptr, depth, name)

#define TracyCMessage(text, size)         TracyCMessageS(text, size, TRACY_CALLSTACK)
#define TracyCMessageL(text)              TracyCMessageLS(text, TRACY_CALLSTACK)
#define TracyCMessageC(text, size, color) TracyCMessageCS(text, size, color, TRACY_CALLSTACK)
#define TracyCMessageLC(text, color)      TracyCMessageLCS(text, color, TRACY_CALLSTACK)
#define TracyCMessageS(text, size, depth) strobe_tracy_log(STROBE_INFO, 0, depth, text, size)
#define TracyCMessageLS(text, depth) \
    strobe_tracy_log(STROBE_INFO, 0, depth, text, __builtin_strlen(text))
#define TracyCMessageCS(text, size, color, depth) \
    strobe_tracy_log(STROBE_INFO, color, depth, text, size)
#define TracyCMessageLCS(text, color, depth) \
    strobe_tracy_log(STROBE_INFO, color, depth, text, __builtin_strlen(text))
#define TracyCAppInfo(text, size) strobe_app_info(text, size);

#define TracyCFrameMark            strobe_text_frame_mark(NULL);
#define TracyCFrameMarkNamed(name) strobe_text_frame_mark(name);
#define TracyCFrameMarkStart(name) strobe_text_frame_start(name);
#define TracyCFrameMarkEnd(name)   strobe_text_frame_end(name);
#define TracyCFrameImage(image, width, height, offset, flip) \
    strobe_tracy_image(image, width, height, offset, flip);

#define TracyCPlot(name, value)  strobe_text_plot_double(name, value);
#define TracyCPlotF(name, value) strobe_text_plot_double(name, (double)(value));
#define TracyCPlotI(name, value) strobe_text_plot_int(name, value);
#define TracyCPlotConfig(name, type, step, fill, color) \
    ((void)(fill), strobe_text_plot_config(name, (int)(type), step, color));

#define TracyCLockAnnounce(lock)                                                                   \
    static const struct ___tracy_source_location_data TracyConcat(                                 \
        __tracy_source_location, TracyLine) = {NULL, __func__, TracyFile, (uint32_t)TracyLine, 0}; \
    lock = ___tracy_announce_lockable_ctx(&TracyConcat(__tracy_source_location, TracyLine));
#define TracyCLockTerminate(lock)              ___tracy_terminate_lockable_ctx(lock);
#define TracyCLockBeforeLock(lock)             ___tracy_before_lock_lockable_ctx(lock);
#define TracyCLockAfterLock(lock)              ___tracy_after_lock_lockable_ctx(lock);
#define TracyCLockAfterUnlock(lock)            ___tracy_after_unlock_lockable_ctx(lock);
#define TracyCLockAfterTryLock(lock, acquired) ___tracy_after_try_lock_lockable_ctx(lock, acquired);
#define TracyCLockMark(lock)                                                                       \
    static const struct ___tracy_source_location_data TracyConcat(                                 \
        __tracy_source_location, TracyLine) = {NULL, __func__, TracyFile, (uint32_t)TracyLine, 0}; \
    ___tracy_mark_lockable_ctx(lock, &TracyConcat(__tracy_source_location, TracyLine));
#define TracyCLockCustomName(lock, name, size) ___tracy_custom_name_lockable_ctx(lock, name, size);

#define TracyCSharedLockAnnounce(lock)                                                             \
    static const struct ___tracy_source_location_data TracyConcat(                                 \
        __tracy_source_location, TracyLine) = {NULL, __func__, TracyFile, (uint32_t)TracyLine, 0}; \
    lock = ___tracy_announce_shared_lockable_ctx(&TracyConcat(__tracy_source_location, TracyLine));
#define TracyCSharedLockTerminate(lock)   ___tracy_terminate_shared_lockable_ctx(lock);
#define TracyCSharedLockBeforeLock(lock)  ___tracy_before_lock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterLock(lock)   ___tracy_after_lock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterUnlock(lock) ___tracy_after_unlock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterTryLock(lock, acquired) \
    ___tracy_after_try_lock_shared_lockable_ctx(lock, acquired);
#define TracyCSharedLockBeforeSharedLock(lock) \
    ___tracy_before_lock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterSharedLock(lock) ___tracy_after_lock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterSharedUnlock(lock) \
    ___tracy_after_unlock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterTrySharedLock(lock, acquired) \
    ___tracy_after_try_lock_shared_shared_lockable_ctx(lock, acquired);
#define TracyCSharedLockMark(lock)                                                                 \
    static const struct ___tracy_source_location_data TracyConcat(                                 \
        __tracy_source_location, TracyLine) = {NULL, __func__, TracyFile, (uint32_t)TracyLine, 0}; \
    ___tracy_mark_shared_lockable_ctx(lock, &TracyConcat(__tracy_source_location, TracyLine));
#define TracyCSharedLockCustomName(lock, name, size) \
    ___tracy_custom_name_shared_lockable_ctx(lock, name, size);

#define TracyCFiberEnter(fiber) strobe_text_fiber_enter(fiber);
#define TracyCFiberLeave        strobe_fiber_leave();

#define TracyCIsConnected strobe_recording()
#ifdef TRACY_MANUAL_LIFETIME
#define TracyCIsStarted ___tracy_profiler_started()
#else
#define TracyCIsStarted 1
#endif
#define TracyCBeginSamplingProfiling() 0
#define TracyCEndSamplingProfiling()   ((void)0)

#endif /* TRACY_ENABLE */

#ifdef __cplusplus
}
#endif

#endif
