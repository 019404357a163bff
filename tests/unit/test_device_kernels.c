/* test_device_kernels.c - what kernels can do on the simulator: tiles, the NoC, semaphores, clocks, arguments, objects; and what
 * traces, sums and counters leave in the stream.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/classic.h"
#include "device/stream.h"
#include "strobe/device.h"

#define CORES 16
#define RISCS 5

struct seen {
    struct strobe_device_stream *stream;
    uint64_t n_zones[CORES][RISCS], cycles[CORES][RISCS], n_sums[RISCS], n_summed[RISCS],
        n_counters;
    uint32_t counters[64], n_launches, trace_counters[64];
    uint64_t counted[256], ref_count; /* by type */
    uint64_t first_start;
    struct strobe_device_pairs pairs[CORES][RISCS];
    struct strobe_device_memory memory[8];
    uint32_t n_memory;
    struct {
        uint32_t id, n_zones, n_data;
        char name[32];
        uint64_t last_value;
    } sites[64];
    uint32_t n_sites;
};

static void on_name(void *context, const struct strobe_device_name *name)
{
    struct seen *seen = context;
    if (seen->n_sites == 64)
        return;
    seen->sites[seen->n_sites].id = name->id;
    snprintf(seen->sites[seen->n_sites++].name, 32, "%.*s", (int)name->name.n_bytes,
             name->name.bytes);
}

static void on_memory(void *context, const struct strobe_device_memory *memory)
{
    struct seen *seen = context;
    if (seen->n_memory < 8)
        seen->memory[seen->n_memory++] = *memory;
}

/* The place of a site in the list, 64: it is not there. */
static uint32_t site_of(const struct seen *seen, uint32_t id)
{
    uint32_t i = 0;
    while (i < seen->n_sites && seen->sites[i].id != id)
        i++;
    return i < seen->n_sites ? i : 64;
}

static void on_zones(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_zone *zones, size_t n)
{
    struct seen *seen = context;
    for (size_t i = 0; i < n; i++) {
        seen->n_zones[lane->core][lane->risc]++;
        if (site_of(seen, zones[i].id) < 64)
            seen->sites[site_of(seen, zones[i].id)].n_zones++;
        seen->cycles[lane->core][lane->risc] =
            zones[i].end - zones[i].start; /* of the last: the kernel's */
        if (!seen->first_start)
            seen->first_start = zones[i].start;
    }
}

static void on_sum(void *context, const struct strobe_device_lane *lane,
                   const struct strobe_device_sum *sum)
{
    struct seen *seen = context;
    seen->n_sums[lane->risc]++;
    seen->n_summed[lane->risc] += sum->count;
}

static void on_data(void *context, const struct strobe_device_lane *lane,
                    const struct strobe_device_mark *mark)
{
    (void)lane;
    struct seen *seen = context;
    uint32_t site = site_of(seen, mark->id);
    if (site < 64) {
        seen->sites[site].n_data++;
        seen->sites[site].last_value = mark->values[0];
    }
    if (mark->id == STROBE_ID_COUNTER && mark->n_values == 2 && seen->n_counters < 64) {
        seen->counters[seen->n_counters++] = (uint32_t)mark->values[1];
        seen->counted[mark->values[1] & 255] = mark->values[0] & UINT32_MAX;
        seen->ref_count = mark->values[0] >> 32;
    }
}

static void on_launch(void *context, const struct strobe_device_launch *launch)
{
    struct seen *seen = context;
    if (seen->n_launches < 64)
        seen->trace_counters[seen->n_launches] = launch->trace_counter;
    seen->n_launches++;
}

static void on_classic(void *context, const struct strobe_device_lane *lane,
                       const struct strobe_device_classic_words *words)
{
    struct seen *seen = context;
    struct strobe_device_zone zones[256];
    for (uint32_t at = 0; at < words->n_words;) {
        size_t used = 0;
        seen->n_zones[lane->core][lane->risc] +=
            strobe_device_classic_zones(&seen->pairs[lane->core][lane->risc], words->words + at,
                                        words->n_words - at, &used, zones, 256);
        assert_true(used > 0);
        at += (uint32_t)used;
    }
}

static int feed(void *context, const uint32_t *words, size_t n_words)
{
    size_t used;
    assert_int_equal(
        strobe_device_stream_feed(((struct seen *)context)->stream, words, n_words, &used),
        STROBE_OK);
    assert_int_equal(used, n_words);
    return 0;
}

static struct seen *new_seen(void)
{
    struct seen *seen = calloc(1, sizeof *seen);
    struct strobe_device_calls calls = {.context = seen,
                                        .zones = on_zones,
                                        .sum = on_sum,
                                        .data = on_data,
                                        .launch = on_launch,
                                        .name = on_name,
                                        .memory = on_memory,
                                        .classic = on_classic};
    assert_int_equal(strobe_device_stream_open(&calls, NULL, &seen->stream), STROBE_OK);
    return seen;
}

static void free_seen(struct seen *seen)
{
    strobe_device_stream_close(seen->stream);
    free(seen);
}

static void ok(enum strobe_device_result result)
{
    if (result)
        print_error("%s: %s\n", strobe_device_result_text(result), strobe_device_reason());
    assert_int_equal(result, STROBE_DEVICE_OK);
}

static struct strobe_device *open_device(enum strobe_device_marking mode, uint32_t record,
                                         struct seen *seen)
{
    struct strobe_device_options options;
    struct strobe_device *device;
    uint32_t handle;
    ok(strobe_device_options_init(&options));
    options.mode = mode;
    options.record = record;
    options.grid_x = options.grid_y = 2;
    options.perf_counters = record == STROBE_DEVICE_RECORD_FIRMWARE ? 47 : 0;
    ok(strobe_device_open(&options, 0, &device));
    ok(strobe_device_listen(device, feed, seen, &handle));
    return device;
}

static const struct strobe_device_cores one = {0, 0, 0, 0}, all = {0, 0, 1, 1};

static uint32_t add(struct strobe_program *program, const char *text, enum strobe_device_risc risc,
                    struct strobe_device_cores cores)
{
    static const uint32_t in_dram[] = {2, 4096, 2, 4096}; /* of two TensorAccessorArgs */
    struct strobe_device_kernel kernel = {.text = text,
                                          .name = "test kernel",
                                          .cores = cores,
                                          .risc = risc,
                                          .compile_args = in_dram,
                                          .n_compile_args = 4};
    uint32_t id;
    ok(strobe_program_kernel(program, &kernel, &id));
    return id;
}

static struct strobe_program *make(const char *data, const char *compute,
                                   struct strobe_device_cores cores)
{
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    if (data) {
        add(program, data, STROBE_DEVICE_BRISC, cores);
        add(program, data, STROBE_DEVICE_NCRISC, cores);
    }
    if (compute)
        add(program, compute, STROBE_DEVICE_COMPUTE, cores);
    return program;
}

static void run(struct strobe_device *device, struct strobe_program *program)
{
    ok(strobe_device_enqueue(device, program, NULL));
    ok(strobe_device_finish(device));
}

#define DATA    "#include \"dataflow_api.h\"\n"
#define COMPUTE "#include \"compute_kernel_api.h\"\n"

/* ---- tiles ---- */

static uint32_t place(uint32_t row, uint32_t column) /* of a tile in faces */
{
    return ((row / 16) * 2 + column / 16) * 256 + (row % 16) * 16 + column % 16;
}

#define OBJECT_READER                                                                             \
    DATA "void kernel_main() {\n"                                                                 \
         "  CircularBuffer a(0), b(1); Noc noc;\n"                                                \
         "  constexpr auto args = TensorAccessorArgs<0>();\n"                                     \
         "  const auto from_a = TensorAccessor(args, get_arg_val<uint32_t>(0), "                  \
         "a.get_tile_size());\n"                                                                  \
         "  constexpr auto more = TensorAccessorArgs<args.next_compile_time_args_offset()>();\n"  \
         "  const auto from_b = TensorAccessor(more, get_arg_val<uint32_t>(1), "                  \
         "b.get_tile_size());\n"                                                                  \
         "  a.reserve_back(1); b.reserve_back(1);\n"                                              \
         "  noc.async_read(from_a, a, a.get_tile_size(), {.page_id = 0}, {.offset_bytes = 0});\n" \
         "  noc.async_read(from_b, b, b.get_tile_size(), {.page_id = 0}, {.offset_bytes = 0});\n" \
         "  noc.async_read_barrier(); a.push_back(1); b.push_back(1); }\n"
#define MATMUL                                                                                    \
    COMPUTE                                                                                       \
    "namespace NAMESPACE { void MAIN { mm_init(0, 1, 16); cb_wait_front(0, 1); cb_wait_front(1, " \
    "1); tile_regs_acquire();\n"                                                                  \
    "  matmul_tiles(0, 1, 0, 0, 0, false); tile_regs_commit(); cb_reserve_back(16, 1); "          \
    "tile_regs_wait(); pack_tile(0, 16);\n"                                                       \
    "  tile_regs_release(); cb_push_back(16, 1); cb_pop_front(0, 1); cb_pop_front(1, 1); } }\n"
#define OBJECT_WRITER                                                                             \
    DATA "void kernel_main() { DataflowBuffer c(16); Noc noc; constexpr auto args = "             \
         "TensorAccessorArgs<0>();\n"                                                             \
         "  const auto to = TensorAccessor(args, get_arg_val<uint32_t>(0), c.get_tile_size());\n" \
         "  c.wait_front(1); noc.async_write(c, to, c.get_tile_size(), {.offset_bytes = 0}, "     \
         "{.page_id = 0});\n"                                                                     \
         "  noc.async_write_barrier(); c.pop_front(1); }\n"

static void a_matmul_by_three_kernels_over_objects_is_right(void **state)
{
    (void)state;
    enum { BYTES = 4096 };
    struct seen *seen = new_seen();
    struct strobe_device *device = open_device(STROBE_DEVICE_MODE_STREAMING, 0, seen);
    static float a[1024], b[1024], c[1024];
    for (uint32_t i = 0; i < 1024; i++) {
        a[place(i / 32, i % 32)] = (float)(i % 7);
        b[place(i / 32, i % 32)] = (float)(i % 5);
    }
    struct strobe_device_buffer buffers[3];
    for (int i = 0; i < 3; i++)
        ok(strobe_device_buffer_create(device, STROBE_DEVICE_DRAM, BYTES, BYTES, &buffers[i]));
    ok(strobe_device_buffer_write(&buffers[0], 0, a, sizeof a));
    ok(strobe_device_buffer_write(&buffers[1], 0, b, sizeof b));
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    for (uint32_t i = 0; i < 3; i++)
        ok(strobe_program_ring(program, one, i == 2 ? 16 : i, BYTES, 2, STROBE_DEVICE_FLOAT32));
    uint32_t addresses[] = {(uint32_t)buffers[0].address, (uint32_t)buffers[1].address},
             target = (uint32_t)buffers[2].address;
    uint32_t reader = add(program, OBJECT_READER, STROBE_DEVICE_NCRISC, one),
             writer = add(program, OBJECT_WRITER, STROBE_DEVICE_BRISC, one);
    add(program, MATMUL, STROBE_DEVICE_COMPUTE, one);
    ok(strobe_program_args(program, reader, one, addresses, 2));
    ok(strobe_program_args(program, writer, one, &target, 1));
    run(device, program);
    a[place(3, 4)] = 100; /* the second launch finds its buffers as the first one did */
    ok(strobe_device_buffer_write(&buffers[0], 0, a, sizeof a));
    run(device, program);
    ok(strobe_device_buffer_read(&buffers[2], 0, c, sizeof c));
    for (uint32_t row = 0; row < 32; row++)
        for (uint32_t column = 0; column < 32; column++) {
            float want = 0;
            for (uint32_t k = 0; k < 32; k++)
                want += a[place(row, k)] * b[place(k, column)];
            assert_true(c[place(row, column)] == want);
        }
    strobe_program_free(program);
    for (int i = 0; i < 3; i++)
        strobe_device_buffer_free(&buffers[i]);
    strobe_device_close(device);
    free_seen(seen);
}

/* ---- arguments ---- */

#define ADDS_ARGS                                                                   \
    DATA "void kernel_main() { *reinterpret_cast<volatile uint32_t *>(0x40000) = "  \
         "100 * get_arg_val<uint32_t>(0) + 10 * get_common_arg_val<uint32_t>(0) + " \
         "get_common_arg_val<uint32_t>(7); }\n"

static void common_arguments_are_apart_from_those_of_each_core(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device = open_device(STROBE_DEVICE_MODE_OFF, 0, seen);
    struct strobe_program *program;
    uint32_t common = 4, word;
    ok(strobe_program_create(&program));
    uint32_t kernel = add(program, ADDS_ARGS, STROBE_DEVICE_BRISC, all);
    assert_int_equal(strobe_program_common_args(program, 9, &common, 1), STROBE_DEVICE_INVALID);
    for (uint32_t round = 0; round < 2; round++, common++) {
        ok(strobe_program_common_args(program, kernel, &common, 1));
        for (uint32_t x = 0; x < 2; x++)
            ok(strobe_program_args(program, kernel, (struct strobe_device_cores){x, 0, x, 1}, &x,
                                   1));
        run(device, program);
        for (uint32_t core = 0; core < 4; core++) {
            ok(strobe_device_l1_read(device, 1 + core % 2, 1 + core / 2, 0x40000, &word,
                                     sizeof word));
            assert_int_equal(word, 100 * (core % 2) + 10 * common);
        }
    }
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

/* ---- several cores ---- */

#define SENDER                                                                                     \
    DATA                                                                                           \
        "void kernel_main() { if (get_absolute_logical_x() || get_absolute_logical_y()) return;\n" \
        "  auto *word = reinterpret_cast<volatile uint32_t *>(0x40000); *word = 4711;\n"           \
        "  noc_async_write_multicast(0x40000, get_noc_multicast_addr(1, 1, 2, 2, 0x40000), 4, "    \
        "3);\n"                                                                                    \
        "  noc_async_write_barrier();\n"                                                           \
        "  for (uint32_t y = 1; y <= 2; y++) for (uint32_t x = 1; x <= 2; x++)\n"                  \
        "    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1); "                         \
        "noc_async_atomic_barrier(); }\n"
#define RECEIVER                                                                           \
    DATA "void kernel_main() { noc_semaphore_wait((volatile uint32_t "                     \
         "*)(uintptr_t)get_semaphore(0), 1);\n"                                            \
         "  *reinterpret_cast<volatile uint32_t *>(0x40010) = *reinterpret_cast<volatile " \
         "uint32_t *>(0x40000) + my_x[0]; }\n"

static void a_multicast_and_semaphores_reach_every_core(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device = open_device(STROBE_DEVICE_MODE_STREAMING, 0, seen);
    struct strobe_program *program;
    uint32_t semaphore, word;
    ok(strobe_program_create(&program));
    add(program, SENDER, STROBE_DEVICE_BRISC, all);
    add(program, RECEIVER, STROBE_DEVICE_NCRISC, all);
    ok(strobe_program_semaphore(program, all, 0, &semaphore));
    assert_int_equal(semaphore, 0);
    for (int i = 0; i < 3; i++) {
        run(device, program);
        for (uint32_t core = 0; core < 4; core++) {
            ok(strobe_device_l1_read(device, 1 + core % 2, 1 + core / 2, 0x40010, &word,
                                     sizeof word));
            assert_int_equal(word, 4711 + 1 + core % 2);
        }
    }
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

/* ---- time ---- */

#define POLLS                                                                \
    DATA "void kernel_main() { volatile uint32_t *low = (volatile uint32_t " \
         "*)(uintptr_t)RISCV_DEBUG_REG_WALL_CLOCK_L;\n"                      \
         "  uint32_t start = *low; while (*low - start < 50000) { } }\n"

static void a_kernel_that_polls_the_wall_clock_takes_as_long_as_it_waits(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the register's address, 0xffb121f0, lies in the address sanitizer's own memory */
#endif
    struct seen *seen = new_seen();
    struct strobe_device *device = open_device(STROBE_DEVICE_MODE_STREAMING, 0, seen);
    struct strobe_program *program = make(POLLS, NULL, all);
    run(device, program);
    for (int core = 0; core < 4; core++)
        for (int risc = 0; risc < 2; risc++)
            assert_in_range(seen->cycles[core][risc], 50000, 51000);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

#define TEN                                                                                     \
    "__asm__ volatile(\"nop\"); __asm__ volatile(\"nop\"); __asm__ volatile(\"nop\"); __asm__ " \
    "volatile(\"nop\"); __asm__ volatile(\"nop\");"                                             \
    "__asm__ volatile(\"nop\"); __asm__ volatile(\"nop\"); __asm__ volatile(\"nop\"); __asm__ " \
    "volatile(\"nop\"); __asm__ volatile(\"nop\");"
#define NOPS "void kernel_main() { for (int i = 0; i < 2000; i++) { " TEN TEN TEN TEN TEN " } }\n"

static void two_thousand_loops_of_fifty_nops_cost_about_52_cycles_each(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device = open_device(STROBE_DEVICE_MODE_STREAMING, 0, seen);
    struct strobe_program *program = make(DATA NOPS, COMPUTE NOPS, all);
    run(device, program);
    for (int core = 0; core < 4; core++)
        for (int risc = 0; risc < RISCS; risc++)
            assert_in_range(seen->cycles[core][risc], 100000, 112000);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static void each_device_has_a_clock_of_its_own(void **state)
{
    (void)state;
    struct strobe_device_options options;
    ok(strobe_device_options_init(&options));
    options.mode = STROBE_DEVICE_MODE_STREAMING;
    options.grid_x = options.grid_y = 1;
    options.n_devices = 2;
    struct seen *seen[2] = {new_seen(), new_seen()};
    struct strobe_device *devices[2];
    uint32_t handle;
    struct strobe_program *program = make(DATA "void kernel_main() {}\n", NULL, one);
    for (uint32_t i = 0; i < 2; i++) {
        options.offset_ns = i ? 60e9 : 0;
        ok(strobe_device_open(&options, i, &devices[i]));
        ok(strobe_device_listen(devices[i], feed, seen[i], &handle));
    }
    for (uint32_t i = 0; i < 2; i++)
        run(devices[i], program);
    assert_int_equal(seen[0]->n_zones[0][0], 1);
    assert_int_equal(seen[1]->n_zones[0][0], 1);
    assert_true(seen[1]->first_start > seen[0]->first_start + 50ull * 1350000000);
    strobe_program_free(program);
    for (uint32_t i = 0; i < 2; i++) {
        strobe_device_close(devices[i]);
        free_seen(seen[i]);
    }
}

/* ---- traces, sums, counters ---- */

static void capture(struct strobe_device *device, struct strobe_program *program, int n_programs,
                    uint32_t *trace)
{
    ok(strobe_device_trace_begin(device, trace));
    for (int i = 0; i < n_programs; i++)
        ok(strobe_device_enqueue(device, program, NULL));
    ok(strobe_device_trace_end(device, *trace));
}

static void a_captured_trace_runs_only_when_it_is_replayed(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device = open_device(STROBE_DEVICE_MODE_STREAMING, 0, seen);
    struct strobe_program *program = make(DATA "void kernel_main() {}\n", NULL, all);
    uint32_t trace;
    capture(device, program, 5, &trace);
    ok(strobe_device_finish(device));
    assert_int_equal(seen->n_launches, 0);
    for (int i = 0; i < 3; i++)
        ok(strobe_device_trace_replay(device, trace));
    ok(strobe_device_finish(device));
    assert_int_equal(seen->n_launches, 15);
    assert_int_equal(seen->n_zones[0][0], 15);
    for (uint32_t i = 0; i < 15; i++)
        assert_int_equal(seen->trace_counters[i], 1 + i / 5);
    ok(strobe_device_trace_free(device, trace));
    assert_int_equal(strobe_device_trace_replay(device, trace), STROBE_DEVICE_NOTFOUND);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static void trace_only_leaves_a_firmware_and_a_kernel_zone_per_core_and_replay(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device =
        open_device(STROBE_DEVICE_MODE_CLASSIC, STROBE_DEVICE_RECORD_TRACE_ONLY, seen);
    struct strobe_program *program = make(DATA "void kernel_main() {}\n", NULL, all);
    uint32_t trace;
    capture(device, program, 100, &trace);
    for (int i = 0; i < 5; i++)
        ok(strobe_device_trace_replay(device, trace));
    ok(strobe_device_finish(device));
    ok(strobe_device_read(device));
    for (int core = 0; core < 4; core++)
        assert_int_equal(seen->n_zones[core][0], 10);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static void accumulating_keeps_every_zone_of_many_programs(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device =
        open_device(STROBE_DEVICE_MODE_CLASSIC, STROBE_DEVICE_RECORD_ACCUMULATE, seen);
    struct strobe_program *program = make(DATA "void kernel_main() {}\n", NULL, all);
    for (int i = 0; i < 500; i++)
        ok(strobe_device_enqueue(device, program, NULL));
    ok(strobe_device_finish(device));
    ok(strobe_device_read(device));
    for (int core = 0; core < 4; core++)
        assert_true(seen->n_zones[core][1] >= 990 && seen->n_zones[core][1] <= 1000);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static void sum_zones_come_once_per_launch(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device =
        open_device(STROBE_DEVICE_MODE_STREAMING, STROBE_DEVICE_RECORD_SUM, seen);
    struct strobe_program *program = make(
        DATA
        "void kernel_main() { for (int i = 0; i < 40; i++) { DeviceZoneScopedSumN1(\"sum\"); } }\n",
        NULL, one);
    run(device, program);
    run(device, program);
    assert_int_equal(seen->n_sums[0], 2);
    assert_int_equal(seen->n_summed[0], 80);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

#define SYNC_READER                                                                   \
    DATA "void kernel_main() { for (int i = 0; i < 3; i++) { cb_reserve_back(0, 1); " \
         "cb_push_back(0, 1); }\n"                                                    \
         "  noc_semaphore_inc(get_noc_addr(my_x[0], my_y[0], get_semaphore(0)), 2); }\n"
#define SYNC_WRITER                                                                  \
    DATA "void kernel_main() { for (int i = 0; i < 3; i++) { cb_wait_front(0, 1); "  \
         "cb_pop_front(0, 1); }\n"                                                   \
         "  auto *word = reinterpret_cast<volatile uint32_t *>(get_semaphore(0));\n" \
         "  noc_semaphore_wait(word, 2); noc_semaphore_set(word, 0); }\n"

/* Marks at circular buffers and semaphores: zones where a RISC waits, with a key; keys where it signals. */
static void sync_events_stand_at_circular_buffers_and_semaphores(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t n_zones, n_data;
    } expected[] = {{"SYNC-CB-RESERVE", 3, 0},   {"SYNC-CB-RESERVE-KEY", 0, 3},
                    {"SYNC-CB-PUSH", 0, 3},      {"SYNC-SEM-SET-REMOTE", 0, 1},
                    {"SYNC-CB-WAIT", 3, 0},      {"SYNC-CB-WAIT-KEY", 0, 3},
                    {"SYNC-CB-POP", 0, 3},       {"SYNC-SEM-WAIT", 1, 0},
                    {"SYNC-SEM-WAIT-KEY", 0, 1}, {"SYNC-SEM-SET", 0, 1}};
    for (int on = 0; on < 2; on++) {
        struct seen *seen = new_seen();
        struct strobe_device *device =
            open_device(STROBE_DEVICE_MODE_STREAMING, on ? STROBE_DEVICE_RECORD_SYNC : 0, seen);
        struct strobe_program *program;
        uint32_t semaphore;
        ok(strobe_program_create(&program));
        add(program, SYNC_READER, STROBE_DEVICE_NCRISC, one);
        add(program, SYNC_WRITER, STROBE_DEVICE_BRISC, one);
        ok(strobe_program_ring(program, one, 0, 1024, 2, STROBE_DEVICE_FLOAT32));
        ok(strobe_program_semaphore(program, one, 0, &semaphore));
        run(device, program);
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            uint32_t n_zones = 0, n_data = 0;
            for (uint32_t site = 0; site < seen->n_sites; site++)
                if (!strcmp(seen->sites[site].name, expected[i].name)) {
                    n_zones += seen->sites[site].n_zones;
                    n_data += seen->sites[site].n_data;
                    if (!strcmp(expected[i].name, "SYNC-SEM-SET-REMOTE"))
                        assert_true(!seen->sites[site].n_data ||
                                    seen->sites[site].last_value >> 62 == 3);
                }
            assert_int_equal(n_zones, on ? expected[i].n_zones : 0);
            assert_int_equal(n_data, on ? expected[i].n_data : 0);
        }
        strobe_program_free(program);
        strobe_device_close(device);
        free_seen(seen);
    }
}

static void performance_counters_come_with_a_program_that_computes(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device =
        open_device(STROBE_DEVICE_MODE_STREAMING, STROBE_DEVICE_RECORD_FIRMWARE, seen);
    struct strobe_program *program = make(DATA "void kernel_main() {}\n", COMPUTE NOPS, one);
    run(device, program);
    assert_int_equal(seen->n_counters, 36); /* all groups but the second bank of L1 */
    assert_int_equal(seen->counters[0], 1);
    assert_in_range(seen->ref_count, 100000, 113000);            /* as long as TRISC_1's kernel */
    assert_in_range(seen->counted[111], 95000, seen->ref_count); /* its instructions */
    assert_int_equal(seen->counted[1] + seen->counted[2] + seen->counted[19], 0);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

/* Eight tiles in, a function of each, eight out. */
#define FEEDS                                                                         \
    DATA "void kernel_main() { for (int i = 0; i < 8; i++) { cb_reserve_back(0, 1); " \
         "noc_async_read(get_noc_addr(1, 2, 0x40000), get_write_ptr(0), 4096);\n"     \
         "  noc_async_read_barrier(); cb_push_back(0, 1); } }\n"
#define EMPTIES                                                                      \
    DATA "void kernel_main() { for (int i = 0; i < 8; i++) { cb_wait_front(16, 1); " \
         "cb_pop_front(16, 1); } }\n"
#define WORKS                                                                            \
    COMPUTE                                                                              \
    "void kernel_main() { for (int i = 0; i < 8; i++) { cb_wait_front(0, 1); "           \
    "tile_regs_acquire(); copy_tile(0, 0, 0); relu_tile(0);\n"                           \
    "  tile_regs_commit(); cb_reserve_back(16, 1); tile_regs_wait(); pack_tile(0, 16); " \
    "tile_regs_release(); cb_push_back(16, 1); cb_pop_front(0, 1); } }\n"

static void performance_counters_count_what_the_core_does(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device *device =
        open_device(STROBE_DEVICE_MODE_STREAMING, STROBE_DEVICE_RECORD_FIRMWARE, seen);
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    for (uint32_t i = 0; i < 2; i++)
        ok(strobe_program_ring(program, one, 16 * i, 4096, 2, STROBE_DEVICE_FLOAT32));
    add(program, FEEDS, STROBE_DEVICE_BRISC, one);
    add(program, EMPTIES, STROBE_DEVICE_NCRISC, one);
    add(program, WORKS, STROBE_DEVICE_COMPUTE, one);
    run(device, program);
    assert_int_equal(seen->counted[1], 8 * 64);         /* FPU: tiles copied */
    assert_int_equal(seen->counted[2], 8 * 192);        /* SFPU: functions of tiles */
    assert_int_equal(seen->counted[3], 8 * (64 + 192)); /* both */
    assert_int_equal(seen->counted[11], 8 * 64);        /* unpacker 0 */
    assert_int_equal(seen->counted[12], 0);             /* unpacker 1: there is no operand B */
    assert_int_equal(seen->counted[19],
                     7 * 64); /* packer: the last tile is packed behind TRISC_1's end */
    assert_int_equal(seen->counted[76], 8 * 4096 / 16); /* read from L1 */
    assert_int_equal(seen->counted[92], 7 * 4096 / 16); /* written to L1 */
    assert_in_range(seen->counted[82], 7 * 4096 / 64,
                    8 * 4096 / 64); /* came through NoC 0; the first may come before the start */
    assert_int_equal(seen->counted[80], 0);
    assert_true(seen->counted[61] > 0);                  /* TRISC_0 waited for pages */
    assert_true(seen->counted[61] <= seen->counted[42]); /* and for what else */
    assert_true(seen->counted[47] <= seen->counted[43] && seen->counted[43] < seen->ref_count);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

/* ---- memory ---- */

static void on_words(void *context, const char *sentence)
{
    strncat(context, sentence, 1000 - strlen(context));
}

static void buffers_are_recorded_by_pool_and_those_not_freed_are_named_at_the_close(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    char words[2048] = "";
    struct strobe_device *device =
        open_device(STROBE_DEVICE_MODE_OFF, STROBE_DEVICE_RECORD_MEMORY, seen);
    struct strobe_device_buffer freed, dram, l1;
    strobe_device_warn(device, on_words, words);
    ok(strobe_device_buffer_create(device, STROBE_DEVICE_DRAM, 65536, 2048, &freed));
    ok(strobe_device_buffer_create(device, STROBE_DEVICE_DRAM, 8192, 2048, &dram));
    ok(strobe_device_buffer_create(device, STROBE_DEVICE_L1, 4096, 1024, &l1));
    uint64_t first = freed.address;
    strobe_device_buffer_free(&freed);
    ok(strobe_device_finish(device));
    assert_int_equal(seen->n_memory, 4);
    assert_int_equal(seen->memory[0].kind, 1);
    assert_int_equal(seen->memory[0].pool, STROBE_POOL_DRAM);
    assert_int_equal(seen->memory[0].n_bytes, 65536);
    assert_int_equal(seen->memory[2].pool, STROBE_POOL_L1);
    assert_int_equal(seen->memory[3].kind, 0);
    assert_int_equal(seen->memory[3].address, first);
    strobe_device_close(device);
    assert_non_null(strstr(words, "device 0 was closed with 1 buffer of DRAM that was not freed: "
                                  "2048 bytes in each of 8 banks"));
    assert_non_null(strstr(words, "1 buffer of L1 that was not freed: 1024 bytes in each of 4"));
    free_seen(seen);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matmul_by_three_kernels_over_objects_is_right),
        cmocka_unit_test(common_arguments_are_apart_from_those_of_each_core),
        cmocka_unit_test(a_multicast_and_semaphores_reach_every_core),
        cmocka_unit_test(a_kernel_that_polls_the_wall_clock_takes_as_long_as_it_waits),
        cmocka_unit_test(two_thousand_loops_of_fifty_nops_cost_about_52_cycles_each),
        cmocka_unit_test(each_device_has_a_clock_of_its_own),
        cmocka_unit_test(a_captured_trace_runs_only_when_it_is_replayed),
        cmocka_unit_test(trace_only_leaves_a_firmware_and_a_kernel_zone_per_core_and_replay),
        cmocka_unit_test(accumulating_keeps_every_zone_of_many_programs),
        cmocka_unit_test(sum_zones_come_once_per_launch),
        cmocka_unit_test(sync_events_stand_at_circular_buffers_and_semaphores),
        cmocka_unit_test(performance_counters_come_with_a_program_that_computes),
        cmocka_unit_test(performance_counters_count_what_the_core_does),
        cmocka_unit_test(buffers_are_recorded_by_pool_and_those_not_freed_are_named_at_the_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
