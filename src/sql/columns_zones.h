/* columns_zones.h - the table zone as columns, without cells between: what a walk shows goes into arrays at once, in the pump's
 * thread. The rows are those that sql/events.c would put.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_COLUMNS_ZONES_H
#define STROBE_SQL_COLUMNS_ZONES_H

#include "sql/columns.h"
#include "sql/pump.h"

struct strobe_columns_zones;

/* A maker of batches, with columns of the table by their index, each once; of rows whose ts is in [start_ns, end_ns). It must
 * outlive the pump whose ask names it. NULL: no memory. */
struct strobe_columns_zones *strobe_columns_zones_new(const uint8_t *columns, unsigned n_columns,
                                                      uint32_t max_rows, int64_t start_ns,
                                                      int64_t end_ns);
void strobe_columns_zones_free(struct strobe_columns_zones *zones); /* NULL is allowed */

/* Let a pump of the table zone use it. */
void strobe_columns_zones_ask(struct strobe_columns_zones *zones, struct strobe_sql_ask *ask);

#endif
