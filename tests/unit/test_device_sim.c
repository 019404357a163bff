/* test_device_sim.c - kernels on the simulator: what their markers leave behind, in both wire forms, when all goes well and when a
 * core hangs, L1 is full of garbage, or the device is reset. Streams are read by the decoder of the room device.
 * SPDX-License-Identifier: MIT */
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

#define MAX_CORES 128
#define RISCS     5

/* What came out of a device. */
struct seen {
    struct strobe_device_stream *stream;
    uint64_t n_zones[MAX_CORES][RISCS], n_dropped[MAX_CORES][RISCS], n_emitted[MAX_CORES][RISCS],
        n_stalls[MAX_CORES][RISCS];
    uint64_t n_summed[MAX_CORES][RISCS], n_events[MAX_CORES][RISCS];
    uint64_t n_bad, n_open_final, n_data, n_hellos, n_byes, hash, n_words;
    uint32_t open_id[MAX_CORES][RISCS], open_depth[MAX_CORES][RISCS], data_kinds[64];
    uint32_t last_epoch, stuck_id;
    uint64_t n_names;
    struct strobe_device_pairs *pairs; /* classic: per core and RISC */
    char warning[512];
    uint32_t n_warnings;
};

static void on_zones(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_zone *zones, size_t n)
{
    struct seen *seen = context;
    for (size_t i = 0; i < n; i++)
        if (zones[i].id != STROBE_ID_STALL)
            seen->n_zones[lane->core][lane->risc]++;
        else
            seen->n_stalls[lane->core][lane->risc]++;
}

static void on_event(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_mark *mark)
{
    (void)mark;
    ((struct seen *)context)->n_events[lane->core][lane->risc]++;
}

static void on_data(void *context, const struct strobe_device_lane *lane,
                    const struct strobe_device_mark *mark)
{
    struct seen *seen = context;
    if (mark->id == STROBE_ID_NOC && mark->n_values)
        seen->data_kinds[mark->values[0] & 63]++;
    seen->n_data++;
    seen->n_events[lane->core][lane->risc]++;
}

static void on_sum(void *context, const struct strobe_device_lane *lane,
                   const struct strobe_device_sum *sum)
{
    ((struct seen *)context)->n_summed[lane->core][lane->risc] += sum->count;
}

static void on_open(void *context, const struct strobe_device_lane *lane, uint64_t cycles,
                    bool final, const struct strobe_device_open *open, size_t n_open)
{
    (void)cycles;
    struct seen *seen = context;
    if (!final || !n_open)
        return;
    seen->n_open_final++;
    seen->open_depth[lane->core][lane->risc] = (uint32_t)n_open;
    seen->open_id[lane->core][lane->risc] = open[n_open - 1].id;
}

static void on_total(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_total *total, bool bye)
{
    (void)bye;
    struct seen *seen = context;
    seen->n_emitted[lane->core][lane->risc] = total->emitted;
    seen->n_dropped[lane->core][lane->risc] = total->dropped;
}

static void on_bad(void *context, const struct strobe_device_lane *lane, enum strobe_device_bad why,
                   uint64_t count)
{
    (void)lane, (void)why;
    ((struct seen *)context)->n_bad += count;
}

static void on_hello(void *context, const struct strobe_device_hello *hello)
{
    struct seen *seen = context;
    seen->n_hellos++;
    seen->last_epoch = hello->epoch;
}

static void on_name(void *context, const struct strobe_device_name *name)
{
    struct seen *seen = context;
    if (name->name.n_bytes == 10 && memcmp(name->name.bytes, "stuck here", 10) == 0)
        seen->stuck_id = name->id;
    seen->n_names++;
}

static void on_bye(void *context, uint32_t reason)
{
    (void)reason;
    ((struct seen *)context)->n_byes++;
}

static void on_classic(void *context, const struct strobe_device_lane *lane,
                       const struct strobe_device_classic_words *words)
{
    struct seen *seen = context;
    struct strobe_device_zone zones[256];
    struct strobe_device_pairs *pairs = &seen->pairs[lane->core * RISCS + lane->risc];
    for (uint32_t at = 0; at < words->n_words;) {
        size_t used = 0;
        seen->n_zones[lane->core][lane->risc] += strobe_device_classic_zones(
            pairs, words->words + at, words->n_words - at, &used, zones, 256);
        assert_true(used > 0);
        at += (uint32_t)used;
    }
    struct strobe_device_marker *markers = malloc(words->n_words / 2 * sizeof *markers + 1);
    uint64_t n_bad;
    size_t n = strobe_device_classic_markers(words->words, words->n_words, markers, &n_bad);
    for (size_t i = 0; i < n; i++)
        if (markers[i].packet == STROBE_CP_DATA && markers[i].id == STROBE_ID_NOC_EVENT)
            seen->data_kinds[markers[i].data & 63]++;
    free(markers);
}

static int feed(void *context, const uint32_t *words, size_t n_words)
{
    struct seen *seen = context;
    size_t used;
    for (size_t i = 0; i < n_words; i++)
        seen->hash = (seen->hash ^ words[i]) * 1099511628211ull;
    seen->n_words += n_words;
    assert_int_equal(strobe_device_stream_feed(seen->stream, words, n_words, &used), STROBE_OK);
    assert_int_equal(used, n_words);
    return 0;
}

static void on_warning(void *context, const char *sentence)
{
    struct seen *seen = context;
    if (!seen->n_warnings++)
        snprintf(seen->warning, sizeof seen->warning, "%s", sentence);
}

static struct seen *new_seen(void)
{
    struct seen *seen = calloc(1, sizeof *seen);
    seen->pairs = calloc((size_t)MAX_CORES * RISCS, sizeof *seen->pairs);
    struct strobe_device_calls calls = {.context = seen,
                                        .zones = on_zones,
                                        .event = on_event,
                                        .data = on_data,
                                        .sum = on_sum,
                                        .open = on_open,
                                        .total = on_total,
                                        .bad = on_bad,
                                        .hello = on_hello,
                                        .bye = on_bye,
                                        .name = on_name,
                                        .classic = on_classic};
    assert_int_equal(strobe_device_stream_open(&calls, NULL, &seen->stream), STROBE_OK);
    return seen;
}

static void free_seen(struct seen *seen)
{
    strobe_device_stream_close(seen->stream);
    free(seen->pairs);
    free(seen);
}

/* ---- devices and programs of the tests ---- */

static void ok(enum strobe_device_result result)
{
    if (result)
        print_error("%s: %s\n", strobe_device_result_text(result), strobe_device_reason());
    assert_int_equal(result, STROBE_DEVICE_OK);
}

static struct strobe_device_options small(enum strobe_device_marking mode)
{
    struct strobe_device_options options;
    ok(strobe_device_options_init(&options));
    options.mode = mode;
    options.grid_x = options.grid_y = 2;
    options.n_ethernet = options.n_dispatch = 0;
    return options;
}

static struct strobe_device *open_device(const struct strobe_device_options *options,
                                         struct seen *seen)
{
    struct strobe_device *device;
    uint32_t handle;
    ok(strobe_device_open(options, 0, &device));
    strobe_device_warn(device, on_warning, seen);
    ok(strobe_device_listen(device, feed, seen, &handle));
    return device;
}

#define DATA    "#include \"dataflow_api.h\"\n"
#define COMPUTE "#include \"compute_kernel_api.h\"\n"
#define BLANK   "void kernel_main() {}\n"
#define ZONES_150 \
    "void kernel_main() { for (int i = 0; i < 150; i++) { DeviceZoneScopedN(\"TEST-FULL\"); } }\n"
#define ONE_ZONE "void kernel_main() { DeviceZoneScopedN(\"one\"); }\n"

static struct strobe_device_cores all_of(const struct strobe_device_options *options)
{
    return (struct strobe_device_cores){0, 0, options->grid_x - 1, options->grid_y - 1};
}

static void add(struct strobe_program *program, const char *text, enum strobe_device_risc risc,
                struct strobe_device_cores cores)
{
    struct strobe_device_kernel kernel = {
        .text = text, .name = "test kernel", .cores = cores, .risc = risc};
    ok(strobe_program_kernel(program, &kernel, NULL));
}

/* A program with the kernel on both RISCs that move data, and on those that compute. NULL: none there. */
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

static void launch(struct strobe_device *device, struct strobe_program *program, int n)
{
    for (int i = 0; i < n; i++)
        ok(strobe_device_enqueue(device, program, NULL));
}

/* 1,400 launches of which every fifth also computes. */
static void launch_1400(struct strobe_device *device, struct strobe_device_cores cores)
{
    struct strobe_program *moves = make(DATA BLANK, NULL, cores),
                          *computes = make(DATA BLANK, COMPUTE BLANK, cores);
    for (int i = 0; i < 1400; i++)
        launch(device, i % 5 ? moves : computes, 1);
    ok(strobe_device_finish(device));
    ok(strobe_device_read(device));
    strobe_program_free(moves);
    strobe_program_free(computes);
}

/* ---- classic ---- */

static void classic_keeps_exactly_the_first_1000_of_1400_programs(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_CLASSIC);
    struct strobe_device *device = open_device(&options, seen);
    launch_1400(device, all_of(&options));
    for (int core = 0; core < 4;
         core++) /* each launch: a firmware zone, and a kernel zone where there was a kernel */
        for (int risc = 0; risc < RISCS; risc++)
            assert_int_equal(seen->n_zones[core][risc], risc < 2 ? 2000 : 1000 + 200);
    assert_non_null(strstr(seen->warning, "Profiler DRAM buffers were full, markers were dropped! "
                                          "device 0, worker core 1, 1, Risc BRISC"));
    assert_non_null(strstr(seen->warning, "Please either decrease the number of ops being profiled "
                                          "or run read device profiler more often"));
    assert_non_null(
        strstr(seen->warning, "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT=1400 would have sufficed"));
    strobe_device_close(device);
    free_seen(seen);
}

static void classic_support_count_that_the_warning_names_suffices(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_CLASSIC);
    options.support_count = 1400;
    struct strobe_device *device = open_device(&options, seen);
    launch_1400(device, all_of(&options));
    for (int core = 0; core < 4; core++)
        assert_int_equal(seen->n_zones[core][0], 2800);
    assert_int_equal(seen->n_warnings, 0);
    strobe_device_close(device);
    free_seen(seen);
}

static void classic_full_buffer_holds_125_zones_per_risc_and_launch(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_CLASSIC);
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA ZONES_150, COMPUTE ZONES_150, all_of(&options));
    launch(device, program, 23);
    ok(strobe_device_read(device));
    for (int core = 0; core < 4; core++)
        for (int risc = 0; risc < RISCS; risc++)
            assert_int_equal(seen->n_zones[core][risc], 23 * (125 + 2));
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static void classic_guaranteed_zones_survive_when_the_others_do_not_fit(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options =
        small(STROBE_DEVICE_MODE_CLASSIC); /* 12,000 words: 23 launches of 512, and 18 of 12 */
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA ZONES_150, COMPUTE ZONES_150, all_of(&options));
    launch(device, program, 40);
    ok(strobe_device_read(device));
    for (int core = 0; core < 4; core++)
        for (int risc = 0; risc < RISCS; risc++)
            assert_int_equal(seen->n_zones[core][risc], 23 * 125 + 40 * 2);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static uint64_t programs_kept(uint32_t support_count, uint32_t record)
{
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_CLASSIC);
    options.support_count = support_count;
    options.record = record;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA BLANK, NULL, all_of(&options));
    launch(device, program, 400);
    ok(strobe_device_read(device));
    uint64_t kept = seen->n_zones[0][0] / 2;
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
    return kept;
}

static void classic_support_count_10_keeps_43_programs_and_200_with_sums_266(void **state)
{
    (void)state;
    assert_int_equal(programs_kept(10, 0), 43);
    assert_int_equal(programs_kept(100, 0), 100);
    assert_int_equal(programs_kept(200, STROBE_DEVICE_RECORD_SUM), 266);
}

static void classic_reads_midway_keep_all_1400_programs(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_CLASSIC);
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA BLANK, NULL, all_of(&options));
    for (int i = 0; i < 2; i++) {
        launch(device, program, 700);
        ok(strobe_device_read(device));
    }
    for (int core = 0; core < 4; core++)
        assert_int_equal(seen->n_zones[core][0], 2800);
    assert_int_equal(seen->n_warnings, 0);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

#define READS_AND_WRITES                                                                        \
    DATA "void kernel_main() { noc_async_read(get_noc_addr_from_bank_id<true>(0, 0), 0x30000, " \
         "64); noc_async_read_barrier(); noc_async_write(0x30000, "                             \
         "get_noc_addr_from_bank_id<true>(1, 0), 64); noc_async_write_barrier(); }\n"
#define READS_ONCE                                                                              \
    DATA "void kernel_main() { noc_async_read(get_noc_addr_from_bank_id<true>(0, 0), 0x30000, " \
         "64); noc_async_read_barrier(); }\n"
#define WRITES_ONCE                                                                              \
    DATA "void kernel_main() { noc_async_write(0x30000, get_noc_addr_from_bank_id<true>(1, 0), " \
         "64); noc_async_write_barrier(); }\n"

static void noc_tracing_records_one_read_and_one_write(enum strobe_device_marking mode)
{
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(mode);
    options.record = STROBE_DEVICE_RECORD_NOC;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    add(program, READS_ONCE, STROBE_DEVICE_NCRISC, (struct strobe_device_cores){0, 0, 0, 0});
    add(program, WRITES_ONCE, STROBE_DEVICE_BRISC, (struct strobe_device_cores){0, 0, 0, 0});
    launch(device, program, 1);
    ok(strobe_device_finish(device));
    ok(strobe_device_read(device));
    uint32_t n = 0;
    for (int kind = 0; kind < 64; kind++)
        n += seen->data_kinds[kind];
    assert_int_equal(n, 2);
    assert_int_equal(seen->data_kinds[1], 1);
    assert_int_equal(seen->data_kinds[11], 1);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static uint32_t count_of(const char *text, const char *what)
{
    uint32_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* The file of a run of one kernel, which reads once and writes once. */
static void noc_file_has_four_entries(enum strobe_device_marking mode)
{
    char folder[] = "/tmp/strobe-noc-XXXXXX", path[128], text[8192] = "", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("TT_METAL_PROFILER_DIR", folder, 1);
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(mode);
    options.record = STROBE_DEVICE_RECORD_NOC | STROBE_DEVICE_RECORD_FILES;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    ok(strobe_program_rename(program, "copy"));
    strobe_program_set_id(program, 7);
    add(program, READS_AND_WRITES, STROBE_DEVICE_BRISC, (struct strobe_device_cores){0, 0, 0, 0});
    launch(device, program, 1);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
    snprintf(path, sizeof path, "%s/.logs/noc_trace_dev0_copy_ID7168.json", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_int_equal(count_of(text, "\"timestamp\""), 4);
    assert_int_equal(count_of(text, "\"zone\": \"BRISC-KERNEL\""), 2);
    assert_int_equal(count_of(text, "\"type\": \"READ\""), 1);
    assert_int_equal(count_of(text, "\"type\": \"WRITE_\""), 1);
    assert_int_equal(count_of(text, "BARRIER"), 0);
    unsetenv("TT_METAL_PROFILER_DIR");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void noc_example_has_four_entries_in_both_forms(void **state)
{
    (void)state;
    noc_file_has_four_entries(STROBE_DEVICE_MODE_CLASSIC);
    noc_file_has_four_entries(STROBE_DEVICE_MODE_STREAMING);
}

static void noc_tracing_has_a_read_and_a_write_and_no_barrier_in_both_forms(void **state)
{
    (void)state;
    noc_tracing_records_one_read_and_one_write(STROBE_DEVICE_MODE_CLASSIC);
    noc_tracing_records_one_read_and_one_write(STROBE_DEVICE_MODE_STREAMING);
}

/* ---- streaming ---- */

static void streaming_keeps_all_1400_programs(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    options.record = STROBE_DEVICE_RECORD_FIRMWARE;
    struct strobe_device *device = open_device(&options, seen);
    launch_1400(device, all_of(&options));
    for (int core = 0; core < 4; core++)
        for (int risc = 0; risc < RISCS; risc++)
            assert_int_equal(seen->n_zones[core][risc], risc < 2 ? 2800 : 1400 + 280);
    assert_int_equal(seen->n_bad, 0);
    assert_int_equal(seen->n_warnings, 0);
    strobe_device_close(device);
    free_seen(seen);
}

static void streaming_keeps_all_zones_of_a_full_buffer(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA ZONES_150, COMPUTE ZONES_150, all_of(&options));
    launch(device, program, 23);
    ok(strobe_device_finish(device));
    for (int core = 0; core < 4; core++)
        for (int risc = 0; risc < RISCS; risc++)
            assert_int_equal(seen->n_zones[core][risc], 23 * 151);
    assert_int_equal(seen->n_bad, 0);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

#define DENSE \
    "void kernel_main() { for (int i = 0; i < 3000; i++) { DeviceZoneScopedN(\"dense\"); } }\n"

/* Emitted = stored + dropped + added up, per lane, by the device's own count. */
static void check_ledger(const struct seen *seen, int n_cores, uint64_t n_expected)
{
    for (int core = 0; core < n_cores; core++)
        for (int risc = 0; risc < RISCS; risc++) {
            uint64_t stored =
                seen->n_zones[core][risc] + seen->n_stalls[core][risc] + seen->n_events[core][risc];
            assert_int_equal(seen->n_emitted[core][risc],
                             stored + seen->n_dropped[core][risc] + seen->n_summed[core][risc]);
            assert_int_equal(seen->n_emitted[core][risc] - seen->n_stalls[core][risc], n_expected);
        }
}

static void slow_relay(enum strobe_device_full policy, uint32_t block_cycles, int drops)
{
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    options.policy = policy;
    options.block_cycles = block_cycles;
    options.relay_slowdown = 40;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA DENSE, COMPUTE DENSE, all_of(&options));
    launch(device, program, 2);
    ok(strobe_device_finish(device));
    strobe_program_free(program);
    strobe_device_close(device);
    check_ledger(seen, 4, 2 * 3001);
    assert_int_equal(seen->n_dropped[0][0] + seen->n_summed[0][0] > 0, drops);
    assert_int_equal(seen->n_bad, 0);
    assert_int_equal(seen->n_byes, 1);
    free_seen(seen);
}

static void blocking_behind_a_slow_relay_drops_nothing(void **state)
{
    (void)state;
    slow_relay(STROBE_DEVICE_POLICY_BLOCK, 100000000, 0);
}

static void a_bounded_wait_that_is_too_short_drops_and_counts(void **state)
{
    (void)state;
    slow_relay(STROBE_DEVICE_POLICY_BLOCK, 1000, 1);
}

static void drop_newest_counts_what_it_drops(void **state)
{
    (void)state;
    slow_relay(STROBE_DEVICE_POLICY_DROP_NEWEST, 0, 1);
}

static void drop_oldest_counts_what_it_drops(void **state)
{
    (void)state;
    slow_relay(STROBE_DEVICE_POLICY_DROP_OLDEST, 0, 1);
}

static void sum_only_adds_up_what_it_does_not_send(void **state)
{
    (void)state;
    slow_relay(STROBE_DEVICE_POLICY_SUM_ONLY, 0, 1);
}

static void ten_thousand_programs_on_64_cores_add_up(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options;
    ok(strobe_device_options_init(&options));
    options.mode = STROBE_DEVICE_MODE_STREAMING;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA ONE_ZONE, COMPUTE ONE_ZONE, all_of(&options));
    launch(device, program, 10000);
    ok(strobe_device_finish(device));
    strobe_program_free(program);
    strobe_device_close(device);
    check_ledger(seen, 64, 20000);
    assert_int_equal(seen->n_bad, 0);
    free_seen(seen);
}

static uint64_t hash_of_a_run(uint64_t seed)
{
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    options.clock = STROBE_DEVICE_CLOCK_VIRTUAL;
    options.seed = seed;
    options.jitter_ns = 50;
    options.core_origin_ns = 1000;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA ZONES_150, COMPUTE ZONES_150, all_of(&options));
    strobe_program_set_id(program, 7);
    for (int i = 0; i < 20; i++) {
        launch(device, program, 3);
        ok(strobe_device_finish(device));
    }
    strobe_program_free(program);
    strobe_device_close(device);
    uint64_t hash = seen->hash;
    free_seen(seen);
    return hash;
}

static void a_virtual_clock_gives_the_same_stream_for_the_same_seed(void **state)
{
    (void)state;
    uint64_t first = hash_of_a_run(5);
    assert_int_equal(hash_of_a_run(5), first);
    assert_int_not_equal(hash_of_a_run(6), first);
}

/* ---- what goes wrong ---- */

#define HANGS                                                                                 \
    DATA "void kernel_main() { { DeviceZoneScopedN(\"before\"); }\n"                          \
         "  DeviceZoneScopedN(\"stuck here\");\n"                                             \
         "  if (get_absolute_logical_x() == 1 && get_absolute_logical_y() == 1) while (1) { " \
         "__asm__ volatile(\"\"); } }\n"

static void a_hung_core_shows_its_zones_and_the_others_go_on(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    options.hang_cycles = 2000000;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    add(program, HANGS, STROBE_DEVICE_NCRISC, all_of(&options));
    launch(device, program, 1);
    assert_int_equal(strobe_device_finish(device), STROBE_DEVICE_HUNG);
    assert_non_null(
        strstr(strobe_device_reason(),
               "core 2,2 (logical 1,1), NCRISC, kernel test kernel: runs on without an end"));
    for (int core = 0; core < 3; core++)
        assert_int_equal(seen->n_zones[core][1], 3); /* before, stuck here, the kernel */
    assert_int_equal(seen->n_zones[3][1], 1);
    assert_int_equal(seen->n_open_final, 1);
    assert_int_equal(seen->open_depth[3][1], 2); /* the kernel, stuck here */
    assert_int_equal(seen->open_id[3][1], seen->stuck_id);
    struct strobe_program *other =
        make(DATA ONE_ZONE, NULL, (struct strobe_device_cores){0, 0, 1, 0});
    launch(device, other, 1);
    ok(strobe_device_finish(device));
    assert_int_equal(seen->n_zones[0][1], 5);
    launch(device, program, 1);
    assert_int_equal(strobe_device_finish(device), STROBE_DEVICE_HUNG);
    strobe_program_free(other);
    strobe_program_free(program);
    strobe_device_close(device);
    assert_int_equal(seen->n_bad, 0);
    free_seen(seen);
}

static void a_deadlock_is_reported_with_its_circular_buffer(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    add(program, DATA "void kernel_main() { cb_wait_front(3, 1); }\n", STROBE_DEVICE_BRISC,
        (struct strobe_device_cores){0, 0, 0, 0});
    ok(strobe_program_ring(program, (struct strobe_device_cores){0, 0, 0, 0}, 3, 1024, 2,
                           STROBE_DEVICE_FLOAT32));
    launch(device, program, 1);
    assert_int_equal(strobe_device_finish(device), STROBE_DEVICE_HUNG);
    assert_non_null(strstr(
        strobe_device_reason(),
        "core 1,1 (logical 0,0), BRISC, kernel test kernel: waits for pages of circular buffer 3"));
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static void garbage_in_the_l1_of_a_core_leaves_the_others_alone(void **state)
{
    (void)state;
    uint32_t garbage[4096];
    for (uint32_t round = 0; round < 20; round++) {
        struct seen *seen = new_seen();
        struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
        options.hang_cycles = 1000000;
        struct strobe_device *device = open_device(&options, seen);
        struct strobe_program *program = make(DATA ZONES_150, NULL, all_of(&options));
        launch(device, program, 2);
        uint32_t value = round * 2654435761u + 1;
        for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
            garbage[i] = value = value * 1664525u + 1013904223u;
        ok(strobe_device_l1_write(device, 1, 1, 0x1000, garbage, sizeof garbage));
        launch(device, program, 2);
        strobe_device_finish(device); /* the core may hang */
        strobe_program_free(program);
        strobe_device_close(device);
        for (int core = 1; core < 4; core++)
            for (int risc = 0; risc < 2; risc++)
                assert_int_equal(seen->n_zones[core][risc], 4 * 151);
        free_seen(seen);
    }
}

static void after_a_reset_a_new_epoch_begins_and_all_its_zones_come(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    options.core_origin_ns = 5000;
    options.hang_cycles = 1000000;
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program = make(DATA ONE_ZONE, NULL, all_of(&options)), *hangs;
    ok(strobe_program_create(&hangs));
    add(hangs, HANGS, STROBE_DEVICE_NCRISC, all_of(&options));
    launch(device, program, 10);
    launch(device, hangs, 1);
    assert_int_equal(strobe_device_finish(device), STROBE_DEVICE_HUNG);
    ok(strobe_device_reset(device));
    assert_int_equal(seen->last_epoch, 1);
    launch(device, program, 10);
    ok(strobe_device_finish(device));
    for (int core = 0; core < 4; core++)
        assert_int_equal(seen->n_zones[core][0], 40);
    assert_int_equal(seen->n_bad, 0);
    strobe_program_free(hangs);
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

static void a_kernel_that_does_not_compile_is_said_with_the_compilers_words(void **state)
{
    (void)state;
    struct seen *seen = new_seen();
    struct strobe_device_options options = small(STROBE_DEVICE_MODE_STREAMING);
    struct strobe_device *device = open_device(&options, seen);
    struct strobe_program *program;
    ok(strobe_program_create(&program));
    add(program, DATA "void kernel_main() { no_such_call(); }\n", STROBE_DEVICE_BRISC,
        all_of(&options));
    assert_int_equal(strobe_device_enqueue(device, program, NULL), STROBE_DEVICE_BUILD);
    assert_non_null(strstr(strobe_device_reason(), "no_such_call"));
    strobe_program_free(program);
    strobe_device_close(device);
    free_seen(seen);
}

/* ---- the environment ---- */

static void conflict_of(const char *name, const char *value, const char *words)
{
    struct strobe_device_options options;
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    setenv(name, value, 1);
    assert_int_equal(strobe_device_options_init(&options), STROBE_DEVICE_CONFLICT);
    assert_non_null(strstr(strobe_device_reason(), words));
    unsetenv(name);
    ok(strobe_device_options_init(&options));
    unsetenv("TT_METAL_DEVICE_PROFILER");
}

static void printing_or_watching_together_with_markers_is_refused_with_the_remedy(void **state)
{
    (void)state;
    conflict_of("TT_METAL_DPRINT_CORES", "0,0", "unset TT_METAL_DPRINT_CORES");
    conflict_of("TT_METAL_WATCHER", "120", "unset TT_METAL_WATCHER");
}

static void sizes_that_no_buffer_can_have_are_refused_with_the_remedy(void **state)
{
    (void)state;
    conflict_of("TT_METAL_STREAMING_PROFILER_FIFO_MB", "65", "a power of two");
    conflict_of("TT_METAL_STREAMING_PROFILER_DRAM_MB", "4096", "0 to 4095");
}

static void both_forms_at_once_are_refused_with_the_remedy(void **state)
{
    (void)state;
    setenv("STROBE_DEVICE_MODE", "classic", 1);
    conflict_of("TT_METAL_STREAMING_PROFILER", "1", "unset STROBE_DEVICE_MODE=classic");
    unsetenv("STROBE_DEVICE_MODE");
    conflict_of("TT_METAL_STREAMING_PROFILER", "1",
                "TT_METAL_DEVICE_PROFILER and TT_METAL_STREAMING_PROFILER exclude each other");
}

static void files_are_for_those_who_ask_for_the_profiler(void **state)
{
    (void)state;
    struct strobe_device_options options;
    ok(strobe_device_options_init(&options));
    assert_int_equal(options.record, 0);
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    ok(strobe_device_options_init(&options));
    assert_int_equal(options.record, STROBE_DEVICE_RECORD_FILES | STROBE_DEVICE_RECORD_FIRMWARE);
    setenv("TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES", "1", 1);
    ok(strobe_device_options_init(&options));
    assert_int_equal(options.record, 0);
    unsetenv("TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES");
    unsetenv("TT_METAL_DEVICE_PROFILER");
}

static void
the_profilers_variable_means_streaming_unless_classic_is_asked_for_or_needed(void **state)
{
    (void)state;
    struct strobe_device_options options;
    ok(strobe_device_options_init(&options));
    assert_int_equal(options.mode, STROBE_DEVICE_MODE_OFF);
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    ok(strobe_device_options_init(&options));
    assert_int_equal(options.mode, STROBE_DEVICE_MODE_STREAMING);
    setenv("TT_METAL_TRACE_PROFILER", "1", 1);
    ok(strobe_device_options_init(&options));
    assert_int_equal(options.mode, STROBE_DEVICE_MODE_CLASSIC);
    unsetenv("TT_METAL_TRACE_PROFILER");
    setenv("STROBE_DEVICE_MODE", "classic", 1);
    ok(strobe_device_options_init(&options));
    assert_int_equal(options.mode, STROBE_DEVICE_MODE_CLASSIC);
    unsetenv("STROBE_DEVICE_MODE");
    unsetenv("TT_METAL_DEVICE_PROFILER");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_keeps_exactly_the_first_1000_of_1400_programs),
        cmocka_unit_test(classic_support_count_that_the_warning_names_suffices),
        cmocka_unit_test(classic_full_buffer_holds_125_zones_per_risc_and_launch),
        cmocka_unit_test(classic_guaranteed_zones_survive_when_the_others_do_not_fit),
        cmocka_unit_test(classic_support_count_10_keeps_43_programs_and_200_with_sums_266),
        cmocka_unit_test(classic_reads_midway_keep_all_1400_programs),
        cmocka_unit_test(noc_example_has_four_entries_in_both_forms),
        cmocka_unit_test(noc_tracing_has_a_read_and_a_write_and_no_barrier_in_both_forms),
        cmocka_unit_test(streaming_keeps_all_1400_programs),
        cmocka_unit_test(streaming_keeps_all_zones_of_a_full_buffer),
        cmocka_unit_test(blocking_behind_a_slow_relay_drops_nothing),
        cmocka_unit_test(a_bounded_wait_that_is_too_short_drops_and_counts),
        cmocka_unit_test(drop_newest_counts_what_it_drops),
        cmocka_unit_test(drop_oldest_counts_what_it_drops),
        cmocka_unit_test(sum_only_adds_up_what_it_does_not_send),
        cmocka_unit_test(ten_thousand_programs_on_64_cores_add_up),
        cmocka_unit_test(a_virtual_clock_gives_the_same_stream_for_the_same_seed),
        cmocka_unit_test(a_hung_core_shows_its_zones_and_the_others_go_on),
        cmocka_unit_test(a_deadlock_is_reported_with_its_circular_buffer),
        cmocka_unit_test(garbage_in_the_l1_of_a_core_leaves_the_others_alone),
        cmocka_unit_test(after_a_reset_a_new_epoch_begins_and_all_its_zones_come),
        cmocka_unit_test(a_kernel_that_does_not_compile_is_said_with_the_compilers_words),
        cmocka_unit_test(printing_or_watching_together_with_markers_is_refused_with_the_remedy),
        cmocka_unit_test(sizes_that_no_buffer_can_have_are_refused_with_the_remedy),
        cmocka_unit_test(both_forms_at_once_are_refused_with_the_remedy),
        cmocka_unit_test(files_are_for_those_who_ask_for_the_profiler),
        cmocka_unit_test(
            the_profilers_variable_means_streaming_unless_classic_is_asked_for_or_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
