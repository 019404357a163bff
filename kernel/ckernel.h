// ckernel.h - what kernels include, by tt-metal's name. SPDX-License-Identifier: MIT
#pragma once
#include "sim/any.h"

namespace ckernel
{
template <typename T> inline T load_blocking(volatile T *from)
{
    return *from;
}
} // namespace ckernel
