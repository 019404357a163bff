/* tiles.h - the compute engine of a core under QEMU: TRISC_0 unpacks, TRISC_1 computes, TRISC_2 packs, each on its hart. Registers
 * have two halves, so all three work at once and wait for each other. Floats are computed in software: the RISCs have none.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QEMU_TILES_H
#define STROBE_QEMU_TILES_H

#include "../sim/tile_math.h"
#include "moves.h"

static struct {
    float source[2][2][STROBE_TILE_WORDS]; /* [slot][operand] */
    float dst[2][16][STROBE_TILE_WORDS];
} engine;

/* Tile `at` of what is at `offset`; 0: not in the buffer. */
static uint8_t *tile_at(volatile struct strobe_sim_ring *ring, uint32_t offset, uint32_t at)
{
    uint32_t bytes = ring->n_pages * ring->page_bytes, size = strobe_tile_bytes(ring->format);
    if (!bytes || size > bytes)
        return 0;
    uint32_t from = (offset + at * ring->page_bytes) % bytes;
    return from + size > bytes ? 0 : (uint8_t *)ring->base + from;
}

static void load_tile(uint32_t number, uint32_t tile, float *to)
{
    volatile struct strobe_sim_ring *ring = ring_at(number);
    const uint8_t *from = tile_at(ring, ring->read_offset, tile);
    if (from)
        strobe_tile_load(to, from, ring->format);
}

static void tile_unpack(uint32_t ring_a, uint32_t tile_a, uint32_t ring_b, uint32_t tile_b,
                        uint32_t n_tiles)
{
    WAIT_UNTIL(SHARED->n_unpacked - SHARED->n_used < 2, STROBE_SIM_WAIT_SOURCE, 0);
    float(*slot)[STROBE_TILE_WORDS] = engine.source[SHARED->n_unpacked & 1];
    load_tile(ring_a, tile_a, slot[0]);
    if (n_tiles > 1)
        load_tile(ring_b, tile_b, slot[1]);
    FENCE();
    SHARED->n_unpacked++;
    wake_others(my_number());
}

static void tile_math(uint32_t op, uint32_t dst)
{
    WAIT_UNTIL(SHARED->n_unpacked != SHARED->n_used, STROBE_SIM_WAIT_SOURCE, 0);
    FENCE();
    float(*slot)[STROBE_TILE_WORDS] = engine.source[SHARED->n_used & 1];
    strobe_tile_combine(op, slot[0], slot[1], engine.dst[(SHARED->n_acquired + 1) & 1][dst % 16]);
    FENCE();
    SHARED->n_used++;
    wake_others(my_number());
}

static float apply(uint32_t op, float x)
{
    switch (op) {
    case STROBE_SIM_UNARY_RELU:
        return x > 0 ? x : 0;
    case STROBE_SIM_UNARY_RECIP:
        return 1 / x;
    case STROBE_SIM_UNARY_SQUARE:
        return x * x;
    case STROBE_SIM_UNARY_NEGATIVE:
        return -x;
    default:
        return x < 0 ? -x : x;
    }
}

static void tile_unary(uint32_t op, uint32_t dst)
{
    float *tile = engine.dst[(SHARED->n_acquired + 1) & 1][dst % 16];
    for (uint32_t i = 0; i < STROBE_TILE_WORDS; i++)
        tile[i] = apply(op, tile[i]);
}

static void tile_pack(uint32_t dst, uint32_t number, uint32_t at)
{
    volatile struct strobe_sim_ring *ring = ring_at(number);
    uint8_t *to = tile_at(ring, ring->write_offset, at);
    if (to)
        strobe_tile_store(to, engine.dst[SHARED->n_released & 1][dst % 16], ring->format);
}

/* The handshake of the destination registers: TRISC_1 acquires and commits, TRISC_2 waits and releases. */
static void tile_registers(uint32_t step)
{
    if (step == 0) {
        WAIT_UNTIL(SHARED->n_acquired - SHARED->n_released < 2, STROBE_SIM_WAIT_REGISTERS, 0);
        float *half = engine.dst[SHARED->n_acquired & 1][0];
        for (uint32_t i = 0; i < 16 * STROBE_TILE_WORDS; i++)
            half[i] = 0;
        SHARED->n_acquired++;
        return;
    }
    if (step == 2) {
        WAIT_UNTIL(SHARED->n_committed != SHARED->n_waited, STROBE_SIM_WAIT_REGISTERS, 0);
        FENCE();
        SHARED->n_waited++;
        return;
    }
    FENCE();
    if (step == 1)
        SHARED->n_committed++;
    else
        SHARED->n_released++;
    wake_others(my_number());
}

#endif
