/* machine.h - QEMU's machine `virt` as the firmware uses it: interrupts as alarm clocks, the UART as a bell.
 * Interrupts stay disabled (mstatus.MIE is 0): they only end `wfi`, and no code is ever interrupted.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QEMU_MACHINE_H
#define STROBE_QEMU_MACHINE_H

#include "layout.h"

#define MACHINE_WORD(address) (*(volatile uint32_t *)(address))
#define MACHINE_BYTE(address) (*(volatile uint8_t *)(address))
#define MSIP(hart)            MACHINE_WORD(0x02000000u + 4 * (hart)) /* software interrupt of a hart */
#define PLIC_PRIORITY         MACHINE_WORD(0x0c000000u + 4 * UART_IRQ)
#define PLIC_ENABLE(hart) \
    MACHINE_WORD(0x0c002000u + 0x100 * (hart)) /* machine mode: every second context */
#define PLIC_THRESHOLD(hart) MACHINE_WORD(0x0c200000u + 0x2000 * (hart))
#define PLIC_CLAIM(hart)     MACHINE_WORD(0x0c200004u + 0x2000 * (hart))
#define UART_DATA            MACHINE_BYTE(0x10000000u)
#define UART_INTERRUPTS      MACHINE_BYTE(0x10000001u)
#define UART_STATUS          MACHINE_BYTE(0x10000005u)
enum { UART_IRQ = 10, UART_HAS_DATA = 1, MIE_SOFTWARE_EXTERNAL = 0x808 };

#define FENCE() __asm__ volatile("fence rw, rw" ::: "memory")

static inline void machine_clock(volatile uint32_t *low, volatile uint32_t *high)
{
    uint32_t l, h, again;
    do {
        __asm__ volatile("csrr %0, cycleh" : "=r"(h));
        __asm__ volatile("csrr %0, cycle" : "=r"(l));
        __asm__ volatile("csrr %0, cycleh" : "=r"(again));
    } while (again != h);
    *low = l;
    *high = h;
}

/* Every hart hears the host's bell. */
static inline void machine_open(uint32_t hart)
{
    MSIP(hart) = 0;
    PLIC_PRIORITY = 1;
    PLIC_ENABLE(hart) = 1u << UART_IRQ;
    PLIC_THRESHOLD(hart) = 0;
    UART_INTERRUPTS = 1;
    __asm__ volatile("csrw mie, %0" ::"r"(MIE_SOFTWARE_EXTERNAL));
}

/* Ring for the host. */
static inline void machine_ring(void)
{
    FENCE();
    UART_DATA = '.';
}

/* Take the host's bell, if it is ours to take. */
static inline uint32_t machine_heard(uint32_t hart)
{
    uint32_t claim = PLIC_CLAIM(hart);
    if (!claim)
        return 0;
    while (UART_STATUS & UART_HAS_DATA)
        (void)UART_DATA;
    PLIC_CLAIM(hart) = claim;
    return 1;
}

#endif
