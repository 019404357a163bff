// reader_transpose.cpp - the tiles of a transposed tensor into buffer 16; buffer 0 is a room to read into. Arguments: address, in L1,
// tiles: rows, columns (of what is read); first tile of the result, number.  SPDX-License-Identifier: MIT
#include "pages.h"

void kernel_main()
{
    constexpr uint32_t room = tt::CBIndex::c_0, to = tt::CBIndex::c_16;
    const tensor x = {get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), get_tile_size(room)};
    uint32_t rows = get_arg_val<uint32_t>(2), columns = get_arg_val<uint32_t>(3);
    uint32_t first = get_arg_val<uint32_t>(4), n = get_arg_val<uint32_t>(5);

    DeviceZoneScopedN("READ-TRANSPOSE");
    for (uint32_t tile = first; tile < first + n; tile++) {
        uint32_t plane = tile / (rows * columns), in_plane = tile % (rows * columns);
        uint32_t column = in_plane / rows, row = in_plane % rows;
        noc_async_read(x.at((plane * rows + row) * columns + column), get_write_ptr(room),
                       x.page_bytes);
        noc_async_read_barrier();
        cb_reserve_back(to, 1);
        for (uint32_t i = 0; i < tile_side; i++)
            for (uint32_t j = 0; j < tile_side; j++)
                put(to, get_write_ptr(to), in_faces(j, i),
                    get(room, get_write_ptr(room), in_faces(i, j)));
        cb_push_back(to, 1);
    }
}
