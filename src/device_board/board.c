/* board.c - cores and banks of a stand-in device. On the NoC workers lie at (1 + logical x, 1 + logical y), ethernet cores in row 0,
 * banks in column 0, dispatch cores in the column behind the workers.  SPDX-License-Identifier: MIT */
#include "device_board/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/assert.h"

static const char *const risc_names[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};

const char *strobe_board_risc_name(uint32_t risc)
{
    return risc < STROBE_BOARD_RISCS ? risc_names[risc] : "?";
}

void strobe_board_say_wait(uint32_t wait, uint32_t on, char *text, size_t bytes)
{
    static const char *const waits[STROBE_SIM_N_WAITS] = {
        "runs on without an end",
        "waits for pages of circular buffer %u",
        "waits for room in circular buffer %u",
        "waits for the semaphore at L1 offset 0x%x",
        "waits for unpacked tiles",
        "waits for the destination registers",
        "waits for the core's other RISCs",
        "waits for a transfer",
        "waits for room in its ring",
        "did not begin",
        "waits for BRISC to begin"};
    snprintf(text, bytes, wait < STROBE_SIM_N_WAITS ? waits[wait] : "has garbage for a state", on);
}

struct strobe_board_core *strobe_board_core_at(const struct strobe_board *board, uint32_t x,
                                               uint32_t y)
{
    uint32_t core =
        x < STROBE_BOARD_MAX_XY && y < STROBE_BOARD_MAX_XY ? board->at[y][x] : STROBE_BOARD_NO_CORE;
    return core < board->n_cores ? &board->cores[core] : NULL;
}

uint8_t *strobe_board_memory(const struct strobe_board *board, uint64_t noc_address, uint64_t bytes)
{
    uint32_t x = (uint32_t)(noc_address >> 36) & 63, y = (uint32_t)(noc_address >> 42) & 63;
    uint64_t offset = noc_address & 0xFFFFFFFFFull;
    if (board->bank_at[y][x])
        return bytes <= board->bank_bytes && offset <= board->bank_bytes - bytes
                   ? board->banks[board->bank_at[y][x] - 1] + offset
                   : NULL;
    struct strobe_board_core *core = strobe_board_core_at(board, x, y);
    offset &= STROBE_SIM_L1_MASK;
    return core && bytes <= STROBE_SIM_L1_BYTES && offset <= STROBE_SIM_L1_BYTES - bytes
               ? core->l1 + offset
               : NULL;
}

uint32_t *strobe_board_control(const struct strobe_board_core *core)
{
    STROBE_ASSERT(core->l1);
    return (uint32_t *)(void *)(core->l1 + STROBE_SIM_MAILBOX);
}

struct strobe_l1_core *strobe_board_facts(const struct strobe_board_core *core)
{
    return (struct strobe_l1_core *)(void *)(core->l1 + STROBE_SIM_MAILBOX +
                                             STROBE_L1_CORE_OFFSET(STROBE_BOARD_RISCS));
}

struct strobe_l1_lane *strobe_board_lane(const struct strobe_board_core *core, uint32_t risc)
{
    STROBE_ASSERT(risc < STROBE_BOARD_RISCS);
    return (struct strobe_l1_lane *)(void *)(core->l1 + STROBE_SIM_MAILBOX +
                                             STROBE_L1_LANE_OFFSET(STROBE_BOARD_RISCS, risc));
}

/* ---- open and close ---- */

static void place_core(struct strobe_board *board, enum strobe_core_kind kind, uint32_t x,
                       uint32_t y, uint32_t lx, uint32_t ly)
{
    STROBE_ASSERT(x < STROBE_BOARD_MAX_XY && y < STROBE_BOARD_MAX_XY);
    board->cores[board->n_cores] = (struct strobe_board_core){
        .index = board->n_cores, .x = x, .y = y, .logical_x = lx, .logical_y = ly, .kind = kind};
    board->at[y][x] = (uint16_t)board->n_cores++;
}

static void place_cores(struct strobe_board *board)
{
    const struct strobe_device_options *options = &board->setup.options;
    memset(board->at, 0xFF, sizeof board->at);
    for (uint32_t y = 0; y < options->grid_y; y++)
        for (uint32_t x = 0; x < options->grid_x; x++)
            place_core(board, STROBE_CORE_WORKER, 1 + x, 1 + y, x, y);
    board->n_workers = board->n_cores;
    for (uint32_t i = 0; i < options->n_ethernet; i++)
        place_core(board, STROBE_CORE_ETH, 1 + i, 0, i, 0);
    for (uint32_t i = 0; i < options->n_dispatch; i++)
        place_core(board, STROBE_CORE_DISPATCH, 1 + options->grid_x, 1 + i, i, 0);
    for (uint32_t i = 0; i < options->n_banks; i++)
        board->bank_at[1 + i][0] = (uint8_t)(1 + i);
}

static enum strobe_err map_banks(struct strobe_board *board)
{
    uint32_t n = board->setup.options.n_banks;
    board->bank_bytes = (uint64_t)board->setup.options.bank_mib << 20;
    board->banks = calloc(n, sizeof *board->banks);
    if (!board->banks)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        void *map = mmap(NULL, board->bank_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED)
            return STROBE_ERR_NOMEM;
        board->banks[i] = map;
    }
    return STROBE_OK;
}

static enum strobe_err check(const struct strobe_device_options *options, char *reason)
{
    const uint32_t most = STROBE_BOARD_MAX_XY - 2;
    if (options->grid_x && options->grid_y && options->grid_x <= most && options->grid_y <= most &&
        options->n_banks && options->n_banks <= most && options->n_ethernet <= most &&
        options->n_dispatch <= most && options->grid_x * options->grid_y <= 480 &&
        options->bank_mib && options->bank_mib <= 65535 && options->frequency_mhz > 1)
        return STROBE_OK;
    snprintf(reason, STROBE_DEVICE_REASON_BYTES,
             "no such grid: %u x %u workers, %u banks of %u MiB, %g MHz", options->grid_x,
             options->grid_y, options->n_banks, options->bank_mib, options->frequency_mhz);
    return STROBE_ERR_INVALID;
}

enum strobe_err strobe_board_open(struct strobe_board *board,
                                  const struct strobe_device_setup *setup, char *reason)
{
    const struct strobe_device_options *options = &setup->options;
    enum strobe_err err = check(options, reason);
    if (err)
        return err;
    board->setup = *setup;
    uint32_t n = options->grid_x * options->grid_y + options->n_ethernet + options->n_dispatch;
    board->cores = calloc(n, sizeof *board->cores);
    board->frame = calloc(STROBE_EXT_MAX_WORDS + 64, sizeof *board->frame);
    if (!board->cores || !board->frame)
        return STROBE_ERR_NOMEM;
    place_cores(board);
    STROBE_ASSERT(board->n_cores == n);
    board->is_relayed = options->mode == STROBE_DEVICE_MODE_STREAMING && options->relay_slowdown;
    if (options->mode == STROBE_DEVICE_MODE_CLASSIC)
        board->risc_words = strobe_board_classic_words(options);
    err = map_banks(board);
    if (!err && board->risc_words && strobe_board_classic_bytes(board) > board->bank_bytes) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "a program support count of %u does not fit the banks of %u MiB",
                 options->support_count, options->bank_mib);
        err = STROBE_ERR_NOSPACE;
    }
    return err;
}

void strobe_board_close(struct strobe_board *board)
{
    for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++)
        strobe_recipe_unbuild(board->idle[risc]);
    for (uint32_t i = 0; board->banks && i < board->setup.options.n_banks; i++)
        if (board->banks[i])
            munmap(board->banks[i], board->bank_bytes);
    free(board->banks);
    free(board->cores);
    free(board->frame);
}

void strobe_board_core_reset(struct strobe_board *board, struct strobe_board_core *core)
{
    const struct strobe_device_options *options = &board->setup.options;
    core->hung = core->open_sent = 0;
    memset(core->l1 + STROBE_SIM_MAILBOX, 0, STROBE_L1_BYTES(STROBE_BOARD_RISCS));
    struct strobe_l1_core *facts = strobe_board_facts(core);
    facts->version = STROBE_DEVICE_VERSION;
    facts->n_riscs = STROBE_BOARD_RISCS;
    facts->mode = (uint32_t)options->mode;
    facts->policy = (uint32_t)options->policy;
    facts->wait_cycles = options->block_cycles;
    facts->flags = (options->record & STROBE_DEVICE_RECORD_FIRMWARE ? STROBE_CORE_FW_ZONES : 0u) |
                   (options->record & STROBE_DEVICE_RECORD_SUM ? STROBE_CORE_SUMS : 0u);
    facts->base = core->l1_address + STROBE_SIM_MAILBOX;
    facts->perf_groups = options->perf_counters;
    facts->risc_words = board->risc_words;
    if (options->mode == STROBE_DEVICE_MODE_STREAMING)
        strobe_board_control(core)[STROBE_SC_ARMED] = board->is_relayed && !board->is_refused;
    if (options->mode == STROBE_DEVICE_MODE_CLASSIC)
        strobe_board_classic_arm(board, core);
}

/* ---- calls of backend.h ---- */

enum strobe_err strobe_board_copy(void *unit, uint64_t noc_address, void *host, uint64_t bytes,
                                  int to_device)
{
    uint8_t *memory = strobe_board_memory(unit, noc_address, bytes);
    if (!memory)
        return STROBE_ERR_INVALID;
    memcpy(to_device ? (void *)memory : host, to_device ? host : (void *)memory, bytes);
    return STROBE_OK;
}

enum strobe_err strobe_board_place(void *unit, uint32_t index,
                                   struct strobe_device_core_place *place)
{
    const struct strobe_board *board = unit;
    if (index >= board->n_cores)
        return STROBE_ERR_NOTFOUND;
    const struct strobe_board_core *core = &board->cores[index];
    *place = (struct strobe_device_core_place){.x = core->x,
                                               .y = core->y,
                                               .logical_x = core->logical_x,
                                               .logical_y = core->logical_y,
                                               .kind = core->kind,
                                               .flat_id = index};
    return STROBE_OK;
}

uint64_t strobe_board_bank(void *unit, enum strobe_device_pool pool, uint32_t bank, uint64_t offset)
{
    const struct strobe_board *board = unit;
    if (pool == STROBE_DEVICE_DRAM)
        return strobe_device_noc_address(0, 1 + bank % board->setup.options.n_banks, offset);
    const struct strobe_board_core *core = &board->cores[bank % board->n_workers];
    return strobe_device_noc_address(core->x, core->y, offset);
}

uint64_t strobe_board_dram_first(void *unit)
{
    const struct strobe_board *board = unit;
    return board->risc_words ? (strobe_board_classic_bytes(board) + 0xFFF) & ~0xFFFull : 0;
}
