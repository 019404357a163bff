/* made.h - the stream of a device that is not there: a grid of cores whose five RISCs run kernels with zones in zones, as a relay would send
 * it (docs/device-protocol.md). The same arguments make the same words.  SPDX-License-Identifier: MIT */
#ifndef BENCH_DEVICE_MADE_H
#define BENCH_DEVICE_MADE_H

#include <stddef.h>
#include <stdint.h>

enum { MADE_RISCS = 5, MADE_FRAME_WORDS = 8192 };

struct made_options {
    uint32_t cores;
    uint32_t zones_per_kernel; /* with the two around all others: 3 at least */
    uint32_t cycles;           /* from one zone's begin to the next one's, on the average */
    uint64_t n_zones;          /* of all RISCs, at least; kernels are whole */
    uint64_t start_ns;         /* of the host */
};

/* Whole frames for the caller; `words` is reused after the call. False ends the making. */
typedef int made_put(void *context, const uint32_t *words, size_t n_words);

struct made_counts {
    uint64_t n_zones, n_dense;   /* all; those that are one S record */
    uint64_t n_bytes, n_kernels; /* of the stream; launches times RISCs */
};

/* All frames from HELLO to BYE. */
struct made_counts made_run(const struct made_options *options, made_put *put, void *context);

#endif
