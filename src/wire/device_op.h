/* device_op.h - an op as a DEVICE_OP record has it (docs/file-format.md, record 93): which figures are known, and what bounds it.
 * Whoever makes a row of ops, from logs or from events, judges it by strobe_device_op_bound.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_DEVICE_OP_H
#define STROBE_WIRE_DEVICE_OP_H

#include <stdint.h>

/* What an op's time is mostly made of. On disk. */
enum strobe_device_bound {
    STROBE_DEVICE_BOUND_UNKNOWN = 0,
    STROBE_DEVICE_BOUND_HOST = 1,     /* the device waited for the host */
    STROBE_DEVICE_BOUND_DISPATCH = 2, /* launch and firmware around the kernel */
    STROBE_DEVICE_BOUND_KERNEL = 3,
    STROBE_DEVICE_BOUND_WAITING = 4, /* kernels waiting for data or space in circular buffers */
    STROBE_DEVICE_BOUND_COMPUTE = 5, /* kernels, and it is known which: those that compute, */
    STROBE_DEVICE_BOUND_MOVING = 6,  /* or those that move data */
    STROBE_DEVICE_BOUND_COUNT = 7
};

/* What an op's kernels mostly do, where something says it. */
enum strobe_device_work {
    STROBE_DEVICE_WORK_UNKNOWN,
    STROBE_DEVICE_WORK_COMPUTE,
    STROBE_DEVICE_WORK_MOVING,
};

/* Bits of `known`. On disk. */
enum strobe_device_figure {
    STROBE_DEVICE_HAS_HOST = 1 << 0,
    STROBE_DEVICE_HAS_KERNEL = 1 << 1,
    STROBE_DEVICE_HAS_FW = 1 << 2,
    STROBE_DEVICE_HAS_GAP = 1 << 3,
    STROBE_DEVICE_HAS_CORES = 1 << 4,
    STROBE_DEVICE_HAS_UTIL = 1 << 5,
    STROBE_DEVICE_HAS_DEVICE = 1 << 6, /* it is the device's: else an op of the host alone */
};

/* The figures of an op in ns; -1: unknown, but for the gap, where that is a gap. */
struct strobe_device_times {
    int64_t kernel_ns, fw_ns, gap_ns, host_ns, waiting_ns;
    enum strobe_device_work work;
};

static inline int64_t strobe_device_at_least_0(int64_t value)
{
    return value > 0 ? value : 0;
}

/* An estimate: of the gap before the op its own host zone counts as host time and the rest as dispatch, together with the firmware
 * around the kernel; of the kernel, the mean time that its cores waited for circular buffers counts as waiting. The largest share
 * names the bound; the kernel's is named by what it does, where that is known. */
static inline enum strobe_device_bound
strobe_device_op_bound(const struct strobe_device_times *times)
{
    if (times->kernel_ns < 0)
        return STROBE_DEVICE_BOUND_UNKNOWN;
    int64_t gap = strobe_device_at_least_0(times->gap_ns);
    int64_t host = strobe_device_at_least_0(times->host_ns);
    int64_t waiting = strobe_device_at_least_0(times->waiting_ns);
    host = host < gap ? host : gap;
    waiting = waiting < times->kernel_ns ? waiting : times->kernel_ns;
    int64_t shares[] = {0, host,
                        gap - host + strobe_device_at_least_0(times->fw_ns - times->kernel_ns),
                        times->kernel_ns - waiting, waiting};
    int bound = STROBE_DEVICE_BOUND_KERNEL;
    for (int i = STROBE_DEVICE_BOUND_HOST; i <= STROBE_DEVICE_BOUND_WAITING; i++)
        if (shares[i] > shares[bound])
            bound = i;
    if (bound == STROBE_DEVICE_BOUND_KERNEL && times->work)
        bound = times->work == STROBE_DEVICE_WORK_COMPUTE ? STROBE_DEVICE_BOUND_COMPUTE
                                                          : STROBE_DEVICE_BOUND_MOVING;
    return (enum strobe_device_bound)bound;
}

static inline const char *strobe_device_bound_name(enum strobe_device_bound bound)
{
    static const char *const names[] = {"unknown", "host",    "dispatch",     "kernel",
                                        "waiting", "compute", "data movement"};
    return names[bound < STROBE_DEVICE_BOUND_COUNT ? bound : STROBE_DEVICE_BOUND_UNKNOWN];
}

#endif
