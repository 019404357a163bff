#!/usr/bin/env python3
"""test_seed.py TREE BUILD: the complete example of the profiling guide, its host code and its kernel as printed, compiles against our
headers and runs on the simulator. The guide is read from the folder `seeds` of STROBE_SHARED, or of `shared` beside the tree;
without it nothing can be tested, which is said (exit 77)."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MAIN = r"""
#include "tt_metal/impl/profiler/tt_metal_profiler.hpp"
#include <cstdio>
int main(int, char **argv)
{
    using namespace tt::tt_metal;
    constexpr uint32_t n_tiles = 6, bytes = 2048;
    IDevice *device = CreateDevice(0);
    {
        auto from = CreateBuffer({device, n_tiles * bytes, bytes}), to = CreateBuffer({device, n_tiles * bytes, bytes});
        std::vector<uint32_t> words(n_tiles * bytes / 4), back;
        for (uint32_t i = 0; i < words.size(); i++)
            words[i] = i;
        EnqueueWriteBuffer(device->command_queue(), from, words, true);
        Program program = CreateProgram();
        CreateCircularBuffer(program, CoreCoord{0, 0}, CircularBufferConfig(bytes, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, bytes));
        auto kernel = CreateKernel(program, argv[1], CoreCoord{0, 0},
                                   DataMovementConfig{DataMovementProcessor::RISCV_0, NOC::RISCV_0_default, {}, {{"cb_id", "0"}}});
        SetRuntimeArgs(program, kernel, CoreCoord{0, 0}, {from->address(), to->address(), n_tiles});
        run_inference(device, program);
        EnqueueReadBuffer(device->command_queue(), to, back, true);
        unsigned wrong = 0; // the kernel reads all tiles into one page and writes that page to every tile: the last one
        for (uint32_t i = 0; i < back.size(); i++)
            wrong += back[i] != words[words.size() - bytes / 4 + i % (bytes / 4)];
        ReadMeshDeviceProfilerResults(*device);
        strobe_device_count count;
        detail::check(strobe_device_count_read(device->handle(), 1, 1, 0, &count));
        std::printf("%u wrong, %llu zones\n", wrong, (unsigned long long)count.n_emitted);
    }
    CloseDevice(device);
}
"""


def main():
    tree, build = map(pathlib.Path, sys.argv[1:3])
    shared = pathlib.Path(os.environ.get("STROBE_SHARED", tree.parent / "shared"))
    guides = [p for p in sorted(shared.glob("seeds/*.txt")) if "DATAFLOW-KERNEL" in p.read_text()]
    if not guides:
        print("skipped: no guide with a complete example in", shared / "seeds")
        return 77
    blocks = re.findall(r"```cpp\n(.*?)```", guides[0].read_text(), re.S)
    kernel = next(b for b in blocks if "DATAFLOW-KERNEL" in b)
    host = next(b for b in blocks if "run_inference" in b)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "kernel.cpp").write_text(kernel)
        (folder / "host.cpp").write_text(host + MAIN)
        subprocess.run(["g++", "-std=c++17", "-O1", f"-I{tree}/include", str(folder / "host.cpp"), "-o", str(folder / "host"),
                        f"-L{build}/lib", "-lstrobe-device", f"-Wl,-rpath,{build}/lib"], check=True)
        env = dict(os.environ, TT_METAL_DEVICE_PROFILER="1", STROBE_KERNEL_CACHE=str(folder / "cache"), TT_METAL_PROFILER_DIR=str(folder / "profiler"))
        said = subprocess.run([str(folder / "host"), str(folder / "kernel.cpp")], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(said, end="")
    # zones: the firmware's and the kernel's, DATAFLOW-KERNEL, ReadFromDRAM, WriteToDRAM
    return 0 if said == "0 wrong, 5 zones\n" else 1


if __name__ == "__main__":
    sys.exit(main())
