/* seeds.h - what a harness has to have, for libFuzzer and for seeds.c.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_SEEDS_H
#define STROBE_TESTS_SEEDS_H

#include <stddef.h>
#include <stdint.h>

/* 0, always. Aborts where something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the harness, for seeds.c alone: what differs from run to run beside the damage. */
void fuzz_vary(uint8_t *bytes, uint64_t random);

/* Of the harness: remove what it left behind. */
void fuzz_done(void);

#endif
