// host_api.hpp - host programs by tt-metal's names, over strobe/device.h: devices, programs, kernels, circular buffers, semaphores,
// buffers, queues, traces. Header only. A failure is an exception, std::runtime_error, with the reason.
// What is here is what a program with kernels of its own needs; sharding, sub-devices and meshes of more than one row are not.
// SPDX-License-Identifier: MIT
#pragma once

#include <strobe/device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tt
{

enum class DataFormat : uint8_t { Float32 = 0, Float16_b = 5, UInt32 = 24 };

enum CBIndex : uint8_t {
    c_0,
    c_1,
    c_2,
    c_3,
    c_4,
    c_5,
    c_6,
    c_7,
    c_8,
    c_9,
    c_10,
    c_11,
    c_12,
    c_13,
    c_14,
    c_15,
    c_16,
    c_17,
    c_18,
    c_19,
    c_20,
    c_21,
    c_22,
    c_23,
    c_24,
    c_25,
    c_26,
    c_27,
    c_28,
    c_29,
    c_30,
    c_31
};
using CB = CBIndex;

namespace tt_metal
{

namespace detail
{
inline void check(strobe_device_result result)
{
    if (result != STROBE_DEVICE_OK)
        throw std::runtime_error(std::string(strobe_device_result_text(result)) + ": " +
                                 strobe_device_reason());
}
} // namespace detail

// ---- cores ----

struct CoreCoord {
    uint32_t x = 0, y = 0;
    bool operator==(const CoreCoord &other) const
    {
        return x == other.x && y == other.y;
    }
};

struct CoreRange {
    CoreCoord start_coord, end_coord;
    CoreRange(CoreCoord one) : start_coord(one), end_coord(one) {}
    CoreRange(CoreCoord start, CoreCoord end) : start_coord(start), end_coord(end) {}
    strobe_device_cores cores() const
    {
        return {start_coord.x, start_coord.y, end_coord.x, end_coord.y};
    }
};

class CoreRangeSet
{
  public:
    CoreRangeSet(CoreCoord one) : ranges_{CoreRange(one)} {}
    CoreRangeSet(CoreRange one) : ranges_{one} {}
    CoreRangeSet(std::vector<CoreRange> ranges) : ranges_(std::move(ranges)) {}
    const std::vector<CoreRange> &ranges() const
    {
        return ranges_;
    }

  private:
    std::vector<CoreRange> ranges_;
};
using CoreSpec = std::variant<CoreCoord, CoreRange, CoreRangeSet>;

namespace detail
{
inline std::vector<CoreRange> ranges_of(const CoreSpec &spec)
{
    return std::visit([](const auto &it) { return CoreRangeSet(it).ranges(); }, spec);
}
} // namespace detail

// ---- devices and their queue ----

class IDevice;
struct CommandQueue {
    IDevice *device = nullptr;
};

class IDevice
{
  public:
    explicit IDevice(uint32_t id) : queue_{this}, id_(id)
    {
        strobe_device_options options;
        detail::check(strobe_device_options_init(&options));
        detail::check(strobe_device_open(&options, id, &handle_));
    }
    ~IDevice()
    {
        close();
    }
    IDevice(const IDevice &) = delete;
    IDevice &operator=(const IDevice &) = delete;

    bool close()
    {
        strobe_device_close(handle_);
        handle_ = nullptr;
        return true;
    }
    uint32_t id() const
    {
        return id_;
    }
    CommandQueue &command_queue(size_t = 0)
    {
        return queue_;
    }
    CommandQueue &mesh_command_queue(size_t = 0)
    {
        return queue_;
    }
    CoreCoord compute_with_storage_grid_size() const
    {
        strobe_device_info info;
        strobe_device_describe(handle_, &info);
        return {info.grid_x, info.grid_y};
    }
    CoreCoord logical_grid_size() const
    {
        return compute_with_storage_grid_size();
    }
    CoreCoord worker_core_from_logical_core(CoreCoord logical) const
    {
        CoreCoord physical;
        detail::check(
            strobe_device_physical(handle_, logical.x, logical.y, &physical.x, &physical.y));
        return physical;
    }
    strobe_device *handle() const
    {
        return handle_;
    }

  private:
    strobe_device *handle_ = nullptr;
    CommandQueue queue_;
    uint32_t id_;
};
using Device = IDevice;

inline IDevice *CreateDevice(int id)
{
    return new IDevice((uint32_t)id);
}
inline bool CloseDevice(IDevice *device)
{
    delete device;
    return true;
}

// ---- programs ----

class Program
{
  public:
    Program()
    {
        detail::check(strobe_program_create(&handle_));
    }
    ~Program()
    {
        strobe_program_free(handle_);
    }
    Program(Program &&other) noexcept
        : kernels(std::move(other.kernels)), handle_(std::exchange(other.handle_, nullptr))
    {
    }
    Program &operator=(Program &&other) noexcept
    {
        std::swap(kernels, other.kernels);
        std::swap(handle_, other.handle_);
        return *this;
    }
    void set_runtime_id(uint64_t id)
    {
        strobe_program_set_id(handle_, (uint32_t)id);
    }
    uint64_t get_runtime_id() const
    {
        return strobe_program_id(handle_);
    }
    strobe_program *handle() const
    {
        return handle_;
    }
    // A kernel on several ranges of cores is several of the library's.
    std::vector<std::vector<uint32_t>> kernels;

  private:
    strobe_program *handle_ = nullptr;
};
inline Program CreateProgram()
{
    return Program();
}

enum class DataMovementProcessor { RISCV_0 = 0, RISCV_1 = 1 };
enum NOC : uint8_t { RISCV_0_default = 0, RISCV_1_default = 1, NOC_0 = 0, NOC_1 = 1 };
enum class MathFidelity : uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4 };

struct DataMovementConfig {
    DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
    NOC noc = NOC::RISCV_0_default;
    std::vector<uint32_t> compile_args;
    std::map<std::string, std::string> defines;
};
struct ReaderDataMovementConfig : DataMovementConfig {
    ReaderDataMovementConfig(std::vector<uint32_t> args = {},
                             std::map<std::string, std::string> with = {})
        : DataMovementConfig{DataMovementProcessor::RISCV_1, NOC::RISCV_1_default, std::move(args),
                             std::move(with)}
    {
    }
};
struct WriterDataMovementConfig : DataMovementConfig {
    WriterDataMovementConfig(std::vector<uint32_t> args = {},
                             std::map<std::string, std::string> with = {})
        : DataMovementConfig{DataMovementProcessor::RISCV_0, NOC::RISCV_0_default, std::move(args),
                             std::move(with)}
    {
    }
};
struct ComputeConfig {
    MathFidelity math_fidelity = MathFidelity::HiFi4;
    bool fp32_dest_acc_en = false;
    bool math_approx_mode = false;
    std::vector<uint32_t> compile_args;
    std::map<std::string, std::string> defines;
};
using KernelConfig = std::variant<DataMovementConfig, ReaderDataMovementConfig,
                                  WriterDataMovementConfig, ComputeConfig>;
using KernelHandle = uint32_t;

namespace detail
{
inline strobe_device_risc risc_of(const ComputeConfig &)
{
    return STROBE_DEVICE_COMPUTE;
}
inline strobe_device_risc risc_of(const DataMovementConfig &config)
{
    return config.processor == DataMovementProcessor::RISCV_0 ? STROBE_DEVICE_BRISC
                                                              : STROBE_DEVICE_NCRISC;
}

template <typename Config>
KernelHandle add_kernel(Program &program, const std::string &source, bool is_path,
                        const CoreSpec &spec, const Config &config)
{
    std::vector<strobe_device_define> defines;
    for (const auto &[name, value] : config.defines)
        defines.push_back({name.c_str(), value.c_str()});
    strobe_device_kernel kernel = {};
    kernel.path = is_path ? source.c_str() : nullptr;
    kernel.text = is_path ? nullptr : source.c_str();
    kernel.risc = risc_of(config);
    kernel.compile_args = config.compile_args.data();
    kernel.n_compile_args = (uint32_t)config.compile_args.size();
    kernel.defines = defines.data();
    kernel.n_defines = (uint32_t)defines.size();
    std::vector<uint32_t> ids;
    for (const CoreRange &range : ranges_of(spec)) {
        kernel.cores = range.cores();
        ids.emplace_back();
        check(strobe_program_kernel(program.handle(), &kernel, &ids.back()));
    }
    program.kernels.push_back(std::move(ids));
    return (KernelHandle)program.kernels.size() - 1;
}
} // namespace detail

inline KernelHandle CreateKernel(Program &program, const std::string &path, const CoreSpec &cores,
                                 const KernelConfig &config)
{
    return std::visit(
        [&](const auto &it) { return detail::add_kernel(program, path, true, cores, it); }, config);
}
inline KernelHandle CreateKernelFromString(Program &program, const std::string &text,
                                           const CoreSpec &cores, const KernelConfig &config)
{
    return std::visit(
        [&](const auto &it) { return detail::add_kernel(program, text, false, cores, it); },
        config);
}

inline void SetRuntimeArgs(Program &program, KernelHandle kernel, const CoreSpec &cores,
                           const std::vector<uint32_t> &args)
{
    for (const CoreRange &range : detail::ranges_of(cores))
        for (uint32_t id : program.kernels.at(kernel))
            detail::check(strobe_program_args(program.handle(), id, range.cores(), args.data(),
                                              (uint32_t)args.size()));
}

inline void SetCommonRuntimeArgs(Program &program, KernelHandle kernel,
                                 const std::vector<uint32_t> &args)
{
    for (uint32_t id : program.kernels.at(kernel))
        detail::check(
            strobe_program_common_args(program.handle(), id, args.data(), (uint32_t)args.size()));
}

// ---- circular buffers and semaphores ----

class CircularBufferConfig
{
  public:
    CircularBufferConfig(uint32_t total_bytes, const std::map<uint8_t, DataFormat> &formats)
        : total_(total_bytes), formats_(formats)
    {
    }
    CircularBufferConfig &set_page_size(uint8_t index, uint32_t bytes)
    {
        pages_[index] = bytes;
        return *this;
    }
    uint32_t total() const
    {
        return total_;
    }
    const std::map<uint8_t, DataFormat> &formats() const
    {
        return formats_;
    }
    uint32_t page(uint8_t index) const
    {
        auto found = pages_.find(index);
        return found == pages_.end() ? total_ : found->second;
    }

  private:
    uint32_t total_;
    std::map<uint8_t, DataFormat> formats_;
    std::map<uint8_t, uint32_t> pages_;
};
using CBHandle = uintptr_t;

inline CBHandle CreateCircularBuffer(Program &program, const CoreSpec &cores,
                                     const CircularBufferConfig &config)
{
    for (const CoreRange &range : detail::ranges_of(cores))
        for (const auto &[index, format] : config.formats())
            detail::check(strobe_program_ring(
                program.handle(), range.cores(), index, config.page(index),
                config.total() / config.page(index), (strobe_device_format)format));
    return 0;
}

inline uint32_t CreateSemaphore(Program &program, const CoreSpec &cores, uint32_t value)
{
    uint32_t id = 0;
    for (const CoreRange &range : detail::ranges_of(cores))
        detail::check(strobe_program_semaphore(program.handle(), range.cores(), value, &id));
    return id;
}

// ---- buffers ----

enum class BufferType { DRAM, L1 };

struct InterleavedBufferConfig {
    IDevice *device;
    uint64_t size;
    uint64_t page_size;
    BufferType buffer_type = BufferType::DRAM;
};

class Buffer
{
  public:
    explicit Buffer(const InterleavedBufferConfig &config)
    {
        detail::check(strobe_device_buffer_create(
            config.device->handle(),
            config.buffer_type == BufferType::DRAM ? STROBE_DEVICE_DRAM : STROBE_DEVICE_L1,
            config.size, (uint32_t)config.page_size, &buffer_));
    }
    ~Buffer()
    {
        strobe_device_buffer_free(&buffer_);
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    uint32_t address() const
    {
        return (uint32_t)buffer_.address;
    }
    uint64_t size() const
    {
        return buffer_.bytes;
    }
    uint64_t page_size() const
    {
        return buffer_.page_bytes;
    }
    bool is_dram() const
    {
        return buffer_.memory == STROBE_DEVICE_DRAM;
    }
    const strobe_device_buffer &handle() const
    {
        return buffer_;
    }

  private:
    strobe_device_buffer buffer_ = {};
};

inline std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig &config)
{
    return std::make_shared<Buffer>(config);
}

// The compile-time arguments by which a kernel's TensorAccessorArgs knows where a buffer's pages are, and their size.
class TensorAccessorArgs
{
  public:
    explicit TensorAccessorArgs(const Buffer &buffer)
        : flags_(buffer.is_dram() ? 2u : 0u), page_((uint32_t)(buffer.page_size() + 31) & ~31u)
    {
    }
    explicit TensorAccessorArgs(const std::shared_ptr<Buffer> &buffer) : TensorAccessorArgs(*buffer)
    {
    }
    void append_to(std::vector<uint32_t> &args) const
    {
        args.push_back(flags_);
        args.push_back(page_);
    }
    std::vector<uint32_t> get_compile_time_args() const
    {
        return {flags_, page_};
    }

  private:
    uint32_t flags_, page_;
};

// ---- the queue ----

template <typename T>
void EnqueueWriteBuffer(CommandQueue &, const std::shared_ptr<Buffer> &buffer,
                        const std::vector<T> &from, bool)
{
    detail::check(
        strobe_device_buffer_write(&buffer->handle(), 0, from.data(), from.size() * sizeof(T)));
}
template <typename T>
void EnqueueReadBuffer(CommandQueue &, const std::shared_ptr<Buffer> &buffer, std::vector<T> &to,
                       bool)
{
    to.resize(buffer->size() / sizeof(T));
    detail::check(
        strobe_device_buffer_read(&buffer->handle(), 0, to.data(), to.size() * sizeof(T)));
}
inline void Finish(CommandQueue &queue)
{
    detail::check(strobe_device_finish(queue.device->handle()));
}
inline void EnqueueProgram(CommandQueue &queue, Program &program, bool blocking)
{
    detail::check(strobe_device_enqueue(queue.device->handle(), program.handle(), nullptr));
    if (blocking)
        Finish(queue);
}
inline void Synchronize(IDevice *device)
{
    Finish(device->command_queue());
}

inline uint32_t BeginTraceCapture(IDevice *device, uint8_t = 0)
{
    uint32_t trace;
    detail::check(strobe_device_trace_begin(device->handle(), &trace));
    return trace;
}
inline void EndTraceCapture(IDevice *device, uint8_t, uint32_t trace)
{
    detail::check(strobe_device_trace_end(device->handle(), trace));
}
inline void ReplayTrace(IDevice *device, uint8_t, uint32_t trace, bool blocking)
{
    detail::check(strobe_device_trace_replay(device->handle(), trace));
    if (blocking)
        Finish(device->command_queue());
}
inline void ReleaseTrace(IDevice *device, uint32_t trace)
{
    detail::check(strobe_device_trace_free(device->handle(), trace));
}

// ---- a mesh of one device ----

namespace distributed
{
using MeshDevice = IDevice;
} // namespace distributed

} // namespace tt_metal
} // namespace tt

// Programs that name these without their namespace, as tt-metal's own examples do.
using tt::tt_metal::EnqueueProgram;
using tt::tt_metal::Finish;
using tt::tt_metal::Program;
