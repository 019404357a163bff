/* writer_classic.h - the classic writer behind functions.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_WRITER_CLASSIC_H
#define STROBE_TESTS_WRITER_CLASSIC_H

#include <stdint.h>

void classic_begin(void); /* a run, its main and its kernel zone (ids 1 and 2) */
void classic_end(void);
uint32_t classic_open(uint32_t id);
void classic_close(uint32_t id);
void classic_event(uint32_t id);
void classic_data(uint32_t id, const uint64_t *values, uint32_t n_values, uint32_t push);
void classic_program(uint32_t program);
void classic_sum(uint32_t id, uint32_t start_low);

#endif
