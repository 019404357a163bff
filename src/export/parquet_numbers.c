/* parquet_numbers.c - see parquet_numbers.h. Numbers of a column are mostly small or near each other: those are looked up in an array,
 * the others in a map.  SPDX-License-Identifier: MIT */
#include "export/parquet_numbers.h"

#include <stdlib.h>

#include "base/assert.h"

enum { MAX_DICTIONARY = 1 << 15, TRIAL = 4096, NEAR = 1 << 16 };

enum strobe_err strobe_parquet_numbers_start(struct strobe_parquet_numbers *numbers)
{
    numbers->values = malloc(MAX_DICTIONARY * sizeof *numbers->values);
    numbers->ranked = malloc(MAX_DICTIONARY * sizeof *numbers->ranked);
    numbers->ranks = malloc(MAX_DICTIONARY * sizeof *numbers->ranks);
    numbers->near = calloc(NEAR, sizeof *numbers->near);
    return numbers->values && numbers->ranked && numbers->ranks && numbers->near ? STROBE_OK
                                                                                 : STROBE_ERR_NOMEM;
}

void strobe_parquet_numbers_free(struct strobe_parquet_numbers *numbers)
{
    free(numbers->values);
    free(numbers->ranked);
    free(numbers->ranks);
    free(numbers->near);
    strobe_map_free(&numbers->far);
}

/* The code + 1 of a number that is new, or not near. 0: the dictionary would be too large, or no memory. */
static uint32_t find_slowly(struct strobe_parquet_numbers *numbers, int64_t value,
                            uint64_t distance)
{
    uint64_t *found = NULL;
    if (distance >= NEAR) {
        if (strobe_map_add(&numbers->far, (uint64_t)value, &found))
            return 0;
        if (*found)
            return (uint32_t)*found;
    }
    if (numbers->n == MAX_DICTIONARY)
        return 0;
    numbers->values[numbers->n++] = value;
    if (found)
        *found = numbers->n;
    else
        numbers->near[distance] = numbers->n;
    return numbers->n;
}

/* Codes of some; those NEAR behind `base` are looked up at once. 0: the dictionary would be too large. */
static int find_codes(struct strobe_parquet_numbers *numbers, const int64_t *values, uint32_t n,
                      int64_t base, uint32_t *codes)
{
    const uint32_t *near = numbers->near;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t distance = (uint64_t)values[i] - (uint64_t)base;
        uint32_t code = distance < NEAR ? near[distance] : 0;
        if (!code && !(code = find_slowly(numbers, values[i], distance)))
            return 0;
        codes[i] = code - 1;
    }
    return 1;
}

int strobe_parquet_numbers_code(struct strobe_parquet_numbers *numbers, const int64_t *values,
                                uint32_t n, uint32_t *codes)
{
    uint32_t n_trial = n < TRIAL + 1 ? n : TRIAL + 1;
    int64_t first = n ? values[0] : 0, base = first < 0 || first >= NEAR ? first : 0;
    numbers->n = 0;
    strobe_map_free(&numbers->far);
    int is_worth_it = find_codes(numbers, values, n_trial, base, codes) &&
                      !(n > TRIAL && numbers->n > TRIAL / 2) &&
                      find_codes(numbers, values + n_trial, n - n_trial, base, codes + n_trial);
    for (uint32_t i = 0; i < numbers->n; i++) {
        uint64_t distance = (uint64_t)numbers->values[i] - (uint64_t)base;
        STROBE_ASSERT(distance >= NEAR || numbers->near[distance] == i + 1);
        if (distance < NEAR)
            numbers->near[distance] = 0;
    }
    return is_worth_it;
}

void strobe_parquet_numbers_rank(struct strobe_parquet_numbers *numbers, uint32_t *codes,
                                 uint32_t n)
{
    enum { MOST = 4095 }; /* what is more frequent is no matter of order */
    uint32_t *counts = numbers->near, *ranks = numbers->ranks;
    uint32_t starts[MOST + 2] = {0};
    int64_t *values = numbers->ranked;
    for (uint32_t i = 0; i < n; i++)
        counts[codes[i]]++;
    for (uint32_t i = 0; i < numbers->n; i++) {
        counts[i] = counts[i] < MOST ? MOST - counts[i] : 0;
        starts[counts[i] + 1]++;
    }
    for (uint32_t i = 1; i <= MOST; i++)
        starts[i] += starts[i - 1];
    for (uint32_t i = 0; i < numbers->n; i++) {
        ranks[i] = starts[counts[i]]++;
        values[ranks[i]] = numbers->values[i];
        counts[i] = 0; /* as `near` must be */
    }
    for (uint32_t i = 0; i < n; i++)
        codes[i] = ranks[codes[i]];
    numbers->ranked = numbers->values;
    numbers->values = values;
}
