// reader.cpp - reads tiles of both operands from DRAM into circular buffers 0 and 1. SPDX-License-Identifier: MIT
#include <tools/profiler/kernel_profiler.hpp>
#include "dataflow_api.h"

void kernel_main()
{
    uint32_t a = get_arg_val<uint32_t>(0), b = get_arg_val<uint32_t>(1);
    uint32_t first = get_arg_val<uint32_t>(2), n_tiles = get_arg_val<uint32_t>(3);
    const InterleavedAddrGen<true> from_a = {.bank_base_address = a,
                                             .page_size = get_tile_size(tt::CBIndex::c_0)};
    const InterleavedAddrGen<true> from_b = {.bank_base_address = b,
                                             .page_size = get_tile_size(tt::CBIndex::c_1)};

    DeviceZoneScopedN("ReadFromDRAM");
    for (uint32_t i = first; i < first + n_tiles; i++) {
        DeviceZoneScopedN("ReadTile");
        cb_reserve_back(tt::CBIndex::c_0, 1);
        cb_reserve_back(tt::CBIndex::c_1, 1);
        noc_async_read_tile(i, from_a, get_write_ptr(tt::CBIndex::c_0));
        noc_async_read_tile(i, from_b, get_write_ptr(tt::CBIndex::c_1));
        noc_async_read_barrier();
        cb_push_back(tt::CBIndex::c_0, 1);
        cb_push_back(tt::CBIndex::c_1, 1);
    }
}
