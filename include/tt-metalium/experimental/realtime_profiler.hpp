// realtime_profiler.hpp - when each program ran on its device, without any marker, by tt-metal's names, over strobe/device_records.h.
// It is always on: kernels need not be built for it.
//
//   auto handle = RegisterProgramRealtimeProfilerCallback([](const ProgramRealtimeRecordBatch &batch) {
//       for (const ProgramRealtimeRecord &record : batch.records)
//           use(record.runtime_id, record.duration());
//   });
//
// A callback has a thread of its own; one that is too slow loses records, which are counted. SPDX-License-Identifier: MIT
#pragma once

#include <strobe/device_records.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "../../tt_metal/host_api.hpp"
#include "view.hpp"

namespace tt::tt_metal::experimental
{

// host ns (steady_clock) = (timestamp - device_cycle_offset) / frequency
struct ProgramRealtimeClockSync {
    int64_t device_cycle_offset = 0;
    std::chrono::nanoseconds sync_error{0};
};

struct ProgramRealtimeRecord {
    uint32_t runtime_id = 0;
    uint32_t chip_id = 0;
    uint64_t start_timestamp = 0, end_timestamp = 0; // ticks of the device
    double frequency = 1;                            // ticks per ns
    ProgramRealtimeClockSync clock_sync;
    detail::view<const std::string_view> kernel_sources; // as long as the process lives

    std::chrono::duration<double, std::nano> duration() const
    {
        return std::chrono::duration<double, std::nano>((double)(end_timestamp - start_timestamp) /
                                                        frequency);
    }
    std::chrono::steady_clock::time_point host_start() const
    {
        return host_time(start_timestamp);
    }
    std::chrono::steady_clock::time_point host_end() const
    {
        return host_time(end_timestamp);
    }

  private:
    std::chrono::steady_clock::time_point host_time(uint64_t ticks) const
    {
        double ns = (double)((int64_t)ticks - clock_sync.device_cycle_offset) / frequency;
        return std::chrono::steady_clock::time_point(std::chrono::nanoseconds((int64_t)ns));
    }
};

struct ProgramRealtimeRecordBatch {
    detail::view<const ProgramRealtimeRecord> records; // oldest first, valid during the call
    uint64_t dropped = 0; // records that were lost since this callback ran last
};

using ProgramRealtimeProfilerCallback = std::function<void(const ProgramRealtimeRecordBatch &)>;
using ProgramRealtimeProfilerCallbackHandle = uint64_t;

namespace detail
{

// A callback, and what its batches are made of.
struct Realtime {
    ProgramRealtimeProfilerCallback callback;
    std::vector<ProgramRealtimeRecord> records;
    static const std::vector<std::string_view> &sources(const strobe_device_execution &run)
    {
        static std::mutex lock;
        static auto *lists = new std::map<const char *const *, std::vector<std::string_view>>;
        std::lock_guard<std::mutex> guard(lock);
        std::vector<std::string_view> &list = (*lists)[run.sources];
        if (list.empty())
            list.assign(run.sources, run.sources + run.n_sources);
        return list;
    }
    static void hand_over(void *context, const strobe_device_batch *batch)
    {
        Realtime &self = *(Realtime *)context;
        self.records.clear();
        for (size_t i = 0; i < batch->n_runs; i++) {
            const strobe_device_execution &run = batch->runs[i];
            const std::vector<std::string_view> &list = sources(run);
            ProgramRealtimeRecord record;
            record.runtime_id = run.runtime_id;
            record.chip_id = run.chip;
            record.start_timestamp = run.start;
            record.end_timestamp = run.end;
            record.frequency = run.frequency;
            record.clock_sync = {run.offset, std::chrono::nanoseconds(run.error_ns)};
            record.kernel_sources = {list.data(), list.size()};
            self.records.push_back(record);
        }
        ProgramRealtimeRecordBatch out;
        out.records = {self.records.data(), self.records.size()};
        out.dropped = batch->n_dropped_runs;
        if (!self.records.empty() || out.dropped)
            self.callback(out);
    }
    static std::map<uint64_t, std::shared_ptr<Realtime>> &all(std::unique_lock<std::mutex> &guard)
    {
        static auto *lock = new std::mutex;
        static auto *registered = new std::map<uint64_t, std::shared_ptr<Realtime>>;
        guard = std::unique_lock<std::mutex>(*lock);
        return *registered;
    }
};

} // namespace detail

inline ProgramRealtimeProfilerCallbackHandle
RegisterProgramRealtimeProfilerCallback(ProgramRealtimeProfilerCallback callback)
{
    auto kept = std::make_shared<detail::Realtime>();
    kept->callback = std::move(callback);
    uint64_t handle;
    tt::tt_metal::detail::check(strobe_device_subscribe(
        "realtime", STROBE_DEVICE_PROGRAMS, detail::Realtime::hand_over, kept.get(), &handle));
    std::unique_lock<std::mutex> guard;
    detail::Realtime::all(guard)[handle] = kept;
    return handle;
}

// End it. What waits is handed over first; from inside of the callback it returns at once, and the call that runs is the last.
inline void UnregisterProgramRealtimeProfilerCallback(ProgramRealtimeProfilerCallbackHandle handle)
{
    strobe_device_unsubscribe(handle); // the function stays, for a call that runs: it is small
}

// Whether a device is open: each has it.
inline bool IsProgramRealtimeProfilerActive()
{
    return strobe_device_count_open() != 0;
}

} // namespace tt::tt_metal::experimental
