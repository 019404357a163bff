/* tiles.c - the compute engine of a core: TRISC_0 unpacks tiles into the source registers, TRISC_1 computes into the destination
 * registers, TRISC_2 packs them. The registers have two halves each, so all three work at once and wait for each other.
 * Tiles are 32 x 32, stored in four faces of 16 x 16; registers are row-major floats.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_sim/costs.h"
#include "device_sim/internal.h"
#include "sim/tile_math.h"

#define TILE STROBE_TILE_WORDS

static struct strobe_sim_engine *engine_of(struct strobe_sim_lane *lane)
{
    return lane->core->engine;
}

static void charge(struct strobe_sim_lane *lane, uint32_t cycles)
{
    lane->hot.now += cycles;
    if (lane->hot.now >= lane->hot.until)
        strobe_sim_lane_yield(lane);
}

static void wake(struct strobe_sim_lane *by, uint32_t risc, enum strobe_sim_wait wait)
{
    struct strobe_sim_lane *lane = &by->core->lanes[risc];
    if (lane->state == STROBE_SIM_PARKED && lane->wait == wait)
        strobe_sim_lane_wake(lane, by->hot.now + 2);
}

/* Where tile `at`, counted from the front of what is at `offset`, lies; NULL: not in the buffer. */
static uint8_t *tile_at(struct strobe_sim_lane *lane, uint32_t number, uint32_t offset, uint32_t at)
{
    struct strobe_sim_ring *ring = &lane->core->rings[number % STROBE_SIM_MAX_RINGS];
    uint32_t bytes = ring->n_pages * ring->page_bytes, size = strobe_tile_bytes(ring->format);
    if (!bytes || size > bytes)
        return NULL;
    uint32_t from = (offset + at * ring->page_bytes) % bytes;
    if (from + size > bytes)
        return NULL;
    return lane->core->is->l1 + (ring->base & STROBE_SIM_L1_MASK) + from;
}

static void load(struct strobe_sim_lane *lane, uint32_t number, uint32_t tile, float *to)
{
    const struct strobe_sim_ring *ring = &lane->core->rings[number % STROBE_SIM_MAX_RINGS];
    const uint8_t *from = tile_at(lane, number, ring->read_offset, tile);
    if (!from) {
        memset(to, 0, TILE * sizeof *to);
        return;
    }
    strobe_tile_load(to, from, ring->format);
}

void strobe_sim_tile_unpack(uint32_t ring_a, uint32_t tile_a, uint32_t ring_b, uint32_t tile_b,
                            uint32_t n_tiles)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_engine *engine = engine_of(lane);
    if (!engine)
        return;
    while (engine->n_unpacked - engine->n_used >= 2)
        strobe_sim_lane_park(lane, STROBE_SIM_WAIT_SOURCE, 0);
    float(*slot)[TILE] = engine->source[engine->n_unpacked & 1];
    load(lane, ring_a, tile_a, slot[0]);
    if (n_tiles > 1)
        load(lane, ring_b, tile_b, slot[1]);
    charge(lane, STROBE_COST_UNPACK_TILE * n_tiles);
    struct strobe_sim_perf *perf = &lane->core->perf;
    perf->unpack[0] += STROBE_COST_UNPACK_TILE;
    perf->read_bytes += strobe_tile_bytes(lane->core->rings[ring_a % STROBE_SIM_MAX_RINGS].format);
    if (n_tiles > 1) {
        perf->unpack[1] += STROBE_COST_UNPACK_TILE;
        perf->read_bytes +=
            strobe_tile_bytes(lane->core->rings[ring_b % STROBE_SIM_MAX_RINGS].format);
    }
    engine->n_unpacked++;
    wake(lane, 3, STROBE_SIM_WAIT_SOURCE);
}

void strobe_sim_tile_math(uint32_t op, uint32_t dst)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_engine *engine = engine_of(lane);
    if (!engine)
        return;
    while (engine->n_unpacked == engine->n_used)
        strobe_sim_lane_park(lane, STROBE_SIM_WAIT_SOURCE, 0);
    float(*slot)[TILE] = engine->source[engine->n_used & 1],
    *to = engine->dst[(engine->n_acquired + 1) & 1][dst % 16];
    strobe_tile_combine(op, slot[0], slot[1], to);
    uint32_t cycles =
        op == STROBE_SIM_TILE_MATMUL ? STROBE_COST_MATMUL_TILE : STROBE_COST_MATH_TILE;
    charge(lane, cycles);
    lane->core->perf.fpu += cycles;
    engine->n_used++;
    wake(lane, 2, STROBE_SIM_WAIT_SOURCE);
}

static float apply(uint32_t op, float x)
{
    switch (op) {
    case STROBE_SIM_UNARY_RELU:
        return x > 0 ? x : 0;
    case STROBE_SIM_UNARY_EXP:
        return expf(x);
    case STROBE_SIM_UNARY_SQRT:
        return sqrtf(x);
    case STROBE_SIM_UNARY_RECIP:
        return 1 / x;
    case STROBE_SIM_UNARY_SQUARE:
        return x * x;
    case STROBE_SIM_UNARY_TANH:
        return tanhf(x);
    case STROBE_SIM_UNARY_SIGMOID:
        return 1 / (1 + expf(-x));
    case STROBE_SIM_UNARY_NEGATIVE:
        return -x;
    default:
        return fabsf(x);
    }
}

void strobe_sim_tile_unary(uint32_t op, uint32_t dst)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_engine *engine = engine_of(lane);
    if (!engine)
        return;
    float *tile = engine->dst[(engine->n_acquired + 1) & 1][dst % 16];
    for (uint32_t i = 0; i < TILE; i++)
        tile[i] = apply(op, tile[i]);
    charge(lane, STROBE_COST_SFPU_TILE);
    lane->core->perf.sfpu += STROBE_COST_SFPU_TILE;
}

void strobe_sim_tile_pack(uint32_t dst, uint32_t number, uint32_t at)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_engine *engine = engine_of(lane);
    if (!engine)
        return;
    const struct strobe_sim_ring *ring = &lane->core->rings[number % STROBE_SIM_MAX_RINGS];
    const float *from = engine->dst[engine->n_released & 1][dst % 16];
    uint8_t *to = tile_at(lane, number, ring->write_offset, at);
    if (to)
        strobe_tile_store(to, from, ring->format);
    charge(lane, STROBE_COST_PACK_TILE);
    lane->core->perf.pack += STROBE_COST_PACK_TILE;
    lane->core->perf.written_bytes += strobe_tile_bytes(ring->format);
}

/* The handshake of the destination registers. Halves go round: TRISC_1 acquires and commits, TRISC_2 waits and releases. */
void strobe_sim_tile_registers(uint32_t step)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_engine *engine = engine_of(lane);
    if (!engine)
        return;
    charge(lane, STROBE_COST_REGISTERS);
    switch (step) {
    case 0: /* acquire */
        while (engine->n_acquired - engine->n_released >= 2)
            strobe_sim_lane_park(lane, STROBE_SIM_WAIT_REGISTERS, 0);
        memset(engine->dst[engine->n_acquired & 1], 0, sizeof engine->dst[0]);
        engine->n_acquired++;
        break;
    case 1: /* commit */
        engine->n_committed++;
        wake(lane, 4, STROBE_SIM_WAIT_REGISTERS);
        break;
    case 2: /* wait */
        while (engine->n_committed == engine->n_waited)
            strobe_sim_lane_park(lane, STROBE_SIM_WAIT_REGISTERS, 0);
        engine->n_waited++;
        break;
    default: /* release */
        engine->n_released++;
        wake(lane, 3, STROBE_SIM_WAIT_REGISTERS);
        break;
    }
}
