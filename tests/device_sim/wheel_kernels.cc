// wheel_kernels.cc - real kernels of tt-metal's wheel on the simulator, to right results. Prints a line per case; exit 1 where one is wrong.
//   wheel_kernels FOLDER [hang]      FOLDER: the wheel, unpacked; hang: only the kernel that never ends
// The kernels are read from FOLDER, compiled against our headers, and belong to nobody here. What feeds or empties their circular
// buffers, where they need a partner, is below.  SPDX-License-Identifier: MIT
#include <tt_metal/host_api.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

using namespace tt::tt_metal;
using tt::tt_metal::detail::check;

namespace
{

constexpr uint32_t tile_words = 1024, tile_bytes = 2 * tile_words; // bfloat16
std::string operations, profiler;
int n_failed;

void say(const char *name, uint64_t n_checked, uint64_t n_wrong)
{
    std::printf("%s: %llu checked, %llu wrong\n", name, (unsigned long long)n_checked,
                (unsigned long long)n_wrong);
    n_failed += n_wrong || !n_checked;
}

uint16_t to_bfloat16(float value)
{
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    return (uint16_t)((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}

float from_bfloat16(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

std::vector<uint16_t> numbers(uint32_t n_tiles)
{
    std::vector<uint16_t> all(n_tiles * tile_words);
    for (uint32_t i = 0; i < all.size(); i++)
        all[i] = to_bfloat16((float)(i * 7 % 256) / 64 - 2);
    return all;
}

uint64_t differences(const std::vector<uint16_t> &a, const std::vector<uint16_t> &b)
{
    uint64_t n = a.size() != b.size();
    for (size_t i = 0; i < a.size() && i < b.size(); i++)
        n += a[i] != b[i];
    return n;
}

void ring(Program &program, CoreCoord core, uint8_t index, uint32_t n_pages,
          tt::DataFormat format = tt::DataFormat::Float16_b)
{
    uint32_t page = format == tt::DataFormat::Float32 ? 2 * tile_bytes : tile_bytes;
    CreateCircularBuffer(
        program, core,
        CircularBufferConfig(n_pages * page, {{index, format}}).set_page_size(index, page));
}

KernelHandle kernel(Program &program, const std::string &path, CoreCoord core, bool is_reader,
                    std::vector<uint32_t> compile_args = {},
                    std::map<std::string, std::string> defines = {})
{
    if (is_reader)
        return CreateKernel(program, path, core, ReaderDataMovementConfig(compile_args, defines));
    return CreateKernel(program, path, core, WriterDataMovementConfig(compile_args, defines));
}

void run(IDevice *device, Program &program)
{
    EnqueueProgram(device->command_queue(), program, true);
}

const CoreCoord origin{0, 0};

// ---- one core, no partner ----

void blank(IDevice *device)
{
    Program program = CreateProgram();
    CoreCoord grid = device->compute_with_storage_grid_size();
    CoreRange all({0, 0}, {grid.x - 1, grid.y - 1});
    CreateKernel(program, operations + "examples/example/device/kernels/dataflow/blank.cpp", all,
                 WriterDataMovementConfig());
    run(device, program);
    say("blank", grid.x * grid.y, 0);
}

void spins(IDevice *device)
{
    Program program = CreateProgram();
    kernel(program, operations + "debug/device/kernels/dataflow/device_delay_spin.cpp", origin,
           false, {200000});
    run(device, program);
    say("device_delay_spin", 1, 0); // its length is in the trace
}

// The clock's samples, as the host would take them: another core plays the host.
void synchronizes()
{
    constexpr uint32_t n_samples = 249, mailbox = 0x1000, reset_low = 49;
    strobe_device_options options;
    check(strobe_device_options_init(&options));
    options.mode = STROBE_DEVICE_MODE_CLASSIC;
    strobe_device *device;
    check(strobe_device_open(&options, 0, &device));
    strobe_program *program;
    check(strobe_program_create(&program));
    std::string path = profiler + "sync/sync_kernel.cpp", count = std::to_string(n_samples);
    strobe_device_define define = {"SAMPLE_COUNT", count.c_str()};
    strobe_device_kernel sync = {};
    sync.path = path.c_str();
    sync.risc = STROBE_DEVICE_BRISC;
    sync.defines = &define;
    sync.n_defines = 1;
    strobe_device_kernel host = {};
    host.text = "#include \"dataflow_api.h\"\n"
                "void kernel_main() {\n"
                "  uint64_t word = get_noc_addr(get_arg_val<uint32_t>(0), "
                "get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2));\n"
                "  volatile uint32_t *seen = reinterpret_cast<volatile uint32_t *>(0x60000);\n"
                "  for (uint32_t i = 1; i <= get_arg_val<uint32_t>(3); i++) {\n"
                "    noc_inline_dw_write(word, i); noc_async_write_barrier();\n"
                "    do { noc_async_read(word, 0x60000, 4); noc_async_read_barrier(); } while "
                "(*seen); } }\n";
    host.name = "host";
    host.cores = {1, 0, 1, 0};
    host.risc = STROBE_DEVICE_NCRISC;
    uint32_t id;
    check(strobe_program_kernel(program, &sync, &id));
    check(strobe_program_kernel(program, &host, &id));
    uint32_t x, y;
    check(strobe_device_physical(device, 0, 0, &x, &y));
    uint32_t args[] = {x, y, mailbox + 4 * reset_low, n_samples};
    check(strobe_program_args(program, id, host.cores, args, 4));
    check(strobe_device_enqueue(device, program, nullptr));
    check(strobe_device_finish(device));
    std::vector<uint32_t> words(2 * (n_samples + 1));
    check(strobe_device_l1_read(device, x, y, mailbox + 256 + 4 * 12, words.data(),
                                (uint32_t)words.size() * 4));
    uint64_t wrong = words[1] != words[2]; // the first sample comes with the clock's high half
    for (uint32_t i = 1; i <= n_samples; i++)
        wrong += words[2 * i + 1] != i || (i > 1 && words[2 * i] - words[2 * i - 2] > 10000);
    say("sync_kernel", n_samples, wrong);
    strobe_program_free(program);
    strobe_device_close(device);
}

// ---- readers and writers ----

const char *const copy_folder = "data_movement/copy/device/kernels/";

void shards(IDevice *device)
{
    constexpr uint32_t n = 6;
    std::vector<uint16_t> from = numbers(n), back;
    auto to = CreateBuffer({device, n * tile_bytes, tile_bytes});
    Program program = CreateProgram();
    ring(program, origin, 3, n);
    // the shard lies where the circular buffer will be: the first byte that programs may use
    CoreCoord core = device->worker_core_from_logical_core(origin);
    check(strobe_device_l1_write(device->handle(), core.x, core.y, 0x20000, from.data(),
                                 n * tile_bytes));
    auto reader = kernel(program,
                         operations + "data_movement/sharded/device/kernels/dataflow/"
                                      "reader_unary_sharded.cpp",
                         origin, true, {3});
    std::vector<uint32_t> args = {3};
    TensorAccessorArgs(*to).append_to(args);
    auto writer = kernel(program, operations + copy_folder + "writer_unary_start_id.cpp", origin,
                         false, args);
    SetRuntimeArgs(program, reader, origin, {n});
    SetRuntimeArgs(program, writer, origin, {to->address(), n, 0});
    run(device, program);
    EnqueueReadBuffer(device->command_queue(), to, back, true);
    say("reader_unary_sharded", back.size(), differences(from, back));
}

void copies(IDevice *device, bool backwards)
{
    constexpr uint32_t n = 20;
    std::vector<uint16_t> from = numbers(n), back;
    auto source = CreateBuffer({device, n * tile_bytes, tile_bytes}),
         target = CreateBuffer({device, n * tile_bytes, tile_bytes});
    EnqueueWriteBuffer(device->command_queue(), source, from, false);
    Program program = CreateProgram();
    ring(program, origin, 0, 2);
    std::map<std::string, std::string> defines;
    if (backwards)
        defines["BACKWARDS"] = "1";
    std::vector<uint32_t> args = {0};
    TensorAccessorArgs(*target).append_to(args);
    auto reader = kernel(program, operations + copy_folder + "reader_unary_start_id.cpp", origin,
                         true, TensorAccessorArgs(*source).get_compile_time_args(), defines);
    auto writer = kernel(program, operations + copy_folder + "writer_unary_start_id.cpp", origin,
                         false, args, defines);
    uint32_t first = backwards ? n - 1 : 0;
    SetRuntimeArgs(program, reader, origin, {source->address(), n, first});
    SetRuntimeArgs(program, writer, origin, {target->address(), n, first});
    run(device, program);
    EnqueueReadBuffer(device->command_queue(), target, back, true);
    say(backwards ? "unary_start_id, backwards" : "unary_start_id", back.size(),
        differences(from, back));
}

// Reader, compute, writer: a function of every number.
void computes(IDevice *device, const char *name, const char *chain,
              const std::function<float(float)> &want)
{
    constexpr uint32_t n = 8, at = 0x80000;
    std::vector<uint16_t> from = numbers(n), back(from.size());
    CoreCoord source = device->worker_core_from_logical_core({1, 1}),
              target = device->worker_core_from_logical_core({0, 1});
    check(strobe_device_l1_write(device->handle(), source.x, source.y, at, from.data(),
                                 n * tile_bytes));
    Program program = CreateProgram();
    ring(program, origin, tt::CBIndex::c_0, 2);
    ring(program, origin, tt::CBIndex::c_2, 4);
    const std::string folder = operations + "examples/example/device/kernels/";
    auto reader = kernel(program, folder + "dataflow/reader_unary.cpp", origin, true);
    auto writer = kernel(program, folder + "dataflow/writer_unary.cpp", origin, false);
    ComputeConfig config;
    config.compile_args = {n / 2, 2};
    if (chain)
        config.defines["SFPU_OP_CHAIN_0"] = chain;
    CreateKernel(program, folder + "compute/eltwise_sfpu.cpp", origin, config);
    SetRuntimeArgs(program, reader, origin, {at, source.x, source.y, n});
    SetRuntimeArgs(program, writer, origin, {at, target.x, target.y, n});
    run(device, program);
    check(strobe_device_l1_read(device->handle(), target.x, target.y, at, back.data(),
                                n * tile_bytes));
    uint64_t wrong = 0;
    for (size_t i = 0; i < back.size(); i++)
        wrong += back[i] != to_bfloat16(want(from_bfloat16(from[i])));
    say(name, back.size(), wrong);
}

// ---- kernels with zones of their own ----

void scans(IDevice *device)
{
    constexpr uint32_t rows = 2, k_rows = 3, width = 2, full_width = 6, head = 1, block = 2,
                       chunks = 4, n_o = 2 * chunks * rows * full_width,
                       n_state = 2 * k_rows * full_width;
    auto o = CreateBuffer({device, n_o * tile_bytes, tile_bytes}),
         state = CreateBuffer({device, n_state * 2 * tile_bytes, 2 * tile_bytes});
    Program program = CreateProgram();
    ring(program, origin, 16, 2 * rows * width);
    ring(program, origin, 27, k_rows * width, tt::DataFormat::Float32);
    std::vector<uint32_t> args = {rows, k_rows, width, full_width};
    TensorAccessorArgs(*o).append_to(args);
    TensorAccessorArgs(*state).append_to(args);
    auto writer = kernel(program,
                         operations + "transformer/chunk_gated_delta_rule/device/kernels/"
                                      "dataflow/writer_chunk_gdn_scan.cpp",
                         origin, false, args);
    SetRuntimeArgs(program, writer, origin, {head, block, chunks, o->address(), state->address()});
    // word 0 of each page is its number
    const char *feeder =
        "#include \"dataflow_api.h\"\n"
        "void feed(uint32_t cb, uint32_t n, uint32_t first) {\n"
        "  cb_reserve_back(cb, n);\n"
        "  for (uint32_t i = 0; i < n; i++)\n"
        "    *reinterpret_cast<volatile uint32_t *>(get_write_ptr(cb) + i * get_tile_size(cb)) = "
        "first + i;\n"
        "  cb_push_back(cb, n); }\n"
        "void kernel_main() {\n"
        "  for (uint32_t c = 0; c < 4; c++) feed(16, 4, 1000 + 4 * c);\n"
        "  feed(27, 6, 2000); }\n";
    CreateKernelFromString(program, feeder, origin, ReaderDataMovementConfig());
    run(device, program);
    std::vector<uint32_t> back, back_state;
    EnqueueReadBuffer(device->command_queue(), o, back, true);
    EnqueueReadBuffer(device->command_queue(), state, back_state, true);
    uint64_t wrong = 0;
    for (uint32_t c = 0; c < chunks; c++)
        for (uint32_t i = 0; i < rows * width; i++) {
            uint32_t page = (head * chunks + c) * rows * full_width + i / width * full_width +
                            block * width + i % width;
            wrong += back[page * tile_bytes / 4] != 1000 + c * rows * width + i;
        }
    for (uint32_t i = 0; i < k_rows * width; i++) {
        uint32_t page =
            head * k_rows * full_width + i / width * full_width + block * width + i % width;
        wrong += back_state[page * 2 * tile_bytes / 4] != 2000 + i;
    }
    say("writer_chunk_gdn_scan", chunks * rows * width + k_rows * width, wrong);
}

void receives(IDevice *device)
{
    constexpr uint32_t n_pages = 3, page = 1024, offset = 2, signal = 0x70000, gathered = 0x90000;
    CoreCoord from = device->worker_core_from_logical_core({1, 1}),
              to = device->worker_core_from_logical_core({2, 2});
    CoreCoord core = device->worker_core_from_logical_core(origin);
    Program program = CreateProgram();
    CreateCircularBuffer(program, origin,
                         CircularBufferConfig(n_pages * page, {{5, tt::DataFormat::Float16_b}})
                             .set_page_size(5, page));
    CoreRange grid({0, 0}, {2, 2});
    std::vector<uint32_t> args = {2, 5, page, 4};
    for (int i = 0; i < 4; i++)
        args.push_back(CreateSemaphore(program, grid, 0));
    auto receiver = kernel(program,
                           operations + "experimental/ccl/llama_all_gather_matmul_async/device/"
                                        "kernels/worker_receiver.cpp",
                           origin, true, args);
    // core 1 of the ring, which is not the first: it waits for its neighbour, number 2, too
    SetRuntimeArgs(program, receiver, origin,
                   {signal, 1, 0, gathered, from.x, from.y, to.x, to.y, 4, n_pages, offset, 0, 2});
    std::vector<uint32_t> data(n_pages * page / 4);
    for (uint32_t i = 0; i < data.size(); i++)
        data[i] = 77 * i + 5;
    uint32_t zero = 0;
    check(strobe_device_l1_write(device->handle(), core.x, core.y, signal, &zero, 4));
    check(strobe_device_l1_write(device->handle(), core.x, core.y, 0x20000, data.data(),
                                 n_pages * page));
    const char *sender =
        "#include \"dataflow_api.h\"\n"
        "void kernel_main() {\n"
        "  uint32_t x = get_arg_val<uint32_t>(0), y = get_arg_val<uint32_t>(1);\n"
        "  for (int i = 0; i < 3; i++) noc_semaphore_inc(get_noc_addr(x, y, "
        "get_arg_val<uint32_t>(2)), 1);\n"
        "  noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(get_arg_val<uint32_t>(3))), 1);\n"
        "  noc_async_atomic_barrier(); }\n";
    auto other =
        CreateKernelFromString(program, sender, CoreCoord{3, 3}, WriterDataMovementConfig());
    SetRuntimeArgs(program, other, CoreCoord{3, 3}, {core.x, core.y, signal, args[6]});
    run(device, program);
    uint64_t wrong = 0, n = 0;
    for (uint32_t y = from.y; y <= to.y; y++)
        for (uint32_t x = from.x; x <= to.x; x++) {
            std::vector<uint32_t> got(data.size());
            uint32_t semaphore;
            check(strobe_device_l1_read(device->handle(), x, y, gathered + offset * n_pages * page,
                                        got.data(), n_pages * page));
            check(strobe_device_l1_read(device->handle(), x, y, 0x10000 + 16 * args[5], &semaphore,
                                        4));
            for (size_t i = 0; i < got.size(); i++, n++)
                wrong += got[i] != data[i];
            wrong += semaphore != 1;
        }
    say("worker_receiver", n, wrong);
}

void hangs(IDevice *device)
{
    Program program = CreateProgram();
    CreateKernel(program,
                 operations +
                     "experimental/test/hang_device/device/kernels/compute/hang_device_kernel.cpp",
                 origin, ComputeConfig());
    std::string reason = "it came to an end";
    try {
        run(device, program);
    } catch (const std::exception &failure) {
        reason = failure.what();
    }
    say("hang_device_kernel", 1,
        reason.find("hang_device_kernel.cpp: runs on without an end") == std::string::npos);
    std::printf("%s\n", reason.c_str());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    operations = std::string(argv[1]) + "/ttnn/ttnn/cpp/ttnn/operations/";
    profiler = std::string(argv[1]) + "/ttnn/tt_metal/tools/profiler/";
    setenv("STROBE_KERNEL_INCLUDE", (std::string(argv[1]) + "/ttnn/ttnn/cpp").c_str(), 1);
    try {
        IDevice *device = CreateDevice(0);
        if (argc > 2) {
            hangs(device);
        } else {
            blank(device);
            spins(device);
            shards(device);
            copies(device, false);
            copies(device, true);
            computes(device, "eltwise_sfpu, copy", nullptr, [](float x) { return x; });
            computes(device, "eltwise_sfpu, relu", "relu_tile_init(); relu_tile(0);",
                     [](float x) { return x > 0 ? x : 0; });
            scans(device);
            receives(device);
        }
        CloseDevice(device);
        if (argc == 2)
            synchronizes();
    } catch (const std::exception &failure) {
        std::printf("%s\n", failure.what());
        return 1;
    }
    return n_failed ? 1 : 0;
}
