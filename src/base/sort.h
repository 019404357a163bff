/* sort.h - puts any number of records in order with a fixed amount of memory: what does not fit goes,
 * sorted, to a file without a name, and the runs are merged. Records that compare equal stay in the
 * order of adding.
 *
 *   strobe_sort_open ──► strobe_sort_add … ──► strobe_sort_all (calls back for each, in order) ──► strobe_sort_close
 *
 * A record is a part of fixed size, which is compared, and any bytes beside it.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_SORT_H
#define STROBE_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Below 0, 0 or above it, as of the fixed parts of two records. */
typedef int strobe_sort_compare(const void *a, const void *b);

/* A record in its turn; both parts until the return. Any error ends the sort. */
typedef enum strobe_err strobe_sort_take(void *context, const void *record, const void *bytes,
                                         size_t n_bytes);

/* What a record is sorted by first: `high`, then `low`. */
struct strobe_sort_key {
    uint64_t low;
    uint32_t high;
};
typedef struct strobe_sort_key strobe_sort_key_of(const void *record);

struct strobe_sort_options {
    size_t record_bytes; /* of the fixed part */
    size_t memory_bytes; /* at the most, 1 MiB at least; a longer record alone may take more */
    strobe_sort_compare *compare;
    strobe_sort_key_of
        *key; /* NULL: none. Else `compare` must agree with it, and is asked of equal ones alone */
    int is_fixed;       /* no record has bytes beside it */
    const char *folder; /* borrowed: where the file is made; NULL: $TMPDIR or /tmp */
};

struct strobe_sort;

/* NOMEM. */
enum strobe_err strobe_sort_open(const struct strobe_sort_options *options,
                                 struct strobe_sort **out);
void strobe_sort_close(struct strobe_sort *sort); /* NULL is allowed */

/* Copy a record. NOMEM; IO, NOSPACE, ACCESS: of the file. LIMIT: more than 1 GiB of bytes beside it. */
enum strobe_err strobe_sort_add(struct strobe_sort *sort, const void *record, const void *bytes,
                                size_t n_bytes);

/* Hand out all records; once. Errors as strobe_sort_add, or what `take` gave. */
enum strobe_err strobe_sort_all(struct strobe_sort *sort, strobe_sort_take *take, void *context);

/* Runs that went to the file; 0: all was in memory. */
uint32_t strobe_sort_n_runs(const struct strobe_sort *sort);

#endif
