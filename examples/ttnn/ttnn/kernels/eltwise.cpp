// eltwise.cpp - functions of tiles, element by element: buffer 0, or 0 and 1, into 16. Arguments: number of tiles, function, whether
// buffer 1 has one tile for all. The numbers of functions are those of _ops.py.  SPDX-License-Identifier: MIT
#include "steps.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"

enum {
    ADD,
    SUB,
    MUL,
    N_BINARY,
    RELU = N_BINARY,
    EXP,
    SQRT,
    RECIP,
    SQUARE,
    TANH,
    SIGMOID,
    NEG,
    ABS
};

static inline void apply(uint32_t function)
{
    constexpr uint32_t a = CBIndex::c_0, b = CBIndex::c_1;
    switch (function) {
    case ADD:
        return add_tiles(a, b, 0, 0, 0);
    case SUB:
        return sub_tiles(a, b, 0, 0, 0);
    case MUL:
        return mul_tiles(a, b, 0, 0, 0);
    }
    copy_tile(a, 0, 0);
    switch (function) {
    case RELU:
        return relu_tile(0);
    case EXP:
        return exp_tile(0);
    case SQRT:
        return sqrt_tile(0);
    case RECIP:
        return recip_tile(0);
    case SQUARE:
        return square_tile(0);
    case TANH:
        return tanh_tile(0);
    case SIGMOID:
        return sigmoid_tile(0);
    case NEG:
        return negative_tile(0);
    case ABS:
        return abs_tile(0);
    }
}

void kernel_main()
{
    constexpr uint32_t a = CBIndex::c_0, b = CBIndex::c_1;
    uint32_t n = get_arg_val<uint32_t>(0), function = get_arg_val<uint32_t>(1);
    bool is_binary = function < N_BINARY, is_scalar = get_arg_val<uint32_t>(2);

    DeviceZoneScopedN("ELTWISE");
    for (uint32_t i = 0; i < n; i++) {
        cb_wait_front(a, 1);
        if (is_binary)
            cb_wait_front(b, 1);
        step(CBIndex::c_16, [=] { apply(function); });
        cb_pop_front(a, 1);
        if (is_binary && !is_scalar)
            cb_pop_front(b, 1);
    }
}
