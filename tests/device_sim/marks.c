/* marks.c - a program with one device whose kernel makes marks of each kind, for tests.
 *
 *   device_marks LAUNCHES [END]    END: exit, kill (without closing or reading the device), read (it is read, then as exit),
 *                                  wide (the kernel is for one column of cores too many), ask (a launch for
 *                                  each line on stdin, one on stdout behind it)
 *
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strobe/device.h"
#include "need.h"

static const char kernel[] = "#include \"dataflow_api.h\"\n"
                             "#include <tools/profiler/kernel_profiler.hpp>\n"
                             "void kernel_main()\n"
                             "{\n"
                             "    DeviceZoneScopedN(\"all\");\n"
                             "    for (uint32_t i = 0; i < 4; i++) {\n"
                             "        DeviceZoneScopedN(\"step\");\n"
                             "        { DeviceZoneScopedSumN1(\"first sum\"); }\n"
                             "        { DeviceZoneScopedSumN2(\"second sum\"); }\n"
                             "    }\n"
                             "    DeviceTimestampedData(\"one\", 101);\n"
                             "    DeviceTimestampedData(\"two\", 202, 201);\n"
                             "}\n";

static void end(struct strobe_device *device, const char *how)
{
    if (!strcmp(how, "read"))
        need(strobe_device_read(device), "read");
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (*how)
        _exit(0);
    strobe_device_close(device);
}

int main(int argc, char **argv)
{
    int n_launches = argc > 1 ? atoi(argv[1]) : 1;
    struct strobe_device_info info;
    struct strobe_device *device;
    struct strobe_program *program;
    const char *how = argc > 2 ? argv[2] : "";
    uint32_t id;
    need(strobe_device_open(NULL, 0, &device), "open");
    strobe_device_describe(device, &info);
    struct strobe_device_kernel of = {
        .text = kernel, .name = "marks", .cores = {0, 0, info.grid_x - 1, info.grid_y - 1}};
    of.cores.x1 += !strcmp(how, "wide");
    need(strobe_program_create(&program), "program");
    need(strobe_program_kernel(program, &of, &id), "kernel");
    bool asks = !strcmp(how, "ask");
    for (int i = 0; asks ? getchar() != EOF : i < n_launches; i++) {
        need(strobe_device_enqueue(device, program, NULL), "enqueue");
        need(strobe_device_finish(device), "finish");
        if (asks)
            puts("ran"), fflush(stdout);
    }
    end(device, how);
    strobe_program_free(program);
    return 0;
}
