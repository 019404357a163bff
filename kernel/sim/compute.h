// compute.h - what kernels that compute call, on the simulator. The same source is built for TRISC_0 (unpack), TRISC_1 (math) and
// TRISC_2 (pack); each call does the part of its RISC. SPDX-License-Identifier: MIT
#pragma once

#include "rings.h"

#if STROBE_SIM_RISC == 2
#define UNPACK(x) x
#else
#define UNPACK(x)
#endif
#if STROBE_SIM_RISC == 3
#define MATH(x) x
#else
#define MATH(x)
#endif
#if STROBE_SIM_RISC == 4
#define PACK(x) x
#else
#define PACK(x)
#endif
#define ALWI inline __attribute__((always_inline))

enum {
    STROBE_SIM_UNPACKS = STROBE_SIM_RISC == 2,
    STROBE_SIM_COMPUTES = STROBE_SIM_RISC == 3,
    STROBE_SIM_PACKS = STROBE_SIM_RISC == 4
};

// ---- set-up: nothing to set up ----
template <typename... T> ALWI void compute_kernel_hw_startup(T...) {}
template <typename... T> ALWI void unary_op_init_common(T...) {}
template <typename... T> ALWI void init_sfpu(T...) {}
template <typename... T> ALWI void binary_op_init_common(T...) {}
template <typename... T> ALWI void copy_init(T...) {}
template <typename... T> ALWI void copy_tile_init(T...) {}
template <typename... T> ALWI void copy_tile_to_dst_init_short(T...) {}
template <typename... T> ALWI void add_tiles_init(T...) {}
template <typename... T> ALWI void sub_tiles_init(T...) {}
template <typename... T> ALWI void mul_tiles_init(T...) {}
template <typename... T> ALWI void mm_init(T...) {}
template <typename... T> ALWI void mm_init_short(T...) {}
template <typename... T> ALWI void pack_reconfig_data_format(T...) {}
template <typename... T> ALWI void reconfig_data_format(T...) {}

// ---- destination registers ----
ALWI void tile_regs_acquire()
{
    if (STROBE_SIM_COMPUTES)
        strobe_sim_call->tile_registers(0);
}
ALWI void tile_regs_commit()
{
    if (STROBE_SIM_COMPUTES)
        strobe_sim_call->tile_registers(1);
}
ALWI void tile_regs_wait()
{
    if (STROBE_SIM_PACKS)
        strobe_sim_call->tile_registers(2);
}
ALWI void tile_regs_release()
{
    if (STROBE_SIM_PACKS)
        strobe_sim_call->tile_registers(3);
}
ALWI void acquire_dst()
{
    tile_regs_acquire();
    tile_regs_wait();
}
ALWI void release_dst()
{
    tile_regs_commit();
    tile_regs_release();
}

// ---- tiles ----
ALWI void strobe_sim_binary(uint32_t op, uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b,
                            uint32_t dst)
{
    if (STROBE_SIM_UNPACKS)
        strobe_sim_call->tile_unpack(a, tile_a, b, tile_b, 2);
    if (STROBE_SIM_COMPUTES)
        strobe_sim_call->tile_math(op, dst);
}
ALWI void copy_tile(uint32_t cb, uint32_t tile, uint32_t dst)
{
    if (STROBE_SIM_UNPACKS)
        strobe_sim_call->tile_unpack(cb, tile, 0, 0, 1);
    if (STROBE_SIM_COMPUTES)
        strobe_sim_call->tile_math(STROBE_SIM_TILE_COPY, dst);
}
ALWI void add_tiles(uint32_t a, uint32_t b, uint32_t ta, uint32_t tb, uint32_t dst)
{
    strobe_sim_binary(STROBE_SIM_TILE_ADD, a, b, ta, tb, dst);
}
ALWI void sub_tiles(uint32_t a, uint32_t b, uint32_t ta, uint32_t tb, uint32_t dst)
{
    strobe_sim_binary(STROBE_SIM_TILE_SUB, a, b, ta, tb, dst);
}
ALWI void mul_tiles(uint32_t a, uint32_t b, uint32_t ta, uint32_t tb, uint32_t dst)
{
    strobe_sim_binary(STROBE_SIM_TILE_MUL, a, b, ta, tb, dst);
}
ALWI void matmul_tiles(uint32_t a, uint32_t b, uint32_t ta, uint32_t tb, uint32_t dst, bool = false)
{
    strobe_sim_binary(STROBE_SIM_TILE_MATMUL, a, b, ta, tb, dst);
}
template <bool = false> ALWI void pack_tile_at(uint32_t dst, uint32_t cb, uint32_t at)
{
    if (STROBE_SIM_PACKS)
        strobe_sim_call->tile_pack(dst, cb, at);
}

// Packed tiles follow each other from what was reserved last: counted here, from the reservation on.
namespace strobe_sim
{
struct packed {
    uint32_t pushed, n;
};
static_assert(STROBE_SIM_MAX_RINGS * sizeof(packed) == STROBE_SIM_PACKED_BYTES,
              "the simulator clears it at each launch");
inline uint32_t next_packed(uint32_t cb)
{
    // the ring's count of pushed pages tells whether this is the first tile behind a push
    packed &at = *(packed *)(uintptr_t)(strobe_sim_self->semaphores + STROBE_SIM_PACKED +
                                        cb * sizeof(packed));
    if (at.pushed != strobe_sim_self->rings[cb].n_pushed + 1) {
        at.pushed = strobe_sim_self->rings[cb].n_pushed + 1;
        at.n = 0;
    }
    return at.n++;
}
} // namespace strobe_sim
template <bool OutOfOrder = false> ALWI void pack_tile(uint32_t dst, uint32_t cb, uint32_t at = 0)
{
    if (STROBE_SIM_PACKS)
        strobe_sim_call->tile_pack(dst, cb, OutOfOrder ? at : strobe_sim::next_packed(cb));
}

// ---- functions of a tile in the destination registers ----
#define STROBE_SIM_UNARY(name, op)                              \
    template <bool = false> ALWI void name##_tile_init() {}     \
    template <bool = false> ALWI void name##_tile(uint32_t dst) \
    {                                                           \
        if (STROBE_SIM_COMPUTES)                                \
            strobe_sim_call->tile_unary(op, dst);               \
    }
STROBE_SIM_UNARY(relu, STROBE_SIM_UNARY_RELU)
STROBE_SIM_UNARY(recip, STROBE_SIM_UNARY_RECIP)
STROBE_SIM_UNARY(square, STROBE_SIM_UNARY_SQUARE)
STROBE_SIM_UNARY(negative, STROBE_SIM_UNARY_NEGATIVE)
STROBE_SIM_UNARY(abs, STROBE_SIM_UNARY_ABS)
#ifndef STROBE_QEMU // its harts have no library of mathematical functions
STROBE_SIM_UNARY(exp, STROBE_SIM_UNARY_EXP)
STROBE_SIM_UNARY(sqrt, STROBE_SIM_UNARY_SQRT)
STROBE_SIM_UNARY(tanh, STROBE_SIM_UNARY_TANH)
STROBE_SIM_UNARY(sigmoid, STROBE_SIM_UNARY_SIGMOID)
#endif

#include "objects_rings.h"
