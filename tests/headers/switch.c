/* switch.c - a program written for Tracy's C API, 0.11 and later: built and linked with Tracy's own header and library, then run
 * with ours in their place. Counts are in test_switch.py.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tracy/TracyC.h>

enum { TURNS = 50 };

static TracyCZoneCtx begin_somewhere(void)
{
    TracyCZoneN(zone, "ended elsewhere", 1);
    return zone;
}

static void end_elsewhere(TracyCZoneCtx zone)
{
    TracyCZoneValue(zone, 7);
    TracyCZoneEnd(zone);
}

static void zones(int turn)
{
    char text[32];
    int n = snprintf(text, sizeof text, "turn %d", turn);
    TracyCZoneNC(outer, "outer", 0x00ff00, 1);
    TracyCZoneText(outer, text, (size_t)n);
    TracyCZone(inner, 1);
    TracyCZoneName(inner, "renamed", 7);
    TracyCZoneColor(inner, 0xff);
    TracyCZoneEnd(inner);
    TracyCZoneN(never, "never", 0);
    TracyCZoneEnd(never);
    TracyCZoneCtx made = ___tracy_emit_zone_begin_alloc(
        ___tracy_alloc_srcloc_name(1, "f.lua", 5, "fn", 2, "made", 4, 0), 1);
    ___tracy_emit_zone_end(made);
    TracyCZoneNS(stacked, "stacked", 4, 1);
    TracyCZoneEnd(stacked);
    TracyCZoneEnd(outer);
    end_elsewhere(begin_somewhere());
}

static void memory(void)
{
    static char block[8];
    TracyCAlloc(block, 8);
    TracyCFree(block);
    TracyCAllocN(block, 9, "pool");
    TracyCFreeN(block, "pool");
    TracyCAllocS(block, 10, 3);
    TracyCFreeS(block, 3);
    TracyCAllocNS(block, 11, 3, "pool");
    TracyCFreeNS(block, 3, "pool");
}

static void gpu(int turn)
{
    static const struct ___tracy_source_location_data loc = {"gpu zone", "fn", "gpu.c", 3, 0};
    struct ___tracy_gpu_zone_begin_data begin = {(uint64_t)(uintptr_t)&loc, (uint16_t)(2 * turn), 5};
    struct ___tracy_gpu_zone_end_data end = {(uint16_t)(2 * turn + 1), 5};
    struct ___tracy_gpu_time_data first = {1000 * turn, begin.queryId, 5};
    struct ___tracy_gpu_time_data second = {1000 * turn + 500, end.queryId, 5};
    ___tracy_emit_gpu_zone_begin_serial(begin);
    ___tracy_emit_gpu_zone_end_serial(end);
    ___tracy_emit_gpu_time_serial(first);
    ___tracy_emit_gpu_time_serial(second);
}

static void *work(void *argument)
{
    TracyCLockCtx lock = argument;
    TracyCSetThreadName("worker of C");
    for (int turn = 0; turn < TURNS; turn++) {
        zones(turn);
        TracyCLockBeforeLock(lock);
        TracyCLockAfterLock(lock);
        TracyCLockMark(lock);
        TracyCLockAfterUnlock(lock);
    }
    return NULL;
}

int main(void)
{
    struct ___tracy_gpu_new_context_data context = {0, 1.0f, 5, 0, 2};
    struct ___tracy_gpu_context_name_data name = {5, "queue", 5};
    static uint32_t pixels[16];
    pthread_t thread;
    TracyCLockCtx lock;
    TracyCLockAnnounce(lock);
    TracyCLockCustomName(lock, "the lock", 8);
    ___tracy_emit_gpu_new_context_serial(context);
    ___tracy_emit_gpu_context_name_serial(name);
    TracyCPlotConfig("level", TracyPlotFormatPercentage, 1, 0, 0xff);
    TracyCAppInfo("switched", 8);
    pthread_create(&thread, NULL, work, lock);
    for (int turn = 0; turn < TURNS; turn++) {
        zones(turn);
        memory();
        gpu(turn);
        TracyCPlot("level", turn * 0.5);
        TracyCPlotF("level", 1.0f);
        TracyCPlotI("count", turn);
        TracyCMessage("message", 7);
        TracyCMessageL("literal");
        TracyCMessageLC("coloured", 0xff0000);
        TracyCMessageLS("with stack", 4);
        TracyCFrameMark
        TracyCFrameMarkNamed("frame");
        TracyCFrameMarkStart("part");
        TracyCFrameMarkEnd("part");
    }
    TracyCFrameImage(pixels, 4, 4, 0, 0);
    pthread_join(thread, NULL);
    TracyCLockTerminate(lock);
    printf("%d\n", TracyCIsConnected ? 1 : 0);
    return 0;
}
