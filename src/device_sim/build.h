/* build.h - kernels as shared objects of this machine. What a built kernel exports: kernel/sim/strobe_sim.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SIM_BUILD_H
#define STROBE_DEVICE_SIM_BUILD_H

#include "device_board/build.h"
#include "device_sim/internal.h"

/* Their code is a struct strobe_sim_kernel. */
extern const struct strobe_recipe_tools strobe_sim_tools;

/* Turn every mark of a block into a charge of as many cycles as the block has instructions. */
enum strobe_err strobe_sim_blocks_charge(const char *from, const char *to, char *reason);

#endif
