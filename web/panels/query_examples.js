/* query_examples.js - questions to begin with: what they ask, and the statement. More are in docs/query.md.  SPDX-License-Identifier: MIT */

export const EXAMPLES = [
    ['Where does the time go?', 'SELECT name, count, total / 1e6 AS total_ms, self / 1e6 AS self_ms, p99 / 1e3 AS p99_us\nFROM stat WHERE kind = \'zone\' ORDER BY self DESC LIMIT 50'],
    ['The longest zones', 'SELECT name, dur, ts, track_id, id FROM slowest'],
    ['Zones of a name, the longest first', 'SELECT ts, dur, track_id, depth FROM zone WHERE name = \'NAME\' ORDER BY dur DESC LIMIT 100'],
    ['Busy time per thread', 'SELECT t.name AS thread, count(*) AS zones, sum(z.self) AS busy_ns\nFROM zone z JOIN thread t ON t.id = z.track_id GROUP BY t.id ORDER BY busy_ns DESC'],
    ['A histogram of durations', 'SELECT 1 << CAST(log2(dur + 1) AS INT) AS at_least_ns, count(*) AS zones\nFROM zone WHERE dur IS NOT NULL GROUP BY 1 ORDER BY 1'],
    ['Zones begun in each tenth of the run', 'WITH e AS (SELECT max(ts) + 1 AS at FROM zone)\nSELECT ts * 10 / (SELECT at FROM e) AS tenth, count(*) AS zones FROM zone GROUP BY 1 ORDER BY 1'],
    ['What runs inside what', 'WITH z AS MATERIALIZED (SELECT id, parent_id, name, dur FROM zone)\nSELECT p.name AS outer_zone, c.name AS inner_zone, count(*) AS times, sum(c.dur) AS ns\nFROM z c JOIN z p ON p.id = c.parent_id GROUP BY 1, 2 ORDER BY ns DESC LIMIT 50'],
    ['What was open at the end', 'SELECT name, ts, track_id, id FROM open_zone'],
    ['Messages that warn', 'SELECT ts, severity, text, track_id FROM message WHERE severity IN (\'warning\', \'error\', \'fatal\')'],
    ['The longest frames', 'SELECT name, id AS frame, ts, dur FROM frame WHERE dur IS NOT NULL ORDER BY dur DESC LIMIT 50'],
    ['Values of plots', 'SELECT ts, value, name FROM counter ORDER BY ts LIMIT 10000'],
    ['Waits for locks', 'SELECT name, ts, dur, track_id, held_by_track FROM lock_wait ORDER BY dur DESC LIMIT 100'],
    ['Memory that was never freed', 'SELECT * FROM leak'],
    ['Was anything lost?', 'SELECT emitted, stored, dropped FROM coverage'],
];

/** Tables and what a row of them is: `strobe query --tables` has the columns. */
export const TABLES = ['zone', 'zone_sum', 'stat', 'loc', 'track', 'thread', 'process', 'host', 'message', 'counter', 'counter_track', 'frame', 'flow', 'arg', 'alloc', 'lock_wait', 'lock', 'sched', 'switch', 'sample',
    'op', 'device', 'program', 'loss', 'coverage', 'run'];
