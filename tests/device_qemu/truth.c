/* truth.c - a program whose kernels record what they read of their core's clock. Under QEMU without -icount that is the machine's own time
 * stamp counter, so whoever reads the trace knows where these times belong; with -icount it is a number of instructions. Recorded by
 * test_clock.py.
 *
 *   device_qemu_truth PROGRAMS PAUSE_US     the device is idle between two programs
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "strobe/device.h"
#include "../device_sim/need.h"

static const char kernel[] = "#include \"dataflow_api.h\"\n"
                             "#include <tools/profiler/kernel_profiler.hpp>\n"
                             "static uint64_t counter()\n"
                             "{\n"
                             "    uint32_t low, high;\n"
                             "    STROBE_DEVICE_CLOCK(low, high);\n"
                             "    return (uint64_t)high << 32 | low;\n"
                             "}\n"
                             "void kernel_main()\n"
                             "{\n"
                             "    for (uint32_t i = 0; i < 4; i++) {\n"
                             "        uint64_t before = counter();\n"
                             "        DeviceTimestampedData(\"before\", before);\n"
                             "        uint64_t after = counter();\n"
                             "        DeviceTimestampedData(\"after\", after);\n"
                             "    }\n"
                             "}\n";

int main(int argc, char **argv)
{
    int n_programs = argc > 1 ? atoi(argv[1]) : 10;
    useconds_t pause = argc > 2 ? (useconds_t)atoi(argv[2]) : 20000;
    struct strobe_device *device;
    struct strobe_program *program;
    struct strobe_device_kernel one = {
        .text = kernel, .name = "truth", .risc = STROBE_DEVICE_BRISC};
    uint32_t id;
    need(strobe_device_open(NULL, 0, &device), "open");
    need(strobe_program_create(&program), "program");
    need(strobe_program_kernel(program, &one, &id), "kernel");
    for (int i = 0; i < n_programs; i++) {
        need(strobe_device_enqueue(device, program, NULL), "enqueue");
        need(strobe_device_finish(device), "finish");
        usleep(pause);
    }
    strobe_program_free(program);
    strobe_device_close(device);
    puts("end");
    return 0;
}
