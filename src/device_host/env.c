/* env.c - defaults, and what the environment says: tt-metal's variables by their names, and ours for the simulator. A variable is on
 * when its first character is 1, as there.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_host/internal.h"

static int is_on(const char *name)
{
    const char *value = getenv(name);
    return value && *value == '1';
}

static int is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

/* Once per process and variable. */
static void refuse(const char *name, const char *value, const char *wanted)
{
    enum { MAX = 32 };
    static const char *told[MAX];
    static unsigned n_told;
    for (unsigned i = 0; i < n_told; i++)
        if (!strcmp(told[i], name))
            return;
    if (n_told < MAX)
        told[n_told++] = name;
    fprintf(stderr, "strobe: %s=%s is not used: it wants %s\n", name, value, wanted);
}

static void read_u32(const char *name, uint32_t *number)
{
    const char *value = getenv(name);
    char *end;
    if (!value || !*value)
        return;
    unsigned long is = strtoul(value, &end, 10);
    if (*value >= '0' && *value <= '9' && !*end && is <= UINT32_MAX)
        *number = (uint32_t)is;
    else
        refuse(name, value, "a whole number from 0 to 4294967295");
}

/* Times and rates of the model: what is beyond a million of millions is no time that anybody means. */
static void read_double(const char *name, double lowest, double *number)
{
    const char *value = getenv(name);
    char *end, wanted[96];
    if (!value || !*value)
        return;
    double is = strtod(value, &end);
    if (end != value && !*end && is >= lowest && is <= 1e12) {
        *number = is;
        return;
    }
    snprintf(wanted, sizeof wanted, "a number from %g to 1e12", lowest);
    refuse(name, value, wanted);
}

static void set_defaults(struct strobe_device_options *options)
{
    *options = (struct strobe_device_options){.bytes = sizeof *options,
                                              .backend = "sim",
                                              .n_devices = 1,
                                              .grid_x = 8,
                                              .grid_y = 8,
                                              .n_ethernet = 2,
                                              .n_dispatch = 2,
                                              .n_banks = 8,
                                              .bank_mib = 256,
                                              .support_count = 1000,
                                              .block_cycles = 100000000,
                                              .seed = 1,
                                              .frequency_mhz = 1350,
                                              .hang_cycles = 1000000000,
                                              .relay_slowdown = 1};
}

/* A core of `qemu` is a process, and runs in the host's time: fewer cores, no bound of a wait but the relay's presence, and ten seconds before a core
 * counts as hung. */
static void read_backend(struct strobe_device_options *options)
{
    const char *backend = getenv("STROBE_DEVICE_BACKEND");
    if (!backend || !*backend)
        return;
    options->backend = backend;
    if (strcmp(backend, "qemu") != 0)
        return;
    options->grid_x = options->grid_y = 1;
    options->n_ethernet = options->n_dispatch = 0;
    options->block_cycles = 0;
    options->frequency_mhz = 1000;
    options->hang_cycles = 10000000000;
}

static void read_sim(struct strobe_device_options *options)
{
    read_u32("STROBE_SIM_DEVICES", &options->n_devices);
    read_u32("STROBE_SIM_GRID_X", &options->grid_x);
    read_u32("STROBE_SIM_GRID_Y", &options->grid_y);
    read_u32("STROBE_SIM_BANKS", &options->n_banks);
    read_double("STROBE_SIM_MHZ", 1, &options->frequency_mhz);
    read_double("STROBE_SIM_OFFSET_NS", -1e12, &options->offset_ns);
    read_double("STROBE_SIM_DRIFT_PPM", -1e12, &options->drift_ppm);
    read_double("STROBE_SIM_JITTER_NS", 0, &options->jitter_ns);
    read_double("STROBE_SIM_CORE_ORIGIN_NS", -1e12, &options->core_origin_ns);
    read_double("STROBE_SIM_RESET_SKEW_NS", -1e12, &options->reset_skew_ns);
    uint32_t seed = (uint32_t)options->seed, hang_ms = 0;
    read_u32("STROBE_SIM_SEED", &seed);
    read_u32("STROBE_SIM_HANG_MS", &hang_ms);
    read_u32("STROBE_SIM_RELAY_SLOWDOWN", &options->relay_slowdown);
    options->seed = seed;
    if (hang_ms)
        options->hang_cycles = (uint64_t)(hang_ms * options->frequency_mhz * 1000);
    const char *clock = getenv("STROBE_SIM_CLOCK");
    if (clock && strcmp(clock, "virtual") == 0)
        options->clock = STROBE_DEVICE_CLOCK_VIRTUAL;
    else if (clock && *clock)
        refuse("STROBE_SIM_CLOCK", clock, "the word virtual");
}

/* A variable that is a word: the place of its value among `words`, which end with NULL; -1: it is not set, or none of them, which is said. */
static int read_word(const char *name, const char *const *words)
{
    const char *value = getenv(name);
    char wanted[96] = "";
    if (!value || !*value)
        return -1;
    for (int i = 0; words[i]; i++) {
        if (!strcmp(value, words[i]))
            return i;
        size_t n = strlen(wanted);
        snprintf(wanted + n, sizeof wanted - n, "%s%s",
                 !i             ? ""
                 : words[i + 1] ? ", "
                                : " or ",
                 words[i]);
    }
    refuse(name, value, wanted);
    return -1;
}

/* One that is on or off, and has a third meaning where it is not set. */
static void check_switch(const char *name)
{
    const char *value = getenv(name);
    if (value && *value && *value != '0' && *value != '1')
        refuse(name, value, "1 (on) or 0 (off)");
}

/* What is recorded besides zones. All but two need the profiler to be on, or (`recorded`) a recorder; what changes the mode or is about files needs the profiler. */
static void read_record(struct strobe_device_options *options, int on, int recorded)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } all[] = {{"TT_METAL_DEVICE_PROFILER_DISPATCH", STROBE_DEVICE_RECORD_DISPATCH},
               {"TT_METAL_TRACE_PROFILER", STROBE_DEVICE_RECORD_TRACE_ONLY},
               {"TT_METAL_PROFILER_SUM", STROBE_DEVICE_RECORD_SUM},
               {"TT_METAL_PROFILER_ACCUMULATE", STROBE_DEVICE_RECORD_ACCUMULATE},
               {"TT_METAL_PROFILER_MID_RUN_DUMP", STROBE_DEVICE_RECORD_MID_RUN},
               {"TT_METAL_PROFILER_SYNC", STROBE_DEVICE_RECORD_CLOCKS},
               {"TT_METAL_STREAMING_PROFILER_SYNC_EVENTS", STROBE_DEVICE_RECORD_SYNC},
               {"STROBE_DEVICE_FIRMWARE", STROBE_DEVICE_RECORD_FIRMWARE}};
    const uint32_t of_profiler = STROBE_DEVICE_RECORD_TRACE_ONLY | STROBE_DEVICE_RECORD_ACCUMULATE |
                                 STROBE_DEVICE_RECORD_MID_RUN;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((on || (recorded && !(all[i].bit & of_profiler))) && is_on(all[i].name))
            options->record |= all[i].bit;
    if (is_on("TT_METAL_DEVICE_PROFILER_NOC_EVENTS"))
        options->record |= STROBE_DEVICE_RECORD_NOC;
    if (is_on("TT_METAL_MEM_PROFILER"))
        options->record |= STROBE_DEVICE_RECORD_MEMORY;
    read_u32("TT_METAL_PROFILE_PERF_COUNTERS", &options->perf_counters);
    read_u32("TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", &options->support_count);
}

/* Files are for those who ask for the profiler; who is merely recorded finds all in the trace. An op is known by its firmware's zones. */
static void read_files(struct strobe_device_options *options)
{
    const char *firmware = getenv("STROBE_DEVICE_FIRMWARE");
    if (is_on("TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES"))
        return;
    options->record |= STROBE_DEVICE_RECORD_FILES;
    if (!(firmware && *firmware == '0'))
        options->record |= STROBE_DEVICE_RECORD_FIRMWARE;
}

/* Sizes of the streaming profiler's buffers: what tt-metal refuses is refused here too. */
static enum strobe_device_result check_sizes(void)
{
    uint32_t dram = 128, fifo = 64;
    read_u32("TT_METAL_STREAMING_PROFILER_DRAM_MB", &dram);
    read_u32("TT_METAL_STREAMING_PROFILER_FIFO_MB", &fifo);
    if (dram > 4095)
        return strobe_host_fail(STROBE_DEVICE_CONFLICT,
                                "TT_METAL_STREAMING_PROFILER_DRAM_MB is %u. Remedy: 0 to 4095",
                                dram);
    if (!fifo || fifo > 3584 || fifo & (fifo - 1))
        return strobe_host_fail(
            STROBE_DEVICE_CONFLICT,
            "TT_METAL_STREAMING_PROFILER_FIFO_MB is %u. Remedy: a power of two, 1 to 2048", fifo);
    return STROBE_DEVICE_OK;
}

static enum strobe_device_result check_conflicts(const struct strobe_device_options *options,
                                                 int classic_asked, int streaming_asked)
{
    if (options->mode == STROBE_DEVICE_MODE_OFF)
        return STROBE_DEVICE_OK;
    if (is_set("TT_METAL_DPRINT_CORES"))
        return strobe_host_fail(
            STROBE_DEVICE_CONFLICT,
            "cannot enable both debug printing and profiling: they use the same memory of a core. "
            "Remedy: unset TT_METAL_DPRINT_CORES, or the profiler's variables");
    if (is_set("TT_METAL_WATCHER"))
        return strobe_host_fail(
            STROBE_DEVICE_CONFLICT,
            "cannot enable both the watcher and profiling: they use the same memory of a core. "
            "Remedy: unset TT_METAL_WATCHER, or the profiler's variables");
    if (classic_asked && streaming_asked)
        return strobe_host_fail(
            STROBE_DEVICE_CONFLICT,
            "the classic and the streaming profiler are both asked for. Remedy: unset "
            "STROBE_DEVICE_MODE=classic or TT_METAL_STREAMING_PROFILER");
    if (is_on("TT_METAL_DEVICE_PROFILER") && is_on("TT_METAL_STREAMING_PROFILER"))
        return strobe_host_fail(
            STROBE_DEVICE_CONFLICT,
            "TT_METAL_DEVICE_PROFILER and TT_METAL_STREAMING_PROFILER exclude each other. Remedy: "
            "unset one of them; either alone means streaming here");
    uint32_t classic_only =
        options->record & (STROBE_DEVICE_RECORD_ACCUMULATE | STROBE_DEVICE_RECORD_TRACE_ONLY);
    if (classic_only && streaming_asked)
        return strobe_host_fail(
            STROBE_DEVICE_CONFLICT,
            "accumulate and trace-only profiling exist in the classic form alone. Remedy: unset "
            "TT_METAL_STREAMING_PROFILER");
    return check_sizes();
}

/* Somebody records this program, and nothing in the environment is against it: then its kernels are marked without being asked for. */
static int is_recorded(void)
{
    const char *said = getenv("TT_METAL_DEVICE_PROFILER");
    return !(said && *said == '0') && !is_set("TT_METAL_DPRINT_CORES") &&
           !is_set("TT_METAL_WATCHER") && strobe_host_is_recorded();
}

enum strobe_device_result strobe_device_options_init(struct strobe_device_options *options)
{
    set_defaults(options);
    read_backend(options);
    read_sim(options);
    static const char *const modes[] = {"classic", "streaming", NULL};
    static const char *const policies[] = {"block", "drop-newest", "drop-oldest", "sum-only", NULL};
    int mode = read_word("STROBE_DEVICE_MODE", modes);
    int policy = read_word("STROBE_DEVICE_POLICY", policies), recorded = is_recorded();
    int streaming_asked = is_on("TT_METAL_STREAMING_PROFILER") || mode == 1;
    int classic_asked = mode == 0;
    check_switch("TT_METAL_DEVICE_PROFILER");
    check_switch("TT_METAL_STREAMING_PROFILER");
    int on = is_on("TT_METAL_DEVICE_PROFILER") || streaming_asked || classic_asked;
    read_record(options, on, recorded);
    on |= options->record & STROBE_DEVICE_RECORD_NOC || options->perf_counters;
    if (on)
        read_files(options);
    if (on || recorded) {
        uint32_t needs_classic =
            options->record & (STROBE_DEVICE_RECORD_ACCUMULATE | STROBE_DEVICE_RECORD_TRACE_ONLY);
        options->mode = classic_asked || needs_classic ? STROBE_DEVICE_MODE_CLASSIC
                                                       : STROBE_DEVICE_MODE_STREAMING;
    }
    if (policy >= 0)
        options->policy = (enum strobe_device_full)policy;
    return check_conflicts(options, classic_asked, streaming_asked);
}
