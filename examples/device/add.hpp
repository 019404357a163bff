// add.hpp - the addition of two arrays of tiles on every worker of a device, c = a + b in bfloat16: the program of three kernels, and
// the words that it takes. Used by main.cpp, and by the Python demo's vignette.cpp.  SPDX-License-Identifier: MIT
#pragma once

#include <tt_metal/host_api.hpp>

#include <cstdint>
#include <cstring>
#include <string>

namespace add
{

constexpr uint32_t tile_words = 1024, tile_bytes = 2 * tile_words;

inline uint16_t to_bfloat16(float value)
{
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    return (uint16_t)(word >> 16);
}

inline float from_bfloat16(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

// The program: three kernels on all cores, three circular buffers between them. Each core adds tiles_per_core tiles of its own of
// the buffers at a and b into c.
inline tt::tt_metal::Program make_program(const std::string &folder, tt::tt_metal::CoreCoord grid,
                                          uint32_t tiles_per_core, uint32_t a, uint32_t b,
                                          uint32_t c)
{
    using namespace tt;
    using namespace tt::tt_metal;
    Program program = CreateProgram();
    CoreRange all({0, 0}, {grid.x - 1, grid.y - 1});
    for (CBIndex index : {c_0, c_1, c_16})
        CreateCircularBuffer(
            program, all,
            CircularBufferConfig(2 * tile_bytes, {{index, tt::DataFormat::Float16_b}})
                .set_page_size(index, tile_bytes));
    auto reader = CreateKernel(program, folder + "/reader.cpp", all, ReaderDataMovementConfig());
    auto writer = CreateKernel(program, folder + "/writer.cpp", all, WriterDataMovementConfig());
    CreateKernel(program, folder + "/add.cpp", all,
                 ComputeConfig{MathFidelity::HiFi4, false, false, {tiles_per_core}, {}});
    for (uint32_t y = 0; y < grid.y; y++)
        for (uint32_t x = 0; x < grid.x; x++) {
            uint32_t first = (y * grid.x + x) * tiles_per_core;
            SetRuntimeArgs(program, reader, CoreCoord{x, y}, {a, b, first, tiles_per_core});
            SetRuntimeArgs(program, writer, CoreCoord{x, y}, {c, first, tiles_per_core});
        }
    return program;
}

} // namespace add
