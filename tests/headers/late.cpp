// late.cpp - says its facts before anybody records, waits for a recorder, then emits once.  SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mutex>

#include <tracy/Tracy.hpp>

#include <tracy/TracyC.h>

static TracyLockableN(std::mutex, mutex, "early lock");

int main()
{
    uint64_t early = ___tracy_alloc_srcloc(1, "f.c", 3, "fn", 2, 0);
    TracySectionSetup(2, "early section");
    TracyParameterSetup(4, "early parameter", 0, 17);
    TracySetProgramName("late");
    ___tracy_gpu_new_context_data context = {100, 1.0f, 9, 0, 2};
    ___tracy_emit_gpu_new_context(context);
    ___tracy_gpu_context_name_data name = {9, "early queue", 11};
    ___tracy_emit_gpu_context_name(name);
    TracyCZoneN(before, "begun before", 1);
    ZoneScopedN("scope begun before");
    printf("ready\n");
    fflush(stdout);
    for (int i = 0; i < 2000 && !TracyIsConnected; i++)
        usleep(5000);
    TracyCZoneEnd(before);
    {
        std::lock_guard<LockableBase(std::mutex)> guard(mutex);
        ZoneScopedN("late zone");
    }
    TracyCZoneCtx made = ___tracy_emit_zone_begin_alloc(early, 1);
    ___tracy_emit_zone_end(made);
    ___tracy_gpu_zone_end_data end = {1, 9};
    ___tracy_emit_gpu_zone_end(end);
    return 0;
}
