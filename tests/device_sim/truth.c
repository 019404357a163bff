/* truth.c - a program that knows where the times of its simulated devices belong: each has a frequency, an offset, a drift and origins of its own, drawn from a seed, and
 * the program, which is linked with the simulator itself, prints them. Recorded by test_clock.py.
 *
 *   device_sim_truth SEED DEVICES PROGRAMS    a line per core: device, track's place x and y, host's ns and cycles at one time, cycles per ns
 *
 * A kernel on every worker writes what it reads of its core's clock, before and behind the reading that is in the mark itself.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device_host/internal.h"
#include "device_sim/internal.h"
#include "need.h"

enum { MOST = 4, PAUSE_US = 4000 };

static const char kernel[] =
    "#include \"dataflow_api.h\"\n"
    "#include <tools/profiler/kernel_profiler.hpp>\n"
    "void kernel_main()\n"
    "{\n"
    "    for (uint32_t i = 0; i < 4; i++) {\n"
    "        uint32_t low, high;\n"
    "        STROBE_DEVICE_CLOCK(low, high);\n"
    "        DeviceTimestampedData(\"before\", (uint64_t)high << 32 | low);\n"
    "        STROBE_DEVICE_CLOCK(low, high);\n"
    "        DeviceTimestampedData(\"after\", (uint64_t)high << 32 | low);\n"
    "    }\n"
    "}\n";

/* Between 0 and 1. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static struct strobe_device *open_device(uint32_t number, uint64_t seed)
{
    struct strobe_device_options options = {.bytes = sizeof options};
    struct strobe_device *device;
    uint64_t state = seed * 8 + number;
    for (int i = 0; i < 8; i++)
        draw(&state);
    need(strobe_device_options_init(&options), "options");
    options.grid_x = 3;
    options.grid_y = 2;
    options.seed = seed * 8 + number + 1;
    options.frequency_mhz = 1000 + 500 * draw(&state);
    options.offset_ns = 2e6 * draw(&state) - 1e6;
    options.drift_ppm = 100 * draw(&state) - 50;
    options.jitter_ns = 200 * draw(&state);
    options.core_origin_ns = 1e6 * draw(&state);
    need(strobe_device_open(&options, number, &device), "open");
    return device;
}

static void say_truth(uint32_t number, const struct strobe_device *device)
{
    const struct strobe_sim_unit *unit = device->unit;
    for (uint32_t i = 0; i < unit->board.n_cores; i++)
        if (unit->cores[i].is->kind == STROBE_CORE_WORKER)
            printf("%" PRIu32 " %u %u %" PRIu64 " %.17g %.17g\n", number,
                   (unsigned)unit->cores[i].is->logical_x, (unsigned)unit->cores[i].is->logical_y,
                   unit->base_ns, unit->base_cycles + (double)unit->cores[i].origin,
                   unit->cycles_per_ns);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint32_t n_devices = argc > 2 ? (uint32_t)atoi(argv[2]) : 1, id;
    uint32_t n_programs = argc > 3 ? (uint32_t)atoi(argv[3]) : 6;
    struct strobe_device *devices[MOST];
    struct strobe_program *program;
    struct strobe_device_kernel one = {
        .text = kernel, .name = "truth", .cores = {0, 0, 2, 1}, .risc = STROBE_DEVICE_BRISC};
    if (n_devices < 1 || n_devices > MOST)
        return 2;
    for (uint32_t i = 0; i < n_devices; i++)
        devices[i] = open_device(i, seed);
    need(strobe_program_create(&program), "program");
    need(strobe_program_kernel(program, &one, &id), "kernel");
    for (uint32_t i = 0; i < n_programs; i++) {
        for (uint32_t k = 0; k < n_devices; k++)
            need(strobe_device_enqueue(devices[k], program, NULL), "enqueue");
        for (uint32_t k = 0; k < n_devices; k++)
            need(strobe_device_finish(devices[k]), "finish");
        usleep(PAUSE_US);
    }
    for (uint32_t i = 0; i < n_devices; i++)
        say_truth(i, devices[i]);
    strobe_program_free(program);
    for (uint32_t i = 0; i < n_devices; i++)
        strobe_device_close(devices[i]);
    return 0;
}
