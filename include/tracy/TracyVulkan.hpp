// TracyVulkan.hpp - Tracy's macros for Vulkan, so that programs with them compile: GPU zones of this header are not recorded. A program that
// makes a context says so in the trace, once per context, as a warning. GPU contexts by the C functions of TracyC.h are recorded.
// SPDX-License-Identifier: MIT
#ifndef STROBE_TRACYVULKAN_HPP
#define STROBE_TRACYVULKAN_HPP

#include "Tracy.hpp"

#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
#define STROBE_TRACYVULKAN_SAY()                                                              \
    strobe_tracy_log(STROBE_WARNING, 0, 0, "TracyVulkan.hpp: its GPU zones are not recorded", \
                     sizeof "TracyVulkan.hpp: its GPU zones are not recorded" - 1)
#else
#define STROBE_TRACYVULKAN_SAY() ((void)0)
#endif

#define TracyVkContext(...)               (STROBE_TRACYVULKAN_SAY(), nullptr)
#define TracyVkContextCalibrated(...)     (STROBE_TRACYVULKAN_SAY(), nullptr)
#define TracyVkContextHostCalibrated(...) (STROBE_TRACYVULKAN_SAY(), nullptr)
#define TracyVkDestroy(...)
#define TracyVkContextName(...)
#define TracyVkNamedZone(...)
#define TracyVkNamedZoneC(...)
#define TracyVkZone(...)
#define TracyVkZoneC(...)
#define TracyVkZoneTransient(...)
#define TracyVkCollect(...)
#define TracyVkCollectHost(...)
#define TracyVkNamedZoneS(...)
#define TracyVkNamedZoneCS(...)
#define TracyVkZoneS(...)
#define TracyVkZoneCS(...)
#define TracyVkZoneTransientS(...)

namespace tracy
{
class VkCtxScope
{
};
} // namespace tracy
using TracyVkCtx = void *;

#endif
