// prelude.h - what stands before a kernel that is built for the simulator, or for a core under QEMU (STROBE_QEMU). The file that includes it says which RISC it is for
// (STROBE_SIM_RISC), how markers are recorded (STROBE_SIM_MODE, STROBE_SIM_RECORD), and has the compile-time arguments.
// Never included by kernels. SPDX-License-Identifier: MIT
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#if STROBE_SIM_MODE // STROBE_DEVICE_MODE_...
#define PROFILE_KERNEL                                                         \
    (1 | ((STROBE_SIM_RECORD)&1u ? 2 : 0) | ((STROBE_SIM_RECORD)&2u ? 4 : 0) | \
     ((STROBE_SIM_RECORD)&4u ? 8 : 0) | ((STROBE_SIM_RECORD)&8u ? 16 : 0))
#if STROBE_SIM_MODE == 2
#define PROFILE_STREAMING
#if STROBE_SIM_RECORD & 64u
#define PROFILE_SYNC_EVENTS
#endif
#endif
#endif
#ifdef STROBE_QEMU
#define STROBE_DEVICE_PLATFORM "qemu/platform.h"
#include "../qemu/platform.h"
#else
#define STROBE_DEVICE_PLATFORM "sim/platform.h"
#include "platform.h"
#endif

#include "../tools/profiler/kernel_profiler.hpp"

// What tt-metal's builds define for each RISC.
#if STROBE_SIM_RISC == 0
#define COMPILE_FOR_BRISC
#define STROBE_SIM_FW     "BRISC-FW"
#define STROBE_SIM_KERNEL "BRISC-KERNEL"
#elif STROBE_SIM_RISC == 1
#define COMPILE_FOR_NCRISC
#define STROBE_SIM_FW     "NCRISC-FW"
#define STROBE_SIM_KERNEL "NCRISC-KERNEL"
#else
#define COMPILE_FOR_TRISC (STROBE_SIM_RISC - 2)
#define STROBE_SIM_FW     "TRISC-FW"
#define STROBE_SIM_KERNEL "TRISC-KERNEL"
#if STROBE_SIM_RISC == 2
#define UCK_CHLKC_UNPACK
#define TRISC_UNPACK
#elif STROBE_SIM_RISC == 3
#define UCK_CHLKC_MATH
#define TRISC_MATH
#else
#define UCK_CHLKC_PACK
#define TRISC_PACK
#endif
#endif
#define ARCH_SIM
#define tt_l1_ptr
#define tt_reg_ptr
#define FORCE_INLINE inline __attribute__((always_inline))
typedef unsigned int uint;

// A kernel's entry: kernel_main(), or MAIN in NAMESPACE as older compute kernels have it. Whichever it defines is called.
#define NAMESPACE strobe_sim_list
#define MAIN      strobe_sim_main()
namespace NAMESPACE
{
__attribute__((weak)) void MAIN;
}
__attribute__((weak)) void kernel_main();

// The launch's own zone and the kernel's are the firmware's; in a kernel these are zones like others, which the markers' buffer has
// room for when they are the first.
#if STROBE_SIM_MODE
#undef DeviceZoneScopedMainN
#undef DeviceZoneScopedMainChildN
#define DeviceZoneScopedMainN(name)      DeviceZoneScopedN(name)
#define DeviceZoneScopedMainChildN(name) DeviceZoneScopedN(name)
#endif

// A 32-bit number that a kernel casts to a pointer is an address of this core's L1: an offset that came from the host gets its
// core here, an address that already has one keeps it.
namespace strobe_sim
{
template <typename To, typename From> inline To cast(From from)
{
    if constexpr (std::is_integral_v<From> && sizeof(From) <= 4 && std::is_pointer_v<To>) {
        uint32_t address = (uint32_t)from;
        if (address < STROBE_SIM_L1_SLOT)
            address += strobe_sim_self->l1;
        return (To)(uintptr_t)address;
    } else {
        return (To)from;
    }
}
} // namespace strobe_sim
