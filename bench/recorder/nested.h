/* nested.h - zones as a real program has them: nested at random, from 16 places, with work between.
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_RECORDER_NESTED_H
#define BENCH_RECORDER_NESTED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NESTED_LOCATIONS = 16, NESTED_DEPTH = 7 };

/* `n` zones: at each step a zone begins or ends at random (depth at most 7), then comes random
 * work, even between 0 and twice the mean; 130 ns per zone in the mean. */
void nested_zones(uint64_t n, uint64_t seed);

/* Provided by the tracer under test. */
void nested_begin(unsigned location);
void nested_end(void);
int nested_is_recorded(void);

#ifdef __cplusplus
}
#endif

#endif
