// ops.hpp - ops of one 32 x 32 tile, for a native program: each a program on one core of the device, over the kernels of
// examples/ttnn, and at each launch the zone and the message that the op report is made of (docs/op-report.md).
// SPDX-License-Identifier: MIT
#pragma once

#include <tracy/Tracy.hpp>
#include <tt_metal/host_api.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace train
{

using namespace tt;
using namespace tt::tt_metal;

constexpr uint32_t side = 32, tile_words = side * side, tile_bytes = 4 * tile_words;
constexpr CoreCoord core{0, 0};

using Tile = std::shared_ptr<Buffer>;
using Arguments = std::vector<uint32_t>;

// Where the four faces of a tile have row and column.
inline uint32_t in_faces(uint32_t row, uint32_t column)
{
    return ((row / 16) * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
}

inline uint32_t bits(float value)
{
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

// One op with its tensors: what stays the same between launches.
class Op
{
  public:
    Op(IDevice *device, std::string code, const std::string &folder, const std::string &reader,
       const std::string &compute, const std::vector<CBIndex> &rings, const Arguments &reads,
       const Arguments &computes, const Tile &to, uint32_t n_inputs)
        : device_(device), code_(std::move(code)), reader_(reader), compute_(compute),
          n_inputs_(n_inputs)
    {
        for (CBIndex index : rings)
            CreateCircularBuffer(
                program_, core,
                CircularBufferConfig(2 * tile_bytes, {{index, tt::DataFormat::Float32}})
                    .set_page_size(index, tile_bytes));
        auto read = CreateKernel(program_, folder + "/" + reader, core, ReaderDataMovementConfig());
        auto write =
            CreateKernel(program_, folder + "/writer_pages.cpp", core, WriterDataMovementConfig());
        auto computed = CreateKernel(program_, folder + "/" + compute, core, ComputeConfig{});
        SetRuntimeArgs(program_, read, core, reads);
        SetRuntimeArgs(program_, write, core, {(uint32_t)to->address(), 0, 0, 1});
        SetRuntimeArgs(program_, computed, core, computes);
    }

    // Launch it. `number` is this launch's, and goes up from 1.
    void run(uint32_t number)
    {
        ZoneScopedN("TT_DNN_DEVICE_OP");
        std::string id = "id:" + std::to_string(number << 10);
        ZoneText(id.c_str(), id.size());
        if (is_profiled()) {
            std::string text = message(number << 10);
            TracyMessage(text.c_str(), text.size());
        }
        program_.set_runtime_id(number);
        EnqueueProgram(device_->command_queue(), program_, false);
        is_built_ = true;
    }

  private:
    static bool is_profiled()
    {
        const char *said = std::getenv("TTNN_OP_PROFILER");
        return said && *said == '1';
    }
    // The back-ticks are the quotes of the CSV file that the message comes to.
    std::string message(uint32_t id) const
    {
        std::string hash = std::to_string(std::hash<std::string>()(code_ + compute_) >> 1);
        std::string head = "`TT_DNN_DEVICE_OP: \"" + code_ + "\", " + hash + ", 0, " +
                           (is_built_ ? "true" : "false") + ", " + std::to_string(id);
        if (is_built_)
            return head + "`";
        std::string inputs;
        for (uint32_t i = 0; i < n_inputs_; i++)
            inputs += (i ? ", " : "") + tensor();
        auto kernel = [](const std::string &name) {
            return "{\"source\": \"ttnn/kernels/" + name + "\", \"name\": \"" + name +
                   "\", \"math_fidelity\": \"HiFi4\"}";
        };
        return head + " ->\n{\"global_call_count\": " + std::to_string(id) + ", \"op_code\": \"" +
               code_ +
               "\", \"op_type\": \"tt_dnn_device\", \"device_id\": 0, \"op_hash\": " + hash +
               ", \"program_cache_hit\": false, \"attributes\": {}, \"input_tensors\": [" + inputs +
               "], \"optional_input_tensors\": [], \"output_tensors\": [" + tensor() +
               "], \"kernel_info\": {\"compute_kernels\": [" + kernel(compute_) +
               "], \"datamovement_kernels\": [" + kernel(reader_) + ", " +
               kernel("writer_pages.cpp") +
               "]}, \"performance_model\": {\"compute_ns\": 1, \"ideal_ns\": 1, \"bandwidth_ns\": "
               "1, \"input_bws\": [], \"output_bws\": []}}`";
    }
    static std::string tensor()
    {
        return "{\"storage_type\": {\"device_id\": 0, \"memory_config\": {\"buffer_type\": "
               "\"DRAM\", \"memory_layout\": \"INTERLEAVED\"}}, \"shape\": {\"W\": \"1[1]\", "
               "\"Z\": \"1[1]\", \"Y\": \"32[32]\", \"X\": \"32[32]\"}, \"layout\": \"TILE\", "
               "\"dtype\": \"FLOAT32\"}";
    }

    IDevice *device_; // borrowed: must outlive the op
    std::string code_, reader_, compute_;
    uint32_t n_inputs_;
    bool is_built_ = false;
    Program program_ = CreateProgram();
};

} // namespace train
