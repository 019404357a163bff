// any.h - what a kernel may call, whichever RISC it is built for. SPDX-License-Identifier: MIT
#pragma once
#ifndef STROBE_SIM_RISC
#error \
    "kernels are built by a device's backend (include/strobe/device.h); this one was compiled by hand"
#endif
#if STROBE_SIM_RISC < 2
#include "dataflow.h"
#else
#include "compute.h"
#endif
