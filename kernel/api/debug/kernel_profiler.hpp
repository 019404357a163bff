// kernel_profiler.hpp - the profiler's macros, where today's kernels look for them. SPDX-License-Identifier: MIT
#pragma once
#include "../../tools/profiler/kernel_profiler.hpp"
