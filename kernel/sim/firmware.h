// firmware.h - what stands behind a kernel: the firmware that runs it; on the simulator also the charges of its blocks. Never included by kernels. SPDX-License-Identifier: MIT
#pragma once
#undef reinterpret_cast

#ifdef STROBE_QEMU
#include "../qemu/entry.h"
#else
extern "C" {
__attribute__((visibility("hidden"))) struct strobe_sim_risc *strobe_sim_self;
__attribute__((visibility("hidden"))) const struct strobe_sim_calls *strobe_sim_call;

// Every block of a kernel begins with one of these: as many cycles as it has instructions.
#define STROBE_SIM_CHARGE(n)                                                                 \
    __attribute__((visibility("hidden"), used)) STROBE_SIM_FREE void strobe_charge_##n(void) \
    {                                                                                        \
        struct strobe_sim_risc *self = strobe_sim_self;                                      \
        self->now += n;                                                                      \
        self->n_instructions += n;                                                           \
        if (__builtin_expect(self->now >= self->until, 0))                                   \
            strobe_sim_call->yield();                                                        \
        if (__builtin_expect(self->wall_page != 0, 1)) {                                     \
            uint64_t wall = self->now + self->wall;                                          \
            self->wall_page[STROBE_SIM_WALL_LOW / 4] = (uint32_t)wall;                       \
            self->wall_page[STROBE_SIM_WALL_HIGH / 4] = (uint32_t)(wall >> 32);              \
        }                                                                                    \
    }
#define STROBE_SIM_CHARGE4(a, b, c, d) \
    STROBE_SIM_CHARGE(a) STROBE_SIM_CHARGE(b) STROBE_SIM_CHARGE(c) STROBE_SIM_CHARGE(d)
STROBE_SIM_CHARGE4(1, 2, 3, 4)
STROBE_SIM_CHARGE4(5, 6, 7, 8)
STROBE_SIM_CHARGE4(9, 10, 11, 12)
STROBE_SIM_CHARGE4(13, 14, 15, 16)
STROBE_SIM_CHARGE4(17, 18, 19, 20)
STROBE_SIM_CHARGE4(21, 22, 23, 24)
STROBE_SIM_CHARGE4(25, 26, 27, 28)
STROBE_SIM_CHARGE4(29, 30, 31, 32)
STROBE_SIM_CHARGE4(33, 34, 35, 36)
STROBE_SIM_CHARGE4(37, 38, 39, 40)
STROBE_SIM_CHARGE4(41, 42, 43, 44)
STROBE_SIM_CHARGE4(45, 46, 47, 48)
STROBE_SIM_CHARGE4(49, 50, 51, 52)
STROBE_SIM_CHARGE4(53, 54, 55, 56)
STROBE_SIM_CHARGE4(57, 58, 59, 60)
STROBE_SIM_CHARGE4(61, 62, 63, 64)
}
#endif

namespace strobe_sim
{

inline void run_kernel()
{
    if (kernel_main)
        kernel_main();
    else if (NAMESPACE::strobe_sim_main)
        NAMESPACE::strobe_sim_main();
}

#if STROBE_SIM_MODE
#define STROBE_SIM_MAIN_ZONE(name, number)  STROBE_ZONE_(main_zone, name, number)
#define STROBE_SIM_CHILD_ZONE(name, number) STROBE_ZONE_(child_zone, name, number)
#else
#define STROBE_SIM_MAIN_ZONE(name, number)
#define STROBE_SIM_CHILD_ZONE(name, number)
#endif

// One launch, as the firmware of a RISC makes it.
void launch()
{
#if STROBE_SIM_MODE && STROBE_SIM_RISC == 0
    if (strobe_sim_self->replayed) {
        DeviceTraceOnlyProfilerInit();
    }
#endif
    STROBE_SIM_MAIN_ZONE(STROBE_SIM_FW, __COUNTER__);
#if defined(STROBE_QEMU) && STROBE_SIM_RISC == 0
    strobe_sim_call->begun(); // the simulator starts BRISC first
#endif
    if (kernel_main || NAMESPACE::strobe_sim_main) {
#if STROBE_SIM_RISC == 3
        StartPerfCounters();
#endif
        {
            STROBE_SIM_CHILD_ZONE(STROBE_SIM_KERNEL, __COUNTER__);
            run_kernel();
        }
#if STROBE_SIM_RISC == 3
        StopPerfCounters();
#endif
    }
#if STROBE_SIM_RISC == 0
    strobe_sim_call->wait_others();
    ReadPerfCounters(0);
#endif
}

} // namespace strobe_sim

#ifndef STROBE_QEMU
extern "C" __attribute__((visibility("default"), used))
const struct strobe_sim_kernel strobe_sim_kernel_facts = {STROBE_SIM_ABI, &strobe_sim_self,
                                                          &strobe_sim_call, strobe_sim::launch};
#endif
