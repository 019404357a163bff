// add.cpp - adds tiles of circular buffers 0 and 1 into 16. SPDX-License-Identifier: MIT
#include <tools/profiler/kernel_profiler.hpp>
#include "compute_kernel_api/eltwise_binary.h"

void kernel_main()
{
    constexpr uint32_t n_tiles = get_compile_time_arg_val(0);
    binary_op_init_common(tt::CBIndex::c_0, tt::CBIndex::c_1, tt::CBIndex::c_16);
    add_tiles_init(tt::CBIndex::c_0, tt::CBIndex::c_1);

    DeviceZoneScopedN("Compute");
    for (uint32_t i = 0; i < n_tiles; i++) {
        DeviceZoneScopedN("AddTile");
        cb_wait_front(tt::CBIndex::c_0, 1);
        cb_wait_front(tt::CBIndex::c_1, 1);
        tile_regs_acquire();
        add_tiles(tt::CBIndex::c_0, tt::CBIndex::c_1, 0, 0, 0);
        tile_regs_commit();
        cb_pop_front(tt::CBIndex::c_0, 1);
        cb_pop_front(tt::CBIndex::c_1, 1);
        cb_reserve_back(tt::CBIndex::c_16, 1);
        tile_regs_wait();
        pack_tile(0, tt::CBIndex::c_16);
        tile_regs_release();
        cb_push_back(tt::CBIndex::c_16, 1);
    }
}
