/* rewrite.h - a statement that only adds up zones, as one over zone_sum.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_REWRITE_H
#define STROBE_SQL_REWRITE_H

#include "base/out.h"

/* The same question to zone_sum, in `out` (memory), and how many bytes of `text` it replaces; 0: it is no such question, or
 * one that this does not understand. The answer is the same to the last digit, the names of the columns too. */
size_t strobe_sql_rewrite(const char *text, struct strobe_out *out);

#endif
