/* pair.c - a program with several devices, for tests: launches a kernel on all of them in turn, with a signpost before each part.
 *
 *   device_pair DEVICES LAUNCHES [REPLAYS]    signposts: warm, LAUNCHES launches, main, twice as many, done; then a trace of two launches,
 *                                             replayed so often on each device
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "strobe/device.h"
#include "strobe/strobe.h"
#include "need.h"

enum { MOST = 8 };

static const char kernel[] = "#include \"dataflow_api.h\"\n"
                             "#include <tools/profiler/kernel_profiler.hpp>\n"
                             "void kernel_main()\n"
                             "{\n"
                             "    for (uint32_t i = 0; i < 3; i++) {\n"
                             "        DeviceZoneScopedN(\"step\");\n"
                             "    }\n"
                             "}\n";

static void run(struct strobe_device **devices, uint32_t n_devices, struct strobe_program *program,
                uint32_t n_launches)
{
    for (uint32_t i = 0; i < n_launches; i++)
        for (uint32_t k = 0; k < n_devices; k++)
            need(strobe_device_enqueue(devices[k], program, NULL), "enqueue");
    for (uint32_t k = 0; k < n_devices; k++)
        need(strobe_device_finish(devices[k]), "finish");
}

static void replay(struct strobe_device *device, struct strobe_program *program, uint32_t n_times)
{
    uint32_t trace;
    need(strobe_device_trace_begin(device, &trace), "capture");
    for (int i = 0; i < 2; i++)
        need(strobe_device_enqueue(device, program, NULL), "enqueue");
    need(strobe_device_trace_end(device, trace), "capture");
    for (uint32_t i = 0; i < n_times; i++)
        need(strobe_device_trace_replay(device, trace), "replay");
    need(strobe_device_finish(device), "finish");
    need(strobe_device_trace_free(device, trace), "trace");
}

int main(int argc, char **argv)
{
    uint32_t n_devices = argc > 1 ? (uint32_t)atoi(argv[1]) : 2;
    uint32_t n_launches = argc > 2 ? (uint32_t)atoi(argv[2]) : 5, id;
    struct strobe_device *devices[MOST];
    struct strobe_device_options options;
    struct strobe_program *program;
    need(strobe_device_options_init(&options), "options");
    options.n_devices = n_devices;
    for (uint32_t k = 0; k < n_devices && k < MOST; k++) {
        options.drift_ppm = 15.0 * k; /* no two clocks are alike */
        need(strobe_device_open(&options, k, &devices[k]), "open");
    }
    struct strobe_device_kernel one = {.text = kernel,
                                       .name = "step",
                                       .cores = {0, 0, options.grid_x - 1, options.grid_y - 1},
                                       .risc = STROBE_DEVICE_BRISC};
    need(strobe_program_create(&program), "program");
    need(strobe_program_kernel(program, &one, &id), "kernel");
    STROBE_MESSAGE(STROBE_INFO, "TT_SIGNPOST: warm");
    run(devices, n_devices, program, n_launches);
    STROBE_MESSAGE(STROBE_INFO, "`TT_SIGNPOST: main\nthe part that counts`");
    run(devices, n_devices, program, 2 * n_launches);
    STROBE_MESSAGE(STROBE_INFO, "TT_SIGNPOST: done");
    for (uint32_t k = 0; argc > 3 && k < n_devices; k++)
        replay(devices[k], program, (uint32_t)atoi(argv[3]));
    strobe_program_free(program);
    for (uint32_t k = 0; k < n_devices; k++)
        strobe_device_close(devices[k]);
    return 0;
}
