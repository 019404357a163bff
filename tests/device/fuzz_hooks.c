/* fuzz_hooks.c - what seeds.c asks of a harness and these have no use for.  SPDX-License-Identifier: MIT */
#include "seeds.h"

void fuzz_vary(uint8_t *bytes, uint64_t random)
{
    (void)bytes;
    (void)random;
}

void fuzz_done(void) {}
