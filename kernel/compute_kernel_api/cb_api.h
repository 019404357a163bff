// cb_api.h - compute kernels, by tt-metal's names. SPDX-License-Identifier: MIT
#pragma once
#ifndef STROBE_SIM_RISC
#error \
    "kernels are built by a device's backend (include/strobe/device.h); this one was compiled by hand"
#endif
#include "../sim/compute.h"
