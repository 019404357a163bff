/* grid.c - cores, their L1 and the banks of DRAM of a simulated device. On the NoC workers lie at (1 + logical x, 1 + logical y),
 * ethernet cores in row 0, banks in column 0, dispatch cores in the column behind the workers.
 * L1 lies below 4 GiB, so that a kernel can make a pointer of a 32-bit address.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/clock.h"
#include "device_sim/costs.h"
#include "device_sim/internal.h"

struct strobe_sim_core *strobe_sim_core_at(const struct strobe_sim_unit *unit, uint32_t x,
                                           uint32_t y)
{
    uint32_t core =
        x < STROBE_SIM_MAX_XY && y < STROBE_SIM_MAX_XY ? unit->at[y][x] : STROBE_SIM_NO_CORE;
    return core < unit->n_cores ? &unit->cores[core] : NULL;
}

uint8_t *strobe_sim_grid_memory(const struct strobe_sim_unit *unit, uint64_t noc_address,
                                uint64_t bytes)
{
    uint32_t x = (uint32_t)(noc_address >> 36) & 63, y = (uint32_t)(noc_address >> 42) & 63;
    uint64_t offset = noc_address & 0xFFFFFFFFFull;
    if (unit->bank_at[y][x])
        return bytes <= unit->bank_bytes && offset <= unit->bank_bytes - bytes
                   ? unit->banks[unit->bank_at[y][x] - 1] + offset
                   : NULL;
    struct strobe_sim_core *core = strobe_sim_core_at(unit, x, y);
    offset &= STROBE_SIM_L1_MASK;
    return core && bytes <= STROBE_SIM_L1_BYTES && offset <= STROBE_SIM_L1_BYTES - bytes
               ? core->l1 + offset
               : NULL;
}

uint64_t strobe_sim_grid_bank(const struct strobe_sim_unit *unit, enum strobe_device_pool pool,
                              uint32_t bank, uint64_t offset)
{
    if (pool == STROBE_DEVICE_DRAM)
        return strobe_device_noc_address(0, 1 + bank % unit->setup.options.n_banks, offset);
    const struct strobe_sim_core *core = &unit->cores[bank % unit->n_workers];
    return strobe_device_noc_address(core->x, core->y, offset);
}

/* Map memory below 4 GiB whose start is a multiple of a slot. */
static void *map_low(size_t bytes, void **mapping, size_t *mapping_bytes)
{
    *mapping_bytes = bytes + STROBE_SIM_L1_SLOT;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#ifdef MAP_32BIT
    void *map = mmap(NULL, *mapping_bytes, PROT_READ | PROT_WRITE, flags | MAP_32BIT, -1, 0);
#else
    void *map = MAP_FAILED;
#endif
#if UINTPTR_MAX > UINT32_MAX && defined(MAP_FIXED_NOREPLACE)
    for (uintptr_t at = 0x10000000; map == MAP_FAILED && at + *mapping_bytes < 0xF0000000u;
         at += 0x4000000)
        map = mmap((void *)at, *mapping_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE,
                   -1, 0);
#endif
    if (map == MAP_FAILED)
        return NULL;
    *mapping = map;
    return (void *)(((uintptr_t)map + STROBE_SIM_L1_SLOT - 1) &
                    ~(uintptr_t)(STROBE_SIM_L1_SLOT - 1));
}

static void place_core(struct strobe_sim_unit *unit, enum strobe_sim_kind kind, uint32_t x,
                       uint32_t y, uint32_t lx, uint32_t ly)
{
    struct strobe_sim_core *core = &unit->cores[unit->n_cores];
    *core = (struct strobe_sim_core){.unit = unit,
                                     .index = unit->n_cores,
                                     .x = x,
                                     .y = y,
                                     .logical_x = lx,
                                     .logical_y = ly,
                                     .kind = kind};
    unit->at[y][x] = (uint16_t)unit->n_cores++;
}

static void place_cores(struct strobe_sim_unit *unit)
{
    const struct strobe_device_options *options = &unit->setup.options;
    memset(unit->at, 0xFF, sizeof unit->at);
    for (uint32_t y = 0; y < options->grid_y; y++)
        for (uint32_t x = 0; x < options->grid_x; x++)
            place_core(unit, STROBE_SIM_WORKER, 1 + x, 1 + y, x, y);
    unit->n_workers = unit->n_cores;
    for (uint32_t i = 0; i < options->n_ethernet; i++)
        place_core(unit, STROBE_SIM_ETHERNET, 1 + i, 0, i, 0);
    for (uint32_t i = 0; i < options->n_dispatch; i++)
        place_core(unit, STROBE_SIM_DISPATCH, 1 + options->grid_x, 1 + i, i, 0);
    for (uint32_t i = 0; i < options->n_banks; i++)
        unit->bank_at[1 + i][0] = (uint8_t)(1 + i);
}

static enum strobe_err map_banks(struct strobe_sim_unit *unit)
{
    uint32_t n = unit->setup.options.n_banks;
    unit->bank_bytes = (uint64_t)unit->setup.options.bank_mib << 20;
    unit->banks = calloc(n, sizeof *unit->banks);
    unit->bank_free = calloc(n, sizeof *unit->bank_free);
    if (!unit->banks || !unit->bank_free)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        void *map = mmap(NULL, unit->bank_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED)
            return STROBE_ERR_NOMEM;
        unit->banks[i] = map;
    }
    return STROBE_OK;
}

enum strobe_err strobe_sim_grid_open(struct strobe_sim_unit *unit)
{
    const struct strobe_device_options *options = &unit->setup.options;
    uint32_t n = options->grid_x * options->grid_y + options->n_ethernet + options->n_dispatch;
    unit->cores = calloc(n, sizeof *unit->cores);
    if (!unit->cores)
        return STROBE_ERR_NOMEM;
    place_cores(unit);
    uint8_t *l1 =
        map_low((size_t)n * STROBE_SIM_L1_SLOT, &unit->l1_mapping, &unit->l1_mapping_bytes);
    if (!l1)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        struct strobe_sim_core *core = &unit->cores[i];
        core->l1 = l1 + (size_t)i * STROBE_SIM_L1_SLOT;
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
            core->lanes[risc].core = core;
    }
    unit->n_relays = options->mode == STROBE_DEVICE_MODE_STREAMING && options->relay_slowdown
                         ? options->n_banks
                         : 0;
    enum strobe_err err = STROBE_ARRAY_RESERVE(
        unit->heap, unit->room_heap, (uint64_t)n * STROBE_SIM_RISCS + unit->n_relays + 64);
    return err ? err : map_banks(unit);
}

void strobe_sim_grid_close(struct strobe_sim_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_cores; i++) {
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
            strobe_sim_fiber_close(&unit->cores[i].lanes[risc].fiber);
        free(unit->cores[i].engine);
    }
    if (unit->l1_mapping)
        munmap(unit->l1_mapping, unit->l1_mapping_bytes);
    for (uint32_t i = 0; unit->banks && i < unit->setup.options.n_banks; i++)
        if (unit->banks[i])
            munmap(unit->banks[i], unit->bank_bytes);
    free(unit->banks);
    free(unit->bank_free);
    free(unit->cores);
    free(unit->heap);
}

/* The profiler's words of a core, as the host sets them up. */
static void set_up_core(struct strobe_sim_core *core)
{
    const struct strobe_device_options *options = &core->unit->setup.options;
    memset(core->l1 + STROBE_SIM_MAILBOX, 0, STROBE_L1_BYTES(STROBE_SIM_RISCS));
    struct strobe_l1_core *facts = strobe_sim_core_facts(core);
    facts->version = STROBE_DEVICE_VERSION;
    facts->n_riscs = STROBE_SIM_RISCS;
    facts->mode = (uint32_t)options->mode;
    facts->policy = (uint32_t)options->policy;
    facts->wait_cycles = options->block_cycles;
    facts->flags = (options->record & STROBE_DEVICE_RECORD_FIRMWARE ? STROBE_CORE_FW_ZONES : 0u) |
                   (options->record & STROBE_DEVICE_RECORD_SUM ? STROBE_CORE_SUMS : 0u);
    facts->base = (uint32_t)(uintptr_t)core->l1 + STROBE_SIM_MAILBOX;
    facts->perf_groups = options->perf_counters;
    facts->risc_words = core->unit->risc_words;
    uint32_t *control = strobe_sim_core_control(core);
    if (options->mode == STROBE_DEVICE_MODE_STREAMING)
        control[STROBE_SC_ARMED] = core->unit->n_relays && !core->unit->is_refused;
}

void strobe_sim_grid_reset(struct strobe_sim_unit *unit)
{
    const struct strobe_device_options *options = &unit->setup.options;
    for (uint32_t i = 0; i < unit->n_cores; i++) {
        struct strobe_sim_core *core = &unit->cores[i];
        core->hung = 0;
        core->n_running = 0;
        memset(core->rings, 0, sizeof core->rings);
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
            core->lanes[risc].state = STROBE_SIM_IDLE;
        core->origin = (uint64_t)(strobe_sim_clock_random(unit) * options->core_origin_ns *
                                  unit->cycles_per_ns);
        if (options->reset_skew_ns > 0 && core->kind == STROBE_SIM_WORKER)
            core->origin += (uint64_t)(strobe_sim_clock_random(unit) * options->reset_skew_ns *
                                       unit->cycles_per_ns);
        set_up_core(core);
    }
    if (options->mode == STROBE_DEVICE_MODE_CLASSIC)
        strobe_sim_classic_open(unit);
    unit->n_running = unit->n_heap = 0;
}
