// main.cpp - a vector addition on every worker of a device: a reader, a compute and a writer kernel, all with zones of their own.
//   strobe record -- strobe-device-add [rounds]
// Each core adds its own tiles: c = a + b, in bfloat16. Prints whether the result is right, and how many markers there were.
// SPDX-License-Identifier: MIT
#include "add.hpp"

#include <tt_metal/impl/profiler/tt_metal_profiler.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tt;
using namespace tt::tt_metal;
using namespace add;

namespace
{

constexpr uint32_t tiles_per_core = 4;

int run(const std::string &folder, int rounds)
{
    IDevice *device = CreateDevice(0);
    CommandQueue &queue = device->command_queue();
    CoreCoord grid = device->compute_with_storage_grid_size();
    uint32_t n_tiles = grid.x * grid.y * tiles_per_core, n_words = n_tiles * tile_words;
    std::vector<uint16_t> a(n_words), b(n_words), c;
    for (uint32_t i = 0; i < n_words; i++)
        a[i] = to_bfloat16((float)(i % 64)), b[i] = to_bfloat16((float)(i % 16));
    int wrong = 0;
    {
        auto buffer_a = CreateBuffer({device, n_tiles * tile_bytes, tile_bytes}),
             buffer_b = CreateBuffer({device, n_tiles * tile_bytes, tile_bytes});
        auto buffer_c = CreateBuffer({device, n_tiles * tile_bytes, tile_bytes});
        EnqueueWriteBuffer(queue, buffer_a, a, false);
        EnqueueWriteBuffer(queue, buffer_b, b, false);
        Program program = make_program(folder, grid, tiles_per_core, buffer_a->address(),
                                       buffer_b->address(), buffer_c->address());
        for (int round = 0; round < rounds; round++)
            EnqueueProgram(queue, program, false);
        Finish(queue);
        EnqueueReadBuffer(queue, buffer_c, c, true);
        for (uint32_t i = 0; i < n_words; i++)
            wrong += from_bfloat16(c[i]) != from_bfloat16(a[i]) + from_bfloat16(b[i]);
        ReadMeshDeviceProfilerResults(*device);
    }
    strobe_device_count count;
    uint64_t emitted = 0, dropped = 0;
    for (uint32_t y = 0; y < grid.y; y++)
        for (uint32_t x = 0; x < grid.x; x++)
            for (uint32_t risc = 0; risc < 5; risc++) {
                CoreCoord core = device->worker_core_from_logical_core({x, y});
                tt::tt_metal::detail::check(
                    strobe_device_count_read(device->handle(), core.x, core.y, risc, &count));
                emitted += count.n_emitted, dropped += count.n_dropped;
            }
    std::printf("%u words in %u tiles on %ux%u cores: %d wrong; %llu markers, %llu dropped\n",
                n_words, n_tiles, grid.x, grid.y, wrong, (unsigned long long)emitted,
                (unsigned long long)dropped);
    CloseDevice(device);
    return wrong ? 1 : 0;
}

} // namespace

int main(int argc, char **argv)
{
    const char *said = std::getenv("STROBE_EXAMPLE_KERNELS");
    try {
        return run(said ? said : STROBE_EXAMPLE_KERNELS, argc > 1 ? std::atoi(argv[1]) : 10);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "strobe-device-add: %s\n", failure.what());
        return 1;
    }
}
