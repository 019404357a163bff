/* planted_device.c - programs with a device on which a known cause is planted, and the bystanders of planted.c.
 *   planted_device MODE [ROUNDS [PERCENT]]
 * kernel: the device is long in `multiply`; starved: the host is long in `fill_batch` before each launch; parts: no cause, no bystanders, nine
 * zones in a kernel, each of a length that the run's seed draws within some tenths of a percent, and `crunch` PERCENT longer.
 * The device is the simulator at 10 MHz: so slow that its kernels take milliseconds, which the host then waits for.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <strobe/device.h>

#include "bystanders.h"
#include "../device_sim/need.h"

enum { N_PARTS = 9, CYCLES = 12, PER_US = 10 }; /* CYCLES: of a barrier with nothing on its way */

static const char kernel_text[] =
    "#include \"dataflow_api.h\"\n"
    "#include <tools/profiler/kernel_profiler.hpp>\n"
    "static void spend(uint32_t n) { for (uint32_t i = 0; i < n; i++) noc_async_write_barrier(); "
    "}\n"
    "void kernel_main()\n"
    "{\n"
    "    { DeviceZoneScopedN(\"load_tile\"); spend(get_arg_val<uint32_t>(0)); }\n"
    "    { DeviceZoneScopedN(\"multiply\"); spend(get_arg_val<uint32_t>(1)); }\n"
    "}\n";

static const char parts_text[] =
    "#include \"dataflow_api.h\"\n"
    "#include <tools/profiler/kernel_profiler.hpp>\n"
    "static void spend(uint32_t n) { for (uint32_t i = 0; i < n; i++) noc_async_write_barrier(); "
    "}\n"
    "#define PART(i) { DeviceZoneScopedN(\"part \" #i); spend(get_arg_val<uint32_t>(i)); }\n"
    "void kernel_main()\n"
    "{\n"
    "    PART(0) PART(1) PART(2) PART(3) PART(4) PART(5) PART(6) PART(7)\n"
    "    { DeviceZoneScopedN(\"crunch\"); spend(get_arg_val<uint32_t>(8)); }\n"
    "}\n";

static struct strobe_device *device;
static struct strobe_program *program;
static int n_rounds = 30;

static uint32_t barriers(double us)
{
    return (uint32_t)(us * PER_US / CYCLES);
}

/* A device of one core, and a program of one kernel with these arguments. */
static void open_device(const char *text, const uint32_t *args, uint32_t n_args)
{
    const struct strobe_device_cores core = {0, 0, 0, 0};
    struct strobe_device_options options;
    uint32_t id;
    need(strobe_device_options_init(&options), "options");
    options.frequency_mhz = PER_US;
    options.grid_x = options.grid_y = 1;
    options.seed = (uint64_t)getpid();
    need(strobe_device_open(&options, 0, &device), "open");
    need(strobe_program_create(&program), "program");
    need(strobe_program_rename(program, "step"), "name");
    need(strobe_program_kernel(
             program,
             &(struct strobe_device_kernel){
                 .text = text, .name = "step", .cores = core, .risc = STROBE_DEVICE_BRISC},
             &id),
         "kernel");
    need(strobe_program_args(program, id, core, args, n_args), "arguments");
    need(strobe_device_enqueue(device, program, NULL), "warm up"); /* the kernel is compiled */
    need(strobe_device_finish(device), "warm up");
}

static void run_rounds(unsigned host_us)
{
    STROBE_SCOPE("run");
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("fill_batch");
            spin(host_us);
        }
        need(strobe_device_enqueue(device, program, NULL), "enqueue");
        need(strobe_device_finish(device), "finish");
    }
}

static void plant_kernel(unsigned percent)
{
    (void)percent;
    open_device(kernel_text, (uint32_t[]){barriers(400), barriers(4000)}, 2);
    run_rounds(300);
}

static void plant_starved(unsigned percent)
{
    (void)percent;
    open_device(kernel_text, (uint32_t[]){barriers(100), barriers(300)}, 2);
    run_rounds(4000);
}

/* About normal, mean 0, deviation 1. */
static double noise(unsigned *seed)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)rand_r(seed) / RAND_MAX;
    return sum - 6;
}

static void plant_parts(unsigned percent)
{
    uint32_t args[N_PARTS];
    unsigned seed = (unsigned)getpid();
    for (int i = 0; i < N_PARTS; i++) {
        double us = (i < N_PARTS - 1 ? 300 + 50 * i : 1000 + 10.0 * percent);
        args[i] = barriers(us * (1 + 0.005 * noise(&seed)));
    }
    open_device(parts_text, args, N_PARTS);
    run_rounds(200);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*plant)(unsigned percent);
        int has_bystanders;
    } modes[] = {
        {"kernel", plant_kernel, 1}, {"starved", plant_starved, 1}, {"parts", plant_parts, 0}};
    if (argc > 2)
        n_rounds = atoi(argv[2]);
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            if (modes[i].has_bystanders)
                start_bystanders();
            modes[i].plant(argc > 3 ? (unsigned)atoi(argv[3]) : 0);
            if (modes[i].has_bystanders)
                end_bystanders();
            strobe_program_free(program);
            strobe_device_close(device);
            return 0;
        }
    return 2;
}
