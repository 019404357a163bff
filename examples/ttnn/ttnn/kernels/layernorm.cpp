// layernorm.cpp - rows of tiles less their mean, divided by their deviation, times a weight, plus a bias: buffer 0 into 16, with
// scalers of 1/n in 2 and 3, the epsilon in 4, weight and bias in 5 and 6. Arguments: number of rows, tiles in each, whether there is
// a weight, a bias.  SPDX-License-Identifier: MIT
#include "steps.h"
#include "compute_kernel_api/eltwise_unary/recip.h"
#include "compute_kernel_api/eltwise_unary/sqrt.h"

constexpr uint32_t x = CBIndex::c_0, full = CBIndex::c_2, last = CBIndex::c_3,
                   epsilon = CBIndex::c_4, weight = CBIndex::c_5, bias = CBIndex::c_6,
                   mean = CBIndex::c_24, centred = CBIndex::c_25, squares = CBIndex::c_26,
                   variance = CBIndex::c_27, inverse = CBIndex::c_28, scaled = CBIndex::c_29,
                   weighted = CBIndex::c_30;

// mean, centred and inverse of the row at the front
static void measure(uint32_t per_row)
{
    step(mean, [=] { add_row(x, per_row, full, last); });
    cb_wait_front(mean, 1);
    for (uint32_t i = 0; i < per_row; i++)
        step(centred, [=] { sub_tiles(x, mean, i, 0, 0); });
    cb_pop_front(mean, 1);
    cb_wait_front(centred, per_row);
    for (uint32_t i = 0; i < per_row; i++)
        step(squares, [=] { mul_tiles(centred, centred, i, i, 0); });
    cb_wait_front(squares, per_row);
    step(variance, [=] { add_row(squares, per_row, full, last); });
    cb_pop_front(squares, per_row);
    cb_wait_front(variance, 1);
    step(inverse, [=] {
        add_tiles(variance, epsilon, 0, 0, 0);
        sqrt_tile(0);
        recip_tile(0);
    });
    cb_pop_front(variance, 1);
    cb_wait_front(inverse, 1);
}

void kernel_main()
{
    uint32_t n = get_arg_val<uint32_t>(0), per_row = get_arg_val<uint32_t>(1);
    bool has_weight = get_arg_val<uint32_t>(2), has_bias = get_arg_val<uint32_t>(3);
    uint32_t out = CBIndex::c_16, after_weight = has_bias ? weighted : out,
             after_scale = has_weight ? scaled : after_weight;

    DeviceZoneScopedN("LAYERNORM");
    cb_wait_front(full, 1);
    cb_wait_front(last, 1);
    cb_wait_front(epsilon, 1);
    if (has_weight)
        cb_wait_front(weight, per_row);
    if (has_bias)
        cb_wait_front(bias, per_row);
    for (uint32_t row = 0; row < n; row++) {
        cb_wait_front(x, per_row);
        measure(per_row);
        for (uint32_t i = 0; i < per_row; i++) {
            step(after_scale, [=] { mul_tiles(centred, inverse, i, 0, 0); });
            if (has_weight) {
                cb_wait_front(scaled, 1);
                step(after_weight, [=] { mul_tiles(scaled, weight, 0, i, 0); });
                cb_pop_front(scaled, 1);
            }
            if (has_bias) {
                cb_wait_front(weighted, 1);
                step(out, [=] { add_tiles(weighted, bias, 0, i, 0); });
                cb_pop_front(weighted, 1);
            }
        }
        cb_pop_front(centred, per_row);
        cb_pop_front(inverse, 1);
        cb_pop_front(x, per_row);
    }
}
