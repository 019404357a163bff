/* parquet_numbers.h - a dictionary of numbers, in the order in which they are met, or by how frequent they are.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_PARQUET_NUMBERS_H
#define STROBE_EXPORT_PARQUET_NUMBERS_H

#include "base/map.h"

/* Zero-initialise, start, free once. */
struct strobe_parquet_numbers {
    int64_t *values; /* owned: n in use, room for one at least */
    uint32_t n;
    uint32_t *near;  /* owned: codes + 1 of numbers near the first; all 0 between uses */
    int64_t *ranked; /* owned, as ranks: room to put them in another order */
    uint32_t *ranks;
    struct strobe_map far; /* codes + 1 of the others */
};

enum strobe_err strobe_parquet_numbers_start(struct strobe_parquet_numbers *numbers); /* NOMEM */

/* A new dictionary of n numbers, and their codes in it. 0: it would be too large to be worth it, or no memory. */
int strobe_parquet_numbers_code(struct strobe_parquet_numbers *numbers, const int64_t *values,
                                uint32_t n, uint32_t *codes);

/* Renumber the dictionary and its codes: the more frequent a number, the smaller its code. Codes of which many are small leave less to a
 * packer. */
void strobe_parquet_numbers_rank(struct strobe_parquet_numbers *numbers, uint32_t *codes,
                                 uint32_t n);

void strobe_parquet_numbers_free(struct strobe_parquet_numbers *numbers);

#endif
