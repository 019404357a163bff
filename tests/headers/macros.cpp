// macros.cpp - every macro of Tracy.hpp once, and what programs name in namespace tracy. What each must leave in the trace:
// macros.py.  SPDX-License-Identifier: MIT
#include <stdint.h>
#include <string.h>

#include <mutex>

#define TRACY_FIBERS
#include <tracy/Tracy.hpp>
#include <tracy/common/TracySystem.hpp>

#include "cases.h"

// std::shared_mutex is not there in C++11.
struct TwoWays {
    void lock() {}
    void unlock() {}
    bool try_lock()
    {
        return true;
    }
    void lock_shared() {}
    void unlock_shared() {}
    bool try_lock_shared()
    {
        return true;
    }
};

static void zones()
{
    CASE(ZoneNamed) { ZoneNamed(z, true); }
    CASE(ZoneNamedN) { ZoneNamedN(z, "name", true); }
    CASE(ZoneNamedC) { ZoneNamedC(z, tracy::Color::Blue, true); }
    CASE(ZoneNamedNC) { ZoneNamedNC(z, "name", 0x0000ff, true); }
    CASE(ZoneNamedS) { ZoneNamedS(z, 4, true); }
    CASE(ZoneNamedNS) { ZoneNamedNS(z, "name", 4, true); }
    CASE(ZoneNamedCS) { ZoneNamedCS(z, 0x0000ff, 4, true); }
    CASE(ZoneNamedNCS) { ZoneNamedNCS(z, "name", 0x0000ff, 4, true); }
    CASE(inactive) { ZoneNamedN(z, "never", false); ZoneTextV(z, "never", 5); }
    CASE(ZoneTransient) { ZoneTransient(z, true); }
    CASE(ZoneTransientN) { ZoneTransientN(z, "transient", true); }
    CASE(ZoneTransientNC) { ZoneTransientNC(z, "transient", 0x0000ff, true); }
    CASE(ZoneTransientS) { ZoneTransientS(z, 4, true); }
    CASE(ZoneTransientNS) { ZoneTransientNS(z, "transient", 4, true); }
    CASE(ZoneScoped) { ZoneScoped; }
    CASE(ZoneScopedN) { ZoneScopedN("name"); }
    CASE(ZoneScopedC) { ZoneScopedC(0x0000ff); }
    CASE(ZoneScopedNC) { ZoneScopedNC("name", 0x0000ff); }
    CASE(ZoneScopedS) { ZoneScopedS(4); }
    CASE(ZoneScopedNS) { ZoneScopedNS("name", 4); }
    CASE(ZoneScopedCS) { ZoneScopedCS(0x0000ff, 4); }
    CASE(ZoneScopedNCS) { ZoneScopedNCS("name", 0x0000ff, 4); }
    CASE(shadowed) { ZoneScopedN("outer"); { ZoneScopedN("inner"); } }
}

static int attributes()
{
    int answers = 0;
    ZoneNamedN(z, "around", true);
    ZoneScopedN("scope around");
    CASE(ZoneText) { ZoneText("text", 4); }
    CASE(ZoneTextV) { ZoneTextV(z, "text", 4); }
    CASE(ZoneTextF) { ZoneTextF("text %d", 7); ZoneTextF("plain"); }
    CASE(ZoneTextVF) { ZoneTextVF(z, "text %d", 8); }
    CASE(ZoneName) { ZoneName("renamed", 7); }
    CASE(ZoneNameV) { ZoneNameV(z, "renamed", 7); }
    CASE(ZoneNameF) { ZoneNameF("renamed %d", 1); }
    CASE(ZoneNameVF) { ZoneNameVF(z, "renamed %d", 2); }
    CASE(ZoneColor) { ZoneColor(0x123456); }
    CASE(ZoneColorV) { ZoneColorV(z, 0x654321); }
    CASE(ZoneValue) { ZoneValue(42); }
    CASE(ZoneValueV) { ZoneValueV(z, 43); }
    CASE(ZoneIsActive) { answers += ZoneIsActive ? 1 : 0; }
    CASE(ZoneIsActiveV) { answers += ZoneIsActiveV(z) ? 2 : 0; }
    MARK(end);
    return answers;
}

static void memory()
{
    static char block[64];
    (void)block;
    CASE(TracyAlloc) { TracyAlloc(block, 1); }
    CASE(TracyFree) { TracyFree(block); }
    CASE(TracyAllocN) { TracyAllocN(block, 2, "pool"); }
    CASE(TracyFreeN) { TracyFreeN(block, "pool"); }
    CASE(TracyMemoryDiscard) { TracyMemoryDiscard("pool"); }
    CASE(TracyAllocS) { TracyAllocS(block, 3, 4); }
    CASE(TracyFreeS) { TracyFreeS(block, 4); }
    CASE(TracyAllocNS) { TracyAllocNS(block, 4, 4, "pool"); }
    CASE(TracyFreeNS) { TracyFreeNS(block, 4, "pool"); }
    CASE(TracyMemoryDiscardS) { TracyMemoryDiscardS("pool", 4); }
    CASE(TracySecureAlloc) { TracySecureAlloc(block, 5); }
    CASE(TracySecureFree) { TracySecureFree(block); }
    CASE(TracySecureAllocN) { TracySecureAllocN(block, 6, "pool"); }
    CASE(TracySecureFreeN) { TracySecureFreeN(block, "pool"); }
    CASE(TracySecureMemoryDiscard) { TracySecureMemoryDiscard("pool"); }
    CASE(TracySecureAllocS) { TracySecureAllocS(block, 7, 4); }
    CASE(TracySecureFreeS) { TracySecureFreeS(block, 4); }
    CASE(TracySecureAllocNS) { TracySecureAllocNS(block, 8, 4, "pool"); }
    CASE(TracySecureFreeNS) { TracySecureFreeNS(block, 4, "pool"); }
    CASE(TracySecureMemoryDiscardS) { TracySecureMemoryDiscardS("pool", 4); }
}

static void messages()
{
    CASE(TracyMessage) { TracyMessage("message", 7); }
    CASE(TracyMessageL) { TracyMessageL("literal"); }
    CASE(TracyMessageC) { TracyMessageC("message", 7, 0xff0000); }
    CASE(TracyMessageLC) { TracyMessageLC("literal", 0xff0000); }
    CASE(TracyMessageS) { TracyMessageS("message", 7, 4); }
    CASE(TracyMessageLS) { TracyMessageLS("literal", 4); }
    CASE(TracyMessageCS) { TracyMessageCS("message", 7, 0xff0000, 4); }
    CASE(TracyMessageLCS) { TracyMessageLCS("literal", 0xff0000, 4); }
    CASE(TracyLogString) {
        TracyLogString(tracy::MessageSeverity::Warning, 0, 0, "warning");
        TracyLogString(tracy::MessageSeverity::Error, 0xff0000, 0, 5, "error");
    }
    CASE(TracyAppInfo) { TracyAppInfo("about", 5); }
    CASE(TracySetProgramName) { TracySetProgramName("program of C++"); }
}

static void frames_and_plots()
{
    static uint32_t pixels[8 * 4];
    (void)pixels;
    CASE(FrameMark) { FrameMark; }
    CASE(FrameMarkNamed) { FrameMarkNamed("frame"); }
    CASE(FrameMarkStart) { FrameMarkStart("part"); }
    CASE(FrameMarkEnd) { FrameMarkEnd("part"); }
    CASE(FrameImage) { FrameImage(pixels, 8, 4, 0, false); }
    CASE(TracyPlotConfig) { TracyPlotConfig("plot", tracy::PlotFormatType::Percentage, true, true, 0x00ff00); }
    CASE(TracyPlot) {
        TracyPlot("plot", (int64_t)-3);
        TracyPlot("plot", 2.5f);
        TracyPlot("plot", 1.5);
    }
    CASE(TracyFiberEnter) { TracyFiberEnter("fiber"); }
    CASE(TracyFiberEnterHint) { TracyFiberEnterHint("other fiber", 3); }
    CASE(TracyFiberLeave) { TracyFiberLeave; }
}

static void locks()
{
    CASE(TracyLockable) {
        TracyLockable(std::mutex, mutex);
        mutex.lock();
        mutex.unlock();
        if (mutex.try_lock())
            mutex.unlock();
    }
    CASE(TracyLockableN) { TracyLockableN(std::mutex, mutex, "a mutex"); (void)mutex; }
    CASE(TracySharedLockable) {
        TracySharedLockable(TwoWays, both);
        both.lock();
        both.unlock();
        if (both.try_lock())
            both.unlock();
        both.lock_shared();
        both.unlock_shared();
        if (both.try_lock_shared())
            both.unlock_shared();
    }
    CASE(TracySharedLockableN) { TracySharedLockableN(TwoWays, both, "a shared lock"); (void)both; }
    MARK(start);
    TracyLockableN(std::mutex, mutex, "kept mutex");
    TracySharedLockableN(TwoWays, both, "kept shared");
    CASE(LockableBase) { std::lock_guard<LockableBase(std::mutex)> guard(mutex); }
    CASE(SharedLockableBase) { std::lock_guard<SharedLockableBase(TwoWays)> guard(both); }
    CASE(LockMark) { LockMark(mutex); }
    CASE(LockableName) { LockableName(mutex, "named later", 11); }
    MARK(end);
}

static void phases()
{
    CASE(TracySectionSetup) { TracySectionSetup(3, "category %d", 3); }
    CASE(TracySectionEnter) { auto id = TracySectionEnter("section %d", 1); TracySectionLeave(id); (void)id; }
    CASE(TracySectionEnterCategory) { auto id = TracySectionEnterCategory(3, "plain"); TracySectionLeave(id); (void)id; }
    CASE(TracySectionLeave) { TracySectionLeave(0); }
    CASE(TracyParameterSetup) { TracyParameterSetup(1, "parameter", TracyParamTypeBool, 1); }
    CASE(TracyParameterRegister) { TracyParameterRegister(nullptr, nullptr); }
    CASE(TracySourceCallbackRegister) { TracySourceCallbackRegister(nullptr, nullptr); }
    CASE(SetThreadName) { tracy::SetThreadName("thread of C++"); }
    CASE(SetThreadNameWithHint) { tracy::SetThreadNameWithHint("thread of C++", 5); }
    CASE(TracyNoop) { TracyNoop; }
}

static void by_name()
{
#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
    static constexpr tracy::SourceLocationData loc{"const", "function", "file.cpp", 5, 0xff};
    CASE(ScopedZone) { tracy::ScopedZone z(&loc, 0, true); z.Value(1); }
    CASE(ScopedZone_run_time) { tracy::ScopedZone z(9, "f.cpp", 5, "fn", 2, "made here", 9, 0, 0, true); }
    CASE(Profiler) {
        tracy::GetProfiler().SetProgramName("program of C++");
        tracy::Profiler::SendFrameMark("part", tracy::QueueType::FrameMarkMsgStart);
        tracy::Profiler::Message("old", 3, 0);
        tracy::Profiler::MemAllocNamed("block", 1, true, "pool");
        tracy::Profiler::MemFreeNamed("block", "pool");
    }
    MARK(end);
#endif
}

int main()
{
    zones();
    int answers = attributes();
    memory();
    messages();
    frames_and_plots();
    locks();
    phases();
    by_name();
    answers += TracyIsConnected ? 4 : 0;
    answers += TracyIsStarted ? 8 : 0;
    return answers;
}
