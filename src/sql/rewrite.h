/* rewrite.h - a statement that only adds up zones, as one over zone_sum.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_REWRITE_H
#define STROBE_SQL_REWRITE_H

#include "base/out.h"

/* The same question to zone_sum, in `out` (memory), and how many bytes of `text` it replaces; 0: it is no such question, or
 * one that this does not understand. The answer is the same to the last digit, the names of the columns too. */
size_t strobe_sql_rewrite(const char *text, struct strobe_out *out);

/* The bytes of an INCLUDE PERFETTO MODULE … ; that the text begins with, comments before it too; 0: it begins with none. What
 * the module holds is there already, as views, or `error` says that it is not known; "" where all is well. */
size_t strobe_sql_skip_include(const char *text, char *error, size_t room);

#endif
