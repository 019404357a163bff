/* platform_native.h - one core whose L1 is memory of the test, and whose clock and relay the test plays.
 * C and C++.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_PLATFORM_NATIVE_H
#define STROBE_TESTS_PLATFORM_NATIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
extern uint8_t *native_l1;   /* the core's memory; device address 0 is its first byte */
extern uint32_t native_risc; /* which RISC runs now */
extern uint64_t native_cycles;
uint64_t native_tick(void); /* the clock is read */
void native_wait(void);     /* a RISC waits for room: the relay's turn */
void native_push(uint32_t risc, uint32_t at_word, uint32_t address, uint32_t n_words);
void native_counters(uint32_t on); /* counters are started or stopped */
uint32_t native_counter(uint32_t index, uint32_t *type, uint32_t *ref, uint32_t *value);
#ifdef __cplusplus
}
#endif

#ifndef STROBE_DEVICE_N_RISCS
#define STROBE_DEVICE_N_RISCS 5
#endif
#define STROBE_DEVICE_RISC             native_risc
#define STROBE_DEVICE_BASE             4096u
#define STROBE_DEVICE_AT(address)      ((void *)(native_l1 + (address)))
#define STROBE_DEVICE_ADDRESS(pointer) ((uint32_t)((volatile uint8_t *)(pointer)-native_l1))
#define STROBE_DEVICE_CLOCK(low, high)      \
    do {                                    \
        uint64_t cycles_ = native_tick();   \
        (low) = (uint32_t)cycles_;          \
        (high) = (uint32_t)(cycles_ >> 32); \
    } while (0)
#define STROBE_DEVICE_WAIT()                       native_wait()
#define STROBE_DEVICE_PUSH(risc, at, address, n)   native_push(risc, at, address, n)
#define STROBE_DEVICE_COUNTERS_START()             native_counters(1)
#define STROBE_DEVICE_COUNTERS_STOP()              native_counters(0)
#define STROBE_DEVICE_COUNTER(i, type, ref, value) native_counter(i, type, ref, value)
#define STROBE_DEVICE_COUNT

#endif
