/* views.c - views over the tables: names that Perfetto's users type, and questions that come up often.
 * SPDX-License-Identifier: MIT */
#include "sql/table.h"

const char strobe_sql_views[] =
    /* Perfetto's. A slice that did not end has the duration -1 there. */
    "CREATE VIEW slice AS SELECT trace_id, id, ts, coalesce(dur, -1) AS dur, track_id,"
    "  NULL AS category, name, depth, parent_id, id AS arg_set_id, NULL AS stack_id FROM zone;"
    "CREATE VIEW slices AS SELECT * FROM slice;"
    "CREATE VIEW thread_track AS SELECT trace_id, id, name, thread_id AS utid, NULL AS parent_id"
    "  FROM track WHERE thread_id IS NOT NULL;"
    "CREATE VIEW process_track AS SELECT trace_id, id, name, process_id AS upid, NULL AS parent_id"
    "  FROM track WHERE thread_id IS NULL;"
    "CREATE VIEW thread_slice AS SELECT z.trace_id, z.id, z.ts, coalesce(z.dur, -1) AS dur,"
    "  z.track_id, z.name, z.depth, z.parent_id, t.utid, t.tid, t.name AS thread_name, p.upid,"
    "  p.pid, p.name AS process_name"
    "  FROM zone z JOIN thread t ON t.trace_id = z.trace_id AND t.id = z.track_id"
    "  JOIN process p ON p.trace_id = t.trace_id AND p.id = t.process_id;"
    "CREATE VIEW counters AS SELECT * FROM counter;"
    "CREATE VIEW process_counter_track AS SELECT *, process_id AS upid FROM counter_track;"
    /* Questions that come up often. */
    "CREATE VIEW slowest AS SELECT name, dur, self, ts, track_id, depth, trace_id, id FROM zone"
    "  WHERE dur IS NOT NULL ORDER BY dur DESC LIMIT 20;"
    "CREATE VIEW hottest AS SELECT name, count, total, self, mean, p99, max, file, line FROM stat"
    "  WHERE kind = 'zone' ORDER BY self DESC LIMIT 20;"
    "CREATE VIEW open_zone AS SELECT * FROM zone WHERE state = 'open';"
    "CREATE VIEW leak AS SELECT pool, count(*) AS blocks, sum(size) AS bytes, trace_id FROM alloc"
    "  WHERE free_ts IS NULL GROUP BY trace_id, pool;";
