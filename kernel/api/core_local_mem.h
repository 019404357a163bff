// core_local_mem.h - what kernels include, by tt-metal's name. SPDX-License-Identifier: MIT
#pragma once
#include "../sim/any.h"
