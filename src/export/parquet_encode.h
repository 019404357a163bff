/* parquet_encode.h - values as Parquet stores them. All output is appended to memory; failures stay in out->error.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_PARQUET_ENCODE_H
#define STROBE_EXPORT_PARQUET_ENCODE_H

#include "base/out.h"

/* DELTA_BINARY_PACKED: differences in blocks of 128, each of four pieces with a width of its own. is_packed: a packer follows, for which
 * small differences are whole bytes or half ones. */
void strobe_parquet_delta(struct strobe_out *out, const int64_t *values, uint32_t n, int is_packed);

/* The hybrid of runs and packed bits: one run where all are equal, else all packed with `width` bits (1 to 32). */
void strobe_parquet_hybrid(struct strobe_out *out, const uint32_t *codes, uint32_t n,
                           unsigned width);

/* One run of it: n times the same. */
void strobe_parquet_run(struct strobe_out *out, uint32_t code, uint32_t n, unsigned width);

/* Bits that `max` takes, 1 at least. */
unsigned strobe_parquet_width(uint32_t max);

#endif
