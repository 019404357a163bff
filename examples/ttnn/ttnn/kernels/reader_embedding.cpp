// reader_embedding.cpp - rows of a table, by numbers, into buffer 16; buffer 0 is a room for a page of numbers. Arguments: numbers, in
// L1, numbers in a page; table, in L1, its rows; first number, how many. A number that the table does not have gives zeros.
// SPDX-License-Identifier: MIT
#include "pages.h"

void kernel_main()
{
    constexpr uint32_t room = tt::CBIndex::c_0, to = tt::CBIndex::c_16;
    const tensor numbers = {get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1),
                            get_tile_size(room)};
    const tensor table = {get_arg_val<uint32_t>(3), get_arg_val<uint32_t>(4), get_tile_size(to)};
    uint32_t per_page = get_arg_val<uint32_t>(2), n_rows = get_arg_val<uint32_t>(5),
             first = get_arg_val<uint32_t>(6), n = get_arg_val<uint32_t>(7), there = ~0u;

    DeviceZoneScopedN("READ-EMBEDDING");
    for (uint32_t i = first; i < first + n; i++) {
        if (i / per_page != there) {
            there = i / per_page;
            noc_async_read(numbers.at(there), get_write_ptr(room), numbers.page_bytes);
            noc_async_read_barrier();
        }
        uint32_t row = words(get_write_ptr(room))[i % per_page];
        cb_reserve_back(to, 1);
        if (row < n_rows)
            noc_async_read(table.at(row), get_write_ptr(to), table.page_bytes);
        else
            memset(words(get_write_ptr(to)), 0, table.page_bytes);
        noc_async_read_barrier();
        cb_push_back(to, 1);
    }
}
