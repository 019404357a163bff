// steps.h - what the kernels here that compute share: a step is one tile out of the destination registers into a buffer.
// SPDX-License-Identifier: MIT
#pragma once

#include "compute_kernel_api.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/matmul.h"
#include <tools/profiler/kernel_profiler.hpp>

using tt::CBIndex;

// `compute` makes tile 0 of the registers, which goes to the back of `out`.
template <typename Compute> inline void step(uint32_t out, Compute compute)
{
    tile_regs_acquire();
    compute();
    tile_regs_commit();
    cb_reserve_back(out, 1);
    tile_regs_wait();
    pack_tile(0, out);
    tile_regs_release();
    cb_push_back(out, 1);
}

// The sum of n tiles times a scaler each: tile 0 of `full`, and of `last` for the last one, in which padding counts as 0. Every
// column of the result has the sum of its row.
inline void add_row(uint32_t from, uint32_t n, uint32_t full, uint32_t last)
{
    for (uint32_t i = 0; i < n; i++)
        matmul_tiles(from, i + 1 == n ? last : full, i, 0, 0);
}
