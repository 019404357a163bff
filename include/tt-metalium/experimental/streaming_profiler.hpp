// streaming_profiler.hpp - what kernels record, to a function of this program, by tt-metal's names, over strobe/device_records.h.
//
//   auto handle = RegisterCallback("mine", [](const Batch<RecordType::Zones> &batch) {
//       for (const Zone &zone : batch.zones())
//           use(zone.site().name, zone.core().logical, zone.duration());
//   });
//   ...
//   UnregisterCallback(handle);   // what was recorded until now has been handed over
//
// A callback has a thread of its own. What it is given is valid while it runs. A failure to register is an exception.
// SPDX-License-Identifier: MIT
#pragma once

#include <strobe/device_records.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../tt_metal/host_api.hpp"
#include "view.hpp"

namespace tt::tt_metal::experimental::streaming_profiler
{

enum class Risc : uint8_t { BRISC = 0, NCRISC = 1, TRISC0 = 2, TRISC1 = 3, TRISC2 = 4 };

struct SourceLocation {
    std::string_view file; // as long as the process lives
    uint32_t line = 0;
};

struct Site {
    std::string_view name; // as long as the process lives
    SourceLocation location;
};

struct Core {
    CoreCoord logical, physical;
    uint32_t chip_id = 0;
    Risc risc = Risc::BRISC;
};

inline constexpr std::string_view STALL_ZONE_NAME = "PROFILER-STALL";

enum class RecordType : uint32_t {
    Zones = STROBE_DEVICE_ZONES,
    TimestampedData = STROBE_DEVICE_DATA,
    Events = STROBE_DEVICE_EVENTS,
    All = STROBE_DEVICE_ZONES | STROBE_DEVICE_DATA | STROBE_DEVICE_EVENTS
};
constexpr RecordType operator|(RecordType a, RecordType b)
{
    return (RecordType)((uint32_t)a | (uint32_t)b);
}

// What all records have. A record is the library's own, so a batch is handed on as it came.
class Record
{
  public:
    Site site() const
    {
        strobe_device_site found = strobe_device_site_of(record_.site);
        return {found.name, {found.file, found.line}};
    }
    Core core() const
    {
        return {{record_.logical_x, record_.logical_y},
                {record_.physical_x, record_.physical_y},
                record_.chip,
                (Risc)record_.risc};
    }
    uint32_t runtime_id() const
    {
        return record_.runtime_id;
    }
    double frequency_ghz() const
    {
        return record_.frequency_hz * 1e-9;
    }

  protected:
    std::chrono::nanoseconds length(uint64_t ticks) const
    {
        return std::chrono::nanoseconds((int64_t)((double)ticks * 1e9 / record_.frequency_hz));
    }
    std::chrono::steady_clock::time_point host_time(uint64_t ticks) const
    {
        // in two parts: whole seconds and the rest, so that no digit of a long uptime is lost
        int64_t all = (int64_t)ticks + record_.offset, hz = record_.frequency_hz;
        return std::chrono::steady_clock::time_point(
            std::chrono::nanoseconds(all / hz * 1000000000 + all % hz * 1000000000 / hz));
    }
    strobe_device_record record_;
};

// One scope that was closed. A wait for the profiler is one too, by the name STALL_ZONE_NAME.
class Zone : public Record
{
  public:
    uint64_t start_timestamp() const
    {
        return record_.timestamp;
    }
    uint64_t end_timestamp() const
    {
        return record_.timestamp + record_.duration;
    }
    std::chrono::nanoseconds duration() const
    {
        return length(record_.duration);
    }
    std::chrono::steady_clock::time_point start_time() const
    {
        return host_time(start_timestamp());
    }
    std::chrono::steady_clock::time_point end_time() const
    {
        return host_time(end_timestamp());
    }
};

class Event : public Record
{
  public:
    uint64_t timestamp() const
    {
        return record_.timestamp;
    }
    std::chrono::steady_clock::time_point time() const
    {
        return host_time(record_.timestamp);
    }
};

// Values with a time. Its values lie behind it: copy size_bytes() bytes to keep it.
class TimestampedData : public Event
{
  public:
    TimestampedData(const TimestampedData &) = delete;
    TimestampedData &operator=(const TimestampedData &) = delete;
    experimental::detail::view<const uint64_t> payload() const
    {
        return {(const uint64_t *)(const void *)(this + 1), (size_t)record_.duration};
    }
    size_t size_bytes() const
    {
        return sizeof(strobe_device_record) + record_.duration * sizeof(uint64_t);
    }
};
static_assert(sizeof(Zone) == 48 && sizeof(Event) == 48 && sizeof(TimestampedData) == 48,
              "records are as tt-metal has them");

class DataRange
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = TimestampedData;
        using difference_type = std::ptrdiff_t;
        using pointer = const TimestampedData *;
        using reference = const TimestampedData &;
        explicit iterator(const char *at = nullptr) : at_(at) {}
        reference operator*() const
        {
            return *(pointer)(const void *)at_;
        }
        pointer operator->() const
        {
            return &**this;
        }
        iterator &operator++()
        {
            at_ += (**this).size_bytes();
            return *this;
        }
        bool operator==(const iterator &other) const
        {
            return at_ == other.at_;
        }
        bool operator!=(const iterator &other) const
        {
            return at_ != other.at_;
        }

      private:
        const char *at_;
    };
    DataRange(const void *data, size_t bytes) : first_((const char *)data), bytes_(bytes) {}
    iterator begin() const
    {
        return iterator(first_);
    }
    iterator end() const
    {
        return iterator(first_ + bytes_);
    }
    bool empty() const
    {
        return bytes_ == 0;
    }

  private:
    const char *first_;
    size_t bytes_;
};

// Records of the types in K, of each RISC in its order.
template <RecordType K> class Batch
{
  public:
    static constexpr RecordType types = K;
    explicit Batch(const strobe_device_batch &batch) : batch_(batch) {}
    experimental::detail::view<const Zone> zones() const
    {
        static_assert(has(RecordType::Zones),
                      "this batch has no zones: ask for them in Batch<...>");
        return {(const Zone *)(const void *)batch_.zones, batch_.n_zones};
    }
    DataRange timestamped_data() const
    {
        static_assert(has(RecordType::TimestampedData),
                      "this batch has no data: ask for it in Batch<...>");
        return {batch_.data, batch_.data_bytes};
    }
    experimental::detail::view<const Event> events() const
    {
        static_assert(has(RecordType::Events),
                      "this batch has no events: ask for them in Batch<...>");
        return {(const Event *)(const void *)batch_.events, batch_.n_events};
    }
    // Bytes of devices' output that this callback was too slow for, since the last batch.
    uint64_t dropped_bytes() const
    {
        return batch_.dropped_bytes;
    }
    // Times that a RISC waited for the profiler, since the last batch.
    uint64_t stall_count() const
    {
        return batch_.n_stalls;
    }

  private:
    static constexpr bool has(RecordType type)
    {
        return ((uint32_t)K & (uint32_t)type) != 0;
    }
    const strobe_device_batch &batch_;
};

enum class CallbackHandle : uint64_t {};

namespace detail
{
template <typename F> struct argument;
template <typename R, RecordType K> struct argument<std::function<R(const Batch<K> &)>> {
    static constexpr RecordType types = K;
};
template <typename R, RecordType K> struct argument<std::function<R(Batch<K>)>> {
    static constexpr RecordType types = K;
};

// Functions by handle: they live until they are not called any more.
struct Registry {
    std::mutex lock;
    std::map<uint64_t, std::shared_ptr<void>> functions;
    static Registry &get()
    {
        static Registry *all = new Registry; // for ever: threads may outlive main
        return *all;
    }
};
} // namespace detail

// Hand records to `callback`, a function of `const Batch<K> &`: K says which. `name` is its thread's.
template <typename F> [[nodiscard]] CallbackHandle RegisterCallback(std::string name, F callback)
{
    using function = decltype(std::function{std::declval<F>()});
    constexpr RecordType types = detail::argument<function>::types;
    auto kept = std::make_shared<F>(std::move(callback));
    uint64_t handle;
    tt::tt_metal::detail::check(strobe_device_subscribe(
        name.c_str(), (uint32_t)types,
        [](void *context, const strobe_device_batch *batch) {
            (*(F *)context)(Batch<types>(*batch));
        },
        kept.get(), &handle));
    detail::Registry &all = detail::Registry::get();
    std::lock_guard<std::mutex> guard(all.lock);
    all.functions[handle] = kept;
    return (CallbackHandle)handle;
}
template <typename F> [[nodiscard]] CallbackHandle RegisterCallback(F callback)
{
    return RegisterCallback(std::string(), std::move(callback));
}

// End it. What waits is handed over first. Not from inside of the callback.
inline void UnregisterCallback(CallbackHandle handle)
{
    strobe_device_unsubscribe((uint64_t)handle);
    detail::Registry &all = detail::Registry::get();
    std::lock_guard<std::mutex> guard(all.lock);
    all.functions.erase((uint64_t)handle);
}

// Whether a device is open whose kernels stream.
inline bool IsActive()
{
    return strobe_device_count_streaming() != 0;
}

} // namespace tt::tt_metal::experimental::streaming_profiler
