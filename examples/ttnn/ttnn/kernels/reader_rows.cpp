// reader_rows.cpp - whole rows of tiles into buffer 0, for softmax and layer norm; their greatest elements into 1; first of all the
// scaler of a row's sum into 2, that of its last tile into 3, an epsilon into 4, and the rows of two more tensors into 5 and 6.
// Arguments: address, in L1, tiles in a row, columns of the last that count, first row, number; what is wanted, a bit each; the
// scaler's bits, the epsilon's; weight, in L1, bias, in L1.  SPDX-License-Identifier: MIT
#include "pages.h"

enum { GREATEST = 1, WEIGHT = 2, BIAS = 4 };

static inline float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A tile whose rows each have the greatest element of that row of n tiles of `from`.
static void push_greatest(uint32_t from, uint32_t n, uint32_t n_last, uint32_t to)
{
    cb_reserve_back(to, 1);
    for (uint32_t row = 0; row < tile_side; row++) {
        uint32_t most = 0xFF800000; // minus infinity
        for (uint32_t tile = 0; tile < n; tile++)
            for (uint32_t column = 0; column < (tile + 1 == n ? n_last : tile_side); column++) {
                uint32_t bits = get(from, get_write_ptr(from) + tile * get_tile_size(from),
                                    in_faces(row, column));
                if (as_float(bits) > as_float(most))
                    most = bits;
            }
        for (uint32_t column = 0; column < tile_side; column++)
            put(to, get_write_ptr(to), in_faces(row, column), most);
    }
    cb_push_back(to, 1);
}

static void push_spread(const tensor &from, uint32_t n, uint32_t to)
{
    for (uint32_t i = 0; i < n; i++) {
        cb_reserve_back(to, 1);
        noc_async_read(from.at(i), get_write_ptr(to), from.page_bytes);
        noc_async_read_barrier();
        spread_row(to, get_write_ptr(to));
        cb_push_back(to, 1);
    }
}

void kernel_main()
{
    constexpr uint32_t to = tt::CBIndex::c_0;
    const tensor x = {get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), get_tile_size(to)};
    uint32_t per_row = get_arg_val<uint32_t>(2), n_last = get_arg_val<uint32_t>(3),
             first = get_arg_val<uint32_t>(4), n = get_arg_val<uint32_t>(5),
             wanted = get_arg_val<uint32_t>(6), scaler = get_arg_val<uint32_t>(7);

    DeviceZoneScopedN("READ-ROWS");
    push_constant(tt::CBIndex::c_2, scaler, tile_side, tile_side);
    push_constant(tt::CBIndex::c_3, scaler, n_last, tile_side);
    push_constant(tt::CBIndex::c_4, get_arg_val<uint32_t>(8), tile_side, tile_side);
    if (wanted & WEIGHT)
        push_spread({get_arg_val<uint32_t>(9), get_arg_val<uint32_t>(10), x.page_bytes}, per_row,
                    tt::CBIndex::c_5);
    if (wanted & BIAS)
        push_spread({get_arg_val<uint32_t>(11), get_arg_val<uint32_t>(12), x.page_bytes}, per_row,
                    tt::CBIndex::c_6);
    for (uint32_t row = first; row < first + n; row++) {
        cb_reserve_back(to, per_row);
        for (uint32_t i = 0; i < per_row; i++)
            noc_async_read(x.at(row * per_row + i), get_write_ptr(to) + i * x.page_bytes,
                           x.page_bytes);
        noc_async_read_barrier();
        if (wanted & GREATEST)
            push_greatest(to, per_row, n_last, tt::CBIndex::c_1);
        cb_push_back(to, per_row);
    }
}
