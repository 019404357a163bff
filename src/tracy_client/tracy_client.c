/* tracy_client.c - libTracyClient: the ___tracy_ functions of Tracy 0.11 to 0.14 over the client, with the ABI of
 * Tracy's own shared library, so that a program linked to that one runs with this one instead.
 *
 * Where the versions' prototypes differ, calls of all of them are understood: an argument `secure` that only
 * some have is 0 or 1, what stands in its place in the others is an address or a depth.
 * Runs inside the traced program: never prints or exits; only making a lock allocates.  SPDX-License-Identifier: MIT */
#include "tracy_client/tracy_client.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct ___tracy_source_location_data) == sizeof(struct strobe_const_loc),
              "programs are linked against it");
static_assert(offsetof(struct ___tracy_source_location_data, line) ==
                  offsetof(struct strobe_const_loc, line),
              "programs are linked against it");
static_assert(sizeof(struct ___tracy_gpu_new_context_data) == 16, "programs are linked against it");
static_assert(sizeof(struct ___tracy_gpu_zone_begin_data) == 16, "programs are linked against it");
static_assert(sizeof(struct ___tracy_gpu_zone_end_data) == 4, "programs are linked against it");
static_assert(sizeof(struct ___tracy_gpu_context_name_data) == 24,
              "programs are linked against it");

/* ---- life ---- */

void ___tracy_startup_profiler(void) {}

void ___tracy_shutdown_profiler(void) {}

int32_t ___tracy_profiler_started(void)
{
    return 1;
}

int32_t ___tracy_connected(void)
{
    return strobe_recording();
}

int64_t ___tracy_get_time(void)
{
    return (int64_t)strobe_clock_now();
}

void ___tracy_set_thread_name(const char *name)
{
    strobe_name_thread(name);
}

int ___tracy_begin_sampling_profiling(void)
{
    return 0;
}

void ___tracy_end_sampling_profiling(void) {}

int ___tracy_begin_sampling_profiler(void)
{
    return 0;
}

void ___tracy_end_sampling_profiler(void) {}

/* ---- zones ---- */

uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char *source, size_t sourceSz,
                                    const char *function, size_t functionSz, const char *name,
                                    size_t nameSz, uint32_t color)
{
    return strobe_loc_id(source, sourceSz, line, function, functionSz, name, nameSz, color);
}

uint64_t ___tracy_alloc_srcloc(uint32_t line, const char *source, size_t sourceSz,
                               const char *function, size_t functionSz, uint32_t color)
{
    return strobe_loc_id(source, sourceSz, line, function, functionSz, NULL, 0, color);
}

static const struct strobe_handle no_zone = {0, STROBE_HANDLE_NONE};

static inline TracyCZoneCtx begin_zone(const struct ___tracy_source_location_data *srcloc,
                                       int32_t active)
{
    uint64_t handle = 0;
    TracyCZoneCtx ctx = {0};
    static_assert(offsetof(TracyCZoneCtx, active) == 4, "a packed handle has both");
    if (STROBE_LIKELY(active))
        handle = strobe_handle_begin_const((const struct strobe_const_loc *)srcloc);
    memcpy(&ctx, &handle, sizeof handle);
    return ctx;
}

TracyCZoneCtx ___tracy_emit_zone_begin(const struct ___tracy_source_location_data *srcloc,
                                       int32_t active)
{
    return begin_zone(srcloc, active);
}

TracyCZoneCtx ___tracy_emit_zone_begin_callstack(const struct ___tracy_source_location_data *srcloc,
                                                 int32_t depth, int32_t active)
{
    if (active && depth > 0)
        strobe_tracy_stack(depth);
    return begin_zone(srcloc, active);
}

TracyCZoneCtx ___tracy_emit_zone_begin_alloc_callstack(uint64_t srcloc, int32_t depth,
                                                       int32_t active)
{
    struct strobe_handle handle = no_zone;
    if (active) {
        strobe_tracy_stack(depth);
        handle = strobe_handle_begin_id(srcloc);
    }
    return strobe_tracy_ctx(handle);
}

TracyCZoneCtx ___tracy_emit_zone_begin_alloc(uint64_t srcloc, int32_t active)
{
    return ___tracy_emit_zone_begin_alloc_callstack(srcloc, 0, active);
}

/* Idle first: a sign is one test, and what is recorded waits for the counter anyway. */
void ___tracy_emit_zone_end(TracyCZoneCtx ctx)
{
    uint64_t handle;
    memcpy(&handle, &ctx, sizeof handle);
    if ((int64_t)handle >= 0)
        strobe_tracy_end(ctx);
    else if (strobe_gate_is_open(strobe_gate_now))
        strobe_handle_end_odd(strobe_handle_unpack(handle));
}

void ___tracy_emit_zone_text(TracyCZoneCtx ctx, const char *txt, size_t size)
{
    strobe_tracy_text(ctx, txt, size);
}

void ___tracy_emit_zone_name(TracyCZoneCtx ctx, const char *txt, size_t size)
{
    strobe_tracy_name(ctx, txt, size);
}

void ___tracy_emit_zone_text_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (strobe_tracy_is_seen(ctx))
        strobe_zone_textv(fmt, args);
    va_end(args);
}

void ___tracy_emit_zone_name_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (strobe_tracy_is_seen(ctx))
        strobe_zone_namev(fmt, args);
    va_end(args);
}

void ___tracy_emit_zone_color(TracyCZoneCtx ctx, uint32_t color)
{
    strobe_tracy_color(ctx, color);
}

void ___tracy_emit_zone_value(TracyCZoneCtx ctx, uint64_t value)
{
    strobe_tracy_value(ctx, value);
}

/* ---- memory ---- */

/* `secure` is 0 or 1, an address is not. */
static int is_secure(uintptr_t argument)
{
    return argument < 4096;
}

void ___tracy_emit_memory_alloc(const void *ptr, size_t size)
{
    strobe_tracy_alloc(ptr, size, 0, NULL);
}

void ___tracy_emit_memory_alloc_callstack(const void *ptr, size_t size, int32_t depth)
{
    strobe_tracy_alloc(ptr, size, depth, NULL);
}

void ___tracy_emit_memory_free(const void *ptr)
{
    strobe_tracy_free(ptr, 0, NULL);
}

void ___tracy_emit_memory_free_callstack(const void *ptr, int32_t depth)
{
    strobe_tracy_free(ptr, depth, NULL);
}

void ___tracy_emit_memory_discard(const char *name)
{
    strobe_tracy_discard(name, 0);
}

/* (name, secure, depth) of 0.12 and 0.13 and (name, depth) of 0.14 can't be told apart below a depth of 2: then
 * there is no call stack. */
void ___tracy_emit_memory_discard_callstack(const char *name, int32_t depth)
{
    strobe_tracy_discard(name, depth > 1 ? depth : 0);
}

/* The functions with a name exist under two prototypes: those of 0.14 in the header, and these, which take both. */
#define BOTH(name) __asm__(#name) TRACY_API
void alloc_named(const void *ptr, size_t size, uintptr_t secure_or_name, const char *name)
    BOTH(___tracy_emit_memory_alloc_named);
void alloc_callstack_named(const void *ptr, size_t size, int32_t depth, uintptr_t secure_or_name,
                           const char *name) BOTH(___tracy_emit_memory_alloc_callstack_named);
void free_named(const void *ptr, uintptr_t secure_or_name, const char *name)
    BOTH(___tracy_emit_memory_free_named);
void free_callstack_named(const void *ptr, int32_t depth, uintptr_t secure_or_name,
                          const char *name) BOTH(___tracy_emit_memory_free_callstack_named);

static const char *which(uintptr_t secure_or_name, const char *name)
{
    return is_secure(secure_or_name) ? name : (const char *)secure_or_name;
}

void alloc_named(const void *ptr, size_t size, uintptr_t secure_or_name, const char *name)
{
    strobe_tracy_alloc(ptr, size, 0, which(secure_or_name, name));
}

void alloc_callstack_named(const void *ptr, size_t size, int32_t depth, uintptr_t secure_or_name,
                           const char *name)
{
    strobe_tracy_alloc(ptr, size, depth, which(secure_or_name, name));
}

void free_named(const void *ptr, uintptr_t secure_or_name, const char *name)
{
    strobe_tracy_free(ptr, 0, which(secure_or_name, name));
}

void free_callstack_named(const void *ptr, int32_t depth, uintptr_t secure_or_name,
                          const char *name)
{
    strobe_tracy_free(ptr, depth, which(secure_or_name, name));
}

/* ---- messages ---- */

void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t callstack_depth, size_t size,
                             const char *txt)
{
    strobe_tracy_log(severity, (uint32_t)color, callstack_depth, txt, size);
}

void ___tracy_emit_logStringL(int8_t severity, int32_t color, int32_t callstack_depth,
                              const char *txt)
{
    strobe_tracy_log(severity, (uint32_t)color, callstack_depth, txt, strlen(txt));
}

void ___tracy_emit_message(const char *txt, size_t size, int32_t callstack_depth)
{
    strobe_tracy_log(STROBE_INFO, 0, callstack_depth, txt, size);
}

void ___tracy_emit_messageL(const char *txt, int32_t callstack_depth)
{
    strobe_tracy_log(STROBE_INFO, 0, callstack_depth, txt, strlen(txt));
}

void ___tracy_emit_messageC(const char *txt, size_t size, uint32_t color, int32_t callstack_depth)
{
    strobe_tracy_log(STROBE_INFO, color, callstack_depth, txt, size);
}

void ___tracy_emit_messageLC(const char *txt, uint32_t color, int32_t callstack_depth)
{
    strobe_tracy_log(STROBE_INFO, color, callstack_depth, txt, strlen(txt));
}

void ___tracy_emit_message_appinfo(const char *txt, size_t size)
{
    strobe_app_info(txt, size);
}

/* ---- frames, plots, fibers ---- */

void ___tracy_emit_frame_mark(const char *name)
{
    strobe_text_frame_mark(name);
}

void ___tracy_emit_frame_mark_start(const char *name)
{
    strobe_text_frame_start(name);
}

void ___tracy_emit_frame_mark_end(const char *name)
{
    strobe_text_frame_end(name);
}

void ___tracy_emit_frame_image(const void *image, uint16_t w, uint16_t h, uint8_t offset,
                               int32_t flip)
{
    strobe_frame_image(image, w, h, offset, flip);
}

void ___tracy_emit_plot(const char *name, double val)
{
    strobe_text_plot_double(name, val);
}

void ___tracy_emit_plot_float(const char *name, float val)
{
    strobe_text_plot_double(name, (double)val);
}

void ___tracy_emit_plot_int(const char *name, int64_t val)
{
    strobe_text_plot_int(name, val);
}

void ___tracy_emit_plot_config(const char *name, int32_t type, int32_t step, int32_t fill,
                               uint32_t color)
{
    (void)fill;
    strobe_text_plot_config(name, type, step, color);
}

void ___tracy_fiber_enter(const char *fiber)
{
    strobe_text_fiber_enter(fiber);
}

void ___tracy_fiber_leave(void)
{
    strobe_fiber_leave();
}
