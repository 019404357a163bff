/* macros.c - every macro of TracyC.h once, and every function that is reached by no macro. What each must leave in the
 * trace: macros.py.  SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#define TRACY_FIBERS
#include <tracy/TracyC.h>

#include "cases.h"

static void zones(void)
{
    CASE(TracyCZone) { TracyCZone(z, 1); TracyCZoneEnd(z); }
    CASE(TracyCZoneN) { TracyCZoneN(z, "name", 1); TracyCZoneEnd(z); }
    CASE(TracyCZoneC) { TracyCZoneC(z, 0x0000ff, 1); TracyCZoneEnd(z); }
    CASE(TracyCZoneNC) { TracyCZoneNC(z, "name", 0x0000ff, 1); TracyCZoneEnd(z); }
    CASE(TracyCZoneS) { TracyCZoneS(z, 4, 1); TracyCZoneEnd(z); }
    CASE(TracyCZoneNS) { TracyCZoneNS(z, "name", 4, 1); TracyCZoneEnd(z); }
    CASE(TracyCZoneCS) { TracyCZoneCS(z, 0x0000ff, 4, 1); TracyCZoneEnd(z); }
    CASE(TracyCZoneNCS) { TracyCZoneNCS(z, "name", 0x0000ff, 4, 1); TracyCZoneEnd(z); }
    CASE(inactive) { TracyCZoneN(z, "never", 0); TracyCZoneText(z, "never", 5); TracyCZoneEnd(z); }
    TracyCZoneN(z, "around", 1);
    CASE(TracyCZoneText) { TracyCZoneText(z, "text", 4); }
    CASE(TracyCZoneTextF) { TracyCZoneTextF(z, "text %d", 7); TracyCZoneTextF(z, "plain"); }
    CASE(TracyCZoneName) { TracyCZoneName(z, "renamed", 7); }
    CASE(TracyCZoneNameF) { TracyCZoneNameF(z, "renamed %s", "again"); }
    CASE(TracyCZoneColor) { TracyCZoneColor(z, 0x123456); }
    CASE(TracyCZoneValue) { TracyCZoneValue(z, 42); }
    CASE(TracyCZoneEnd) { TracyCZoneEnd(z); }
}

static void memory(void)
{
    static char block[64];
    (void)block;
    CASE(TracyCAlloc) { TracyCAlloc(block, 1); }
    CASE(TracyCFree) { TracyCFree(block); }
    CASE(TracyCAllocN) { TracyCAllocN(block, 2, "pool"); }
    CASE(TracyCFreeN) { TracyCFreeN(block, "pool"); }
    CASE(TracyCMemoryDiscard) { TracyCMemoryDiscard("pool"); }
    CASE(TracyCAllocS) { TracyCAllocS(block, 3, 4); }
    CASE(TracyCFreeS) { TracyCFreeS(block, 4); }
    CASE(TracyCAllocNS) { TracyCAllocNS(block, 4, 4, "pool"); }
    CASE(TracyCFreeNS) { TracyCFreeNS(block, 4, "pool"); }
    CASE(TracyCMemoryDiscardS) { TracyCMemoryDiscardS("pool", 4); }
    CASE(TracyCSecureAlloc) { TracyCSecureAlloc(block, 5); }
    CASE(TracyCSecureFree) { TracyCSecureFree(block); }
    CASE(TracyCSecureAllocN) { TracyCSecureAllocN(block, 6, "pool"); }
    CASE(TracyCSecureFreeN) { TracyCSecureFreeN(block, "pool"); }
    CASE(TracyCSecureMemoryDiscard) { TracyCSecureMemoryDiscard("pool"); }
    CASE(TracyCSecureAllocS) { TracyCSecureAllocS(block, 7, 4); }
    CASE(TracyCSecureFreeS) { TracyCSecureFreeS(block, 4); }
    CASE(TracyCSecureAllocNS) { TracyCSecureAllocNS(block, 8, 4, "pool"); }
    CASE(TracyCSecureFreeNS) { TracyCSecureFreeNS(block, 4, "pool"); }
    CASE(TracyCSecureMemoryDiscardS) { TracyCSecureMemoryDiscardS("pool", 4); }
}

static void messages(void)
{
    CASE(TracyCMessage) { TracyCMessage("message", 7); }
    CASE(TracyCMessageL) { TracyCMessageL("literal"); }
    CASE(TracyCMessageC) { TracyCMessageC("message", 7, 0xff0000); }
    CASE(TracyCMessageLC) { TracyCMessageLC("literal", 0xff0000); }
    CASE(TracyCMessageS) { TracyCMessageS("message", 7, 4); }
    CASE(TracyCMessageLS) { TracyCMessageLS("literal", 4); }
    CASE(TracyCMessageCS) { TracyCMessageCS("message", 7, 0xff0000, 4); }
    CASE(TracyCMessageLCS) { TracyCMessageLCS("literal", 0xff0000, 4); }
    CASE(TracyCAppInfo) { TracyCAppInfo("about", 5); }
    CASE(TracyCSetThreadName) { TracyCSetThreadName("thread of C"); }
}

static void frames_and_plots(void)
{
    static uint32_t pixels[8 * 4];
    (void)pixels;
    CASE(TracyCFrameMark) { TracyCFrameMark }
    CASE(TracyCFrameMarkNamed) { TracyCFrameMarkNamed("frame"); }
    CASE(TracyCFrameMarkStart) { TracyCFrameMarkStart("part"); }
    CASE(TracyCFrameMarkEnd) { TracyCFrameMarkEnd("part"); }
    CASE(TracyCFrameImage) { TracyCFrameImage(pixels, 8, 4, 0, 1); }
    CASE(TracyCPlotConfig) { TracyCPlotConfig("plot", TracyPlotFormatMemory, 1, 1, 0x00ff00); }
    CASE(TracyCPlot) { TracyCPlot("plot", 1.5); }
    CASE(TracyCPlotF) { TracyCPlotF("plot", 2.5f); }
    CASE(TracyCPlotI) { TracyCPlotI("plot", -3); }
    CASE(TracyCFiberEnter) { TracyCFiberEnter("fiber"); }
    CASE(TracyCFiberLeave) { TracyCFiberLeave }
}

static void locks(void)
{
#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
    TracyCLockCtx lock;
    TracyCSharedLockCtx shared;
    CASE(TracyCLockAnnounce) { TracyCLockAnnounce(lock); }
    CASE(TracyCLockCustomName) { TracyCLockCustomName(lock, "C lock", 6); }
    CASE(TracyCLockBeforeLock) { TracyCLockBeforeLock(lock); }
    CASE(TracyCLockAfterLock) { TracyCLockAfterLock(lock); }
    CASE(TracyCLockMark) { TracyCLockMark(lock); }
    CASE(TracyCLockAfterUnlock) { TracyCLockAfterUnlock(lock); }
    CASE(TracyCLockAfterTryLock) { TracyCLockAfterTryLock(lock, 1); TracyCLockAfterTryLock(lock, 0); }
    CASE(TracyCLockTerminate) { TracyCLockTerminate(lock); }
    CASE(TracyCSharedLockAnnounce) { TracyCSharedLockAnnounce(shared); }
    CASE(TracyCSharedLockCustomName) { TracyCSharedLockCustomName(shared, "C shared", 8); }
    CASE(TracyCSharedLockBeforeLock) { TracyCSharedLockBeforeLock(shared); }
    CASE(TracyCSharedLockAfterLock) { TracyCSharedLockAfterLock(shared); }
    CASE(TracyCSharedLockMark) { TracyCSharedLockMark(shared); }
    CASE(TracyCSharedLockAfterUnlock) { TracyCSharedLockAfterUnlock(shared); }
    CASE(TracyCSharedLockAfterTryLock) { TracyCSharedLockAfterTryLock(shared, 1); }
    CASE(TracyCSharedLockBeforeSharedLock) { TracyCSharedLockBeforeSharedLock(shared); }
    CASE(TracyCSharedLockAfterSharedLock) { TracyCSharedLockAfterSharedLock(shared); }
    CASE(TracyCSharedLockAfterSharedUnlock) { TracyCSharedLockAfterSharedUnlock(shared); }
    CASE(TracyCSharedLockAfterTrySharedLock) { TracyCSharedLockAfterTrySharedLock(shared, 1); }
    CASE(TracyCSharedLockTerminate) { TracyCSharedLockTerminate(shared); }
#endif
}

static void functions(void)
{
#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
    static const struct ___tracy_source_location_data loc = {"const", "function", "file.c", 5, 0xff};
    static char block[8];
    struct ___tracy_gpu_new_context_data context = {1000, 1.0f, 3, 1, 2};
    struct ___tracy_gpu_context_name_data name = {3, "gpu", 3};
    struct ___tracy_gpu_zone_begin_data begin = {0, 10, 3};
    struct ___tracy_gpu_zone_begin_callstack_data begin_s = {0, 4, 12, 3};
    struct ___tracy_gpu_zone_end_data end = {11, 3};
    struct ___tracy_gpu_time_data time = {2000, 10, 3};
    struct ___tracy_gpu_calibration_data calibration = {3000, 500, 3};
    struct ___tracy_gpu_time_sync_data sync = {4000, 3};
    begin.srcloc = begin_s.srcloc = (uint64_t)(uintptr_t)&loc;
    CASE(gpu_new_context) { ___tracy_emit_gpu_new_context(context); }
    CASE(gpu_context_name) { ___tracy_emit_gpu_context_name(name); }
    CASE(gpu_zone_begin) { ___tracy_emit_gpu_zone_begin(begin); }
    CASE(gpu_zone_end) { ___tracy_emit_gpu_zone_end(end); }
    CASE(gpu_time) { ___tracy_emit_gpu_time(time); }
    CASE(gpu_calibration) { ___tracy_emit_gpu_calibration(calibration); }
    CASE(gpu_time_sync) { ___tracy_emit_gpu_time_sync(sync); }
    CASE(gpu_zone_begin_callstack) { ___tracy_emit_gpu_zone_begin_callstack(begin_s); }
    CASE(gpu_zone_begin_alloc) {
        begin.srcloc = ___tracy_alloc_srcloc_name(9, "f.c", 3, "fn", 2, "allocated", 9, 0);
        ___tracy_emit_gpu_zone_begin_alloc_serial(begin);
    }
    CASE(gpu_zone_begin_alloc_callstack) {
        begin_s.srcloc = ___tracy_alloc_srcloc(9, "f.c", 3, "fn", 2, 0);
        ___tracy_emit_gpu_zone_begin_alloc_callstack_serial(begin_s);
    }
    CASE(zone_functions) {
        TracyCZoneCtx z = ___tracy_emit_zone_begin(&loc, 1);
        ___tracy_emit_zone_text(z, "t", 1);
        ___tracy_emit_zone_text_fmt(z, "%d", 1);
        ___tracy_emit_zone_name(z, "n", 1);
        ___tracy_emit_zone_name_fmt(z, "%d", 2);
        ___tracy_emit_zone_color(z, 3);
        ___tracy_emit_zone_value(z, 4);
        ___tracy_emit_zone_end(z);
        z = ___tracy_emit_zone_begin_callstack(&loc, 4, 1);
        ___tracy_emit_zone_end(z);
    }
    CASE(zone_alloc) {
        TracyCZoneCtx z = ___tracy_emit_zone_begin_alloc(
            ___tracy_alloc_srcloc_name(9, "f.c", 3, "fn", 2, "made here", 9, 0), 1);
        ___tracy_emit_zone_end(z);
        z = ___tracy_emit_zone_begin_alloc_callstack(___tracy_alloc_srcloc(9, "f.c", 3, "fn", 2, 0), 4, 1);
        ___tracy_emit_zone_end(z);
    }
    CASE(memory_functions) { /* as 0.14 has them, then as 0.13 */
        ___tracy_emit_memory_alloc(block, 1);
        ___tracy_emit_memory_free(block);
        ___tracy_emit_memory_alloc_named(block, 2, "pool");
        ___tracy_emit_memory_free_named(block, "pool");
        ___tracy_emit_memory_alloc_callstack(block, 3, 0);
        ___tracy_emit_memory_free_callstack(block, 0);
        ___tracy_emit_memory_alloc_callstack_named(block, 4, 0, "pool");
        ___tracy_emit_memory_free_callstack_named(block, 0, "pool");
        ___tracy_emit_memory_discard("pool");
        ___tracy_emit_memory_discard_callstack("pool", 0);
        ___tracy_emit_memory_alloc(block, 1, 0);
        ___tracy_emit_memory_free(block, 0);
        ___tracy_emit_memory_alloc_named(block, 2, 1, "pool");
        ___tracy_emit_memory_free_named(block, 1, "pool");
        ___tracy_emit_memory_alloc_callstack(block, 3, 0, 1);
        ___tracy_emit_memory_free_callstack(block, 0, 1);
        ___tracy_emit_memory_alloc_callstack_named(block, 4, 0, 1, "pool");
        ___tracy_emit_memory_free_callstack_named(block, 0, 1, "pool");
        ___tracy_emit_memory_discard("pool", 1);
        ___tracy_emit_memory_discard_callstack("pool", 1, 0);
    }
    CASE(message_functions) {
        ___tracy_emit_logString(TracyMessageSeverityError, 0xff, 0, 3, "log");
        ___tracy_emit_logStringL(TracyMessageSeverityDebug, 0, 0, "log");
        ___tracy_emit_message("old", 3, 0);
        ___tracy_emit_messageL("old", 0);
        ___tracy_emit_messageC("old", 3, 0xff, 0);
        ___tracy_emit_messageLC("old", 0xff, 0);
        ___tracy_emit_message_appinfo("info", 4);
    }
    CASE(other_functions) {
        ___tracy_emit_frame_mark(NULL);
        ___tracy_emit_frame_mark_start("part");
        ___tracy_emit_frame_mark_end("part");
        ___tracy_emit_plot("plot", 1.0);
        ___tracy_emit_plot_float("plot", 2.0f);
        ___tracy_emit_plot_int("plot", 3);
        ___tracy_fiber_enter("fiber of functions");
        ___tracy_fiber_leave();
        ___tracy_startup_profiler();
        ___tracy_shutdown_profiler();
    }
    CASE(___tracy_set_thread_name) { ___tracy_set_thread_name("functions"); }
#endif
}

int main(void)
{
    int answers = 0;
    zones();
    memory();
    messages();
    frames_and_plots();
    locks();
    functions();
    MARK(TracyCIsConnected);
    answers += TracyCIsConnected ? 1 : 0;
    answers += TracyCIsStarted ? 2 : 0;
    answers += TracyCBeginSamplingProfiling() ? 4 : 0;
    TracyCEndSamplingProfiling();
#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
    answers += ___tracy_connected() ? 8 : 0;
    answers += ___tracy_profiler_started() ? 16 : 0;
    answers += ___tracy_get_time() ? 32 : 0;
#endif
    return answers;
}
