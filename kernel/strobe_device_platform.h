/* strobe_device_platform.h - what the profiler's writer needs of the machine, as macros.
 * A platform defines them before, in the file that -DSTROBE_DEVICE_PLATFORM='"file"' names; what it
 * leaves out gets the default below. Freestanding C and C++.
 *
 *   MACRO                          MEANING                                           DEFAULT
 *   STROBE_DEVICE_N_RISCS          RISCs per core, a constant                        5
 *   STROBE_DEVICE_RISC             number of this RISC                               needed
 *   STROBE_DEVICE_BASE             device address of the L1 area, 64-byte aligned    needed
 *   STROBE_DEVICE_AT(address)      pointer to a device address                       a cast
 *   STROBE_DEVICE_ADDRESS(pointer) the inverse                                       a cast
 *   STROBE_DEVICE_LANE             struct strobe_l1_lane * of this RISC              from BASE and RISC
 *   STROBE_DEVICE_CLOCK(l, h)      read the clock: both halves of one instant        rdcycle on RISC-V
 *   STROBE_DEVICE_CLOCK_QUICK(l,h) low, then high: high may be of a later instant    rdcycle on RISC-V
 *   STROBE_DEVICE_FENCE()          earlier stores are visible before later ones      fence
 *   STROBE_DEVICE_INVALIDATE()     later loads of L1 see what others stored          fence
 *   STROBE_DEVICE_WAIT()           called while waiting for room                     nothing
 *   STROBE_DEVICE_IS_MASTER        this RISC pushes for its core                     RISC 0
 *   STROBE_DEVICE_VALIDATES        this RISC hides a launch until it is validated    0
 *   STROBE_DEVICE_CAN_PUSH()       the NoC may be used now (no linked series)        1
 *   STROBE_DEVICE_PUSH(r, at, p, n) store n words at p (device address) to word `at`
 *                                  of RISC r's part of DRAM                          nothing: no DRAM
 *   STROBE_DEVICE_COUNTERS_START(), _STOP()                                          nothing
 *   STROBE_DEVICE_COUNTER(i, type, ref, value)  the i-th counter that is on; 0: none 0
 *   STROBE_DEVICE_UNIT             number of the translation unit, 0-8186, a literal 0
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_PLATFORM_H
#define STROBE_DEVICE_PLATFORM_H

#include "strobe_device_words.h"

#ifdef STROBE_DEVICE_PLATFORM
#include STROBE_DEVICE_PLATFORM
#endif

#ifndef STROBE_DEVICE_N_RISCS
#define STROBE_DEVICE_N_RISCS 5
#endif
STROBE_WORDS_ASSERT(STROBE_DEVICE_N_RISCS >= 1 && STROBE_DEVICE_N_RISCS <= STROBE_DEVICE_MAX_RISCS,
                    "the control vector has room for 24 RISCs");

#ifndef STROBE_DEVICE_AT
#define STROBE_DEVICE_AT(address) ((void *)(uintptr_t)(address))
#endif
#ifndef STROBE_DEVICE_ADDRESS
#define STROBE_DEVICE_ADDRESS(pointer) ((uint32_t)(uintptr_t)(pointer))
#endif
#ifndef STROBE_DEVICE_LANE
#define STROBE_DEVICE_LANE                               \
    ((volatile struct strobe_l1_lane *)STROBE_DEVICE_AT( \
        STROBE_DEVICE_BASE + STROBE_L1_LANE_OFFSET(STROBE_DEVICE_N_RISCS, STROBE_DEVICE_RISC)))
#endif

#if defined(__riscv) && !defined(STROBE_DEVICE_CLOCK)
#define STROBE_DEVICE_CLOCK(low, high)                          \
    do {                                                        \
        uint32_t again_;                                        \
        do {                                                    \
            __asm__ volatile("csrr %0, cycleh" : "=r"(high));   \
            __asm__ volatile("csrr %0, cycle" : "=r"(low));     \
            __asm__ volatile("csrr %0, cycleh" : "=r"(again_)); \
        } while (__builtin_expect(again_ != (high), 0));        \
    } while (0)
#define STROBE_DEVICE_CLOCK_QUICK(low, high)              \
    do {                                                  \
        __asm__ volatile("csrr %0, cycle" : "=r"(low));   \
        __asm__ volatile("csrr %0, cycleh" : "=r"(high)); \
    } while (0)
#endif
#ifndef STROBE_DEVICE_CLOCK_QUICK
#define STROBE_DEVICE_CLOCK_QUICK(low, high) STROBE_DEVICE_CLOCK(low, high)
#endif
#ifndef STROBE_DEVICE_FENCE
#ifdef __riscv
#define STROBE_DEVICE_FENCE() __asm__ volatile("fence w, w" ::: "memory")
#else
#define STROBE_DEVICE_FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif
#endif
#ifndef STROBE_DEVICE_INVALIDATE
#ifdef __riscv
#define STROBE_DEVICE_INVALIDATE() __asm__ volatile("fence r, r" ::: "memory")
#else
#define STROBE_DEVICE_INVALIDATE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif
#endif
#ifndef STROBE_DEVICE_WAIT
#define STROBE_DEVICE_WAIT() ((void)0)
#endif
#ifndef STROBE_DEVICE_IS_MASTER
#define STROBE_DEVICE_IS_MASTER (STROBE_DEVICE_RISC == 0)
#endif
#ifndef STROBE_DEVICE_VALIDATES
#define STROBE_DEVICE_VALIDATES 0
#endif
#ifndef STROBE_DEVICE_CAN_PUSH
#define STROBE_DEVICE_CAN_PUSH() 1
#endif
#ifndef STROBE_DEVICE_PUSH
#define STROBE_DEVICE_NO_DRAM
#define STROBE_DEVICE_PUSH(risc, at_word, address, n_words) ((void)0)
#endif
#ifndef STROBE_DEVICE_COUNTERS_START
#define STROBE_DEVICE_COUNTERS_START() ((void)0)
#define STROBE_DEVICE_COUNTERS_STOP()  ((void)0)
#endif
#ifndef STROBE_DEVICE_COUNTER
#define STROBE_DEVICE_COUNTER(index, type, ref, value) 0
#endif
#ifndef STROBE_DEVICE_UNIT
#define STROBE_DEVICE_UNIT 0
#endif
STROBE_WORDS_ASSERT(STROBE_DEVICE_UNIT < 8187, "units from 8187 are reserved");

#ifndef STROBE_DEVICE_INLINE_ /* a platform may have its own three */
#define STROBE_DEVICE_INLINE_ static inline __attribute__((always_inline, unused))
#define STROBE_DEVICE_CALL_   static __attribute__((noinline, unused))
#define STROBE_DEVICE_RARE_   static __attribute__((noinline, cold, unused))
#endif
#define STROBE_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Word `index` of the core's control vector, and the core's own block. */
#define STROBE_CONTROL(index) (((volatile uint32_t *)STROBE_DEVICE_AT(STROBE_DEVICE_BASE))[index])
#define STROBE_CORE                                      \
    ((volatile struct strobe_l1_core *)STROBE_DEVICE_AT( \
        STROBE_DEVICE_BASE + STROBE_L1_CORE_OFFSET(STROBE_DEVICE_N_RISCS)))
#define STROBE_BUFFER_ADDRESS(risc) \
    ((uint32_t)(STROBE_DEVICE_BASE) + STROBE_L1_BUFFER_OFFSET((uint32_t)(risc)))

typedef volatile struct strobe_l1_lane strobe_lane;
/* Another RISC's lane: for the master, while that RISC rests. */
#define STROBE_LANE_OF(risc)             \
    ((strobe_lane *)STROBE_DEVICE_AT(    \
        (uint32_t)(STROBE_DEVICE_BASE) + \
        STROBE_L1_LANE_OFFSET(STROBE_DEVICE_N_RISCS, (uint32_t)(risc))))

#endif
