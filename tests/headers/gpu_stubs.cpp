// gpu_stubs.cpp - the headers for graphics interfaces: they compile, and say that they record nothing.  SPDX-License-Identifier: MIT
#include <tracy/TracyCUDA.hpp>
#include <tracy/TracyOpenCL.hpp>
#include <tracy/TracyOpenGL.hpp>
#include <tracy/TracyVulkan.hpp>

int main()
{
    TracyGpuContext;
    TracyGpuContextName("gl", 2);
    TracyGpuZone("zone");
    TracyGpuCollect;
    TracyVkCtx vk = TracyVkContext(1, 2, 3, 4);
    TracyVkZone(vk, 0, "zone");
    TracyVkCollect(vk, 0);
    TracyVkDestroy(vk);
    TracyCLCtx cl = TracyCLContext(1, 2);
    TracyCLZone(cl, "zone");
    TracyCLDestroy(cl);
    tracy::CUDACtx *cuda = TracyCUDAContext();
    TracyCUDAContextDestroy(cuda);
    (void)vk, (void)cl, (void)cuda;
    return 0;
}
