/* dispatch.h - what a dispatch core does for a launch, where its markers are asked for (STROBE_DEVICE_RECORD_DISPATCH): BRISC writes the
 * kernels and their arguments, and has NCRISC send the go signal. Both are small kernels, launched before those of the program. Their own
 * launches have no program, as in tt-metal; their commands name it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SIM_DISPATCH_H
#define STROBE_DEVICE_SIM_DISPATCH_H

#include "device/backend.h"

enum { STROBE_SIM_DISPATCH_RISCS = 2 };
struct strobe_sim_unit;

/* All zero: nothing is built yet. */
struct strobe_sim_dispatch {
    struct strobe_device_built *kernels[STROBE_SIM_DISPATCH_RISCS]; /* owned */
    uint32_t args[4]; /* of the launch: program, words of arguments, kernels, cores */
};

/* Launch them at `at`. Nothing happens where they are not asked for, or there is no dispatch core. Errors of the build, NOMEM. */
enum strobe_err strobe_sim_dispatch_launch(struct strobe_sim_dispatch *dispatch,
                                           struct strobe_sim_unit *unit,
                                           const struct strobe_job_launch *run, uint64_t at,
                                           char *reason);
void strobe_sim_dispatch_close(struct strobe_sim_dispatch *dispatch);

#endif
