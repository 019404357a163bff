// reader_matmul.cpp - for each tile of a product, its row of tiles of a into buffer 0 and its column of tiles of b into 1.
// Arguments: a, in L1, b, in L1, tiles of a: rows, columns; tiles of b: columns; whether b has planes too; columns of a's last tiles
// that count; first tile, number.  SPDX-License-Identifier: MIT
#include "pages.h"

void kernel_main()
{
    constexpr uint32_t to_a = tt::CBIndex::c_0, to_b = tt::CBIndex::c_1;
    const tensor a = {get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), get_tile_size(to_a)};
    const tensor b = {get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), get_tile_size(to_b)};
    uint32_t rows = get_arg_val<uint32_t>(4), inner = get_arg_val<uint32_t>(5),
             columns = get_arg_val<uint32_t>(6), b_has_planes = get_arg_val<uint32_t>(7),
             n_last = get_arg_val<uint32_t>(8);
    uint32_t first = get_arg_val<uint32_t>(9), n = get_arg_val<uint32_t>(10);

    DeviceZoneScopedN("READ-MATMUL");
    for (uint32_t tile = first; tile < first + n; tile++) {
        uint32_t plane = tile / (rows * columns), row = tile % (rows * columns) / columns,
                 column = tile % columns;
        for (uint32_t k = 0; k < inner; k++) {
            cb_reserve_back(to_a, 1);
            cb_reserve_back(to_b, 1);
            noc_async_read(a.at((plane * rows + row) * inner + k), get_write_ptr(to_a),
                           a.page_bytes);
            noc_async_read(b.at((plane * b_has_planes * inner + k) * columns + column),
                           get_write_ptr(to_b), b.page_bytes);
            noc_async_read_barrier();
            if (k + 1 == inner && n_last < tile_side)
                clear_columns(to_a, get_write_ptr(to_a), n_last);
            cb_push_back(to_a, 1);
            cb_push_back(to_b, 1);
        }
    }
}
