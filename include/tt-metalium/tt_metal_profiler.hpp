// tt_metal_profiler.hpp - the same as <tt_metal/impl/profiler/tt_metal_profiler.hpp>. SPDX-License-Identifier: MIT
#pragma once
#include "../tt_metal/impl/profiler/tt_metal_profiler.hpp"
