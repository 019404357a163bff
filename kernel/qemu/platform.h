/* platform.h - a core under QEMU as a platform of the profiler's writer (strobe_device_platform.h): its L1 is at a fixed address, its clock
 * is the guest's `cycle`, what it waits for it sleeps for.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QEMU_PLATFORM_H
#define STROBE_QEMU_PLATFORM_H

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif
extern struct strobe_sim_risc *strobe_sim_self;
extern const struct strobe_sim_calls *strobe_sim_call;
#ifdef __cplusplus
}
#endif

#define STROBE_DEVICE_N_RISCS                 STROBE_QEMU_HARTS
#define STROBE_DEVICE_RISC                    STROBE_SIM_RISC
#define STROBE_DEVICE_BASE                    (STROBE_QEMU_L1 + STROBE_SIM_MAILBOX)
#define STROBE_DEVICE_WAIT()                  strobe_sim_call->yield()
#define STROBE_DEVICE_PUSH(risc, at, from, n) strobe_sim_call->dram_push(risc, at, from, n)
#define STROBE_DEVICE_COUNT
#define STROBE_SIM_WALL(low, high) STROBE_DEVICE_CLOCK(low, high)
#define STROBE_SIM_FREE

#include "../strobe_device_platform.h" /* the clock, also for kernels without markers */

#endif
