/* strobe_device.h - the profiler's writer, for kernels: one of two wire forms, chosen at compile time.
 *   -DPROFILE_KERNEL=<options>                      classic (strobe_device_classic.h)
 *   -DPROFILE_KERNEL=<options> -DPROFILE_STREAMING  streaming (strobe_device_stream.h)
 * The options are STROBE_OPTION_… C, freestanding; the macros for C++ kernels are in
 * tools/profiler/kernel_profiler.hpp. What the machine gives: strobe_device_platform.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_H
#define STROBE_DEVICE_H

#ifdef PROFILE_KERNEL
#define STROBE_DEVICE_OPTIONS (PROFILE_KERNEL)
#ifdef PROFILE_STREAMING
#include "strobe_device_stream.h"
#else
#include "strobe_device_classic.h"
#endif
#endif

#endif
