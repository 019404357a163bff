/* overhead.c - what zones cost the program on a device: all RISCs of the simulator's 64 cores run a loop of work, once with a zone around
 * each piece of it and once without. The simulator charges every instruction of a kernel with a cycle, and models the relay that drains the
 * rings. Prints the overhead at one zone per 2,000 cycles and RISC, and the densest zones of which none waits: the knee.
 *   bench_device_overhead [cores per side] [pieces]
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/stream.h"
#include "strobe/device.h"

enum { CYCLES = 2000, RISCS = 5 };

struct seen {
    struct strobe_device_stream *stream; /* owned */
    uint32_t id;                         /* of the zone around the loop */
    uint64_t n_loops, n_zones, cycles;   /* cycles: of all loops */
    uint64_t n_words;
};

static void on_name(void *context, const struct strobe_device_name *name)
{
    struct seen *seen = context;
    if (name->name.n_bytes == 4 && !memcmp(name->name.bytes, "loop", 4))
        seen->id = name->id;
}

static void on_zones(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_zone *zones, size_t n_zones)
{
    struct seen *seen = context;
    (void)lane;
    for (size_t i = 0; i < n_zones; i++) {
        seen->n_zones++;
        if (zones[i].id != seen->id)
            continue;
        seen->n_loops++;
        seen->cycles += zones[i].end - zones[i].start;
    }
}

static int on_frames(void *context, const uint32_t *words, size_t n_words)
{
    struct seen *seen = context;
    size_t used;
    seen->n_words += n_words;
    return strobe_device_stream_feed(seen->stream, words, n_words, &used);
}

static void must(enum strobe_device_result result)
{
    if (!result)
        return;
    fprintf(stderr, "bench_device_overhead: %s\n", strobe_device_reason());
    exit(1);
}

/* One text for all pieces and spins: kernels are compiled, and kept. */
static void add_kernel(struct strobe_program *program, struct strobe_device_cores cores,
                       enum strobe_device_risc risc, const uint32_t *args, int with_zones)
{
    char text[1024];
    const char *api = risc == STROBE_DEVICE_COMPUTE ? "compute_kernel_api.h" : "dataflow_api.h";
    uint32_t id;
    snprintf(text, sizeof text,
             "#include \"%s\"\n"
             "void kernel_main() {\n"
             "  uint32_t pieces = get_arg_val<uint32_t>(0), spins = get_arg_val<uint32_t>(1);\n"
             "  DeviceZoneScopedN(\"loop\");\n"
             "  for (uint32_t i = 0; i < pieces; i++) { %s\n"
             "    for (volatile uint32_t k = 0; k < spins; k = k + 1) {} } }\n",
             api, with_zones ? "DeviceZoneScopedN(\"piece\");" : "");
    struct strobe_device_kernel kernel = {
        .text = text, .name = "loop", .cores = cores, .risc = risc};
    must(strobe_program_kernel(program, &kernel, &id));
    must(strobe_program_args(program, id, cores, args, 2));
}

struct found {
    double cycles; /* of a piece */
    uint64_t n_stalls, n_dropped;
    double wire_bytes; /* per zone */
};

static void count_stalls(struct strobe_device *device, uint32_t side, struct found *found)
{
    for (uint32_t i = 0; i < side * side * RISCS; i++) {
        struct strobe_device_count count;
        uint32_t x, y, core = i / RISCS;
        must(strobe_device_physical(device, core % side, core / side, &x, &y));
        must(strobe_device_count_read(device, x, y, i % RISCS, &count));
        found->n_stalls += count.n_stalls;
        found->n_dropped += count.n_dropped;
    }
}

static struct found run(uint32_t side, uint32_t pieces, uint32_t spins, int with_zones)
{
    struct strobe_device_options options;
    struct strobe_device *device;
    struct strobe_program *program;
    struct seen seen = {0};
    struct found found = {0};
    struct strobe_device_calls calls = {.context = &seen, .zones = on_zones, .name = on_name};
    struct strobe_device_cores cores = {0, 0, side - 1, side - 1};
    uint32_t handle;
    must(strobe_device_options_init(&options));
    options.mode = STROBE_DEVICE_MODE_STREAMING;
    options.policy = STROBE_DEVICE_POLICY_BLOCK;
    options.clock = STROBE_DEVICE_CLOCK_VIRTUAL;
    options.grid_x = options.grid_y = side;
    options.n_ethernet = options.n_dispatch = 0;
    if (strobe_device_stream_open(&calls, NULL, &seen.stream))
        exit(1);
    must(strobe_device_open(&options, 0, &device));
    must(strobe_device_listen(device, on_frames, &seen, &handle));
    must(strobe_program_create(&program));
    const uint32_t args[] = {pieces, spins};
    add_kernel(program, cores, STROBE_DEVICE_BRISC, args, with_zones);
    add_kernel(program, cores, STROBE_DEVICE_NCRISC, args, with_zones);
    add_kernel(program, cores, STROBE_DEVICE_COMPUTE, args, with_zones);
    must(strobe_device_enqueue(device, program, NULL));
    must(strobe_device_finish(device));
    count_stalls(device, side, &found);
    strobe_program_free(program);
    strobe_device_close(device);
    strobe_device_stream_flush(seen.stream);
    found.cycles = (double)seen.cycles / (double)(seen.n_loops ? seen.n_loops : 1) / pieces;
    found.wire_bytes = 4.0 * (double)seen.n_words / (double)(seen.n_zones ? seen.n_zones : 1);
    strobe_device_stream_close(seen.stream);
    return found;
}

/* The spins whose piece takes about so many cycles, without a zone. */
static uint32_t spins_for(double cycles, uint32_t side)
{
    double few = run(side, 100, 10, 0).cycles, many = run(side, 100, 110, 0).cycles;
    double each = (many - few) / 100, rest = few - 10 * each;
    return cycles > rest ? (uint32_t)((cycles - rest) / each + 0.5) : 0;
}

int main(int argc, char **argv)
{
    uint32_t side = argc > 1 ? (uint32_t)atoi(argv[1]) : 8;
    uint32_t pieces = argc > 2 ? (uint32_t)atoi(argv[2]) : 2000, spins = spins_for(CYCLES, 1);
    struct found without = run(side, pieces, spins, 0), with = run(side, pieces, spins, 1),
                 knee = with;
    double overhead = 100 * (with.cycles - without.cycles) / without.cycles;
    for (uint32_t n = spins; n && !knee.n_stalls; n = n * 4 / 5) {
        struct found denser = run(side, pieces, n, 1);
        printf("a zone per %.0f cycles: %" PRIu64 " stalls, %" PRIu64 " dropped\n", denser.cycles,
               denser.n_stalls, denser.n_dropped);
        if (denser.n_stalls)
            break;
        knee = denser;
    }
    printf("BENCH {\"cycles\": %.1f, \"overhead\": %.3f, \"stalls\": %" PRIu64
           ", \"dropped\": %" PRIu64 ", \"knee_cycles\": %.1f, \"wire_bytes\": %.3f}\n",
           without.cycles, overhead, with.n_stalls, with.n_dropped, knee.cycles, with.wire_bytes);
    return 0;
}
