// TracyOpenCL.hpp - Tracy's macros for OpenCL, so that programs with them compile: GPU zones of this header are not recorded. A program that
// makes a context says so in the trace, once per context, as a warning. GPU contexts by the C functions of TracyC.h are recorded.
// SPDX-License-Identifier: MIT
#ifndef STROBE_TRACYOPENCL_HPP
#define STROBE_TRACYOPENCL_HPP

#include "Tracy.hpp"

#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
#define STROBE_TRACYOPENCL_SAY()                                                              \
    strobe_tracy_log(STROBE_WARNING, 0, 0, "TracyOpenCL.hpp: its GPU zones are not recorded", \
                     sizeof "TracyOpenCL.hpp: its GPU zones are not recorded" - 1)
#else
#define STROBE_TRACYOPENCL_SAY() ((void)0)
#endif

#define TracyCLContext(...) (STROBE_TRACYOPENCL_SAY(), nullptr)
#define TracyCLDestroy(...)
#define TracyCLContextName(...)
#define TracyCLNamedZone(...)
#define TracyCLNamedZoneC(...)
#define TracyCLZone(...)
#define TracyCLZoneC(...)
#define TracyCLZoneTransient(...)
#define TracyCLNamedZoneS(...)
#define TracyCLNamedZoneCS(...)
#define TracyCLZoneS(...)
#define TracyCLZoneCS(...)
#define TracyCLZoneTransientS(...)
#define TracyCLNamedZoneSetEvent(...)
#define TracyCLZoneSetEvent(...)
#define TracyCLCollect(...)

namespace tracy
{
class OpenCLCtxScope
{
};
} // namespace tracy
using TracyCLCtx = void *;

#endif
