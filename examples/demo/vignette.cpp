// vignette.cpp - the device half of the Python demo: darkens a picture's corners on the cores of a device, with the kernels of
// examples/device. Called from grade.py through ctypes.  SPDX-License-Identifier: MIT
#include "../device/add.hpp"

#include <strobe/strobe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace tt::tt_metal;
using namespace add;

namespace
{

// A device that adds a mask to pictures of one size. Every core has the same number of tiles.
class Vignette
{
  public:
    Vignette(const std::string &kernels, uint32_t width, uint32_t height)
        : device_(CreateDevice(0)), grid_(device_->compute_with_storage_grid_size())
    {
        uint32_t n_cores = grid_.x * grid_.y;
        tiles_per_core_ = (width * height + n_cores * tile_words - 1) / (n_cores * tile_words);
        uint32_t bytes = n_cores * tiles_per_core_ * tile_bytes;
        picture_ = CreateBuffer({device_, bytes, tile_bytes});
        mask_ = CreateBuffer({device_, bytes, tile_bytes});
        result_ = CreateBuffer({device_, bytes, tile_bytes});
        words_.resize(bytes / 2);
        program_ = make_program(kernels, grid_, tiles_per_core_, picture_->address(),
                                mask_->address(), result_->address());
        std::vector<uint16_t> mask(bytes / 2);
        for (uint32_t i = 0; i < width * height; i++)
            mask[i] = to_bfloat16(darkening((float)(i % width) / (float)width - 0.5f,
                                            (float)(i / width) / (float)height - 0.5f));
        EnqueueWriteBuffer(device_->command_queue(), mask_, mask, false);
    }

    ~Vignette()
    {
        picture_.reset(), mask_.reset(), result_.reset();
        CloseDevice(device_);
    }

    void apply(uint8_t *pixels, uint32_t n)
    {
        CommandQueue &queue = device_->command_queue();
        std::transform(pixels, pixels + n, words_.begin(),
                       [](uint8_t pixel) { return to_bfloat16(pixel); });
        EnqueueWriteBuffer(queue, picture_, words_, false);
        EnqueueProgram(queue, program_, false);
        EnqueueReadBuffer(queue, result_, words_, true);
        std::transform(words_.begin(), words_.begin() + n, pixels, [](uint16_t word) {
            return (uint8_t)std::clamp(from_bfloat16(word), 0.0f, 255.0f);
        });
    }

  private:
    static float darkening(float x, float y)
    {
        return -160.0f * std::max(0.0f, x * x + y * y - 0.1f);
    }

    IDevice *device_;
    CoreCoord grid_;
    uint32_t tiles_per_core_ = 0;
    std::shared_ptr<Buffer> picture_, mask_, result_;
    std::vector<uint16_t> words_;
    Program program_;
};

std::unique_ptr<Vignette> vignette;

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// Open the device for pictures of this size; kernels are built here at their first use. 0, or -1 with a line on stderr.
EXPORTED int demo_device_open(const char *kernels, int width, int height)
{
    STROBE_SCOPE("open device");
    try {
        vignette = std::make_unique<Vignette>(kernels, (uint32_t)width, (uint32_t)height);
        std::vector<uint8_t> blank((size_t)width * (size_t)height);
        vignette->apply(blank.data(), (uint32_t)blank.size());
        return 0;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "demo_device_open: %s\n", failure.what());
        return -1;
    }
}

// Darken a picture's corners. 0, or -1 with a line on stderr. One call at a time.
EXPORTED int demo_device_vignette(uint8_t *pixels, int n)
{
    STROBE_SCOPE("vignette");
    try {
        vignette->apply(pixels, (uint32_t)n);
        return 0;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "demo_device_vignette: %s\n", failure.what());
        return -1;
    }
}

EXPORTED void demo_device_close(void)
{
    STROBE_SCOPE("close device");
    vignette.reset();
}
