// writer.cpp - writes tiles of circular buffer 16 to DRAM. SPDX-License-Identifier: MIT
#include <tools/profiler/kernel_profiler.hpp>
#include "dataflow_api.h"

void kernel_main()
{
    uint32_t c = get_arg_val<uint32_t>(0), first = get_arg_val<uint32_t>(1),
             n_tiles = get_arg_val<uint32_t>(2);
    const InterleavedAddrGen<true> to = {.bank_base_address = c,
                                         .page_size = get_tile_size(tt::CBIndex::c_16)};

    DeviceZoneScopedN("WriteToDRAM");
    for (uint32_t i = first; i < first + n_tiles; i++) {
        DeviceZoneScopedN("WriteTile");
        cb_wait_front(tt::CBIndex::c_16, 1);
        noc_async_write_tile(i, to, get_read_ptr(tt::CBIndex::c_16));
        noc_async_write_barrier();
        cb_pop_front(tt::CBIndex::c_16, 1);
    }
}
