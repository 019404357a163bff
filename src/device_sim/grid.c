/* grid.c - the simulated cores of a board and their L1, which lies below 4 GiB, so that a kernel can make a pointer of a 32-bit
 * address.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "device_sim/internal.h"

struct strobe_sim_core *strobe_sim_core_at(const struct strobe_sim_unit *unit, uint32_t x,
                                           uint32_t y)
{
    const struct strobe_board_core *core = strobe_board_core_at(&unit->board, x, y);
    return core ? &unit->cores[core->index] : NULL;
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

enum strobe_err strobe_sim_grid_open(struct strobe_sim_unit *unit)
{
    struct strobe_board *board = &unit->board;
    uint32_t n = board->n_cores, n_banks = board->setup.options.n_banks;
    unit->cores = calloc(n, sizeof *unit->cores);
    unit->bank_free = calloc(n_banks, sizeof *unit->bank_free);
    if (!unit->cores || !unit->bank_free)
        return STROBE_ERR_NOMEM;
    uint8_t *l1 =
        map_low((size_t)n * STROBE_SIM_L1_SLOT, &unit->l1_mapping, &unit->l1_mapping_bytes);
    if (!l1)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        struct strobe_sim_core *core = &unit->cores[i];
        core->unit = unit;
        core->is = &board->cores[i];
        core->is->l1 = l1 + (size_t)i * STROBE_SIM_L1_SLOT;
        core->is->l1_address = (uint32_t)(uintptr_t)core->is->l1;
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
            core->lanes[risc].core = core;
    }
    board->table_time = strobe_sim_relay_time;
    unit->n_relays = board->is_relayed ? n_banks : 0;
    return STROBE_ARRAY_RESERVE(unit->heap, unit->room_heap,
                                (uint64_t)n * STROBE_SIM_RISCS + unit->n_relays + 64);
}

void strobe_sim_grid_close(struct strobe_sim_unit *unit)
{
    for (uint32_t i = 0; unit->cores && i < unit->board.n_cores; i++) {
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
            strobe_sim_fiber_close(&unit->cores[i].lanes[risc].fiber);
        free(unit->cores[i].engine);
    }
    if (unit->l1_mapping)
        munmap(unit->l1_mapping, unit->l1_mapping_bytes);
    free(unit->bank_free);
    free(unit->cores);
    free(unit->heap);
}

void strobe_sim_grid_reset(struct strobe_sim_unit *unit)
{
    const struct strobe_device_options *options = &unit->board.setup.options;
    for (uint32_t i = 0; i < unit->board.n_cores; i++) {
        struct strobe_sim_core *core = &unit->cores[i];
        core->n_running = 0;
        memset(core->rings, 0, sizeof core->rings);
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
            core->lanes[risc].state = STROBE_SIM_IDLE;
        core->origin = (uint64_t)(strobe_sim_clock_random(unit) * options->core_origin_ns *
                                  unit->cycles_per_ns);
        if (options->reset_skew_ns > 0 && core->is->kind == STROBE_CORE_WORKER)
            core->origin += (uint64_t)(strobe_sim_clock_random(unit) * options->reset_skew_ns *
                                       unit->cycles_per_ns);
        strobe_board_core_reset(&unit->board, core->is);
    }
    unit->n_running = unit->n_heap = 0;
}
