/* tile_math.h - tiles of 32 x 32 as the stand-ins compute them: stored in four faces of 16 x 16, registers are row-major floats.
 * Freestanding C: the simulator's engine (src/device_sim/tiles.c) and that of a core under QEMU (qemu/tiles.h).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SIM_TILE_MATH_H
#define STROBE_SIM_TILE_MATH_H

#include "strobe_sim.h"

#define STROBE_TILE_WORDS 1024
enum { STROBE_TILE_FLOAT32 = 0, STROBE_TILE_BFLOAT16 = 5, STROBE_TILE_UINT32 = 24 };

/* Row-major place of word i of a tile in faces. */
static inline uint32_t strobe_tile_place(uint32_t i)
{
    uint32_t face = i >> 8, row = i >> 4 & 15, column = i & 15;
    return ((face >> 1) * 16 + row) * 32 + (face & 1) * 16 + column;
}

static inline float strobe_tile_from_bfloat16(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
}

static inline uint16_t strobe_tile_to_bfloat16(float value)
{
    uint32_t word;
    __builtin_memcpy(&word, &value, sizeof word);
    if ((word & 0x7FFFFFFF) > 0x7F800000) /* not a number: keep it one */
        return (uint16_t)(word >> 16 | 0x40);
    return (uint16_t)((word + 0x7FFF + (word >> 16 & 1)) >> 16); /* to the nearest, ties to even */
}

static inline uint32_t strobe_tile_bytes(uint32_t format)
{
    return (format == STROBE_TILE_BFLOAT16 ? 2 : 4) * STROBE_TILE_WORDS;
}

/* A tile of L1 into a register, and back. */
static inline void strobe_tile_load(float *to, const void *from, uint32_t format)
{
    for (uint32_t i = 0; i < STROBE_TILE_WORDS; i++)
        to[strobe_tile_place(i)] =
            format == STROBE_TILE_BFLOAT16 ? strobe_tile_from_bfloat16(((const uint16_t *)from)[i])
            : format == STROBE_TILE_UINT32 ? (float)((const uint32_t *)from)[i]
                                           : ((const float *)from)[i];
}

static inline void strobe_tile_store(void *to, const float *from, uint32_t format)
{
    for (uint32_t i = 0; i < STROBE_TILE_WORDS; i++) {
        float value = from[strobe_tile_place(i)];
        if (format == STROBE_TILE_BFLOAT16)
            ((uint16_t *)to)[i] = strobe_tile_to_bfloat16(value);
        else if (format == STROBE_TILE_UINT32)
            ((uint32_t *)to)[i] = (uint32_t)value;
        else
            ((float *)to)[i] = value;
    }
}

static inline void strobe_tile_multiply(const float *a, const float *b, float *dst)
{
    for (uint32_t row = 0; row < 32; row++)
        for (uint32_t k = 0; k < 32; k++) {
            float value = a[row * 32 + k];
            for (uint32_t column = 0; column < 32; column++)
                dst[row * 32 + column] += value * b[k * 32 + column];
        }
}

/* enum strobe_sim_tile_op */
static inline void strobe_tile_combine(uint32_t op, const float *a, const float *b, float *dst)
{
    if (op == STROBE_SIM_TILE_MATMUL) {
        strobe_tile_multiply(a, b, dst);
        return;
    }
    for (uint32_t i = 0; i < STROBE_TILE_WORDS; i++)
        dst[i] = op == STROBE_SIM_TILE_ADD             ? a[i] + b[i]
                 : op == STROBE_SIM_TILE_SUB           ? a[i] - b[i]
                 : op == STROBE_SIM_TILE_MUL           ? a[i] * b[i]
                 : op == STROBE_SIM_TILE_BCAST_ROW_ADD ? a[i] + b[i % 32]
                                                       : a[i];
}

#endif
