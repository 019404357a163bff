// Tracy.hpp - Tracy's C++ macros over Strobe: a program written for Tracy 0.11 to 0.14 is compiled against this file
// instead of Tracy's and recorded by `strobe record`. Macro names, arguments and the parts of namespace tracy that
// programs name are Tracy's; what each macro records and what each switch means here is in docs/tracy-headers.md.
//
// C++11 and up; needs libstrobe (CMake Tracy::TracyClient, pkg-config tracy). Without TRACY_ENABLE, or with STROBE_OFF,
// all macros are empty.  SPDX-License-Identifier: MIT
#ifndef STROBE_TRACY_HPP
#define STROBE_TRACY_HPP

#include <stddef.h>
#include <stdint.h>

#include "common/TracyColor.hpp"
#include "common/TracySystem.hpp"

#ifndef TracyFunction
#define TracyFunction __func__
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyLine
#define TracyLine __LINE__
#endif

#define TracyParamTypeInt     0
#define TracyParamTypeBool    1
#define TracyParamTypeTrigger 2

#if !defined(TRACY_ENABLE) || defined(STROBE_OFF)

#define TracyNoop
#define ZoneNamed(varname, active)
#define ZoneNamedN(varname, name, active)
#define ZoneNamedC(varname, color, active)
#define ZoneNamedNC(varname, name, color, active)
#define ZoneNamedS(varname, depth, active)
#define ZoneNamedNS(varname, name, depth, active)
#define ZoneNamedCS(varname, color, depth, active)
#define ZoneNamedNCS(varname, name, color, depth, active)
#define ZoneTransient(varname, active)
#define ZoneTransientN(varname, name, active)
#define ZoneTransientNC(varname, name, color, active)
#define ZoneTransientS(varname, depth, active)
#define ZoneTransientNS(varname, name, depth, active)
#define ZoneScoped
#define ZoneScopedN(name)
#define ZoneScopedC(color)
#define ZoneScopedNC(name, color)
#define ZoneScopedS(depth)
#define ZoneScopedNS(name, depth)
#define ZoneScopedCS(color, depth)
#define ZoneScopedNCS(name, color, depth)
#define ZoneText(text, size)
#define ZoneTextV(varname, text, size)
#define ZoneTextF(...)
#define ZoneTextVF(varname, ...)
#define ZoneName(text, size)
#define ZoneNameV(varname, text, size)
#define ZoneNameF(...)
#define ZoneNameVF(varname, ...)
#define ZoneColor(color)
#define ZoneColorV(varname, color)
#define ZoneValue(value)
#define ZoneValueV(varname, value)
#define ZoneIsActive           false
#define ZoneIsActiveV(varname) false
#define FrameMark
#define FrameMarkNamed(name)
#define FrameMarkStart(name)
#define FrameMarkEnd(name)
#define FrameImage(image, width, height, offset, flip)
#define TracyLockable(type, varname)              type varname
#define TracyLockableN(type, varname, desc)       type varname
#define TracySharedLockable(type, varname)        type varname
#define TracySharedLockableN(type, varname, desc) type varname
#define LockableBase(type)                        type
#define SharedLockableBase(type)                  type
#define LockMark(varname)                         (void)(varname)
#define LockableName(varname, text, size)
#define TracyPlot(name, value)
#define TracyPlotConfig(name, type, step, fill, color)
#define TracyMessage(text, size)
#define TracyMessageL(text)
#define TracyMessageC(text, size, color)
#define TracyMessageLC(text, color)
#define TracyMessageS(text, size, depth)
#define TracyMessageLS(text, depth)
#define TracyMessageCS(text, size, color, depth)
#define TracyMessageLCS(text, color, depth)
#define TracyLogString(severity, color, depth, ...)
#define TracyAppInfo(text, size)
#define TracyAlloc(ptr, size)
#define TracyFree(ptr)
#define TracyMemoryDiscard(name)
#define TracyAllocN(ptr, size, name)
#define TracyFreeN(ptr, name)
#define TracyAllocS(ptr, size, depth)
#define TracyFreeS(ptr, depth)
#define TracyMemoryDiscardS(name, depth)
#define TracyAllocNS(ptr, size, depth, name)
#define TracyFreeNS(ptr, depth, name)
#define TracySecureAlloc(ptr, size)
#define TracySecureFree(ptr)
#define TracySecureMemoryDiscard(name)
#define TracySecureAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name)
#define TracySecureAllocS(ptr, size, depth)
#define TracySecureFreeS(ptr, depth)
#define TracySecureMemoryDiscardS(name, depth)
#define TracySecureAllocNS(ptr, size, depth, name)
#define TracySecureFreeNS(ptr, depth, name)
#define TracySourceCallbackRegister(callback, data)
#define TracyParameterRegister(callback, data)
#define TracyParameterSetup(index, name, type, value)
#define TracyIsConnected false
#define TracyIsStarted   false
#define TracySetProgramName(name)
#define TracySectionEnter(...)                   0
#define TracySectionEnterCategory(category, ...) 0
#define TracySectionLeave(id)
#define TracySectionSetup(category, ...)
#define TracyFiberEnter(fiber)
#define TracyFiberEnterHint(fiber, hint)
#define TracyFiberLeave

#else // TRACY_ENABLE

#include <stdarg.h>
#include <string.h>

#include "TracyC.h"

#define STROBE_TRACY_FORCE_INLINE inline __attribute__((always_inline))

namespace tracy
{
// A location in constant memory. The macros have locations of their own; this one is for programs that make them.
struct SourceLocationData {
    const char *name;
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color;
};

enum class PlotFormatType : uint8_t { Number = 0, Memory = 1, Percentage = 2, Watt = 3 };
enum class MessageSeverity : uint8_t {
    Trace = 0,
    Debug = 1,
    Info = 2,
    Warning = 3,
    Error = 4,
    Fatal = 5
};
enum class MessageSourceType : uint8_t { User = 0, Tracy = 1 };
enum class QueueType : uint8_t { FrameMarkMsg = 0, FrameMarkMsgStart = 1, FrameMarkMsgEnd = 2 };

typedef void (*ParameterCallback)(void *data, uint32_t index, int32_t value);
typedef char *(*SourceContentsCallback)(void *data, const char *filename, size_t &size);

namespace detail
{
// SourceLocationData has the layout of strobe_const_loc. NULL: too many places are known already.
inline struct strobe_loc *Find(const SourceLocationData *loc)
{
    static_assert(sizeof(SourceLocationData) == sizeof(struct strobe_const_loc), "same layout");
    return strobe_loc_of(reinterpret_cast<const struct strobe_const_loc *>(loc));
}

inline uint64_t Name(const SourceLocationData *loc)
{
    const char *function = loc->function ? loc->function : "", *file = loc->file ? loc->file : "";
    return strobe_loc_id(file, strlen(file), loc->line, function, strlen(function), loc->name,
                         loc->name ? strlen(loc->name) : 0, loc->color);
}

inline struct strobe_zone None()
{
    struct strobe_zone none = {NULL, 0, strobe_gate_now, 0};
    return none;
}

inline struct strobe_zone Begin(const SourceLocationData *loc)
{
    struct strobe_loc *found = Find(loc);
    return found ? strobe_zone_begin(found) : strobe_zone_begin_by_id(Name(loc));
}
} // namespace detail

// A zone from its construction to the end of its scope.
class ScopedZone
{
  public:
    STROBE_TRACY_FORCE_INLINE ScopedZone(struct strobe_loc *loc, int32_t depth, bool is_active)
        : is_active_(is_active), zone_(Start(loc, depth, is_active))
    {
    }

    STROBE_TRACY_FORCE_INLINE explicit ScopedZone(const SourceLocationData *loc, int32_t depth = -1,
                                                  bool is_active = true)
        : is_active_(is_active), zone_(detail::None())
    {
        if (!is_active)
            return;
        strobe_tracy_stack(depth);
        zone_ = detail::Begin(loc);
    }

    ScopedZone(uint32_t line, const char *source, size_t source_size, const char *function,
               size_t function_size, const char *name, size_t name_size, uint32_t color,
               int32_t depth = -1, bool is_active = true)
        : is_active_(is_active), zone_(detail::None())
    {
        if (!is_active || !strobe_recording())
            return;
        uint64_t id = strobe_loc_id(source, source_size, line, function, function_size, name,
                                    name_size, color);
        strobe_tracy_stack(depth);
        zone_ = strobe_zone_begin_by_id(id);
    }

    ScopedZone(uint32_t line, const char *source, size_t source_size, const char *function,
               size_t function_size, const char *name, size_t name_size, int32_t depth,
               bool is_active = true)
        : ScopedZone(line, source, source_size, function, function_size, name, name_size, 0, depth,
                     is_active)
    {
    }

    ScopedZone(const ScopedZone &) = delete;
    ScopedZone(ScopedZone &&) = delete;
    ScopedZone &operator=(const ScopedZone &) = delete;
    ScopedZone &operator=(ScopedZone &&) = delete;

    STROBE_TRACY_FORCE_INLINE ~ScopedZone()
    {
        if (is_active_)
            strobe_zone_end(&zone_);
    }

    void Text(const char *text, size_t size)
    {
        if (IsSeen())
            strobe_zone_text(text, size);
    }

    void TextFmt(const char *format, ...) STROBE_PRINTF(2, 3)
    {
        va_list args;
        va_start(args, format);
        if (IsSeen())
            strobe_zone_textv(format, args);
        va_end(args);
    }

    void Name(const char *text, size_t size)
    {
        if (IsSeen())
            strobe_zone_name(text, size);
    }

    void NameFmt(const char *format, ...) STROBE_PRINTF(2, 3)
    {
        va_list args;
        va_start(args, format);
        if (IsSeen())
            strobe_zone_namev(format, args);
        va_end(args);
    }

    void Color(uint32_t color)
    {
        if (IsSeen())
            strobe_zone_color(color & 0xffffff);
    }

    void Value(uint64_t value)
    {
        if (IsSeen())
            strobe_zone_value(value);
    }

    bool IsActive() const
    {
#ifdef TRACY_ON_DEMAND
        return IsSeen();
#else
        return is_active_;
#endif
    }

  private:
    STROBE_TRACY_FORCE_INLINE static struct strobe_zone Start(struct strobe_loc *loc, int32_t depth,
                                                              bool is_active)
    {
        if (!is_active)
            return detail::None();
        strobe_tracy_stack(depth);
        return strobe_zone_begin(loc);
    }

    // Its begin is in the trace, so that texts and the like go to it.
    bool IsSeen() const
    {
        return strobe_zone_is_emitted(&zone_);
    }

    const bool is_active_;
    struct strobe_zone zone_;
};

// What a lock emits; used by Lockable and SharedLockable, and by programs with locks of their own.
class LockableCtx
{
  public:
    explicit LockableCtx(const SourceLocationData *loc, bool is_shared = false)
    {
        strobe_lock_open(&lock_, detail::Find(loc), is_shared);
    }
    ~LockableCtx()
    {
        strobe_lock_close(&lock_);
    }
    LockableCtx(const LockableCtx &) = delete;
    LockableCtx &operator=(const LockableCtx &) = delete;

    bool BeforeLock()
    {
        strobe_lock_will_wait(&lock_, 0);
        return true;
    }
    void AfterLock()
    {
        strobe_lock_obtained(&lock_, 0);
    }
    void AfterUnlock()
    {
        strobe_lock_released(&lock_, 0);
    }
    void AfterTryLock(bool acquired)
    {
        if (acquired)
            strobe_lock_obtained(&lock_, 0);
    }
    void Mark(const SourceLocationData *loc)
    {
        struct strobe_loc *found = detail::Find(loc);
        if (found)
            strobe_lock_mark(&lock_, found);
    }
    void Mark(struct strobe_loc *loc)
    {
        strobe_lock_mark(&lock_, loc);
    }
    void CustomName(const char *name, size_t size)
    {
        strobe_lock_rename(&lock_, name, size);
    }

  protected:
    struct strobe_lock lock_;
};

class SharedLockableCtx : public LockableCtx
{
  public:
    explicit SharedLockableCtx(const SourceLocationData *loc) : LockableCtx(loc, true) {}

    bool BeforeLockShared()
    {
        strobe_lock_will_wait(&lock_, 1);
        return true;
    }
    void AfterLockShared()
    {
        strobe_lock_obtained(&lock_, 1);
    }
    void AfterUnlockShared()
    {
        strobe_lock_released(&lock_, 1);
    }
    void AfterTryLockShared(bool acquired)
    {
        if (acquired)
            strobe_lock_obtained(&lock_, 1);
    }
};

// What both lockables do; Context: LockableCtx or SharedLockableCtx.
template <class T, class Context> class LockableOf
{
  public:
    LockableOf(const SourceLocationData *loc) : context_(loc) {}
    LockableOf(const LockableOf &) = delete;
    LockableOf &operator=(const LockableOf &) = delete;

    void lock()
    {
        context_.BeforeLock();
        lockable_.lock();
        context_.AfterLock();
    }
    void unlock()
    {
        lockable_.unlock();
        context_.AfterUnlock();
    }
    bool try_lock()
    {
        const bool acquired = lockable_.try_lock();
        context_.AfterTryLock(acquired);
        return acquired;
    }
    template <class Loc> void Mark(Loc *loc)
    {
        context_.Mark(loc);
    }
    void CustomName(const char *name, size_t size)
    {
        context_.CustomName(name, size);
    }

  protected:
    T lockable_;
    Context context_;
};

template <class T> class Lockable : public LockableOf<T, LockableCtx>
{
  public:
    Lockable(const SourceLocationData *loc) : LockableOf<T, LockableCtx>(loc) {}
};

template <class T> class SharedLockable : public LockableOf<T, SharedLockableCtx>
{
  public:
    SharedLockable(const SourceLocationData *loc) : LockableOf<T, SharedLockableCtx>(loc) {}

    void lock_shared()
    {
        this->context_.BeforeLockShared();
        this->lockable_.lock_shared();
        this->context_.AfterLockShared();
    }
    void unlock_shared()
    {
        this->lockable_.unlock_shared();
        this->context_.AfterUnlockShared();
    }
    bool try_lock_shared()
    {
        const bool acquired = this->lockable_.try_lock_shared();
        this->context_.AfterTryLockShared(acquired);
        return acquired;
    }
};

// The functions behind the macros, for programs that call them by name. There is no object behind it.
class Profiler
{
  public:
    static int64_t GetTime()
    {
        return static_cast<int64_t>(strobe_clock_now());
    }
    bool IsConnected() const
    {
        return strobe_recording() != 0;
    }
    void SetProgramName(const char *name)
    {
        strobe_set_program_name(name);
    }
    void RequestShutdown() {}
    bool HasShutdownFinished() const
    {
        return true;
    }

    static void SendFrameMark(const char *name)
    {
        strobe_text_frame_mark(name);
    }
    static void SendFrameMark(const char *name, QueueType type)
    {
        if (type == QueueType::FrameMarkMsgStart)
            strobe_text_frame_start(name);
        else if (type == QueueType::FrameMarkMsgEnd)
            strobe_text_frame_end(name);
        else
            strobe_text_frame_mark(name);
    }
    static void SendFrameImage(const void *image, uint16_t width, uint16_t height, uint8_t offset,
                               bool flip)
    {
        strobe_tracy_image(image, width, height, offset, flip);
    }

    static void PlotData(const char *name, int64_t value)
    {
        strobe_text_plot_int(name, value);
    }
    static void PlotData(const char *name, float value)
    {
        strobe_text_plot_double(name, static_cast<double>(value));
    }
    static void PlotData(const char *name, double value)
    {
        strobe_text_plot_double(name, value);
    }
    static void ConfigurePlot(const char *name, PlotFormatType type, bool step, bool /*fill*/,
                              uint32_t color)
    {
        strobe_text_plot_config(name, static_cast<int>(type), step, color);
    }

    static void LogString(MessageSourceType, MessageSeverity severity, uint32_t color,
                          int32_t depth, size_t size, const char *text)
    {
        strobe_tracy_log(static_cast<int>(severity), color, depth, text, size);
    }
    static void LogString(MessageSourceType source, MessageSeverity severity, uint32_t color,
                          int32_t depth, const char *text)
    {
        LogString(source, severity, color, depth, strlen(text), text);
    }
    static void Message(const char *text, size_t size, int32_t depth)
    {
        strobe_tracy_log(STROBE_INFO, 0, depth, text, size);
    }
    static void Message(const char *text, int32_t depth)
    {
        strobe_tracy_log(STROBE_INFO, 0, depth, text, strlen(text));
    }
    static void MessageColor(const char *text, size_t size, uint32_t color, int32_t depth)
    {
        strobe_tracy_log(STROBE_INFO, color, depth, text, size);
    }
    static void MessageColor(const char *text, uint32_t color, int32_t depth)
    {
        strobe_tracy_log(STROBE_INFO, color, depth, text, strlen(text));
    }
    static void MessageAppInfo(const char *text, size_t size)
    {
        strobe_app_info(text, size);
    }

    static void MemAlloc(const void *ptr, size_t size, bool /*secure*/ = false)
    {
        strobe_tracy_alloc(ptr, size, 0, NULL);
    }
    static void MemFree(const void *ptr, bool /*secure*/ = false)
    {
        strobe_tracy_free(ptr, 0, NULL);
    }
    static void MemAllocCallstack(const void *ptr, size_t size, int32_t depth,
                                  bool /*secure*/ = false)
    {
        strobe_tracy_alloc(ptr, size, depth, NULL);
    }
    static void MemFreeCallstack(const void *ptr, int32_t depth, bool /*secure*/ = false)
    {
        strobe_tracy_free(ptr, depth, NULL);
    }
    static void MemAllocNamed(const void *ptr, size_t size, const char *name)
    {
        strobe_tracy_alloc(ptr, size, 0, name);
    }
    static void MemAllocNamed(const void *ptr, size_t size, bool /*secure*/, const char *name)
    {
        strobe_tracy_alloc(ptr, size, 0, name);
    }
    static void MemFreeNamed(const void *ptr, const char *name)
    {
        strobe_tracy_free(ptr, 0, name);
    }
    static void MemFreeNamed(const void *ptr, bool /*secure*/, const char *name)
    {
        strobe_tracy_free(ptr, 0, name);
    }
    static void MemAllocCallstackNamed(const void *ptr, size_t size, int32_t depth,
                                       const char *name)
    {
        strobe_tracy_alloc(ptr, size, depth, name);
    }
    static void MemAllocCallstackNamed(const void *ptr, size_t size, int32_t depth, bool /*secure*/,
                                       const char *name)
    {
        strobe_tracy_alloc(ptr, size, depth, name);
    }
    static void MemFreeCallstackNamed(const void *ptr, int32_t depth, const char *name)
    {
        strobe_tracy_free(ptr, depth, name);
    }
    static void MemFreeCallstackNamed(const void *ptr, int32_t depth, bool /*secure*/,
                                      const char *name)
    {
        strobe_tracy_free(ptr, depth, name);
    }
    static void MemDiscard(const char *name)
    {
        strobe_tracy_discard(name, 0);
    }
    static void MemDiscardCallstack(const char *name, int32_t depth)
    {
        strobe_tracy_discard(name, depth);
    }

    // Nothing here asks a program for sources or sets its parameters: callbacks are taken and never called.
    static void ParameterRegister(ParameterCallback, void *) {}
    static void SourceCallbackRegister(SourceContentsCallback, void *) {}
    static void ParameterSetup(uint32_t index, const char *name, uint8_t type, int32_t value)
    {
        strobe_parameter(index, name, type, value);
    }

    static void EnterFiber(const char *fiber, int32_t /*group_hint*/)
    {
        strobe_text_fiber_enter(fiber);
    }
    static void LeaveFiber()
    {
        strobe_fiber_leave();
    }

    static uint64_t AllocSourceLocation(uint32_t line, const char *source, size_t source_size,
                                        const char *function, size_t function_size,
                                        const char *name = NULL, size_t name_size = 0,
                                        uint32_t color = 0)
    {
        return strobe_loc_id(source, source_size, line, function, function_size, name, name_size,
                             color);
    }
};

inline Profiler &GetProfiler()
{
    static Profiler profiler;
    return profiler;
}
inline bool ProfilerAvailable()
{
    return true;
}
inline void StartupProfiler() {}
inline void ShutdownProfiler() {}
inline bool IsProfilerStarted()
{
    return true;
}
inline bool BeginSamplingProfiling()
{
    return false;
}
inline void EndSamplingProfiling() {}
} // namespace tracy

// A scope's zone hides that of the scope around it: meant so, and no reason for -Wshadow.
#if defined(TRACY_ALLOW_SHADOW_WARNING)
#define STROBE_TRACY_SHADOWS(...) __VA_ARGS__
#elif defined(__clang__)
#define STROBE_TRACY_SHADOWS(...)                                                                  \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wshadow\"") __VA_ARGS__; \
    _Pragma("clang diagnostic pop")
#else
#define STROBE_TRACY_SHADOWS(...)                                                              \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") __VA_ARGS__; \
    _Pragma("GCC diagnostic pop")
#endif

#define STROBE_TRACY_NAMED(varname, name, color, depth, active)                     \
    static struct strobe_loc TracyConcat(__tracy_source_location, TracyLine) = {    \
        0, name, TracyFunction, TracyFile, (uint32_t)TracyLine, (uint32_t)(color)}; \
    ::tracy::ScopedZone varname(&TracyConcat(__tracy_source_location, TracyLine), depth, active)
#define STROBE_TRACY_SCOPED(name, color, depth) \
    STROBE_TRACY_SHADOWS(STROBE_TRACY_NAMED(___tracy_scoped_zone, name, color, depth, true))
#define STROBE_TRACY_TRANSIENT(varname, name, size, color, depth, active)                         \
    ::tracy::ScopedZone varname((uint32_t)TracyLine, TracyFile, strlen(TracyFile), TracyFunction, \
                                strlen(TracyFunction), name, size, (uint32_t)(color), depth,      \
                                active)
#define STROBE_TRACY_CONST_LOC(function)                                              \
    []() -> const ::tracy::SourceLocationData * {                                     \
        static const ::tracy::SourceLocationData loc = {nullptr, function, TracyFile, \
                                                        (uint32_t)TracyLine, 0};      \
        return &loc;                                                                  \
    }()

#define TracyNoop ::tracy::ProfilerAvailable()

#define ZoneNamed(varname, active) STROBE_TRACY_NAMED(varname, nullptr, 0, TRACY_CALLSTACK, active)
#define ZoneNamedN(varname, name, active) \
    STROBE_TRACY_NAMED(varname, name, 0, TRACY_CALLSTACK, active)
#define ZoneNamedC(varname, color, active) \
    STROBE_TRACY_NAMED(varname, nullptr, color, TRACY_CALLSTACK, active)
#define ZoneNamedNC(varname, name, color, active) \
    STROBE_TRACY_NAMED(varname, name, color, TRACY_CALLSTACK, active)
#define ZoneNamedS(varname, depth, active) STROBE_TRACY_NAMED(varname, nullptr, 0, depth, active)
#define ZoneNamedNS(varname, name, depth, active) \
    STROBE_TRACY_NAMED(varname, name, 0, depth, active)
#define ZoneNamedCS(varname, color, depth, active) \
    STROBE_TRACY_NAMED(varname, nullptr, color, depth, active)
#define ZoneNamedNCS(varname, name, color, depth, active) \
    STROBE_TRACY_NAMED(varname, name, color, depth, active)

#define ZoneTransient(varname, active) \
    STROBE_TRACY_TRANSIENT(varname, nullptr, 0, 0, TRACY_CALLSTACK, active)
#define ZoneTransientN(varname, name, active) \
    STROBE_TRACY_TRANSIENT(varname, name, strlen(name), 0, TRACY_CALLSTACK, active)
#define ZoneTransientNC(varname, name, color, active) \
    STROBE_TRACY_TRANSIENT(varname, name, strlen(name), color, TRACY_CALLSTACK, active)
#define ZoneTransientS(varname, depth, active) \
    STROBE_TRACY_TRANSIENT(varname, nullptr, 0, 0, depth, active)
#define ZoneTransientNS(varname, name, depth, active) \
    STROBE_TRACY_TRANSIENT(varname, name, strlen(name), 0, depth, active)

#define ZoneScoped                        STROBE_TRACY_SCOPED(nullptr, 0, TRACY_CALLSTACK)
#define ZoneScopedN(name)                 STROBE_TRACY_SCOPED(name, 0, TRACY_CALLSTACK)
#define ZoneScopedC(color)                STROBE_TRACY_SCOPED(nullptr, color, TRACY_CALLSTACK)
#define ZoneScopedNC(name, color)         STROBE_TRACY_SCOPED(name, color, TRACY_CALLSTACK)
#define ZoneScopedS(depth)                STROBE_TRACY_SCOPED(nullptr, 0, depth)
#define ZoneScopedNS(name, depth)         STROBE_TRACY_SCOPED(name, 0, depth)
#define ZoneScopedCS(color, depth)        STROBE_TRACY_SCOPED(nullptr, color, depth)
#define ZoneScopedNCS(name, color, depth) STROBE_TRACY_SCOPED(name, color, depth)

#define ZoneText(text, size)           ___tracy_scoped_zone.Text(text, size)
#define ZoneTextV(varname, text, size) varname.Text(text, size)
#define ZoneTextF(...)                 ___tracy_scoped_zone.TextFmt(__VA_ARGS__)
#define ZoneTextVF(varname, ...)       varname.TextFmt(__VA_ARGS__)
#define ZoneName(text, size)           ___tracy_scoped_zone.Name(text, size)
#define ZoneNameV(varname, text, size) varname.Name(text, size)
#define ZoneNameF(...)                 ___tracy_scoped_zone.NameFmt(__VA_ARGS__)
#define ZoneNameVF(varname, ...)       varname.NameFmt(__VA_ARGS__)
#define ZoneColor(color)               ___tracy_scoped_zone.Color(color)
#define ZoneColorV(varname, color)     varname.Color(color)
#define ZoneValue(value)               ___tracy_scoped_zone.Value(value)
#define ZoneValueV(varname, value)     varname.Value(value)
#define ZoneIsActive                   ___tracy_scoped_zone.IsActive()
#define ZoneIsActiveV(varname)         varname.IsActive()

#define FrameMark            ::tracy::Profiler::SendFrameMark(nullptr)
#define FrameMarkNamed(name) ::tracy::Profiler::SendFrameMark(name)
#define FrameMarkStart(name) strobe_text_frame_start(name)
#define FrameMarkEnd(name)   strobe_text_frame_end(name)
#define FrameImage(image, width, height, offset, flip) \
    ::tracy::Profiler::SendFrameImage(image, width, height, offset, flip)

#define TracyLockable(type, varname)               \
    ::tracy::Lockable<type> varname                \
    {                                              \
        STROBE_TRACY_CONST_LOC(#type " " #varname) \
    }
#define TracyLockableN(type, varname, desc) \
    ::tracy::Lockable<type> varname         \
    {                                       \
        STROBE_TRACY_CONST_LOC(desc)        \
    }
#define TracySharedLockable(type, varname)         \
    ::tracy::SharedLockable<type> varname          \
    {                                              \
        STROBE_TRACY_CONST_LOC(#type " " #varname) \
    }
#define TracySharedLockableN(type, varname, desc) \
    ::tracy::SharedLockable<type> varname         \
    {                                             \
        STROBE_TRACY_CONST_LOC(desc)              \
    }
#define LockableBase(type)       ::tracy::Lockable<type>
#define SharedLockableBase(type) ::tracy::SharedLockable<type>
#define LockMark(varname)                                                       \
    static struct strobe_loc TracyConcat(__tracy_lock_location_, TracyLine) = { \
        0, nullptr, TracyFunction, TracyFile, (uint32_t)TracyLine, 0};          \
    varname.Mark(&TracyConcat(__tracy_lock_location_, TracyLine))
#define LockableName(varname, text, size) varname.CustomName(text, size)

#define TracyPlot(name, value) ::tracy::Profiler::PlotData(name, value)
#define TracyPlotConfig(name, type, step, fill, color) \
    ::tracy::Profiler::ConfigurePlot(name, type, step, fill, color)

#define TracyLogString(severity, color, depth, ...)                                        \
    ::tracy::Profiler::LogString(::tracy::MessageSourceType::User, severity, color, depth, \
                                 __VA_ARGS__)
#define TracyMessage(text, size)         TracyMessageS(text, size, TRACY_CALLSTACK)
#define TracyMessageL(text)              TracyMessageLS(text, TRACY_CALLSTACK)
#define TracyMessageC(text, size, color) TracyMessageCS(text, size, color, TRACY_CALLSTACK)
#define TracyMessageLC(text, color)      TracyMessageLCS(text, color, TRACY_CALLSTACK)
#define TracyMessageS(text, size, depth) strobe_tracy_log(STROBE_INFO, 0, depth, text, size)
#define TracyMessageLS(text, depth)      strobe_tracy_log(STROBE_INFO, 0, depth, text, strlen(text))
#define TracyMessageCS(text, size, color, depth) \
    strobe_tracy_log(STROBE_INFO, color, depth, text, size)
#define TracyMessageLCS(text, color, depth) \
    strobe_tracy_log(STROBE_INFO, color, depth, text, strlen(text))
#define TracyAppInfo(text, size) strobe_app_info(text, size)

#define TracyAlloc(ptr, size)                      strobe_tracy_alloc(ptr, size, TRACY_CALLSTACK, nullptr)
#define TracyFree(ptr)                             strobe_tracy_free(ptr, TRACY_CALLSTACK, nullptr)
#define TracyMemoryDiscard(name)                   strobe_tracy_discard(name, TRACY_CALLSTACK)
#define TracyAllocN(ptr, size, name)               strobe_tracy_alloc(ptr, size, TRACY_CALLSTACK, name)
#define TracyFreeN(ptr, name)                      strobe_tracy_free(ptr, TRACY_CALLSTACK, name)
#define TracyAllocS(ptr, size, depth)              strobe_tracy_alloc(ptr, size, depth, nullptr)
#define TracyFreeS(ptr, depth)                     strobe_tracy_free(ptr, depth, nullptr)
#define TracyMemoryDiscardS(name, depth)           strobe_tracy_discard(name, depth)
#define TracyAllocNS(ptr, size, depth, name)       strobe_tracy_alloc(ptr, size, depth, name)
#define TracyFreeNS(ptr, depth, name)              strobe_tracy_free(ptr, depth, name)

// Up to 0.13: nothing here dies before the program does, so secure and plain are the same.
#define TracySecureAlloc(ptr, size)                TracyAlloc(ptr, size)
#define TracySecureFree(ptr)                       TracyFree(ptr)
#define TracySecureMemoryDiscard(name)             TracyMemoryDiscard(name)
#define TracySecureAllocN(ptr, size, name)         TracyAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name)                TracyFreeN(ptr, name)
#define TracySecureAllocS(ptr, size, depth)        TracyAllocS(ptr, size, depth)
#define TracySecureFreeS(ptr, depth)               TracyFreeS(ptr, depth)
#define TracySecureMemoryDiscardS(name, depth)     TracyMemoryDiscardS(name, depth)
#define TracySecureAllocNS(ptr, size, depth, name) TracyAllocNS(ptr, size, depth, name)
#define TracySecureFreeNS(ptr, depth, name)        TracyFreeNS(ptr, depth, name)

#define TracySourceCallbackRegister(callback, data) \
    ::tracy::Profiler::SourceCallbackRegister(callback, data)
#define TracyParameterRegister(callback, data) ::tracy::Profiler::ParameterRegister(callback, data)
#define TracyParameterSetup(index, name, type, value) \
    ::tracy::Profiler::ParameterSetup(index, name, type, value)
#define TracyIsConnected          (strobe_recording() != 0)
#define TracyIsStarted            true
#define TracySetProgramName(name) strobe_set_program_name(name)

#define TracySectionEnter(...)                   strobe_section_enterf(0, __VA_ARGS__)
#define TracySectionEnterCategory(category, ...) strobe_section_enterf(category, __VA_ARGS__)
#define TracySectionLeave(id)                    strobe_section_leave(id)
#define TracySectionSetup(category, ...)         strobe_section_namef(category, __VA_ARGS__)

#define TracyFiberEnter(fiber)           strobe_text_fiber_enter(fiber)
#define TracyFiberEnterHint(fiber, hint) ((void)(hint), strobe_text_fiber_enter(fiber))
#define TracyFiberLeave                  strobe_fiber_leave()

#endif // TRACY_ENABLE

#endif
