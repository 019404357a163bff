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

static void begun(void) {}

static void wait_others(void)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    while (lane->core->n_running > 1)
        strobe_sim_lane_park(lane, STROBE_SIM_WAIT_OTHERS, 0);
}

static void print(const char *text)
{
    struct strobe_sim_unit *unit = strobe_sim_lane_running()->core->unit;
    unit->board.setup.warn(unit->board.setup.warn_context, text);
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
    .begun = begun,
    .wait_others = wait_others,
    .perf_switch = strobe_sim_perf_switch,
    .perf_counter = strobe_sim_perf_counter,
    .print = print,
    .dram_push = strobe_sim_relay_push,
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
    const struct strobe_device_options *options = &unit->board.setup.options;
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
    for (uint32_t i = 0; i < unit->board.n_cores * STROBE_SIM_RISCS; i++) {
        struct strobe_sim_core *core = &unit->cores[i / STROBE_SIM_RISCS];
        uint32_t risc = i % STROBE_SIM_RISCS;
        core->lanes[risc].hot = (struct strobe_sim_risc){
            .wall = core->origin,
            .l1 = (uint32_t)(uintptr_t)core->is->l1,
            .risc = risc,
            .x = core->is->x,
            .y = core->is->y,
            .logical_x = core->is->logical_x,
            .logical_y = core->is->logical_y,
            .noc = risc == 1,
            .rings = core->rings,
            .semaphores = (uint32_t)(uintptr_t)core->is->l1 + STROBE_SIM_SEMAPHORES,
            .mailbox = (uint32_t)(uintptr_t)core->is->l1 + STROBE_SIM_MAILBOX,
            .n_banks = unit->board.setup.options.n_banks,
            .n_workers = unit->board.n_workers,
            .wall_page = map_registers()};
    }
}

static void close_unit(void *handle)
{
    struct strobe_sim_unit *unit = handle;
    strobe_sim_dispatch_close(&unit->dispatch);
    strobe_sim_grid_close(unit);
    strobe_board_close(&unit->board);
    free(unit);
}

static enum strobe_err open_parts(struct strobe_sim_unit *unit,
                                  const struct strobe_device_setup *setup, char *reason)
{
    enum strobe_err err = strobe_board_open(&unit->board, setup, reason);
    if (!err)
        err = strobe_recipe_open(&unit->board.recipe, &strobe_sim_tools, &setup->options, reason);
    return err ? err : strobe_sim_grid_open(unit);
}

static enum strobe_err open_unit(struct strobe_device_setup *setup, void **handle, char *reason)
{
    if (!STROBE_FIBER_KNOWN) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "the simulator does not know this machine's registers");
        return STROBE_ERR_INVALID;
    }
    struct strobe_sim_unit *unit = calloc(1, sizeof *unit);
    if (!unit)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = open_parts(unit, setup, reason);
    if (err) {
        close_unit(unit);
        return err;
    }
    unit->random = (setup->options.seed + 1) * 0x9E3779B97F4A7C15ull ^
                   ((uint64_t)setup->index + 1) * 0xBF58476D1CE4E5B9ull;
    unit->random += !unit->random;
    unit->virtual_ns = 1000000000;
    set_clock(unit, setup->options.clock == STROBE_DEVICE_CLOCK_VIRTUAL ? unit->virtual_ns
                                                                        : strobe_clock_mono_ns());
    strobe_sim_grid_reset(unit);
    set_up_lanes(unit);
    *handle = unit;
    return STROBE_OK;
}

static enum strobe_err reset_unit(void *handle)
{
    struct strobe_sim_unit *unit = handle;
    set_clock(unit, unit->board.setup.options.clock == STROBE_DEVICE_CLOCK_VIRTUAL
                        ? unit->virtual_ns
                        : strobe_clock_mono_ns());
    strobe_sim_grid_reset(unit);
    set_up_lanes(unit);
    return STROBE_OK;
}

/* ---- launches ---- */

/* What a launch finds on a core. */
static void set_up_core(struct strobe_sim_core *core, const struct strobe_job_launch *run)
{
    strobe_board_launch(&core->unit->board, core->is, run, core->rings);
    memset(core->is->l1 + STROBE_SIM_SEMAPHORES + STROBE_SIM_PACKED, 0, STROBE_SIM_PACKED_BYTES);
    if (core->engine)
        memset(&core->engine->n_acquired, 0,
               sizeof *core->engine - offsetof(struct strobe_sim_engine, n_acquired));
    core->perf = core->perf_read = (struct strobe_sim_perf){0};
}

static enum strobe_err launch_lane(struct strobe_sim_lane *lane,
                                   const struct strobe_job_launch *run, uint64_t at)
{
    uint32_t risc = lane->hot.risc, number = 0;
    const struct strobe_job_kernel *kernel =
        strobe_board_kernel(run->job, lane->core->is, risc, &number);
    const struct strobe_device_built *built = lane->core->unit->board.idle[risc];
    if (kernel) {
        built = kernel->built[kernel->risc == STROBE_DEVICE_COMPUTE ? risc - 2 : 0];
        lane->hot.args = strobe_board_args(run->job, lane->core->is, number, 0, &lane->hot.n_args);
        lane->hot.common_args =
            strobe_board_args(run->job, lane->core->is, number, 1, &lane->hot.n_common_args);
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
    strobe_sim_lane_launch(lane, built, strobe_recipe_code(built), at);
    return STROBE_OK;
}

static enum strobe_err run_unit(void *handle, const struct strobe_job_launch *run, char *reason)
{
    struct strobe_sim_unit *unit = handle;
    int virtual = unit->board.setup.options.clock == STROBE_DEVICE_CLOCK_VIRTUAL;
    if (virtual && run->host_ns > unit->virtual_ns)
        unit->virtual_ns = run->host_ns;
    uint64_t start = strobe_sim_clock_cycles(unit, virtual ? run->host_ns : strobe_clock_mono_ns());
    start = (start > unit->now ? start : unit->now) + STROBE_COST_LAUNCH;
    enum strobe_err err = strobe_board_build_idle(&unit->board, reason);
    if (!err)
        err = strobe_sim_dispatch_launch(&unit->dispatch, unit, run, start - STROBE_COST_LAUNCH,
                                         reason);
    uint32_t n_launched = 0;
    for (uint32_t i = 0; i < unit->board.n_cores && !err; i++) {
        int part;
        err = strobe_board_takes_part(&unit->board, unit->cores[i].is, run->job, &part, reason);
        if (err || !part)
            continue;
        set_up_core(&unit->cores[i], run);
        uint32_t n_riscs = unit->cores[i].is->kind == STROBE_CORE_ETH ? 1 : STROBE_SIM_RISCS;
        for (uint32_t risc = 0; risc < n_riscs && !err; risc++)
            err = launch_lane(&unit->cores[i].lanes[risc], run,
                              start + n_launched * STROBE_COST_LAUNCH_STEP);
        n_launched++;
    }
    if (err) { /* what was launched has not run yet */
        for (uint32_t i = 0; i < unit->board.n_cores * STROBE_SIM_RISCS; i++) {
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
    strobe_board_after(&unit->board);
    return err;
}

/* ---- the host's other questions ---- */

static enum strobe_err read_clock(void *handle, uint32_t core, uint64_t *cycles,
                                  uint64_t *before_ns, uint64_t *after_ns)
{
    strobe_sim_clock_read(handle, core, cycles, before_ns, after_ns);
    return STROBE_OK;
}

static enum strobe_err link(void *handle, void *other, struct strobe_clock_pair *pair)
{
    return strobe_sim_clock_link(handle, other, pair);
}

static uint64_t idle_since(void *handle)
{
    struct strobe_sim_unit *unit = handle;
    return strobe_sim_clock_host(unit, unit->now) + 1;
}

/* Firmware of the lanes, then that of the dispatch core. */
static const struct strobe_device_built *firmware(void *handle, uint32_t risc)
{
    const struct strobe_sim_unit *unit = handle;
    uint32_t of_dispatch = risc - STROBE_SIM_RISCS;
    if (risc < STROBE_SIM_RISCS)
        return strobe_board_firmware(handle, risc);
    return of_dispatch < STROBE_SIM_DISPATCH_RISCS ? unit->dispatch.kernels[of_dispatch] : NULL;
}

const struct strobe_device_backend *strobe_sim_backend(void)
{
    static const struct strobe_device_backend backend = {
        .name = "sim",
        .arch = STROBE_ARCH_SIM,
        .reference = UINT32_MAX,
        .open = open_unit,
        .close = close_unit,
        .run = run_unit,
        .clock = read_clock,
        .link = link,
        .idle_since = idle_since,
        .reset = reset_unit,
        .firmware = firmware,
        STROBE_BOARD_CALLS,
    };
    return &backend;
}
