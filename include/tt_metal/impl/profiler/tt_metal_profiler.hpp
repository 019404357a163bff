// tt_metal_profiler.hpp - read what the device's markers recorded, by tt-metal's names. SPDX-License-Identifier: MIT
#pragma once

#include "../../host_api.hpp"

namespace tt
{
namespace tt_metal
{

enum class ProfilerReadState { NORMAL, ONLY_DISPATCH_CORES, LAST_FD_READ };

// Read the profiler of every device of the mesh: classic reads and clears the DRAM buffers, streaming drains the rings.
inline void ReadMeshDeviceProfilerResults(distributed::MeshDevice &device,
                                          ProfilerReadState = ProfilerReadState::NORMAL)
{
    detail::check(strobe_device_read(device.handle()));
}

namespace detail
{
inline void ReadDeviceProfilerResults(IDevice *device,
                                      ProfilerReadState = ProfilerReadState::NORMAL)
{
    check(strobe_device_read(device->handle()));
}
} // namespace detail

} // namespace tt_metal
} // namespace tt
