/* worker.h - the one thread that runs all devices of this process, and the host's clock as it sees it.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_HOST_WORKER_H
#define STROBE_DEVICE_HOST_WORKER_H

#include "strobe/device.h"

/* Start it with the first device, stop it with the last. */
enum strobe_device_result strobe_worker_open(void);
void strobe_worker_close(void);
/* Run fn(context) on it, behind all that was pushed before, and wait for its end. */
void strobe_worker_call(void (*fn)(void *context), void *context);
/* The same, without waiting; fn frees context. Waits while very many are pushed. */
enum strobe_device_result strobe_worker_push(void (*fn)(void *context), void *context);
/* The host's clock in ns: CLOCK_MONOTONIC, or the virtual one, to which `cost_ns` is charged. */
uint64_t strobe_worker_host_ns(const struct strobe_device *device, uint64_t cost_ns);
/* A virtual clock has come to `ns` at least. */
void strobe_worker_reach_ns(const struct strobe_device *device, uint64_t ns);

#endif
