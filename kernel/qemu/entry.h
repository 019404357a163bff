// entry.h - what stands behind a kernel that is built for a core under QEMU: where its hart enters it. Never included by kernels.
// SPDX-License-Identifier: MIT
#pragma once

extern "C" {
struct strobe_sim_risc *strobe_sim_self;
const struct strobe_sim_calls *strobe_sim_call;

// What gcc calls for assignments and loops of its own.
#define STROBE_QEMU_PLAIN __attribute__((weak, optimize("no-tree-loop-distribute-patterns")))
STROBE_QEMU_PLAIN void *memcpy(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    return to;
}
STROBE_QEMU_PLAIN void *memmove(void *to, const void *from, size_t n)
{
    if (to < from)
        return memcpy(to, from, n);
    while (n--)
        ((uint8_t *)to)[n] = ((const uint8_t *)from)[n];
    return to;
}
STROBE_QEMU_PLAIN void *memset(void *to, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)byte;
    return to;
}
}
namespace strobe_sim
{
void launch();
}
extern "C" __attribute__((section(".text.entry"), used)) void
strobe_qemu_entry(struct strobe_sim_risc *self, const struct strobe_sim_calls *calls)
{
    strobe_sim_self = self;
    strobe_sim_call = calls;
    strobe_sim::launch();
}
