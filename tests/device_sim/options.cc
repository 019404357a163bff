// options.cc - a program with a device for the options of `python -m tracy`: small ops, as ttnn emits them.
//   device_options WORD...
//   ops N       N ops, each a program of its own, with a data kernel; with `compute` a compute kernel too
//   trace N     the ops captured into a trace, which runs N times
//   read        the profiler is read after each op; `say`: a line on stdout then, and it waits for one on stdin
//   leak        a buffer of L1 that is never freed
//   invalid     the kernel says that its run is not to be recorded
//   abort, kill, exit N, stay   how it ends, with the device open
// SPDX-License-Identifier: MIT
#include <strobe/strobe.h>
#include <tt_metal/impl/profiler/tt_metal_profiler.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

using namespace tt::tt_metal;

namespace
{

const char *const moves =
    "#include <tools/profiler/kernel_profiler.hpp>\n"
    "#include \"dataflow_api.h\"\n"
    "void kernel_main() {\n"
    "  DeviceValidateProfiler(get_arg_val<uint32_t>(1) == 0);\n"
    "  DeviceZoneScopedN(\"Work\");\n"
    "  noc_async_read(get_noc_addr_from_bank_id<true>(0, get_arg_val<uint32_t>(0)), 0x40000, "
    "256);\n"
    "  noc_async_read_barrier();\n"
    "  for (uint32_t i = 0; i < 4; i++) { DeviceZoneScopedSumN1(\"Summed\"); }\n"
    "  DeviceTimestampedData(\"Value\", 42); }\n";
const char *const computes =
    "#include <tools/profiler/kernel_profiler.hpp>\n"
    "#include \"compute_kernel_api/eltwise_unary/exp.h\"\n"
    "void kernel_main() {\n"
    "  DeviceZoneScopedN(\"Compute\");\n"
    "  tile_regs_acquire(); exp_tile_init(); exp_tile(0); tile_regs_commit();\n"
    "  tile_regs_wait(); tile_regs_release(); }\n";

struct Asked {
    uint32_t n_ops = 1, n_replays = 0;
    bool computes = false, reads = false, says = false, leaks = false, invalid = false;
    std::string end;
    int code = 0;
};

Asked read_words(int argc, char **argv)
{
    Asked asked;
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        auto number = [&] { return (uint32_t)std::atoi(i + 1 < argc ? argv[++i] : "0"); };
        if (word == "ops")
            asked.n_ops = number();
        else if (word == "trace")
            asked.n_replays = number();
        else if (word == "exit")
            asked.end = word, asked.code = (int)number();
        else if (word == "compute")
            asked.computes = true;
        else if (word == "read")
            asked.reads = true;
        else if (word == "say")
            asked.says = true;
        else if (word == "leak")
            asked.leaks = true;
        else if (word == "invalid")
            asked.invalid = true;
        else
            asked.end = word;
    }
    return asked;
}

bool is_on(const char *name)
{
    const char *value = std::getenv(name);
    return value && *value == '1';
}

void say(const std::string &text)
{
    strobe_message(STROBE_INFO, 0, text.data(), text.size());
}

// What ttnn emits for an op: the zone, and in it the message; the whole of it once for a program, unless all of them are asked for.
void emit_op(uint32_t id, bool is_first)
{
    if (!is_on("TTNN_OP_PROFILER"))
        return;
    STROBE_ZONE(zone, "TT_DNN_DEVICE_OP");
    strobe_zone_textf("id:%u", id << 10);
    {
        STROBE_SCOPE("CompileProgram");
        STROBE_SCOPE("OwnChild");
        volatile int n = 0; // so that it takes some time
        while (n < 2000)
            n = n + 1;
    }
    std::string head = "`TT_DNN_DEVICE_OP: \"moves\", 7, 0, " +
                       std::string(is_first ? "false" : "true") + ", " + std::to_string(id << 10);
    if (is_first || is_on("TT_METAL_PROFILER_NO_CACHE_OP_INFO"))
        head +=
            " ->\n{\"global_call_count\": " + std::to_string(id << 10) +
            ", \"op_code\": \"moves\", \"op_type\": \"tt_dnn_device\", \"device_id\": 0, "
            "\"op_hash\": 7, "
            "\"program_cache_hit\": " +
            (is_first ? "false" : "true") +
            ", \"attributes\": {}, \"input_tensors\": [], \"output_tensors\": [], \"kernel_info\": "
            "{\"compute_kernels\": [{\"source\": \"computes.cpp\", \"name\": \"n\", "
            "\"math_fidelity\": \"HiFi4\"}], "
            "\"datamovement_kernels\": [{\"source\": \"moves.cpp\", \"name\": \"n\"}]}}";
    say(head + "`");
    STROBE_ZONE_END(zone);
}

void tell_trace(const char *what, uint32_t trace)
{
    if (is_on("TT_METAL_PROFILER_TRACE_TRACKING"))
        say("`TT_METAL_TRACE_" + std::string(what) + ": 0, " + std::to_string(trace) + "`");
}

Program make_program(const Asked &asked, CoreCoord last, uint32_t id, uint32_t address)
{
    Program program = CreateProgram();
    CoreRange all({0, 0}, last);
    auto kernel = CreateKernelFromString(program, moves, all, WriterDataMovementConfig());
    SetRuntimeArgs(program, kernel, all, {address, asked.invalid});
    if (asked.computes)
        CreateKernelFromString(program, computes, all, ComputeConfig{});
    program.set_runtime_id(id);
    return program;
}

void run_ops(IDevice *device, const Asked &asked, std::vector<Program> &programs)
{
    CommandQueue &queue = device->command_queue();
    uint32_t trace = 0;
    if (asked.n_replays) {
        trace = BeginTraceCapture(device);
        tell_trace("BEGIN", trace);
    }
    for (uint32_t i = 0; i < asked.n_ops; i++) {
        emit_op(i + 1, i == 0);
        EnqueueProgram(queue, programs[i], !asked.n_replays);
        if (asked.reads)
            ReadMeshDeviceProfilerResults(*device);
        if (asked.says) {
            std::puts("read");
            std::fflush(stdout);
            std::getchar();
        }
    }
    if (asked.n_replays) {
        EndTraceCapture(device, 0, trace);
        tell_trace("END", trace);
    }
    for (uint32_t i = 0; i < asked.n_replays; i++) {
        tell_trace("REPLAY", trace);
        ReplayTrace(device, 0, trace, true);
    }
}

void end(const Asked &asked)
{
    if (!asked.end.empty())
        std::puts("up"), std::fflush(stdout);
    if (asked.end == "abort")
        std::abort();
    if (asked.end == "kill")
        kill(getpid(), SIGKILL);
    if (asked.end == "exit")
        std::_Exit(asked.code);
    while (asked.end == "stay")
        pause();
}

} // namespace

int main(int argc, char **argv)
{
    Asked asked = read_words(argc, argv);
    try {
        IDevice *device = CreateDevice(0);
        CoreCoord grid = device->compute_with_storage_grid_size();
        {
            auto buffer = CreateBuffer({device, 4096, 1024});
            auto l1 = asked.leaks ? new Buffer({device, 2048, 1024, BufferType::L1}) : nullptr;
            std::vector<Program> programs;
            for (uint32_t i = 0; i < asked.n_ops; i++)
                programs.push_back(
                    make_program(asked, {grid.x - 1, grid.y - 1}, i + 1, buffer->address()));
            run_ops(device, asked, programs);
            end(asked);
            (void)l1; // leaked on purpose
        }
        CloseDevice(device);
        return 0;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "device_options: %s\n", failure.what());
        return 1;
    }
}
