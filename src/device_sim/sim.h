/* sim.h - the simulator, as device_host sees it: one more backend.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SIM_H
#define STROBE_DEVICE_SIM_H

#include "device/backend.h"

/* The simulator. Lives for ever. */
const struct strobe_device_backend *strobe_sim_backend(void);

#endif
