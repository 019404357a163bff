/* strobe_off.h - what strobe.h is with STROBE_OFF defined: the same functions and macros, of which nothing is left in
 * the program. Arguments of macros are checked and not evaluated. Included by strobe.h only.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_STROBE_OFF_H
#define STROBE_STROBE_OFF_H

/* Functions with variable arguments can't be always_inline everywhere. */
#define STROBE_OFF_FUNCTION static inline __attribute__((unused))

/* Never called: lets the compiler look at the arguments of a format. */
int strobe_off_format(const char *format, ...) STROBE_PRINTF(1, 2);

STROBE_INLINE int strobe_recording(void)
{
    return 0;
}
STROBE_INLINE int strobe_join_session(const char *name)
{
    (void)name;
    return -1;
}
STROBE_INLINE struct strobe_zone strobe_zone_begin_at(const char *file, uint32_t line,
                                                      const char *function, const char *name,
                                                      size_t name_bytes, uint32_t color)
{
    (void)file;
    (void)line;
    (void)function;
    (void)name;
    (void)name_bytes;
    (void)color;
    struct strobe_zone zone = {0, 0, 0, 0};
    return zone;
}
STROBE_INLINE void strobe_zone_begin_past(struct strobe_loc *loc, uint64_t tick)
{
    (void)loc;
    (void)tick;
}
STROBE_INLINE uint64_t strobe_clock_now(void)
{
    return 0;
}
STROBE_INLINE void strobe_zone_add_text(const struct strobe_zone *zone, const char *text,
                                        size_t n_bytes)
{
    (void)zone;
    (void)text;
    (void)n_bytes;
}
STROBE_INLINE void strobe_zone_set_name(const struct strobe_zone *zone, const char *name,
                                        size_t n_bytes)
{
    (void)zone;
    (void)name;
    (void)n_bytes;
}
STROBE_INLINE void strobe_zone_set_value(const struct strobe_zone *zone, uint64_t value)
{
    (void)zone;
    (void)value;
}
STROBE_INLINE void strobe_zone_set_color(const struct strobe_zone *zone, uint32_t color)
{
    (void)zone;
    (void)color;
}
STROBE_INLINE void strobe_zone_text(const char *text, size_t n_bytes)
{
    (void)text;
    (void)n_bytes;
}
STROBE_OFF_FUNCTION STROBE_PRINTF(1, 2) void strobe_zone_textf(const char *format, ...)
{
    (void)format;
}
STROBE_INLINE void strobe_zone_name(const char *name, size_t n_bytes)
{
    (void)name;
    (void)n_bytes;
}
STROBE_INLINE void strobe_zone_value(uint64_t value)
{
    (void)value;
}
STROBE_INLINE void strobe_zone_color(uint32_t color)
{
    (void)color;
}
STROBE_INLINE void strobe_message(int severity, uint32_t color, const char *text, size_t n_bytes)
{
    (void)severity;
    (void)color;
    (void)text;
    (void)n_bytes;
}
STROBE_OFF_FUNCTION STROBE_PRINTF(3, 4) void strobe_messagef(int severity, uint32_t color,
                                                             const char *format, ...)
{
    (void)severity;
    (void)color;
    (void)format;
}
STROBE_INLINE void strobe_plot_int(struct strobe_name *plot, int64_t value)
{
    (void)plot;
    (void)value;
}
STROBE_INLINE void strobe_plot_double(struct strobe_name *plot, double value)
{
    (void)plot;
    (void)value;
}
STROBE_INLINE void strobe_plot_config(struct strobe_name *plot, int format, int step,
                                      uint32_t color)
{
    (void)plot;
    (void)format;
    (void)step;
    (void)color;
}
STROBE_INLINE void strobe_frame_mark(struct strobe_name *frame)
{
    (void)frame;
}
STROBE_INLINE void strobe_frame_start(struct strobe_name *frame)
{
    (void)frame;
}
STROBE_INLINE void strobe_frame_end(struct strobe_name *frame)
{
    (void)frame;
}
STROBE_INLINE void strobe_mem_alloc(struct strobe_name *pool, const void *address, size_t size)
{
    (void)pool;
    (void)address;
    (void)size;
}
STROBE_INLINE void strobe_mem_free(struct strobe_name *pool, const void *address)
{
    (void)pool;
    (void)address;
}
STROBE_INLINE void strobe_lock_open(struct strobe_lock *lock, struct strobe_loc *loc, int is_shared)
{
    (void)lock;
    (void)loc;
    (void)is_shared;
}
STROBE_INLINE void strobe_lock_rename(struct strobe_lock *lock, const char *name, size_t n_bytes)
{
    (void)lock;
    (void)name;
    (void)n_bytes;
}
STROBE_INLINE void strobe_lock_will_wait(struct strobe_lock *lock, int shared)
{
    (void)lock;
    (void)shared;
}
STROBE_INLINE void strobe_lock_obtained(struct strobe_lock *lock, int shared)
{
    (void)lock;
    (void)shared;
}
STROBE_INLINE void strobe_lock_released(struct strobe_lock *lock, int shared)
{
    (void)lock;
    (void)shared;
}
STROBE_INLINE void strobe_lock_mark(struct strobe_lock *lock, struct strobe_loc *loc)
{
    (void)lock;
    (void)loc;
}
STROBE_INLINE void strobe_lock_close(struct strobe_lock *lock)
{
    (void)lock;
}
STROBE_INLINE void strobe_fiber_enter(struct strobe_name *fiber)
{
    (void)fiber;
}
STROBE_INLINE void strobe_zone_loose(void) {}
STROBE_INLINE void strobe_fiber_leave(void) {}
STROBE_INLINE uint64_t strobe_span_new_id(void)
{
    return 0;
}
STROBE_INLINE void strobe_span_begin(uint64_t span, struct strobe_loc *loc)
{
    (void)span;
    (void)loc;
}
STROBE_INLINE void strobe_span_end(uint64_t span)
{
    (void)span;
}
STROBE_INLINE void strobe_flow_begin(uint64_t flow)
{
    (void)flow;
}
STROBE_INLINE void strobe_flow_step(uint64_t flow)
{
    (void)flow;
}
STROBE_INLINE void strobe_flow_end(uint64_t flow)
{
    (void)flow;
}
STROBE_INLINE void strobe_callstack(int max_frames)
{
    (void)max_frames;
}
STROBE_INLINE void strobe_set_thread_name(const char *name)
{
    (void)name;
}
STROBE_INLINE void strobe_set_program_name(const char *name)
{
    (void)name;
}
STROBE_INLINE void strobe_app_info(const char *text, size_t n_bytes)
{
    (void)text;
    (void)n_bytes;
}
STROBE_INLINE void strobe_plot_named(const char *plot, double value)
{
    (void)plot;
    (void)value;
}
STROBE_INLINE void strobe_plot_named_int(const char *plot, int64_t value)
{
    (void)plot;
    (void)value;
}
STROBE_INLINE void strobe_trigger(const char *reason)
{
    (void)reason;
}
STROBE_INLINE struct strobe_zone strobe_zone_begin_call(struct strobe_loc *loc)
{
    (void)loc;
    struct strobe_zone zone = {0, 0, 0, 0};
    return zone;
}
STROBE_INLINE void strobe_zone_end_call(struct strobe_zone zone)
{
    (void)zone;
}
STROBE_INLINE struct strobe_zone strobe_zone_begin(struct strobe_loc *loc)
{
    return strobe_zone_begin_call(loc);
}
STROBE_INLINE void strobe_zone_end(struct strobe_zone *zone)
{
    (void)zone;
}

#ifdef __cplusplus
} /* extern "C" */

namespace strobe
{
class Zone
{
  public:
    explicit Zone(struct strobe_loc *) {}
    Zone(const Zone &) = delete;
    Zone &operator=(const Zone &) = delete;
    void text(const char *, size_t) const {}
    void name(const char *, size_t) const {}
    void value(uint64_t) const {}
    void color(uint32_t) const {}
};
} // namespace strobe
#endif

#define STROBE_JOIN2(a, b) a##b
#define STROBE_JOIN(a, b)  STROBE_JOIN2(a, b)

/* Not evaluated, and yet no variable is unused. */
#define STROBE_NOT(value) ((void)sizeof(value))
#define STROBE_NOTHING    ((void)0)

#define STROBE_LOC(variable, name, color) \
    static struct strobe_loc variable __attribute__((unused)) = {0, 0, 0, 0, 0, 0}
#define STROBE_NAME(variable, text) \
    static struct strobe_name variable __attribute__((unused)) = {0, 0}
#define STROBE_ZONE(handle, name) STROBE_ZONE_COLOR(handle, name, 0)
#define STROBE_ZONE_COLOR(handle, name, color) \
    struct strobe_zone handle __attribute__((unused)) = strobe_zone_begin((struct strobe_loc *)0)
#define STROBE_ZONE_STACK(handle, name, frames) STROBE_ZONE_COLOR(handle, name, 0)
#define STROBE_ZONE_END(handle)                 strobe_zone_end(&(handle))
#define STROBE_ZONE_TEXT(handle, text)          (STROBE_NOT(handle), STROBE_NOT(text))
#define STROBE_ZONE_RENAME(handle, name)        (STROBE_NOT(handle), STROBE_NOT(name))
#define STROBE_ZONE_VALUE(handle, value)        (STROBE_NOT(handle), STROBE_NOT(value))
#define STROBE_ZONE_RECOLOR(handle, color)      (STROBE_NOT(handle), STROBE_NOT(color))
#define STROBE_SCOPE_COLOR(name, color)         STROBE_NOTHING
#define STROBE_SCOPE(name)                      STROBE_NOTHING
#define STROBE_FUNCTION()                       STROBE_NOTHING
#define STROBE_TEXT(text)                       STROBE_NOT(text)
#define STROBE_TEXTF(...)                       STROBE_NOT(strobe_off_format(__VA_ARGS__))
#define STROBE_RENAME(name)                     STROBE_NOT(name)
#define STROBE_VALUE(value)                     STROBE_NOT(value)
#define STROBE_RECOLOR(color)                   STROBE_NOT(color)
#define STROBE_MESSAGE(severity, text)          (STROBE_NOT(severity), STROBE_NOT(text))
#define STROBE_MESSAGEF(severity, ...) \
    (STROBE_NOT(severity), STROBE_NOT(strobe_off_format(__VA_ARGS__)))
#define STROBE_PLOT(name, value)     STROBE_NOT(value)
#define STROBE_PLOT_INT(name, value) STROBE_NOT(value)
#define STROBE_PLOT_CONFIG(name, format, step, color) \
    (STROBE_NOT(format), STROBE_NOT(step), STROBE_NOT(color))
#define STROBE_FRAME()                       STROBE_NOTHING
#define STROBE_FRAME_NAMED(name)             STROBE_NOTHING
#define STROBE_FRAME_START(name)             STROBE_NOTHING
#define STROBE_FRAME_END(name)               STROBE_NOTHING
#define STROBE_ALLOC(address, size)          (STROBE_NOT(address), STROBE_NOT(size))
#define STROBE_FREE(address)                 STROBE_NOT(address)
#define STROBE_ALLOC_IN(pool, address, size) (STROBE_NOT(address), STROBE_NOT(size))
#define STROBE_FREE_IN(pool, address)        STROBE_NOT(address)
#define STROBE_FIBER_ENTER(name)             STROBE_NOTHING
#define STROBE_FIBER_LEAVE()                 STROBE_NOTHING
#define STROBE_SPAN_BEGIN(span, name)        STROBE_NOT(span)
#define STROBE_SPAN_END(span)                STROBE_NOT(span)
#define STROBE_FLOW_BEGIN(flow)              STROBE_NOT(flow)
#define STROBE_FLOW_STEP(flow)               STROBE_NOT(flow)
#define STROBE_FLOW_END(flow)                STROBE_NOT(flow)
#define STROBE_TRIGGER(reason)               STROBE_NOT(reason)
#define STROBE_THREAD_NAME(name)             STROBE_NOT(name)
#define STROBE_PROGRAM_NAME(name)            STROBE_NOT(name)
#define STROBE_APP_INFO(text)                STROBE_NOT(text)

#endif
