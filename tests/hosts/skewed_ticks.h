/* skewed_ticks.h - for the test build: every reading of the counter, as a host with another clock would make it.
 *
 *     STROBE_TEST_TICKS=<zero>:<offset>:<ppm>:<step>:<file>    in ticks of the real counter
 *
 * The counter shows real + offset + (real - zero) * ppm / 1,000,000, and `step` more from the real tick on that the file's first
 * eight bytes have, which may be written while all run (0: never). This
 * file is included before all others (-include): it gives the function of the public header another name, and its callers this
 * one. So client, recorder and exchange have one clock, and the kernel's stamps, which are placed by their age, have it too.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_SKEWED_TICKS_H
#define STROBE_TESTS_SKEWED_TICKS_H

#include <stdint.h>

uint64_t skewed_ticks(void);
uint64_t skewed_of(uint64_t real);

#define strobe_ticks(argument) STROBE_TICKS_##argument
#define STROBE_TICKS_void      strobe_real_ticks(void)
#define STROBE_TICKS_          skewed_ticks()

#endif
