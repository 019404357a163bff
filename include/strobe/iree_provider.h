/* iree_provider.h - a tracing provider for IREE, for those who build IREE themselves: its IREE_TRACE_ macros over Strobe, in
 * modes 1 to 4. Configure IREE with
 *
 *     -DIREE_ENABLE_RUNTIME_TRACING=ON -DIREE_TRACING_MODE=2
 *     -DIREE_TRACING_PROVIDER=Strobe::Strobe -DIREE_TRACING_PROVIDER_H=strobe/iree_provider.h
 *
 * and record with `strobe record`. Included by iree/base/tracing.h only, which has the features and says what each macro means;
 * what becomes of them here: docs/tracy-headers.md. All of it is inline and needs libstrobe.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IREE_PROVIDER_H
#define STROBE_IREE_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "strobe/facade.h"

#if !defined(IREE_TRACING_FEATURES_REQUESTED)
#error "iree_provider.h is included by iree/base/tracing.h, through IREE_TRACING_PROVIDER_H"
#endif
#if !defined(IREE_TRACING_FEATURES)
#define IREE_TRACING_FEATURES (IREE_TRACING_FEATURES_REQUESTED) /* everything is there */
#endif

/* The runtime's own macros paste with these. */
#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif

/* An open zone: struct strobe_handle as one number. */
typedef uint64_t iree_zone_id_t;
typedef struct strobe_const_loc iree_tracing_location_t;

typedef enum iree_tracing_gpu_context_type_e {
    IREE_TRACING_GPU_CONTEXT_TYPE_INVALID = STROBE_GPU_NONE,
    IREE_TRACING_GPU_CONTEXT_TYPE_OPENGL = STROBE_GPU_OPENGL,
    IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN = STROBE_GPU_VULKAN,
    IREE_TRACING_GPU_CONTEXT_TYPE_OPENCL = STROBE_GPU_OPENCL,
    IREE_TRACING_GPU_CONTEXT_TYPE_DIRECT3D12 = STROBE_GPU_DIRECT3D12,
    IREE_TRACING_GPU_CONTEXT_TYPE_DIRECT3D11 = STROBE_GPU_DIRECT3D11
} iree_tracing_gpu_context_type_t;

#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_INSTRUMENTATION_CALLSTACKS
#define STROBE_IREE_STACK() strobe_callstack(IREE_TRACING_MAX_CALLSTACK_DEPTH)
#else
#define STROBE_IREE_STACK() ((void)0)
#endif
#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_ALLOCATION_CALLSTACKS
#define STROBE_IREE_ALLOC_STACK() strobe_callstack(IREE_TRACING_MAX_CALLSTACK_DEPTH)
#else
#define STROBE_IREE_ALLOC_STACK() ((void)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if IREE_TRACING_FEATURES

STROBE_INLINE iree_zone_id_t strobe_iree_zone(struct strobe_handle handle)
{
    return strobe_handle_pack(handle);
}

STROBE_INLINE struct strobe_handle strobe_iree_handle(iree_zone_id_t zone)
{
    return strobe_handle_unpack(zone);
}

STROBE_INLINE int strobe_iree_is_seen(iree_zone_id_t zone)
{
    return strobe_handle_is_seen(strobe_iree_handle(zone));
}

STROBE_INLINE iree_zone_id_t strobe_iree_begin(struct strobe_loc *loc)
{
    STROBE_IREE_STACK();
    return strobe_iree_zone(strobe_handle_begin(loc));
}

STROBE_INLINE iree_zone_id_t strobe_iree_begin_named(struct strobe_loc *loc, const char *name,
                                                     size_t name_length)
{
    iree_zone_id_t zone = strobe_iree_begin(loc);
    if (name_length && strobe_iree_is_seen(zone))
        strobe_zone_name(name, name_length);
    return zone;
}

/* As the runtime calls it where it has a location of its own. */
STROBE_INLINE iree_zone_id_t iree_tracing_zone_begin_impl(const iree_tracing_location_t *src_loc,
                                                          const char *name, size_t name_length)
{
    struct strobe_loc *loc = strobe_loc_of(src_loc);
    struct strobe_handle none = {0, STROBE_HANDLE_NONE};
    return loc ? strobe_iree_begin_named(loc, name, name_length) : strobe_iree_zone(none);
}

STROBE_INLINE iree_zone_id_t iree_tracing_zone_begin_external_impl(
    const char *file_name, size_t file_name_length, uint32_t line, const char *function_name,
    size_t function_name_length, const char *name, size_t name_length)
{
    uint64_t id = strobe_loc_id(file_name, file_name_length, line, function_name,
                                function_name_length, name_length ? name : NULL, name_length, 0);
    STROBE_IREE_STACK();
    return strobe_iree_zone(strobe_handle_begin_id(id));
}

STROBE_INLINE void iree_tracing_zone_end(iree_zone_id_t zone_id)
{
    strobe_handle_end(strobe_iree_handle(zone_id));
}

STROBE_INLINE void strobe_iree_text(iree_zone_id_t zone, const char *text, size_t length)
{
    if (strobe_iree_is_seen(zone))
        strobe_zone_text(text, length);
}

STROBE_INLINE void strobe_iree_value(iree_zone_id_t zone, int64_t value)
{
    if (strobe_iree_is_seen(zone))
        strobe_zone_value((uint64_t)value);
}

/* XXBBGGRR there, 0xRRGGBB here. */
STROBE_INLINE void strobe_iree_color(iree_zone_id_t zone, uint32_t xbgr)
{
    if (strobe_iree_is_seen(zone))
        strobe_zone_color((xbgr & 0xff) << 16 | (xbgr & 0xff00) | (xbgr >> 16 & 0xff));
}

/* Sources are not kept in a trace. */
STROBE_INLINE void iree_tracing_publish_source_file(const void *filename, size_t filename_length,
                                                    const void *content, size_t content_length)
{
    (void)filename, (void)filename_length, (void)content, (void)content_length;
}

/* Locks by number; registered with the recorder of the moment. */
STROBE_INLINE void iree_tracing_mutex_announce(const iree_tracing_location_t *src_loc,
                                               uint32_t *out_lock_id)
{
    *out_lock_id = strobe_lock_number(strobe_loc_of(src_loc));
}
STROBE_INLINE void iree_tracing_mutex_terminate(uint32_t lock_id)
{
    strobe_lock_number_gone(lock_id);
}
STROBE_INLINE void iree_tracing_mutex_before_lock(uint32_t lock_id)
{
    strobe_lock_number_wait(lock_id, 0);
}
STROBE_INLINE void iree_tracing_mutex_after_lock(uint32_t lock_id)
{
    strobe_lock_number_obtain(lock_id, 0);
}
STROBE_INLINE void iree_tracing_mutex_after_try_lock(uint32_t lock_id, bool was_acquired)
{
    if (was_acquired)
        strobe_lock_number_obtain(lock_id, 0);
}
STROBE_INLINE void iree_tracing_mutex_after_unlock(uint32_t lock_id)
{
    strobe_lock_number_release(lock_id, 0);
}

#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE

STROBE_INLINE int64_t iree_tracing_time(void)
{
    return (int64_t)strobe_clock_now();
}
/* Of the performance counter of another system. */
STROBE_INLINE int64_t iree_tracing_frequency(void)
{
    return 0;
}

STROBE_INLINE uint8_t iree_tracing_gpu_context_allocate(iree_tracing_gpu_context_type_t type,
                                                        const char *name, size_t name_length,
                                                        bool is_calibrated, uint64_t cpu_timestamp,
                                                        uint64_t gpu_timestamp,
                                                        float timestamp_period)
{
    struct strobe_gpu_context context = {
        strobe_gpu_context_number(), (uint64_t)type,          is_calibrated, 0, cpu_timestamp,
        (int64_t)gpu_timestamp,      (double)timestamp_period};
    strobe_gpu_context_new(&context);
    strobe_gpu_context_name(context.context, name, name_length);
    return (uint8_t)context.context;
}
STROBE_INLINE void iree_tracing_gpu_context_calibrate(uint8_t context_id, int64_t cpu_delta,
                                                      int64_t cpu_timestamp, int64_t gpu_timestamp)
{
    strobe_gpu_calibrate(context_id, gpu_timestamp, (uint64_t)cpu_timestamp, cpu_delta);
}
STROBE_INLINE void iree_tracing_gpu_zone_begin(uint8_t context_id, uint16_t query_id,
                                               const iree_tracing_location_t *src_loc)
{
    struct strobe_loc *loc = strobe_loc_of(src_loc);
    if (loc)
        strobe_gpu_begin(context_id, query_id, loc);
    else
        strobe_gpu_begin_id(context_id, query_id, 0);
}
STROBE_INLINE void iree_tracing_gpu_zone_begin_external(uint8_t context_id, uint16_t query_id,
                                                        const char *file_name,
                                                        size_t file_name_length, uint32_t line,
                                                        const char *function_name,
                                                        size_t function_name_length,
                                                        const char *name, size_t name_length)
{
    strobe_gpu_begin_id(context_id, query_id,
                        strobe_loc_id(file_name, file_name_length, line, function_name,
                                      function_name_length, name_length ? name : NULL, name_length,
                                      0));
}
STROBE_INLINE void iree_tracing_gpu_zone_end(uint8_t context_id, uint16_t query_id)
{
    strobe_gpu_end(context_id, query_id);
}
STROBE_INLINE void iree_tracing_gpu_zone_notify(uint8_t context_id, uint16_t query_id,
                                                int64_t gpu_timestamp)
{
    strobe_gpu_time(context_id, query_id, gpu_timestamp);
}

#endif /* DEVICE */

#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_ALLOCATION_TRACKING
STROBE_INLINE void *iree_tracing_obscure_ptr(void *ptr)
{
    return ptr;
}
#endif
STROBE_INLINE void strobe_iree_alloc(const char *pool, const void *ptr, size_t size)
{
    STROBE_IREE_ALLOC_STACK();
    strobe_text_mem_alloc(pool, ptr, size);
}
STROBE_INLINE void strobe_iree_free(const char *pool, const void *ptr)
{
    STROBE_IREE_ALLOC_STACK();
    strobe_text_mem_free(pool, ptr);
}

#endif /* IREE_TRACING_FEATURES */

#ifdef __cplusplus
} /* extern "C" */
#endif

#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_INSTRUMENTATION

#define IREE_TRACE(expr) expr

#define IREE_TRACE_APP_ENTER()                       ((void)0)
#define IREE_TRACE_APP_EXIT(exit_code)               ((void)(exit_code))
#define IREE_TRACE_SET_APP_INFO(value, value_length) strobe_app_info(value, value_length)
#define IREE_TRACE_SET_THREAD_NAME(name)             strobe_set_thread_name(name)

#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_FIBERS
#define IREE_TRACE_FIBER_ENTER(fiber) strobe_text_fiber_enter((const char *)(fiber))
#define IREE_TRACE_FIBER_LEAVE()      strobe_fiber_leave()
#else
#define IREE_TRACE_FIBER_ENTER(fiber)
#define IREE_TRACE_FIBER_LEAVE()
#endif

#define IREE_TRACE_PUBLISH_SOURCE_FILE(filename, filename_length, content, content_length) \
    iree_tracing_publish_source_file(filename, filename_length, content, content_length)

#define STROBE_IREE_LOC(name_literal)                                    \
    static struct strobe_loc TracyConcat(strobe_iree_loc_, __LINE__) = { \
        0, name_literal, __func__, __FILE__, (uint32_t)__LINE__, 0}
#define IREE_TRACE_ZONE_BEGIN(zone_id) IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, NULL)
#define IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, name_literal) \
    STROBE_IREE_LOC(name_literal);                         \
    iree_zone_id_t zone_id = strobe_iree_begin(&TracyConcat(strobe_iree_loc_, __LINE__));
#define IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(zone_id, name, name_length) \
    STROBE_IREE_LOC(NULL);                                              \
    iree_zone_id_t zone_id =                                            \
        strobe_iree_begin_named(&TracyConcat(strobe_iree_loc_, __LINE__), (name), (name_length));
#define IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone_id, file_name, file_name_length, line, function_name, \
                                       function_name_length, name, name_length)                   \
    iree_zone_id_t zone_id = iree_tracing_zone_begin_external_impl(                               \
        file_name, file_name_length, line, function_name, function_name_length, name, name_length)
#define IREE_TRACE_ZONE_END(zone_id) iree_tracing_zone_end(zone_id)
#define IREE_RETURN_AND_END_ZONE_IF_ERROR(zone_id, ...) \
    IREE_RETURN_AND_EVAL_IF_ERROR(IREE_TRACE_ZONE_END(zone_id), __VA_ARGS__)
#define IREE_RETURN_AND_END_ZONE(zone_id, ...) \
    IREE_TRACE_ZONE_END(zone_id);              \
    return (__VA_ARGS__)

#define IREE_TRACE_ZONE_SET_COLOR(zone_id, color_xbgr) strobe_iree_color(zone_id, color_xbgr)
#define IREE_TRACE_ZONE_APPEND_VALUE_I64(zone_id, value) \
    strobe_iree_value(zone_id, (int64_t)(value))
/* (zone_id, text) or (zone_id, text, length) */
#define IREE_TRACE_ZONE_APPEND_TEXT(...) \
    STROBE_IREE_4TH(__VA_ARGS__, STROBE_IREE_TEXT3, STROBE_IREE_TEXT2, 0)(__VA_ARGS__)
#define STROBE_IREE_4TH(a, b, c, d, ...)      d
#define STROBE_IREE_TEXT3(zone, text, length) strobe_iree_text(zone, text, length)
#define STROBE_IREE_TEXT2(zone, text)         strobe_iree_text(zone, text, strlen(text))

#define IREE_TRACE_SET_PLOT_TYPE(name_literal, plot_type, step, fill, color) \
    ((void)(fill), strobe_text_plot_config(name_literal, (int)(plot_type), step, color))
#define IREE_TRACE_PLOT_VALUE_I64(name_literal, value) strobe_text_plot_int(name_literal, value)
#define IREE_TRACE_PLOT_VALUE_F32(name_literal, value) \
    strobe_text_plot_double(name_literal, (double)(value))
#define IREE_TRACE_PLOT_VALUE_F64(name_literal, value) strobe_text_plot_double(name_literal, value)

#define IREE_TRACE_FRAME_MARK()                         strobe_text_frame_mark(NULL)
#define IREE_TRACE_FRAME_MARK_NAMED(name_literal)       strobe_text_frame_mark(name_literal)
#define IREE_TRACE_FRAME_MARK_BEGIN_NAMED(name_literal) strobe_text_frame_start(name_literal)
#define IREE_TRACE_FRAME_MARK_END_NAMED(name_literal)   strobe_text_frame_end(name_literal)

/* Levels are colours there; here they are severities too. */
#define STROBE_IREE_SEVERITY_ERROR   STROBE_ERROR
#define STROBE_IREE_SEVERITY_WARNING STROBE_WARNING
#define STROBE_IREE_SEVERITY_INFO    STROBE_INFO
#define STROBE_IREE_SEVERITY_VERBOSE STROBE_TRACE
#define STROBE_IREE_SEVERITY_DEBUG   STROBE_DEBUG
#define IREE_TRACE_MESSAGE(level, value_literal)                                     \
    strobe_message(STROBE_IREE_SEVERITY_##level, IREE_TRACING_MESSAGE_LEVEL_##level, \
                   value_literal, strlen(value_literal))
#define IREE_TRACE_MESSAGE_COLORED(color, value_literal) \
    strobe_message(STROBE_INFO, color, value_literal, strlen(value_literal))
#define IREE_TRACE_MESSAGE_DYNAMIC(level, value, value_length)                              \
    strobe_message(STROBE_IREE_SEVERITY_##level, IREE_TRACING_MESSAGE_LEVEL_##level, value, \
                   value_length)
#define IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value, value_length) \
    strobe_message(STROBE_INFO, color, value, value_length)

#endif /* INSTRUMENTATION */

#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_ALLOCATION_TRACKING
#define IREE_TRACE_ALLOC(ptr, size)                     strobe_iree_alloc(NULL, ptr, size)
#define IREE_TRACE_FREE(ptr)                            strobe_iree_free(NULL, ptr)
#define IREE_TRACE_ALLOC_NAMED(name_literal, ptr, size) strobe_iree_alloc(name_literal, ptr, size)
#define IREE_TRACE_FREE_NAMED(name_literal, ptr)        strobe_iree_free(name_literal, ptr)
#endif

#if defined(__cplusplus) && IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_INSTRUMENTATION
namespace strobe
{
/* A zone of IREE's to the end of the scope; stands for its id. */
class IreeScope
{
  public:
    explicit IreeScope(struct strobe_loc *loc) : zone_(strobe_iree_begin(loc)) {}
    ~IreeScope()
    {
        iree_tracing_zone_end(zone_);
    }
    IreeScope(const IreeScope &) = delete;
    IreeScope &operator=(const IreeScope &) = delete;
    operator iree_zone_id_t() const
    {
        return zone_;
    }

  private:
    iree_zone_id_t zone_;
};
} // namespace strobe
#define IREE_TRACE_SCOPE() IREE_TRACE_SCOPE_NAMED(NULL)
#define IREE_TRACE_SCOPE_NAMED(name_literal) \
    STROBE_IREE_LOC(name_literal);           \
    ::strobe::IreeScope strobe_iree_scope(&TracyConcat(strobe_iree_loc_, __LINE__))
#define IREE_TRACE_SCOPE_ID strobe_iree_scope
#endif

#endif
