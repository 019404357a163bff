/* seeds.h - what a harness has to have, for libFuzzer and for seeds.c.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_SEEDS_H
#define STROBE_TESTS_SEEDS_H

#include <stddef.h>
#include <stdint.h>

/* 0, always. Aborts where something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the harness, where it has one: damage that knows the input's form. Returns the new size, at most `room`. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
    __attribute__((weak));

/* Any damage; returns the new size. libFuzzer's own, or that of seeds.c. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

#endif
