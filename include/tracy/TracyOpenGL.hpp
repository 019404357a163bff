// TracyOpenGL.hpp - Tracy's macros for OpenGL, so that programs with them compile: GPU zones of this header are not recorded. A program that
// makes a context says so in the trace, once per context, as a warning. GPU contexts by the C functions of TracyC.h are recorded.
// SPDX-License-Identifier: MIT
#ifndef STROBE_TRACYOPENGL_HPP
#define STROBE_TRACYOPENGL_HPP

#include "Tracy.hpp"

#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
#define STROBE_TRACYOPENGL_SAY()                                                              \
    strobe_tracy_log(STROBE_WARNING, 0, 0, "TracyOpenGL.hpp: its GPU zones are not recorded", \
                     sizeof "TracyOpenGL.hpp: its GPU zones are not recorded" - 1)
#else
#define STROBE_TRACYOPENGL_SAY() ((void)0)
#endif

#define TracyGpuContext STROBE_TRACYOPENGL_SAY()
#define TracyGpuContextName(...)
#define TracyGpuNamedZone(...)
#define TracyGpuNamedZoneC(...)
#define TracyGpuZone(...)
#define TracyGpuZoneC(...)
#define TracyGpuZoneTransient(...)
#define TracyGpuCollect
#define TracyGpuNamedZoneS(...)
#define TracyGpuNamedZoneCS(...)
#define TracyGpuZoneS(...)
#define TracyGpuZoneCS(...)
#define TracyGpuZoneTransientS(...)

namespace tracy
{
struct SourceLocationData;
class GpuCtxScope
{
  public:
    GpuCtxScope(const SourceLocationData *, bool) {}
    GpuCtxScope(const SourceLocationData *, int32_t, bool) {}
};
} // namespace tracy

#endif
