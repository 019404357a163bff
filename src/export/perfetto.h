/* perfetto.h - a trace in Perfetto's own format, protobuf: ui.perfetto.dev and trace_processor read it faster than JSON, and it
 * is a sixth of the size.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_PERFETTO_H
#define STROBE_EXPORT_PERFETTO_H

#include "base/out.h"
#include "sql/columns.h"

/* Write zones, spans, values of plots, messages and flows of the first trace of the connection. Zones are put in the order of their begins
 * through a file without a name in $TMPDIR; memory is bounded. */
enum strobe_err strobe_perfetto_write(struct strobe_sql *sql, struct strobe_out *out);

#endif
