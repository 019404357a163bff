"""export.py - zones of a trace as other formats: CPU time, bytes and memory per zone; and to DuckDB by way of Arrow.  SPDX-License-Identifier: MIT"""
import pathlib
import shutil

import measure
from measure import Figure, Trial
from opening import short, trace

CLAIM = "50 M zones are Parquet at 70 ns of CPU time and 4.8 bytes each, Perfetto's protobuf at 100 ns and 28 bytes, and reach DuckDB by Arrow in 2.5 s, in bounded memory"
PEER = "the bars; DuckDB, of the registry of Python, takes the Arrow stream"
# title, name of what is written, bars: ns of CPU time and bytes of a zone, MiB
FORMATS = {"parquet": ("Parquet", "export-lake", 70, 4.8, 64), "perfetto": ("Perfetto's protobuf", "export.pftrace", 100, 28, 64)}
ARROW = """import sys
sys.path.insert(0, sys.argv[1])
import duckdb, strobe
zones = strobe.open(sys.argv[2]).zones(columns=["name", "dur"])
print(duckdb.sql("SELECT name, count(*), sum(dur), min(dur), max(dur) FROM zones GROUP BY name").fetchall())"""
ARROW_BARS = {"cpu_s": 2.5, "peak_mib": 256}


def size_of(path):
    return sum(one.stat().st_size for one in path.rglob("*.parquet")) if path.is_dir() else path.stat().st_size


def write(tree, zones, form, name):
    source, out = trace(tree, zones, "nested"), pathlib.Path(tree.work) / name
    shutil.rmtree(out, ignore_errors=True)
    out.unlink(missing_ok=True)
    found = measure.run_exactly(tree, [tree.strobe, "export", "--to", form, "-o", out, source])
    return {"ns": 1e9 * found["cpu_s"] / zones, "bytes": size_of(out) / zones, "peak_mib": found["peak_kib"] / 1024}


def stream(tree, zones, python):
    found = measure.run_exactly(tree, [python, "-c", ARROW, tree.build / "python", trace(tree, zones, "nested")])
    return {"cpu_s": found["cpu_s"], "peak_mib": found["peak_kib"] / 1024}


def plan(bench):
    zones = 500_000 if bench.quick else 50_000_000
    ours, found, rows = {}, [], []
    for form, (title, name, bar_ns, bar_bytes, bar_mib) in FORMATS.items():
        key, title = f"export.{form}", f"{title}, {short(zones)} zones"
        ours[form] = lambda tree, form=form, name=name: write(tree, zones, form, name)
        bars = (None, None, None) if bench.quick else (bar_ns, bar_bytes, bar_mib)
        found += [Figure(f"{key}.cpu", f"{title}: CPU time per zone", "ns", f"{form} ns", narrow=0.05, grain=1, bar=bars[0]),
                  Figure(f"{key}.bytes", f"{title}: bytes per zone", "bytes", f"{form} bytes", count=True, bar=bars[1]),
                  Figure(f"{key}.peak", f"{title}: memory, peak", "MiB", f"{form} peak_mib", narrow=0.05, bar=bars[2])]
        rows.append([title, f"{{{key}.cpu}}", f"{bar_ns} ns", f"{{{key}.bytes}}", f"{bar_bytes:g} bytes", f"{{{key}.peak}}", f"{bar_mib} MiB"])
    trials, tables = [Trial("formats", ours, found, limit_s=300)], [{"head": ["format", "CPU time per zone", "its bar", "bytes per zone", "its bar", "memory, peak", "its bar"], "rows": rows}]
    python = bench.peers and bench.peers.duckdb
    if python:
        title, bars = f"group by name of {short(zones)} zones by DuckDB over Arrow", {} if bench.quick else ARROW_BARS
        trials.append(Trial("Arrow", {"arrow": lambda tree: stream(tree, zones, python)},
                            [Figure("export.arrow.cpu", f"{title}: CPU time", "s", "arrow cpu_s", narrow=0.05, grain=0.02, bar=bars.get("cpu_s")),
                             Figure("export.arrow.peak", f"{title}: memory, peak", "MiB", "arrow peak_mib", narrow=0.05, bar=bars.get("peak_mib"))], limit_s=300))
        tables.append({"head": ["Arrow", "CPU time", "its bar", "memory, peak", "its bar"],
                       "rows": [[title, "{export.arrow.cpu}", f"{ARROW_BARS['cpu_s']} s", "{export.arrow.peak}", f"{ARROW_BARS['peak_mib']} MiB"]]})
    return trials, tables
