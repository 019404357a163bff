// TracyCUDA.hpp - Tracy's macros for CUDA, so that programs with them compile: GPU zones of this header are not recorded. A program that
// makes a context says so in the trace, once per context, as a warning. GPU contexts by the C functions of TracyC.h are recorded.
// SPDX-License-Identifier: MIT
#ifndef STROBE_TRACYCUDA_HPP
#define STROBE_TRACYCUDA_HPP

#include "Tracy.hpp"

#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
#define STROBE_TRACYCUDA_SAY()                                                              \
    strobe_tracy_log(STROBE_WARNING, 0, 0, "TracyCUDA.hpp: its GPU zones are not recorded", \
                     sizeof "TracyCUDA.hpp: its GPU zones are not recorded" - 1)
#else
#define STROBE_TRACYCUDA_SAY() ((void)0)
#endif

#define TracyCUDAContext() (STROBE_TRACYCUDA_SAY(), nullptr)
#define TracyCUDAContextDestroy(...)
#define TracyCUDAContextName(...)
#define TracyCUDAStartProfiling(...)
#define TracyCUDAStopProfiling(...)
#define TracyCUDACollect(...)

namespace tracy
{
using CUDACtx = void;
} // namespace tracy

#endif
