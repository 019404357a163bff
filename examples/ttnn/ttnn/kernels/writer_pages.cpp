// writer_pages.cpp - writes pages of circular buffer 16 to a tensor. Arguments: address, whether it is in L1, first page, number.
// SPDX-License-Identifier: MIT
#include "pages.h"

void kernel_main()
{
    constexpr uint32_t from = tt::CBIndex::c_16;
    const tensor to = {get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), get_tile_size(from)};
    uint32_t first = get_arg_val<uint32_t>(2), n = get_arg_val<uint32_t>(3);

    DeviceZoneScopedN("WRITE-PAGES");
    for (uint32_t page = first; page < first + n; page++) {
        cb_wait_front(from, 1);
        noc_async_write(get_read_ptr(from), to.at(page), to.page_bytes);
        noc_async_write_barrier();
        cb_pop_front(from, 1);
    }
}
