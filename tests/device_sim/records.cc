// records.cc - what this program's own callbacks are given: zones, data and events of kernels, runs of programs. A case per name:
//   records NAME
// Exit 0: it holds; else what does not is printed.  SPDX-License-Identifier: MIT
#include <tt-metalium/experimental/realtime_profiler.hpp>
#include <tt-metalium/experimental/streaming_profiler.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <string>
#include <vector>

using namespace tt::tt_metal;
using namespace tt::tt_metal::experimental;
namespace streaming = tt::tt_metal::experimental::streaming_profiler;
using Clock = std::chrono::steady_clock;

namespace
{

int n_failed;

void expect(bool holds, const char *what, int line)
{
    if (!holds)
        std::printf("line %d: %s does not hold\n", line, what), n_failed++;
}
#define EXPECT(x) expect(x, #x, __LINE__)

const char *const marks = "#include \"dataflow_api.h\"\n"
                          "void kernel_main() {\n"
                          "  for (uint32_t i = 0; i < 10; i++) { DeviceZoneScopedN(\"turn\"); }\n"
                          "  DeviceTimestampedData(\"one\", 11);\n"
                          "  DeviceTimestampedData(\"three\", 1, 2, 3);\n"
                          "  DeviceRecordEvent(\"here\"); }\n";

Program marked(CoreCoord last, uint32_t id)
{
    Program program = CreateProgram();
    CreateKernelFromString(program, marks, CoreRange({0, 0}, last), WriterDataMovementConfig());
    program.set_runtime_id(id);
    return program;
}

void set_mode(const char *mode)
{
    setenv("STROBE_DEVICE_MODE", mode, 1);
}

// Every zone, value and event, with names, cores, programs, and times on the host's clock.
void batches()
{
    set_mode("streaming");
    std::map<std::string, uint32_t> n_zones;
    std::vector<uint64_t> values;
    uint32_t n_events = 0, n_wrong = 0, n_outside = 0, n_early = 0;
    EXPECT(!streaming::IsActive());
    auto handle = streaming::RegisterCallback(
        "all", [&](const streaming::Batch<streaming::RecordType::All> &batch) {
            for (const streaming::Zone &zone : batch.zones()) {
                n_zones[std::string(zone.site().name)]++;
                streaming::Core core = zone.core();
                n_wrong += zone.runtime_id() != 77 || core.logical.x > 1 || core.logical.y > 1 ||
                           core.physical.x != core.logical.x + 1 || core.chip_id != 0 ||
                           core.risc != streaming::Risc::BRISC;
                n_wrong += zone.end_timestamp() < zone.start_timestamp();
                n_early += zone.end_time() < zone.start_time();
                n_wrong += zone.frequency_ghz() < 1.34 || zone.frequency_ghz() > 1.36;
            }
            for (const streaming::TimestampedData &data : batch.timestamped_data())
                values.insert(values.end(), data.payload().begin(), data.payload().end());
            for (const streaming::Event &event : batch.events())
                n_events += event.site().name == "here";
            EXPECT(batch.dropped_bytes() == 0 && batch.stall_count() == 0);
        });
    IDevice *device = CreateDevice(0);
    EXPECT(streaming::IsActive());
    Program program = marked({1, 1}, 77);
    auto before = Clock::now();
    for (int i = 0; i < 50; i++)
        EnqueueProgram(device->command_queue(), program, false);
    Finish(device->command_queue());
    auto after = Clock::now();
    uint32_t n_late = 0;
    auto other = streaming::RegisterCallback( // for what comes from now on
        [&](const streaming::Batch<streaming::RecordType::Zones> &batch) {
            for (const streaming::Zone &zone : batch.zones()) {
                n_late++;
                n_outside += zone.start_time() < after - std::chrono::milliseconds(1);
            }
        });
    EnqueueProgram(device->command_queue(), program, true);
    streaming::UnregisterCallback(other);
    CloseDevice(device);
    streaming::UnregisterCallback(handle);
    EXPECT(n_zones["turn"] == 51 * 4 * 10);
    EXPECT(n_zones["BRISC-KERNEL"] == 51 * 4);
    EXPECT(values.size() == 51 * 4 * 4);
    EXPECT(n_events == 51 * 4);
    EXPECT(n_late == 4 * 11);
    EXPECT(n_wrong == 0);
    EXPECT(n_early == 0);
    EXPECT(n_outside == 0);
    EXPECT(before <= after);
}

// Host times of zones lie between the launch and the end of the wait.
void times()
{
    set_mode("streaming");
    IDevice *device = CreateDevice(0);
    Program program = marked({3, 3}, 5);
    EnqueueProgram(device->command_queue(), program, true); // built
    uint32_t n = 0, n_outside = 0;
    auto before = Clock::now(), after = before;
    std::vector<std::pair<Clock::time_point, Clock::time_point>> zones;
    auto handle = streaming::RegisterCallback(
        [&](const streaming::Batch<streaming::RecordType::Zones> &batch) {
            for (const streaming::Zone &zone : batch.zones())
                zones.emplace_back(zone.start_time(), zone.end_time());
        });
    before = Clock::now();
    for (int i = 0; i < 20; i++)
        EnqueueProgram(device->command_queue(), program, true);
    after = Clock::now();
    streaming::UnregisterCallback(handle);
    constexpr std::chrono::microseconds slack(200);
    for (const auto &[start, end] : zones)
        n++, n_outside += start < before - slack || end > after + slack;
    EXPECT(n == 20 * 16 * 11);
    EXPECT(n_outside == 0);
    CloseDevice(device);
}

// A callback that stands still loses records of its own, which are counted; another one has them all.
void slow()
{
    set_mode("streaming");
    setenv("TT_METAL_STREAMING_PROFILER_FIFO_MB", "1", 1);
    std::mutex lock;
    std::condition_variable changed;
    bool goes = false;
    uint64_t n_quick = 0, n_slow = 0, n_lost_bytes = 0;
    auto quick = streaming::RegisterCallback(
        "quick", [&](const streaming::Batch<streaming::RecordType::Zones> &batch) {
            std::lock_guard<std::mutex> guard(lock);
            n_quick += batch.zones().size();
            EXPECT(batch.dropped_bytes() == 0);
            changed.notify_all();
        });
    auto stands = streaming::RegisterCallback(
        "slow", [&](const streaming::Batch<streaming::RecordType::Zones> &batch) {
            std::unique_lock<std::mutex> guard(lock);
            changed.wait(guard, [&] { return goes; });
            n_slow += batch.zones().size();
            n_lost_bytes += batch.dropped_bytes();
        });
    IDevice *device = CreateDevice(0);
    Program program = marked({7, 7}, 5);
    uint64_t n_expected = 0;
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 10; i++, n_expected += 64 * 11)
            EnqueueProgram(device->command_queue(), program, false);
        Finish(device->command_queue());
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [&] { return n_quick == n_expected; });
    }
    {
        std::lock_guard<std::mutex> guard(lock);
        goes = true;
        changed.notify_all();
    }
    streaming::UnregisterCallback(stands);
    streaming::UnregisterCallback(quick);
    EXPECT(n_quick == n_expected);
    EXPECT(n_slow < n_quick && n_slow > 0);
    EXPECT(n_lost_bytes > 0);
    CloseDevice(device);
}

// Each program's run, without a marker and with classic ones, in order, with its kernels' names.
void realtime(const char *mode)
{
    set_mode(mode);
    std::vector<ProgramRealtimeRecord> all;
    uint32_t n_outside = 0;
    EXPECT(!IsProgramRealtimeProfilerActive());
    auto handle =
        RegisterProgramRealtimeProfilerCallback([&](const ProgramRealtimeRecordBatch &batch) {
            all.insert(all.end(), batch.records.begin(), batch.records.end());
            EXPECT(batch.dropped == 0);
        });
    IDevice *device = CreateDevice(0);
    EXPECT(IsProgramRealtimeProfilerActive());
    EXPECT(!streaming::IsActive());
    Program a = marked({1, 1}, 100), b = marked({0, 0}, 200);
    EnqueueProgram(device->command_queue(), a, true);
    auto before = Clock::now();
    for (int i = 0; i < 20; i++) {
        EnqueueProgram(device->command_queue(), a, false);
        EnqueueProgram(device->command_queue(), b, false);
    }
    Finish(device->command_queue());
    auto after = Clock::now();
    uint32_t trace = BeginTraceCapture(device);
    EnqueueProgram(device->command_queue(), b, false);
    EndTraceCapture(device, 0, trace);
    ReplayTrace(device, 0, trace, true);
    UnregisterProgramRealtimeProfilerCallback(handle);
    CloseDevice(device);
    EXPECT(all.size() == 42);
    for (size_t i = 1; i < all.size() && i < 41; i++) {
        const ProgramRealtimeRecord &it = all[i];
        EXPECT(it.runtime_id == (i % 2 ? 100u : 200u));
        EXPECT(it.end_timestamp > it.start_timestamp);
        EXPECT(it.start_timestamp >= all[i - 1].end_timestamp);
        EXPECT(it.kernel_sources.size() == 1 && it.kernel_sources[0] == "kernel");
        n_outside +=
            it.host_start() <
                before - 2 * it.clock_sync.sync_error - std::chrono::microseconds(100) ||
            it.host_end() > after + 2 * it.clock_sync.sync_error + std::chrono::microseconds(100);
    }
    EXPECT(n_outside == 0);
    EXPECT(!IsProgramRealtimeProfilerActive());
}

// A callback may end itself.
void inside()
{
    set_mode("off");
    static std::atomic<uint64_t> handle{0};
    static std::atomic<int> n_calls{0};
    handle = RegisterProgramRealtimeProfilerCallback([](const ProgramRealtimeRecordBatch &) {
        if (n_calls++ == 0)
            UnregisterProgramRealtimeProfilerCallback(handle);
    });
    IDevice *device = CreateDevice(0);
    Program program = marked({0, 0}, 1);
    EnqueueProgram(device->command_queue(), program, true);
    while (!n_calls)
        std::this_thread::yield();
    for (int i = 0; i < 10; i++)
        EnqueueProgram(device->command_queue(), program, true);
    CloseDevice(device);
    EXPECT(n_calls == 1);
    UnregisterProgramRealtimeProfilerCallback(12345); // unknown: nothing
}

} // namespace

int main(int argc, char **argv)
{
    std::string name = argc > 1 ? argv[1] : "";
    unsetenv("TT_METAL_DEVICE_PROFILER");
    unsetenv("TT_METAL_STREAMING_PROFILER");
    try {
        if (name == "batches")
            batches();
        else if (name == "times")
            times();
        else if (name == "slow")
            slow();
        else if (name == "realtime_off")
            realtime("off");
        else if (name == "realtime_classic")
            realtime("classic");
        else if (name == "inside")
            inside();
        else
            return 2;
    } catch (const std::exception &failure) {
        std::printf("%s\n", failure.what());
        return 1;
    }
    return n_failed ? 1 : 0;
}
