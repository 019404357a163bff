// reader_tiles.cpp - reads the tiles of one or two tensors, one by one, into circular buffers 0 and 1; first of all, constants into 2
// and 3. Arguments: a, in L1, b, in L1, how b is read, bits of the scalar, tiles in a row, first, number, number of constants, those.
// SPDX-License-Identifier: MIT
#include "pages.h"

enum { NO_SECOND = 0, SAME_PAGES = 1, SCALAR = 2, ONE_ROW = 3 };

void kernel_main()
{
    constexpr uint32_t to_a = tt::CBIndex::c_0, to_b = tt::CBIndex::c_1;
    const tensor a = {get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), get_tile_size(to_a)};
    const tensor b = {get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), get_tile_size(to_b)};
    uint32_t how = get_arg_val<uint32_t>(4), scalar = get_arg_val<uint32_t>(5),
             per_row = get_arg_val<uint32_t>(6);
    uint32_t first = get_arg_val<uint32_t>(7), n = get_arg_val<uint32_t>(8);

    DeviceZoneScopedN("READ-TILES");
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(9); i++)
        push_constant(tt::CBIndex::c_2 + i, get_arg_val<uint32_t>(10 + i), tile_side, tile_side);
    if (how == SCALAR)
        push_constant(to_b, scalar, tile_side, tile_side);
    for (uint32_t page = first; page < first + n; page++) {
        cb_reserve_back(to_a, 1);
        noc_async_read(a.at(page), get_write_ptr(to_a), a.page_bytes);
        if (how == SAME_PAGES || how == ONE_ROW) {
            cb_reserve_back(to_b, 1);
            noc_async_read(b.at(how == ONE_ROW ? page % per_row : page), get_write_ptr(to_b),
                           b.page_bytes);
        }
        noc_async_read_barrier();
        if (how == ONE_ROW)
            spread_row(to_b, get_write_ptr(to_b));
        if (how == SAME_PAGES || how == ONE_ROW)
            cb_push_back(to_b, 1);
        cb_push_back(to_a, 1);
    }
}
