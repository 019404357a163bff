/* otlp.h - zones as spans of OpenTelemetry: OTLP's JSON, an ExportTraceServiceRequest, which collectors read from a file or by
 * HTTP.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_OTLP_H
#define STROBE_EXPORT_OTLP_H

#include "base/out.h"
#include "sql/columns.h"

/* Write the zones and spans of the first trace of the connection that ended: a resource per process. All have one trace id,
 * made of the recording's time and the file's first process; a span's id is its zone's. */
enum strobe_err strobe_otlp_write(struct strobe_sql *sql, struct strobe_out *out);

#endif
