// softmax.cpp - softmax of rows of tiles: buffer 0 into 16, with each row's greatest element in 1 and scalers of 1 in 2 and 3.
// Arguments: number of rows, tiles in each.  SPDX-License-Identifier: MIT
#include "steps.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/eltwise_unary/recip.h"

void kernel_main()
{
    constexpr uint32_t x = CBIndex::c_0, most = CBIndex::c_1, full = CBIndex::c_2,
                       last = CBIndex::c_3, powers = CBIndex::c_24, inverse = CBIndex::c_25;
    uint32_t n = get_arg_val<uint32_t>(0), per_row = get_arg_val<uint32_t>(1);

    DeviceZoneScopedN("SOFTMAX");
    cb_wait_front(full, 1);
    cb_wait_front(last, 1);
    for (uint32_t row = 0; row < n; row++) {
        cb_wait_front(x, per_row);
        cb_wait_front(most, 1);
        for (uint32_t i = 0; i < per_row; i++)
            step(powers, [=] {
                sub_tiles(x, most, i, 0, 0);
                exp_tile(0);
            });
        cb_wait_front(powers, per_row);
        step(inverse, [=] {
            add_row(powers, per_row, full, last);
            recip_tile(0);
        });
        cb_wait_front(inverse, 1);
        for (uint32_t i = 0; i < per_row; i++)
            step(CBIndex::c_16, [=] { mul_tiles(powers, inverse, i, 0, 0); });
        cb_pop_front(powers, per_row);
        cb_pop_front(inverse, 1);
        cb_pop_front(most, 1);
        cb_pop_front(x, per_row);
    }
}
