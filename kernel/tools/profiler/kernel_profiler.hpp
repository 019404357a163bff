// kernel_profiler.hpp - zones, events and data in a kernel, by the names that tt-metal's kernels use. C++17, freestanding.
// Without PROFILE_KERNEL every macro is empty: no code, no data. With it: strobe_device.h says which wire form.
//
//   DeviceZoneScopedN("name")              a zone, to the end of the scope
//   DeviceZoneScopedNIf("name", cond)      the same, if `cond` (read once, at entry)
//   DeviceZoneScopedMainN("name")          the launch itself: begins and ends it on this RISC
//   DeviceZoneScopedMainChildN("name")     the kernel in it
//   DeviceZoneScopedSumN1("name"), ..N2    adds its time up; sent once, at the launch's end
//   DeviceTimestampedData("name", v, ...)  one value or several, 64 bits each
//   DeviceRecordEvent(number | "name")     an event
//   SYNC_WAIT("name", key), SYNC_SIGNAL("name", key), SYNC_SIGNAL_NOC_ADDR("name", address, noc)
//   DeviceValidateProfiler(cond), DeviceZoneSetCounter(program), DeviceProfilerInit(),
//   DeviceTraceOnlyProfilerInit(), DeviceIncrementTraceCount(),
//   StartPerfCounters(), StopPerfCounters(), ReadPerfCounters(...), RecordPerfCounters()   for firmware
//
// Names cost no byte on the device: a site is a record in the ELF section .tt_zone_meta, its texts are in .tt_zone_str,
// and neither is loaded (docs/device-protocol.md). SPDX-License-Identifier: MIT
#pragma once

#if defined(PROFILE_KERNEL) && !(defined(DISPATCH_KERNEL) && !((PROFILE_KERNEL)&2))

#include "../../strobe_device.h"

// ---- sites: {id, name, file, line}, 16 bytes, in sections that are not loaded ----

#define STROBE_TEXT_(x)    #x
#define STROBE_TEXT(x)     STROBE_TEXT_(x)
#define STROBE_TWICE_(x)   STROBE_TEXT(#x) // "\"x\"": the text of a text, quotes and all
#define STROBE_TWICE(x)    STROBE_TWICE_(x)
#define STROBE_JOIN_(a, b) a##b
#define STROBE_JOIN(a, b)  STROBE_JOIN_(a, b)

// `quoted` is the name as the assembler reads it.
#define STROBE_SITE_RECORD(quoted, number)                                                 \
    __asm__ __inline__(".pushsection .tt_zone_str,\"\",@progbits\n"                        \
                       "771: .asciz " quoted "\n"                                          \
                       "772: .asciz \"" __FILE__ "\"\n"                                    \
                       ".popsection\n"                                                     \
                       ".pushsection .tt_zone_meta,\"\",@progbits\n"                       \
                       ".long (" STROBE_TEXT(STROBE_DEVICE_UNIT) " << 14) | " STROBE_TEXT( \
                           number) ", 771b, 772b, " STROBE_TEXT(__LINE__) "\n"             \
                                                                          ".popsection")

namespace strobe_device
{

// FNV-1a of "name,file,line,KERNEL_PROFILER", folded to 16 bits: the id of a site in the classic form.
constexpr uint32_t hash16(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    return (hash & 0xffffu) ^ (hash >> 16);
}

} // namespace strobe_device

// The note that a build of the classic form may collect from the compiler's output; on request, since it is loud.
#define STROBE_SOURCE(name) name "," __FILE__ "," STROBE_TEXT(__LINE__) ",KERNEL_PROFILER"
#ifdef STROBE_DEVICE_NOTES
#define STROBE_PRAGMA(text) _Pragma(#text)
#define STROBE_NOTE_(text)  STROBE_PRAGMA(message(text))
#define STROBE_NOTE(name)   STROBE_NOTE_(STROBE_SOURCE(name))
#else
#define STROBE_NOTE(name)
#endif

#ifdef PROFILE_STREAMING
#define STROBE_ID(name, number)             (STROBE_ID27(STROBE_DEVICE_UNIT, number))
#define STROBE_FIXED_ID(classic, streaming) (streaming)
#else
#define STROBE_ID(name, number)             (::strobe_device::hash16(STROBE_SOURCE(name)))
#define STROBE_FIXED_ID(classic, streaming) (classic)
#endif
#define STROBE_SITE(name, number) \
    STROBE_NOTE(name)             \
    STROBE_SITE_RECORD("\"" name "\"", number)

namespace strobe_device
{

#ifdef PROFILE_STREAMING

// -DPROFILE_STREAMING_CALL: one function closes all zones, which is smaller than code at each site, and slower.
#ifdef PROFILE_STREAMING_CALL
STROBE_DEVICE_CALL_ void close_zone(uint32_t id, uint32_t start_low, uint32_t start_high,
                                    uint32_t top)
{
    struct strobe_stream_zone state = {start_low, start_high, top};
    strobe_stream_close(STROBE_DEVICE_LANE, id, &state);
}
#endif

template <uint32_t Id> struct zone {
    struct strobe_stream_zone state;
    [[gnu::always_inline]] zone()
    {
        strobe_stream_open(STROBE_DEVICE_LANE, Id, &state);
    }
    [[gnu::always_inline]] ~zone()
    {
#ifdef PROFILE_STREAMING_CALL
        close_zone(Id, state.start_low, state.start_high, state.top);
#else
        strobe_stream_close(STROBE_DEVICE_LANE, Id, &state);
#endif
    }
    zone(const zone &) = delete;
    zone &operator=(const zone &) = delete;
};

template <uint32_t Id> struct zone_if {
    struct strobe_stream_zone state = {};
    bool on;
    [[gnu::always_inline]] explicit zone_if(bool condition) : on(condition)
    {
        if (on)
            strobe_stream_open(STROBE_DEVICE_LANE, Id, &state);
    }
    [[gnu::always_inline]] ~zone_if()
    {
        if (on)
            strobe_stream_close(STROBE_DEVICE_LANE, Id, &state);
    }
    zone_if(const zone_if &) = delete;
    zone_if &operator=(const zone_if &) = delete;
};

template <uint32_t Id, uint32_t> struct sum_zone {
    uint32_t start_low, start_high;
    [[gnu::always_inline]] sum_zone()
    {
        STROBE_DEVICE_CLOCK(start_low, start_high);
    }
    [[gnu::always_inline]] ~sum_zone()
    {
        if (STROBE_CORE->flags & STROBE_CORE_SUMS)
            strobe_stream_close_sum(STROBE_DEVICE_LANE, Id, start_low, start_high);
    }
    sum_zone(const sum_zone &) = delete;
    sum_zone &operator=(const sum_zone &) = delete;
};

// The launch on this RISC; a zone too, where the host asks for firmware zones.
template <uint32_t Id> struct main_zone {
    struct strobe_stream_zone state = {};
    bool on;
    main_zone()
    {
        strobe_stream_begin(STROBE_DEVICE_LANE);
        on = STROBE_CORE->flags & STROBE_CORE_FW_ZONES;
        if (on)
            strobe_stream_open(STROBE_DEVICE_LANE, Id, &state);
    }
    ~main_zone()
    {
        if (on)
            strobe_stream_slow(STROBE_DEVICE_LANE, Id, state.start_low, state.start_high,
                               state.top);
        strobe_stream_end(STROBE_DEVICE_LANE);
    }
    main_zone(const main_zone &) = delete;
    main_zone &operator=(const main_zone &) = delete;
};

// The kernel. Where the platform names the lowest word of the stack, a kernel that reached it is said so.
template <uint32_t Id> struct child_zone : zone<Id> {
#ifdef STROBE_DEVICE_STACK_WORD
    static constexpr uint32_t canary = 0x57ac57acu;
    child_zone()
    {
        *(volatile uint32_t *)STROBE_DEVICE_STACK_WORD = canary;
    }
    ~child_zone()
    {
        if (*(volatile uint32_t *)STROBE_DEVICE_STACK_WORD != canary)
            strobe_stream_event(STROBE_DEVICE_LANE, STROBE_ID_STACK);
    }
#endif
};

inline void record_event(uint32_t site, const char *)
{
    strobe_stream_event(STROBE_DEVICE_LANE, site);
}
inline void record_event(uint32_t, uint32_t number)
{
    strobe_stream_event(STROBE_DEVICE_LANE, STROBE_ID_NUMBER(number));
}
template <typename... Values> inline void record_data(uint32_t id, bool, Values... values)
{
    const uint64_t all[] = {(uint64_t)values...};
    strobe_stream_data(STROBE_DEVICE_LANE, id, all, sizeof...(values));
}

#else // classic

template <uint32_t Id> struct zone {
    bool on;
    [[gnu::always_inline]] zone()
        : on(!STROBE_TRACE_ONLY && strobe_classic_open(STROBE_DEVICE_LANE, Id, spare()))
    {
    }
    [[gnu::always_inline]] ~zone()
    {
        if (!on)
            return;
        strobe_classic_close(STROBE_DEVICE_LANE, Id);
#ifdef DISPATCH_KERNEL
        strobe_classic_dispatch_end(STROBE_DEVICE_LANE);
#endif
    }
    static constexpr uint32_t spare()
    {
#ifdef DISPATCH_KERNEL
        return 4 * STROBE_CLASSIC_DISPATCH_ROOM;
#else
        return 0;
#endif
    }
    zone(const zone &) = delete;
    zone &operator=(const zone &) = delete;
};

template <uint32_t Id> struct zone_if {
    bool on;
    [[gnu::always_inline]] explicit zone_if(bool condition)
        : on(!STROBE_TRACE_ONLY && condition &&
             strobe_classic_open(STROBE_DEVICE_LANE, Id, zone<Id>::spare()))
    {
    }
    [[gnu::always_inline]] ~zone_if()
    {
        if (on)
            strobe_classic_close(STROBE_DEVICE_LANE, Id);
    }
    zone_if(const zone_if &) = delete;
    zone_if &operator=(const zone_if &) = delete;
};

template <uint32_t Id, uint32_t Which> struct sum_zone {
    uint32_t start_low, start_high;
    [[gnu::always_inline]] sum_zone()
    {
        if (STROBE_SUMS && !STROBE_ACCUMULATES)
            STROBE_DEVICE_CLOCK(start_low, start_high);
    }
    [[gnu::always_inline]] ~sum_zone()
    {
        if (STROBE_SUMS && !STROBE_ACCUMULATES)
            strobe_classic_add(STROBE_DEVICE_LANE, Which, Id, start_low);
    }
    sum_zone(const sum_zone &) = delete;
    sum_zone &operator=(const sum_zone &) = delete;
};

// Main and kernel zones have places of their own; in the accumulate mode they are appended like others.
template <uint32_t Id, uint32_t Slot> struct guaranteed_zone {
    bool on = true;
    guaranteed_zone()
    {
        if (STROBE_ACCUMULATES)
            on = strobe_classic_open(STROBE_DEVICE_LANE, Id, 0);
        else
            strobe_classic_guaranteed(Slot, 0, Id);
    }
    ~guaranteed_zone()
    {
        if (!STROBE_ACCUMULATES)
            strobe_classic_guaranteed(Slot, 1, Id);
        else if (on)
            strobe_classic_close(STROBE_DEVICE_LANE, Id);
    }
    guaranteed_zone(const guaranteed_zone &) = delete;
    guaranteed_zone &operator=(const guaranteed_zone &) = delete;
};

struct run {
    run()
    {
        strobe_classic_begin(STROBE_DEVICE_LANE);
    }
    ~run()
    {
        strobe_classic_end(STROBE_DEVICE_LANE);
    }
    run(const run &) = delete;
    run &operator=(const run &) = delete;
};
template <uint32_t Id> struct main_zone : run, guaranteed_zone<Id, 0> {
};
template <uint32_t Id> struct child_zone : guaranteed_zone<Id, 1> {
};

inline void record_event(uint32_t site, const char *)
{
    strobe_classic_event(STROBE_DEVICE_LANE, site);
}
inline void record_event(uint32_t, uint32_t number)
{
    strobe_classic_event(STROBE_DEVICE_LANE, number);
}
template <typename... Values> inline void record_data(uint32_t id, bool push, Values... values)
{
    const uint64_t all[] = {(uint64_t)values...};
    if (!STROBE_ACCUMULATES)
        strobe_classic_data(STROBE_DEVICE_LANE, id, all, sizeof...(values), push);
}

#endif

// Counters that are on, one data record each: value | ref count << 32, then the counter's type.
inline void read_counters()
{
    uint32_t type = 0, ref = 0, value = 0;
    for (uint32_t i = 0; STROBE_DEVICE_COUNTER(i, &type, &ref, &value); i++)
        record_data(STROBE_FIXED_ID(STROBE_ID_PERF_COUNTER, STROBE_ID_COUNTER), true,
                    (uint64_t)ref << 32 | value, (uint64_t)type);
}

// Counters run as long as the scope.
struct counters {
    counters()
    {
        STROBE_DEVICE_COUNTERS_START();
    }
    ~counters()
    {
        STROBE_DEVICE_COUNTERS_STOP();
    }
    counters(const counters &) = delete;
    counters &operator=(const counters &) = delete;
};

// What SYNC_SIGNAL_NOC_ADDR sends: bit 63, the NoC in bit 62, the address below.
constexpr uint64_t noc_key(uint64_t address, uint32_t noc)
{
    return 1ull << STROBE_SYNC_NOC_BIT | (uint64_t)(noc & 1) << 62 | (address & ~(3ull << 62));
}

} // namespace strobe_device

// ---- the macros ----

#define STROBE_ZONE_(kind, name, number) \
    STROBE_SITE(name, number);           \
    ::strobe_device::kind<STROBE_ID(name, number)> STROBE_JOIN(strobe_zone_, number)
#define STROBE_SUM_(which, name, number) \
    STROBE_SITE(name, number);           \
    ::strobe_device::sum_zone<STROBE_ID(name, number), which> STROBE_JOIN(strobe_zone_, number)
#define STROBE_DATA_(name, number, ...)                                            \
    do {                                                                           \
        STROBE_SITE(name, number);                                                 \
        ::strobe_device::record_data(STROBE_ID(name, number), false, __VA_ARGS__); \
    } while (0)

#define DeviceZoneScopedN(name)          STROBE_ZONE_(zone, name, __COUNTER__)
#define DeviceZoneScopedNIf(name, cond)  STROBE_ZONE_IF_(name, cond, __COUNTER__)
#define STROBE_ZONE_IF_(name, cond, n)   STROBE_ZONE_(zone_if, name, n)(cond)
#define DeviceZoneScopedMainN(name)      STROBE_ZONE_(main_zone, name, __COUNTER__)
#define DeviceZoneScopedMainChildN(name) STROBE_ZONE_(child_zone, name, __COUNTER__)
#define DeviceZoneScopedSumN1(name)      STROBE_SUM_(0, name, __COUNTER__)
#define DeviceZoneScopedSumN2(name)      STROBE_SUM_(1, name, __COUNTER__)
#define DeviceTimestampedData(name, ...) STROBE_DATA_(name, __COUNTER__, __VA_ARGS__)

// A name is a site; of a number only its text is kept, which readers skip since it has no quotes.
#define DeviceRecordEvent(event) STROBE_EVENT_(event, __COUNTER__)
#define STROBE_EVENT_(event, number)                                           \
    do {                                                                       \
        STROBE_SITE_RECORD(STROBE_TWICE(event), number);                       \
        ::strobe_device::record_event(STROBE_EVENT_ID_(event, number), event); \
    } while (0)
#ifdef PROFILE_STREAMING
#define STROBE_EVENT_ID_(event, number) (STROBE_ID27(STROBE_DEVICE_UNIT, number))
#else // the hash of a name is not known here as a literal; the text with its quotes stands for it
#define STROBE_EVENT_ID_(event, number)                      \
    (::strobe_device::hash16(STROBE_TEXT(event) "," __FILE__ \
                                                "," STROBE_TEXT(__LINE__) ",KERNEL_PROFILER"))
#endif

// An event of a fixed meaning: NoC tracing.
#define STROBE_RECORD_NOC(...)                                                              \
    ::strobe_device::record_data(STROBE_FIXED_ID(STROBE_ID_NOC_EVENT, STROBE_ID_NOC), true, \
                                 __VA_ARGS__)
#define STROBE_RECORD_NOC_LOCK(...)                                                              \
    ::strobe_device::record_data(STROBE_FIXED_ID(STROBE_ID_NOC_DEBUG, STROBE_ID_NOC_LOCK), true, \
                                 __VA_ARGS__)

#if defined(PROFILE_SYNC_EVENTS) && defined(PROFILE_STREAMING)
#define SYNC_WAIT(name, key)                             \
    DeviceTimestampedData(name "-KEY", (uint64_t)(key)); \
    DeviceZoneScopedN(name)
#define SYNC_SIGNAL(name, key) DeviceTimestampedData(name, (uint64_t)(key))
#define SYNC_SIGNAL_NOC_ADDR(name, address, noc) \
    DeviceTimestampedData(name, ::strobe_device::noc_key((uint64_t)(address), (uint32_t)(noc)))
#endif

#ifdef PROFILE_STREAMING
#define DeviceValidateProfiler(cond) strobe_stream_validate(STROBE_DEVICE_LANE, (cond) ? 1u : 0u)
#define DeviceZoneSetCounter(number)            \
    (STROBE_CORE->program = (uint32_t)(number), \
     strobe_stream_program(STROBE_DEVICE_LANE, (uint32_t)(number)))
#define DeviceProfilerInit()          ((void)0)
#define DeviceTraceOnlyProfilerInit() ((void)0)
#define DeviceIncrementTraceCount()   ((void)STROBE_CORE->trace_counter++)
#else
#define DeviceValidateProfiler(cond) ((void)(STROBE_CONTROL(STROBE_CC_DONE) = (cond) ? 0u : 1u))
#define DeviceZoneSetCounter(program) \
    ((void)(STROBE_ACCUMULATES ? 0 : (strobe_classic_program((uint32_t)(program)), 0)))
#define DeviceProfilerInit() strobe_classic_init()
#define DeviceTraceOnlyProfilerInit() \
    ((void)(STROBE_TRACE_ONLY ? (strobe_classic_trace_init(), 0) : 0))
#define DeviceIncrementTraceCount() ((void)STROBE_CORE->trace_counter++)
#endif

#define StartPerfCounters()   STROBE_DEVICE_COUNTERS_START()
#define StopPerfCounters()    STROBE_DEVICE_COUNTERS_STOP()
#define ReadPerfCounters(...) ::strobe_device::read_counters()
#define RecordPerfCounters()  ::strobe_device::counters STROBE_JOIN(strobe_counters_, __LINE__)

#else

#define DeviceZoneScopedN(name)
#define DeviceZoneScopedNIf(name, cond)
#define DeviceZoneScopedMainN(name)
#define DeviceZoneScopedMainChildN(name)
#define DeviceZoneScopedSumN1(name)
#define DeviceZoneScopedSumN2(name)
#define DeviceTimestampedData(name, ...)
#define DeviceRecordEvent(event)
#define DeviceValidateProfiler(cond)
#define DeviceZoneSetCounter(program)
#define DeviceProfilerInit()
#define DeviceTraceOnlyProfilerInit()
#define DeviceIncrementTraceCount()
#define StartPerfCounters()
#define StopPerfCounters()
#define ReadPerfCounters(...)
#define RecordPerfCounters()

#endif

#ifndef SYNC_WAIT
#define SYNC_WAIT(name, key)
#define SYNC_SIGNAL(name, key)
#define SYNC_SIGNAL_NOC_ADDR(name, address, noc)
#endif
