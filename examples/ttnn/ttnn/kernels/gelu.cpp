// gelu.cpp - x times sigmoid(x * (K0 + K1 * x * x)), which is the tanh form of GELU: buffer 0 into 16, with tiles of K1 in buffer 2 and
// of K0 in 3. Argument: number of tiles.  SPDX-License-Identifier: MIT
#include "steps.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"

void kernel_main()
{
    constexpr uint32_t x = CBIndex::c_0, k1 = CBIndex::c_2, k0 = CBIndex::c_3, s = CBIndex::c_24,
                       t = CBIndex::c_25;
    uint32_t n = get_arg_val<uint32_t>(0);
    // each reads the tile at the front of `from`, and takes it away
    auto unary = [](uint32_t from, uint32_t out, void (*function)(uint32_t)) {
        cb_wait_front(from, 1);
        step(out, [=] {
            copy_tile(from, 0, 0);
            function(0);
        });
    };

    DeviceZoneScopedN("GELU");
    cb_wait_front(k1, 1);
    cb_wait_front(k0, 1);
    for (uint32_t i = 0; i < n; i++) {
        unary(x, s, square_tile);
        cb_wait_front(s, 1);
        step(t, [=] { mul_tiles(s, k1, 0, 0, 0); });
        cb_pop_front(s, 1);
        cb_wait_front(t, 1);
        step(s, [=] { add_tiles(t, k0, 0, 0, 0); });
        cb_pop_front(t, 1);
        cb_wait_front(s, 1);
        step(t, [=] { mul_tiles(s, x, 0, 0, 0); });
        cb_pop_front(s, 1);
        unary(t, s, sigmoid_tile);
        cb_pop_front(t, 1);
        cb_wait_front(s, 1);
        step(CBIndex::c_16, [=] { mul_tiles(s, x, 0, 0, 0); });
        cb_pop_front(s, 1);
        cb_pop_front(x, 1);
    }
}
