// kernel_all.cc - every macro of the kernel's header once. Compiled in both forms, and with profiling off.  SPDX-License-Identifier: MIT
#include "api/debug/kernel_profiler.hpp"

extern "C" void kernel_all(int x);
extern "C" void kernel_all(int x)
{
    (void)x;
    DeviceProfilerInit();
    DeviceZoneScopedMainN("TEST-FW");
    DeviceValidateProfiler(x > 0);
    DeviceZoneSetCounter(7);
    DeviceZoneScopedMainChildN("TEST-KERNEL");
    DeviceZoneScopedN("plain");
    DeviceZoneScopedNIf("if on", x > 0);
    DeviceZoneScopedNIf("if off", x < 0);
    {
        DeviceZoneScopedSumN1("sum one");
        DeviceZoneScopedSumN2("sum two");
    }
    DeviceTimestampedData("one value", 11);
    DeviceTimestampedData("three values", 1, 2, 3);
    DeviceRecordEvent(x);
    DeviceRecordEvent("named event");
    SYNC_WAIT("SYNC-CB-WAIT", 3);
    SYNC_SIGNAL("SYNC-CB-PUSH", 4);
    SYNC_SIGNAL_NOC_ADDR("SYNC-SEM-SET-REMOTE", 0x1234, 1);
    StartPerfCounters();
    StopPerfCounters();
    ReadPerfCounters(3);
    RecordPerfCounters();
    DeviceTraceOnlyProfilerInit();
    DeviceIncrementTraceCount();
}
