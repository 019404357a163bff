// matmul.cpp - sums of products of tiles of buffers 0 and 1 into 16. Arguments: number of sums, products in each.
// SPDX-License-Identifier: MIT
#include "steps.h"

void kernel_main()
{
    constexpr uint32_t a = CBIndex::c_0, b = CBIndex::c_1;
    uint32_t n = get_arg_val<uint32_t>(0), inner = get_arg_val<uint32_t>(1);

    DeviceZoneScopedN("MATMUL");
    for (uint32_t i = 0; i < n; i++)
        step(CBIndex::c_16, [=] {
            for (uint32_t k = 0; k < inner; k++) {
                cb_wait_front(a, 1);
                cb_wait_front(b, 1);
                matmul_tiles(a, b, 0, 0, 0);
                cb_pop_front(a, 1);
                cb_pop_front(b, 1);
            }
        });
}
