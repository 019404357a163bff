/* rows.h - any number of rows, and texts beside them, put in order with a fixed amount of memory (base/sort.h).
 *
 * For sources whose events come in no order: sorted by track and time, they go to build.h one after the other.
 *
 *   strobe_rows_open ──► strobe_rows_add … ──► strobe_rows_sorted (calls back for each, in order) ──► strobe_rows_close
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_ROWS_H
#define STROBE_BUILD_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { STROBE_ROWS_TEXT_MAX = 1 << 20 };

/* In the order of group, time, order; equal ones in the order of adding. The rest is the caller's. */
struct strobe_row {
    uint64_t group;
    int64_t time;
    uint64_t order;
    uint64_t value, name;
    uint64_t text_at; /* place of its text */
    uint32_t n_text;  /* 0: none */
    uint32_t kind;
};

struct strobe_rows;

/* `folder`: where the files without a name go. NOMEM. */
enum strobe_err strobe_rows_open(const char *folder, struct strobe_rows **out);
void strobe_rows_close(struct strobe_rows *rows); /* NULL is allowed */

/* Keep a text of at most STROBE_ROWS_TEXT_MAX bytes, and note its place in `row`: any time before that
 * row is added. LIMIT: it is longer. Errors of writing. */
enum strobe_err strobe_rows_put_text(struct strobe_rows *rows, const char *text, uint32_t n,
                                     struct strobe_row *row);
/* The text of a row, until the next call; NULL: there is none, or it can't be read. */
const char *strobe_rows_text(struct strobe_rows *rows, const struct strobe_row *row);

/* Copy a row. Errors as strobe_sort_add. */
enum strobe_err strobe_rows_add(struct strobe_rows *rows, const struct strobe_row *row);

/* All of them, in order, once; ends with the first error of `call`. */
enum strobe_err strobe_rows_sorted(struct strobe_rows *rows,
                                   enum strobe_err (*call)(void *context,
                                                           const struct strobe_row *row),
                                   void *context);

#endif
