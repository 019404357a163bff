// dataflow_api.h - what kernels that move data include, by tt-metal's name. SPDX-License-Identifier: MIT
#pragma once
#ifndef STROBE_SIM_RISC
#error \
    "kernels are built by a device's backend (include/strobe/device.h); this one was compiled by hand"
#endif
#include "sim/dataflow.h"
