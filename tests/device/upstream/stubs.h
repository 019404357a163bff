/* stubs.h - what tt-metal's streaming header asks of its surroundings, over the memory, the clock and the relay of native.h.
 * Its own includes of other headers find files of this folder, which have this one.  SPDX-License-Identifier: MIT */
#pragma once
#include <stdint.h>

extern "C" {
extern uint8_t *native_l1;
extern uint64_t native_cycles;
void native_ship(void);
}

/* The instruction of RISC-V, for another machine's assembler. */
__asm__(".macro fence\n\tmfence\n.endm");

#define tt_l1_ptr
#define tt_reg_ptr
#define PROCESSOR_INDEX 0

/* Low half, -, high half. */
inline volatile uint32_t *upstream_clock()
{
    static volatile uint32_t words[3];
    words[0] = (uint32_t)native_cycles;
    words[2] = (uint32_t)(native_cycles >> 32);
    return words;
}
#define RISCV_DEBUG_REG_WALL_CLOCK_L upstream_clock()

/* The relay's turn, every second time: so that a full ring is met, and its stall. */
inline void invalidate_l1_cache()
{
    static unsigned n_calls;
    if (n_calls++ & 1)
        native_ship();
}

struct profiler_msg_buffer_t {
    uint32_t data[512];
};
struct upstream_mailbox {
    struct {
        uint32_t control_vector[64];
        profiler_msg_buffer_t buffer[5];
    } profiler;
};
#define GET_MAILBOX_ADDRESS_DEV(field) (&((upstream_mailbox *)(native_l1 + 4096))->field)
