// reader_reduce.cpp - a sum as a product with a scaler: of columns (the tensor is the left factor) or of rows (it is the right one).
// Arguments: address, in L1, tiles: rows, columns; whether rows are added; the scaler's bits; lines of the last tile that count; first
// tile of the result, number.  SPDX-License-Identifier: MIT
#include "pages.h"

void kernel_main()
{
    const tensor x = {get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1),
                      get_tile_size(tt::CBIndex::c_0)};
    uint32_t rows = get_arg_val<uint32_t>(2), columns = get_arg_val<uint32_t>(3),
             by_rows = get_arg_val<uint32_t>(4), scaler = get_arg_val<uint32_t>(5),
             n_last = get_arg_val<uint32_t>(6);
    uint32_t first = get_arg_val<uint32_t>(7), n = get_arg_val<uint32_t>(8);
    uint32_t to_x = by_rows ? tt::CBIndex::c_1 : tt::CBIndex::c_0,
             to_scaler = by_rows ? tt::CBIndex::c_0 : tt::CBIndex::c_1;
    uint32_t inner = by_rows ? rows : columns;

    DeviceZoneScopedN("READ-REDUCE");
    for (uint32_t tile = first; tile < first + n; tile++)
        for (uint32_t k = 0; k < inner; k++) {
            uint32_t page = by_rows ? (tile / columns * rows + k) * columns + tile % columns
                                    : tile * columns + k;
            uint32_t n_lines = k + 1 == inner ? n_last : tile_side;
            cb_reserve_back(to_x, 1);
            noc_async_read(x.at(page), get_write_ptr(to_x), x.page_bytes);
            noc_async_read_barrier();
            cb_push_back(to_x, 1);
            push_constant(to_scaler, scaler, by_rows ? tile_side : n_lines,
                          by_rows ? n_lines : tile_side);
        }
}
