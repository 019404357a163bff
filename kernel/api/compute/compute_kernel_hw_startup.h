// compute_kernel_hw_startup.h - what compute kernels include, by tt-metal's name. SPDX-License-Identifier: MIT
#pragma once
#include "../../compute_kernel_api.h"
