/* fuzz_tracy.h - the entry that libFuzzer and fuzz_seeds.c call.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_FUZZ_TRACY_H
#define STROBE_TESTS_FUZZ_TRACY_H

#include <stddef.h>
#include <stdint.h>

/* 0, always. Aborts where something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
