/* native.h - a core in a test: its memory, its clock, its relay, and the frames that the relay made.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_NATIVE_H
#define STROBE_TESTS_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "strobe_device_words.h"

#ifdef __cplusplus
extern "C" {
#endif

extern uint64_t native_step; /* cycles that a reading of the clock takes */
extern int native_relay;     /* 1: a RISC that waits is drained */

/* A new core: memory zeroed, the relay armed. */
void native_reset(void);
struct strobe_l1_core *native_core(void);
struct strobe_l1_lane *native_lane(uint32_t risc);
uint32_t *native_control(void);
uint32_t *native_buffer(uint32_t risc);

/* The relay fetches what is published: one frame, appended to native_frames; nothing if there is nothing. `wide`: a
 * LANES frame. */
void native_ship(void);
void native_ship_wide(void);
/* The zones that are open now, as an OPEN frame. */
void native_ship_open(int is_final);
extern uint32_t *native_frames; /* native_n_words words */
extern size_t native_n_words;

/* DRAM of the core, classic. */
enum { NATIVE_DRAM_WORDS = 16384 };
extern uint32_t native_dram[24][NATIVE_DRAM_WORDS];

#ifdef __cplusplus
}
#endif
#endif
