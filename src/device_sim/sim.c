/* sim.c - the simulator as a backend: opens units, launches programs on their cores, answers the host. How time passes: sched.c.
 * SPDX-License-Identifier: MIT */
#include "device_sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "device_sim/build.h"
#include "device_sim/costs.h"
#include "device_sim/dispatch.h"

/* What backend.h hands around: the unit, and what its kernels are built with. */
struct strobe_sim_device {
    struct strobe_sim_unit unit;
    struct strobe_sim_recipe recipe;
    struct strobe_device_built *idle
        [STROBE_SIM_RISCS]; /* owned: firmware without a kernel; NULL where it leaves no marker */
    struct strobe_sim_dispatch dispatch;
};

/* ---- what kernels call besides NoC, buffers and tiles ---- */

static void yield(void)
{
    strobe_sim_lane_yield(strobe_sim_lane_running());
}

static void wait_until(uint64_t now)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    if (now > lane->hot.now)
        lane->hot.now = now;
    strobe_sim_lane_yield(lane);
}

static void wait_others(void)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    while (lane->core->n_running > 1)
        strobe_sim_lane_park(lane, STROBE_SIM_WAIT_OTHERS, 0);
}

static void print(const char *text)
{
    struct strobe_sim_unit *unit = strobe_sim_lane_running()->core->unit;
    unit->setup.warn(unit->setup.warn_context, text);
}

const struct strobe_sim_calls strobe_sim_call_table = {
    .yield = yield,
    .wait_until = wait_until,
    .noc_read = strobe_sim_noc_read,
    .noc_write = strobe_sim_noc_write,
    .noc_write_word = strobe_sim_noc_write_word,
    .noc_multicast = strobe_sim_noc_multicast,
    .noc_barrier = strobe_sim_noc_barrier,
    .semaphore_inc = strobe_sim_semaphore_inc,
    .semaphore_wait = strobe_sim_semaphore_wait,
    .semaphore_set = strobe_sim_semaphore_set,
    .ring_wait = strobe_sim_ring_wait,
    .ring_reserve = strobe_sim_ring_reserve,
    .ring_push = strobe_sim_ring_push,
    .ring_pop = strobe_sim_ring_pop,
    .bank_address = strobe_sim_noc_bank,
    .tile_unpack = strobe_sim_tile_unpack,
    .tile_math = strobe_sim_tile_math,
    .tile_unary = strobe_sim_tile_unary,
    .tile_pack = strobe_sim_tile_pack,
    .tile_registers = strobe_sim_tile_registers,
    .wait_others = wait_others,
    .perf_switch = strobe_sim_perf_switch,
    .perf_counter = strobe_sim_perf_counter,
    .print = print,
    .dram_push = strobe_sim_classic_push,
};

/* ---- open and close ---- */

/* The page with the wall clock's registers, at the address that kernels know; NULL where something else is there. */
static volatile uint32_t *map_registers(void)
{
    static volatile uint32_t *page;
#if UINTPTR_MAX > UINT32_MAX && defined(MAP_FIXED_NOREPLACE)
    if (!page) {
        void *map = mmap((void *)(uintptr_t)STROBE_SIM_REGISTERS, 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        page = map == MAP_FAILED ? NULL : map;
    }
#endif
    return page;
}

static void set_clock(struct strobe_sim_unit *unit, uint64_t host_ns)
{
    const struct strobe_device_options *options = &unit->setup.options;
    unit->cycles_per_ns = options->frequency_mhz / 1000 * (1 + options->drift_ppm * 1e-6);
    unit->base_ns = host_ns;
    unit->base_cycles = 1e9 + options->offset_ns * options->frequency_mhz / 1000;
    if (unit->base_cycles < 1e6)
        unit->base_cycles = 1e6;
    unit->latency = (uint64_t)(STROBE_COST_NOC_LATENCY_NS * options->frequency_mhz / 1000);
    unit->now = strobe_sim_clock_cycles(unit, host_ns);
}

static void set_up_lanes(struct strobe_sim_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_cores * STROBE_SIM_RISCS; i++) {
        struct strobe_sim_core *core = &unit->cores[i / STROBE_SIM_RISCS];
        uint32_t risc = i % STROBE_SIM_RISCS;
        core->lanes[risc].hot = (struct strobe_sim_risc){
            .wall = core->origin,
            .l1 = (uint32_t)(uintptr_t)core->l1,
            .risc = risc,
            .x = core->x,
            .y = core->y,
            .logical_x = core->logical_x,
            .logical_y = core->logical_y,
            .noc = risc == 1,
            .rings = core->rings,
            .semaphores = (uint32_t)(uintptr_t)core->l1 + STROBE_SIM_SEMAPHORES,
            .mailbox = (uint32_t)(uintptr_t)core->l1 + STROBE_SIM_MAILBOX,
            .n_banks = unit->setup.options.n_banks,
            .n_workers = unit->n_workers,
            .wall_page = map_registers()};
    }
}

static void close_unit(void *handle)
{
    struct strobe_sim_device *device = handle;
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
        strobe_sim_build_free(device->idle[risc]);
    strobe_sim_dispatch_close(&device->dispatch);
    strobe_sim_grid_close(&device->unit);
    free(device->unit.frame);
    free(device);
}

static enum strobe_err check(const struct strobe_device_options *options, char *reason)
{
    if (!STROBE_FIBER_KNOWN) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "the simulator does not know this machine's registers");
        return STROBE_ERR_INVALID;
    }
    if (!options->grid_x || !options->grid_y || options->grid_x > STROBE_SIM_MAX_XY - 2 ||
        options->grid_y > STROBE_SIM_MAX_XY - 2 || !options->n_banks ||
        options->n_banks > STROBE_SIM_MAX_XY - 2 || options->n_ethernet > STROBE_SIM_MAX_XY - 2 ||
        options->n_dispatch > STROBE_SIM_MAX_XY - 2 || options->grid_x * options->grid_y > 480 ||
        !options->bank_mib || options->bank_mib > 65535 || !(options->frequency_mhz > 1)) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "no such grid: %u x %u workers, %u banks of %u MiB, %g MHz", options->grid_x,
                 options->grid_y, options->n_banks, options->bank_mib, options->frequency_mhz);
        return STROBE_ERR_INVALID;
    }
    return STROBE_OK;
}

static enum strobe_err open_unit(const struct strobe_device_setup *setup, void **handle,
                                 char *reason)
{
    enum strobe_err err = check(&setup->options, reason);
    if (err)
        return err;
    struct strobe_sim_device *device = calloc(1, sizeof *device);
    if (!device)
        return STROBE_ERR_NOMEM;
    struct strobe_sim_unit *unit = &device->unit;
    unit->setup = *setup;
    unit->index = setup->index;
    unit->random = (setup->options.seed + 1) * 0x9E3779B97F4A7C15ull ^
                   ((uint64_t)setup->index + 1) * 0xBF58476D1CE4E5B9ull;
    unit->random += !unit->random;
    unit->frame = calloc(STROBE_EXT_MAX_WORDS + 64, sizeof *unit->frame);
    unit->virtual_ns = 1000000000;
    set_clock(unit, setup->options.clock == STROBE_DEVICE_CLOCK_VIRTUAL ? unit->virtual_ns
                                                                        : strobe_clock_mono_ns());
    if (setup->options.mode == STROBE_DEVICE_MODE_CLASSIC)
        unit->risc_words = strobe_sim_classic_words(&setup->options);
    err = unit->frame ? strobe_sim_recipe_open(&device->recipe, &setup->options, reason)
                      : STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_sim_grid_open(unit);
    if (!err && unit->risc_words && strobe_sim_classic_bytes(unit) > unit->bank_bytes) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "a program support count of %u does not fit the banks of %u MiB",
                 setup->options.support_count, setup->options.bank_mib);
        err = STROBE_ERR_NOSPACE;
    }
    if (err) {
        close_unit(device);
        return err;
    }
    strobe_sim_grid_reset(unit);
    set_up_lanes(unit);
    *handle = device;
    return STROBE_OK;
}

static enum strobe_err reset_unit(void *handle)
{
    struct strobe_sim_device *device = handle;
    struct strobe_sim_unit *unit = &device->unit;
    set_clock(unit, unit->setup.options.clock == STROBE_DEVICE_CLOCK_VIRTUAL
                        ? unit->virtual_ns
                        : strobe_clock_mono_ns());
    unit->epoch++;
    strobe_sim_grid_reset(unit);
    set_up_lanes(unit);
    for (uint32_t i = 0; i < unit->n_cores; i++)
        unit->cores[i].open_sent = 0;
    return STROBE_OK;
}

/* ---- launches ---- */

static int covers(const struct strobe_device_cores *cores, const struct strobe_sim_core *core)
{
    return core->logical_x >= cores->x0 && core->logical_x <= cores->x1 &&
           core->logical_y >= cores->y0 && core->logical_y <= cores->y1;
}

/* The kernel that a lane runs in this job. */
static const struct strobe_job_kernel *kernel_of(const struct strobe_device_job *job,
                                                 const struct strobe_sim_core *core, uint32_t risc,
                                                 uint32_t *number)
{
    for (uint32_t i = 0; i < job->n_kernels; i++) {
        const struct strobe_job_kernel *kernel = &job->kernels[i];
        int fits = kernel->risc == STROBE_DEVICE_COMPUTE ? risc >= 2
                   : kernel->risc == STROBE_DEVICE_ERISC ? risc == 0
                                                         : kernel->risc == risc;
        int on_ethernet = kernel->risc == STROBE_DEVICE_ERISC;
        if (fits && core->kind == (on_ethernet ? STROBE_SIM_ETHERNET : STROBE_SIM_WORKER) &&
            covers(&kernel->cores, core)) {
            *number = i;
            return kernel;
        }
    }
    return NULL;
}

static void set_args(struct strobe_sim_lane *lane, const struct strobe_device_job *job,
                     uint32_t kernel)
{
    struct strobe_sim_risc *hot = &lane->hot;
    hot->args = hot->common_args = NULL;
    hot->n_args = hot->n_common_args = 0;
    for (uint32_t i = 0; i < job->n_args; i++) { /* the last that was set */
        const struct strobe_job_args *args = &job->args[i];
        if (args->kernel != kernel || !covers(&args->cores, lane->core))
            continue;
        *(args->is_common ? &hot->common_args : &hot->args) = job->words + args->first;
        *(args->is_common ? &hot->n_common_args : &hot->n_args) = args->n;
    }
}

/* Circular buffers, semaphores and the profiler's words of a core, as a launch finds them. */
static void set_up_core(struct strobe_sim_core *core, const struct strobe_job_launch *run)
{
    const struct strobe_device_job *job = run->job;
    for (uint32_t i = 0; i < job->n_rings; i++)
        if (covers(&job->rings[i].cores, core))
            core->rings[job->rings[i].index] = (struct strobe_sim_ring){
                .base = (uint32_t)(uintptr_t)core->l1 + job->rings[i].address,
                .page_bytes = job->rings[i].page_bytes,
                .n_pages = job->rings[i].n_pages,
                .format = job->rings[i].format};
    for (uint32_t i = 0; i < job->n_semaphores; i++)
        if (covers(&job->semaphores[i].cores, core))
            *(uint32_t *)(void *)(core->l1 + STROBE_SIM_SEMAPHORES + 16 * job->semaphores[i].id) =
                job->semaphores[i].value;
    memset(core->l1 + STROBE_SIM_SEMAPHORES + STROBE_SIM_PACKED, 0, STROBE_SIM_PACKED_BYTES);
    struct strobe_l1_core *facts = strobe_sim_core_facts(core);
    facts->program = run->runtime_id;
    facts->launch++;
    if (!(core->unit->setup.options.record & STROBE_DEVICE_RECORD_TRACE_ONLY))
        facts->trace_counter = run->trace_counter;
    if (core->engine)
        memset(&core->engine->n_acquired, 0,
               sizeof *core->engine - offsetof(struct strobe_sim_engine, n_acquired));
    core->perf = core->perf_read = (struct strobe_sim_perf){0};
}

static enum strobe_err launch_lane(struct strobe_sim_device *device, struct strobe_sim_lane *lane,
                                   const struct strobe_job_launch *run, uint64_t at)
{
    uint32_t risc = lane->hot.risc, number = 0;
    const struct strobe_job_kernel *kernel = kernel_of(run->job, lane->core, risc, &number);
    const struct strobe_device_built *built = device->idle[risc];
    if (kernel) {
        built = kernel->built[kernel->risc == STROBE_DEVICE_COMPUTE ? risc - 2 : 0];
        set_args(lane, run->job, number);
        if (risc >= 2 && !lane->core->engine &&
            !(lane->core->engine = calloc(1, sizeof *lane->core->engine)))
            return STROBE_ERR_NOMEM;
    }
    if (!built)
        return STROBE_OK;
    if (!lane->fiber.mapping && strobe_sim_fiber_open(&lane->fiber))
        return STROBE_ERR_NOMEM;
    lane->hot.replayed = run->first_of_replay;
    lane->hot.runtime_id = run->runtime_id;
    strobe_sim_lane_launch(lane, built, strobe_sim_build_code(built), at);
    return STROBE_OK;
}

/* Whether a core has part in the job; on a hung core nothing can be launched. */
static enum strobe_err takes_part(const struct strobe_sim_core *core,
                                  const struct strobe_device_job *job, int *part, char *reason)
{
    *part = 0;
    for (uint32_t risc = 0, number; risc < STROBE_SIM_RISCS && !*part; risc++)
        *part = kernel_of(job, core, risc, &number) != NULL;
    if (!*part || !core->hung)
        return STROBE_OK;
    snprintf(reason, STROBE_DEVICE_REASON_BYTES,
             "device %u, core %u,%u hung in an earlier program; strobe_device_reset brings it back",
             core->unit->index, core->x, core->y);
    return STROBE_ERR_BUSY;
}

/* Firmware without a kernel leaves markers too: in the classic form always, else where firmware's zones are asked for. */
static enum strobe_err build_idle(struct strobe_sim_device *device, char *reason)
{
    const struct strobe_device_options *options = &device->unit.setup.options;
    int marks = options->mode == STROBE_DEVICE_MODE_CLASSIC ||
                (options->mode == STROBE_DEVICE_MODE_STREAMING &&
                 options->record & STROBE_DEVICE_RECORD_FIRMWARE);
    enum strobe_err err = STROBE_OK;
    for (uint32_t risc = 0; marks && risc < STROBE_SIM_RISCS && !err; risc++)
        if (!device->idle[risc])
            err = strobe_sim_build_kernel(
                &device->recipe,
                &(struct strobe_device_source){.kernel = {.name = "firmware"}, .risc = risc},
                &device->idle[risc], reason);
    return err;
}

static enum strobe_err run_unit(void *handle, const struct strobe_job_launch *run, char *reason)
{
    struct strobe_sim_device *device = handle;
    struct strobe_sim_unit *unit = &device->unit;
    int virtual = unit->setup.options.clock == STROBE_DEVICE_CLOCK_VIRTUAL;
    if (virtual && run->host_ns > unit->virtual_ns)
        unit->virtual_ns = run->host_ns;
    uint64_t start = strobe_sim_clock_cycles(unit, virtual ? run->host_ns : strobe_clock_mono_ns());
    start = (start > unit->now ? start : unit->now) + STROBE_COST_LAUNCH;
    enum strobe_err err = build_idle(device, reason);
    if (!err)
        err = strobe_sim_dispatch_launch(&device->dispatch, unit, &device->recipe, run,
                                         start - STROBE_COST_LAUNCH, reason);
    uint32_t n_launched = 0;
    for (uint32_t i = 0; i < unit->n_cores && !err; i++) {
        int part;
        err = takes_part(&unit->cores[i], run->job, &part, reason);
        if (err || !part)
            continue;
        set_up_core(&unit->cores[i], run);
        uint32_t n_riscs = unit->cores[i].kind == STROBE_SIM_ETHERNET ? 1 : STROBE_SIM_RISCS;
        for (uint32_t risc = 0; risc < n_riscs && !err; risc++)
            err = launch_lane(device, &unit->cores[i].lanes[risc], run,
                              start + n_launched * STROBE_COST_LAUNCH_STEP);
        n_launched++;
    }
    if (err) { /* what was launched has not run yet */
        for (uint32_t i = 0; i < unit->n_cores * STROBE_SIM_RISCS; i++) {
            struct strobe_sim_lane *lane =
                &unit->cores[i / STROBE_SIM_RISCS].lanes[i % STROBE_SIM_RISCS];
            if (lane->state == STROBE_SIM_READY)
                lane->state = STROBE_SIM_IDLE;
            lane->core->n_running = 0;
        }
        unit->n_running = unit->n_heap = 0;
        return err;
    }
    strobe_sim_relay_begin(unit, start - STROBE_COST_LAUNCH);
    err = strobe_sim_lane_run_all(unit, reason);
    if (!err)
        *run->span = (struct strobe_job_span){.start = start, .end = unit->now};
    unit->now += STROBE_COST_DONE;
    strobe_sim_relay_after(unit);
    return err;
}

/* ---- the host's other questions ---- */

static enum strobe_err build(void *handle, const struct strobe_device_source *source,
                             struct strobe_device_built **built, char *reason)
{
    return strobe_sim_build_kernel(&((struct strobe_sim_device *)handle)->recipe, source, built,
                                   reason);
}

static enum strobe_err drain(void *handle)
{
    struct strobe_sim_unit *unit = &((struct strobe_sim_device *)handle)->unit;
    if (unit->setup.options.mode == STROBE_DEVICE_MODE_STREAMING)
        strobe_sim_relay_drain(unit);
    return unit->setup.options.mode == STROBE_DEVICE_MODE_CLASSIC ? strobe_sim_classic_read(unit)
                                                                  : STROBE_OK;
}

static enum strobe_err copy(void *handle, uint64_t noc_address, void *host, uint64_t bytes,
                            int to_device)
{
    struct strobe_sim_unit *unit = &((struct strobe_sim_device *)handle)->unit;
    uint8_t *memory = strobe_sim_grid_memory(unit, noc_address, bytes);
    if (!memory)
        return STROBE_ERR_INVALID;
    memcpy(to_device ? (void *)memory : host, to_device ? host : (void *)memory, bytes);
    return STROBE_OK;
}

static void read_clock(void *handle, uint32_t core, uint64_t *cycles, uint64_t *before_ns,
                       uint64_t *after_ns)
{
    strobe_sim_clock_read(&((struct strobe_sim_device *)handle)->unit, core, cycles, before_ns,
                          after_ns);
}

static enum strobe_err link(void *handle, void *other, struct strobe_clock_pair *pair)
{
    return strobe_sim_clock_link(&((struct strobe_sim_device *)handle)->unit,
                                 &((struct strobe_sim_device *)other)->unit, pair);
}

static uint64_t idle_since(void *handle)
{
    struct strobe_sim_unit *unit = &((struct strobe_sim_device *)handle)->unit;
    return strobe_sim_clock_host(unit, unit->now) + 1;
}

static enum strobe_err core_place(void *handle, uint32_t index,
                                  struct strobe_device_core_place *place)
{
    struct strobe_sim_unit *unit = &((struct strobe_sim_device *)handle)->unit;
    if (index >= unit->n_cores)
        return STROBE_ERR_NOTFOUND;
    const struct strobe_sim_core *core = &unit->cores[index];
    static const uint32_t kinds[] = {STROBE_CORE_WORKER, STROBE_CORE_ETH, STROBE_CORE_DISPATCH};
    *place = (struct strobe_device_core_place){.x = core->x,
                                               .y = core->y,
                                               .logical_x = core->logical_x,
                                               .logical_y = core->logical_y,
                                               .kind = kinds[core->kind],
                                               .flat_id = index};
    return STROBE_OK;
}

static uint64_t bank_address(void *handle, enum strobe_device_pool pool, uint32_t bank,
                             uint64_t offset)
{
    return strobe_sim_grid_bank(&((struct strobe_sim_device *)handle)->unit, pool, bank, offset);
}

static enum strobe_err count(void *handle, uint32_t core, uint32_t risc,
                             struct strobe_lane_total *total)
{
    struct strobe_sim_unit *unit = &((struct strobe_sim_device *)handle)->unit;
    if (core >= unit->n_cores || risc >= STROBE_SIM_RISCS)
        return STROBE_ERR_NOTFOUND;
    strobe_sim_relay_total(&unit->cores[core].lanes[risc], total);
    return STROBE_OK;
}

static uint64_t dram_first(void *handle)
{
    struct strobe_sim_unit *unit = &((struct strobe_sim_device *)handle)->unit;
    return unit->risc_words ? (strobe_sim_classic_bytes(unit) + 0xFFF) & ~0xFFFull : 0;
}

static const struct strobe_device_built *firmware(void *handle, uint32_t risc)
{
    const struct strobe_sim_device *device = handle;
    uint32_t of_dispatch = risc - STROBE_SIM_RISCS;
    return risc < STROBE_SIM_RISCS                   ? device->idle[risc]
           : of_dispatch < STROBE_SIM_DISPATCH_RISCS ? device->dispatch.kernels[of_dispatch]
                                                     : NULL;
}

const struct strobe_device_backend *strobe_sim_backend(void)
{
    static const struct strobe_device_backend backend = {
        .name = "sim",
        .open = open_unit,
        .close = close_unit,
        .build = build,
        .unbuild = strobe_sim_build_free,
        .run = run_unit,
        .drain = drain,
        .copy = copy,
        .clock = read_clock,
        .link = link,
        .idle_since = idle_since,
        .reset = reset_unit,
        .core = core_place,
        .bank_address = bank_address,
        .firmware = firmware,
        .count = count,
        .dram_first = dram_first,
        .l1_first = STROBE_SIM_L1_FREE,
        .l1_end = STROBE_SIM_L1_BYTES,
    };
    return &backend;
}
