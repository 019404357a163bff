"""query.py - SQL over a trace.  SPDX-License-Identifier: MIT"""
import measure
from measure import Figure, Trial
from opening import short, trace

CLAIM = "SQL over 50 M zones answers from summaries at once, by sums in two seconds, and by SQLite at 60 ns a row and 35 ns a column"
PEER = "the bars; Perfetto's trace_processor comes from no registry as a program, and is not measured"


def last_ns(tree, path):
    """When the last thread ended."""
    return int(measure.run([tree.strobe, "query", "--format", "csv", path, "SELECT max(end_ts) FROM thread"])[0].split()[-1])


def statements(zones):
    """{name: (title, SQL of the trace's length, bar of CPU time in ms at 50 M, bar of memory in MiB)}"""
    row = zones / 1e6
    return {"stat": ("sums by name, from summaries", lambda end: "SELECT name, count, total, self, min, max FROM stat ORDER BY name", 100, 32),
            "group": ("group by name", lambda end: "SELECT name, count(*), sum(dur), min(dur), max(dur) FROM zone GROUP BY name", 2000, 64),
            "range": ("group by name in half of the time", lambda end: f"SELECT name, count(*), sum(dur) FROM zone WHERE ts < {end // 2} GROUP BY name", 2000, 64),
            "point": ("name and 1 % of the time", lambda end: f"SELECT count(*), sum(dur) FROM zone WHERE name = 'place 3' AND ts BETWEEN {end // 2} AND {end // 2 + end // 100}", 30, 64),
            "added": ("sums of all zones", lambda end: "SELECT count(*), sum(dur), sum(self), max(depth) FROM zone", 2000, 64),
            "count": ("count(*) by SQLite", lambda end: "SELECT count(*) FROM zone", 60 * row, 64),
            "columns": ("3 columns by SQLite", lambda end: "SELECT sum(dur), sum(self), max(depth) FROM zone", 165 * row, 64),
            "none": ("a table that the trace has no events of", lambda end: "SELECT count(*) FROM message", 100, 32)}


def ask(tree, zones, sql, end, more):
    path = trace(tree, zones, "nested")
    if not end:
        end.append(last_ns(tree, path))
    found = measure.run_exactly(tree, [tree.strobe, "query", *more, "--format", "csv", path, sql(end[0])])
    return {"cpu_ms": 1e3 * found["cpu_s"], "peak_mib": found["peak_kib"] / 1024}


def plan(bench):
    zones = 500_000 if bench.quick else 50_000_000
    ours, found, rows, end = {}, [], [], []
    for name, (title, sql, bar_ms, bar_mib) in statements(zones).items():
        key, title = f"query.{name}", f"{title}, {short(zones)} zones"
        more = ["--no-shortcut"] if "by SQLite" in title else []
        ours[name] = lambda tree, sql=sql, more=more: ask(tree, zones, sql, end, more)
        found += [Figure(f"{key}.cpu", f"{title}: CPU time", "ms", f"{name} cpu_ms", narrow=0.05, grain=2, bar=None if bench.quick else bar_ms),
                  Figure(f"{key}.peak", f"{title}: memory, peak", "MiB", f"{name} peak_mib", narrow=0.05, bar=None if bench.quick else bar_mib)]
        rows.append([title, f"{{{key}.cpu}}", f"{bar_ms:.0f} ms", f"{{{key}.peak}}", f"{bar_mib} MiB"])
    return [Trial("statements", ours, found, limit_s=600)], [{"head": ["statement", "CPU time", "its bar", "memory, peak", "its bar"], "rows": rows}]
