/* churn.c - a program with a device, for tests: launches a kernel with many zones again and again, then prints what each RISC emitted and
 * dropped by the device's own count.
 *
 *   device_churn LAUNCHES ZONES [PER_FINISH] [COMMAND]    COMMAND: hang, reset, garbage, see below; "" is none
 *
 * CHURN_PAUSE_US: rest between two finishes. CHURN_HOLD: a file that has to be there before the device is closed.
 *
 * Lines: `lane LOGICAL_X LOGICAL_Y RISC EMITTED DROPPED STALLS`.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strobe/device.h"
#include "need.h"

static const char kernel[] = "#include <tools/profiler/kernel_profiler.hpp>\n"
                             "void kernel_main()\n"
                             "{\n"
                             "    DeviceZoneScopedN(\"all\");\n"
                             "    uint32_t n = get_arg_val<uint32_t>(0);\n"
                             "    for (uint32_t i = 0; i < n; i++) {\n"
                             "        DeviceZoneScopedN(\"outer\");\n"
                             "        { DeviceZoneScopedN(\"inner\"); }\n"
                             "        if (i % 16 == 0) DeviceTimestampedData(\"value\", i);\n"
                             "    }\n"
                             "    if (get_arg_val<uint32_t>(1)) { DeviceZoneScopedN(\"stuck\"); "
                             "while (1) { __asm__ volatile(\"\"); } }\n"
                             "}\n";
#define DATA    "#include \"dataflow_api.h\"\n"
#define COMPUTE "#include \"compute_kernel_api.h\"\n"

static struct strobe_program *make(const struct strobe_device_info *info, uint32_t n_zones,
                                   uint32_t hangs)
{
    static const struct {
        enum strobe_device_risc risc;
        const char *head;
    } kinds[] = {{STROBE_DEVICE_BRISC, DATA},
                 {STROBE_DEVICE_NCRISC, DATA},
                 {STROBE_DEVICE_COMPUTE, COMPUTE}};
    struct strobe_device_cores all = {0, 0, info->grid_x - 1, info->grid_y - 1},
                               first = {0, 0, 0, 0};
    struct strobe_program *program;
    need(strobe_program_create(&program), "program");
    need(strobe_program_rename(program, "churn"), "name");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char text[sizeof kernel + 64];
        snprintf(text, sizeof text, "%s%s", kinds[i].head, kernel);
        struct strobe_device_kernel one = {
            .text = text, .name = "churn", .cores = all, .risc = kinds[i].risc};
        uint32_t id, args[] = {n_zones / 2, 0}, stuck[] = {n_zones / 2, hangs};
        need(strobe_program_kernel(program, &one, &id), "kernel");
        need(strobe_program_args(program, id, all, args, 2), "arguments");
        if (hangs && kinds[i].risc == STROBE_DEVICE_BRISC)
            need(strobe_program_args(program, id, first, stuck, 2), "arguments");
    }
    return program;
}

static void print_counts(struct strobe_device *device, const struct strobe_device_info *info)
{
    for (uint32_t y = 0; y < info->grid_y; y++)
        for (uint32_t x = 0; x < info->grid_x; x++)
            for (uint32_t risc = 0; risc < 5; risc++) {
                struct strobe_device_count count;
                uint32_t at_x, at_y;
                need(strobe_device_physical(device, x, y, &at_x, &at_y), "core");
                need(strobe_device_count_read(device, at_x, at_y, risc, &count), "count");
                printf("lane %u %u %u %llu %llu %llu\n", x, y, risc,
                       (unsigned long long)count.n_emitted, (unsigned long long)count.n_dropped,
                       (unsigned long long)count.n_stalls);
            }
    fflush(stdout);
}

static void run(struct strobe_device *device, struct strobe_program *program, uint32_t n_launches,
                uint32_t per_finish)
{
    const char *pause = getenv("CHURN_PAUSE_US");
    for (uint32_t i = 0; i < n_launches; i++) {
        need(strobe_device_enqueue(device, program, NULL), "enqueue");
        if (i % per_finish != per_finish - 1)
            continue;
        need(strobe_device_finish(device), "finish");
        if (pause)
            usleep((useconds_t)atoi(pause));
    }
    need(strobe_device_finish(device), "finish");
}

/* The profiler's words of a core are overwritten: the lane's own, its control words, its rings. */
static void spoil(struct strobe_device *device, uint32_t x, uint32_t y)
{
    uint32_t garbage[1024], at_x, at_y;
    for (uint32_t i = 0; i < 1024; i++)
        garbage[i] = i * 2654435761u | 0x5a000000u;
    need(strobe_device_physical(device, x, y, &at_x, &at_y), "core");
    for (uint32_t offset = 0; offset < 0x4000; offset += sizeof garbage)
        need(strobe_device_l1_write(device, at_x, at_y, 0x1000 + offset, garbage, sizeof garbage),
             "garbage");
}

int main(int argc, char **argv)
{
    uint32_t n_launches = argc > 1 ? (uint32_t)atoi(argv[1]) : 10;
    uint32_t n_zones = argc > 2 ? (uint32_t)atoi(argv[2]) : 100;
    uint32_t per_finish = argc > 3 ? (uint32_t)atoi(argv[3]) : 8;
    const char *command = argc > 4 ? argv[4] : "";
    struct strobe_device *device;
    struct strobe_device_info info;
    need(strobe_device_open(NULL, 0, &device), "open");
    strobe_device_describe(device, &info);
    struct strobe_program *program = make(&info, n_zones, 0);
    run(device, program, n_launches, per_finish);
    if (!strcmp(command, "garbage"))
        spoil(device, 0, 0);
    if (!strcmp(command, "hang") || !strcmp(command, "reset")) {
        struct strobe_program *stuck = make(&info, n_zones, 1);
        need(strobe_device_enqueue(device, stuck, NULL), "enqueue");
        enum strobe_device_result result = strobe_device_finish(device);
        printf("finish %s\n", strobe_device_result_text(result));
        strobe_program_free(stuck);
    }
    print_counts(device, &info);
    if (!strcmp(command, "reset") || !strcmp(command, "garbage")) {
        need(strobe_device_reset(device), "reset");
        run(device, program, n_launches, per_finish);
        printf("after\n");
        print_counts(device, &info);
    }
    for (const char *hold = getenv("CHURN_HOLD"); hold && access(hold, F_OK);)
        usleep(5000);
    need(strobe_device_finish(device), "finish");
    strobe_program_free(program);
    strobe_device_close(device);
    puts("end");
    return 0;
}
