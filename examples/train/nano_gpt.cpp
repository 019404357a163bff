// nano_gpt.cpp - trains a language model of one layer on the device: which letter follows which. Something native to profile:
//   python -m tracy -r -v -p build/bin/strobe-nano-gpt [steps]
// One step is forward (a product and a softmax), backward (a difference and a product) and the update of the weights, each an op on
// the device. The loss must fall.  SPDX-License-Identifier: MIT
#include "ops.hpp"

#include <tt_metal/impl/profiler/tt_metal_profiler.hpp>

#include <cmath>
#include <cstdio>

using namespace train;

namespace
{

constexpr float rate = 0.5f;
enum function : uint32_t { SUB = 1, MUL = 2 }; // of eltwise.cpp
enum read_how : uint32_t { SAME_PAGES = 1, SCALAR = 2 };

uint32_t at(const Tile &tile)
{
    return (uint32_t)tile->address();
}

class Trainer
{
  public:
    Trainer(IDevice *device, const std::string &folder) : device_(device), folder_(folder)
    {
        ZoneScopedN("Trainer");
        for (Tile *tile : {&x_, &x_turned_, &y_, &weights_, &logits_, &odds_, &error_, &slope_,
                           &change_, &next_})
            *tile = CreateBuffer({device, tile_bytes, tile_bytes});
        const std::string text = "the quick brown fox jumps over the lazy dog, ";
        std::vector<uint32_t> x(tile_words), turned(tile_words), y(tile_words), zero(tile_words);
        for (uint32_t row = 0; row < side; row++) {
            uint32_t from = (uint32_t)text[row] % side, to = (uint32_t)text[row + 1] % side;
            x[in_faces(row, from)] = turned[in_faces(from, row)] = bits(1);
            y[in_faces(row, to)] = bits(1);
            target_.push_back(to);
        }
        put(x_, x), put(x_turned_, turned), put(y_, y), put(weights_, zero);
        product(x_, weights_, logits_);
        ops_.emplace_back(new Op(device, "SoftmaxDeviceOperation", folder, "reader_rows.cpp",
                                 "softmax.cpp", {c_0, c_1, c_2, c_3, c_4, c_24, c_25, c_16},
                                 {at(logits_), 0, 1, side, 0, 1, 1, bits(1), 0, 0, 0, 0, 0}, {1, 1},
                                 odds_, 1));
        elementwise(odds_, SAME_PAGES, y_, 0, SUB, error_);
        product(x_turned_, error_, slope_);
        elementwise(slope_, SCALAR, slope_, rate, MUL, change_);
        elementwise(weights_, SAME_PAGES, change_, 0, SUB, next_);
        // the new weights take the old ones' place
        elementwise(next_, SCALAR, next_, 1, MUL, weights_);
    }

    // One step; the loss before it.
    float step()
    {
        ZoneScopedN("train_step");
        for (auto &op : ops_)
            op->run(++n_launches_);
        std::vector<uint32_t> odds;
        Finish(device_->command_queue());
        EnqueueReadBuffer(device_->command_queue(), odds_, odds, true);
        float loss = 0;
        for (uint32_t row = 0; row < side; row++) {
            float likely;
            std::memcpy(&likely, &odds[in_faces(row, target_[row])], sizeof likely);
            loss -= std::log(likely) / side;
        }
        return loss;
    }

  private:
    void put(const Tile &tile, const std::vector<uint32_t> &words)
    {
        EnqueueWriteBuffer(device_->command_queue(), tile, words, true);
    }
    void product(const Tile &a, const Tile &b, const Tile &to)
    {
        ops_.emplace_back(new Op(device_, "MatmulDeviceOperation", folder_, "reader_matmul.cpp",
                                 "matmul.cpp", {c_0, c_1, c_16},
                                 {at(a), 0, at(b), 0, 1, 1, 1, 0, side, 0, 1}, {1, 1}, to, 2));
    }
    void elementwise(const Tile &a, uint32_t how, const Tile &b, float scalar, uint32_t function,
                     const Tile &to)
    {
        ops_.emplace_back(new Op(device_, "BinaryNgDeviceOperation", folder_, "reader_tiles.cpp",
                                 "eltwise.cpp", {c_0, c_1, c_16},
                                 {at(a), 0, at(b), 0, how, bits(scalar), 1, 0, 1, 0},
                                 {1, function, how == SCALAR}, to, how == SCALAR ? 1 : 2));
    }

    IDevice *device_; // borrowed: must outlive this
    std::string folder_;
    Tile x_, x_turned_, y_, weights_, logits_, odds_, error_, slope_, change_, next_;
    std::vector<uint32_t> target_;
    std::vector<std::unique_ptr<Op>> ops_;
    uint32_t n_launches_ = 0;
};

int run(const std::string &folder, int n_steps)
{
    IDevice *device = CreateDevice(0);
    float first = 0, loss = 0;
    {
        Trainer trainer(device, folder);
        for (int i = 0; i < n_steps; i++) {
            FrameMarkNamed("step");
            loss = trainer.step();
            if (!i)
                first = loss;
            std::printf("step %d, loss %.4f\n", i, loss);
        }
        ReadMeshDeviceProfilerResults(*device);
    }
    CloseDevice(device);
    return n_steps > 1 && !(loss < first);
}

} // namespace

int main(int argc, char **argv)
{
    const char *said = std::getenv("STROBE_EXAMPLE_KERNELS");
    try {
        return run(said ? said : STROBE_EXAMPLE_KERNELS, argc > 1 ? std::atoi(argv[1]) : 5);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "strobe-nano-gpt: %s\n", failure.what());
        return 1;
    }
}
