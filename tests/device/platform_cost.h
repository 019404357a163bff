/* platform_cost.h - one RISC of a bare rv32 machine, for counting instructions.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_PLATFORM_COST_H
#define STROBE_TESTS_PLATFORM_COST_H
#include <stdint.h>
#define STROBE_DEVICE_RISC 0
#define STROBE_DEVICE_BASE 0x80100000u
#endif
