"""opening.py - claim: a trace opens at once, and statistics and CSV come fast, from Tracy's files too.  Uses the traces of
recorder.py and makes those that are missing.  SPDX-License-Identifier: MIT"""
import measure
import streams

BARS_MS = {"": 400, "-u": 2000}  # of csvexport of 10 M zones in Tracy's files


def trace(bench, zones, kind="empty"):
    path = bench.work / f"{kind}-{zones // 1000000}M.strobe"
    if not path.exists():
        bench.say(f"opening: making the trace of {zones:,} zones, {kind}")
        command = ["bench_zone_static", "count", zones] if kind == "empty" else ["bench_nested", zones]
        measure.record(bench, [bench.program(command[0]), *command[1:]], name=path.stem)
    return path


def tracy_file(bench, zones, kind="empty"):
    path = trace(bench, zones, kind).with_suffix(".tracy")
    if not path.exists():
        bench.say(f"opening: making the .tracy file of {zones:,} zones, {kind}")
        measure.run([bench.strobe, "export", "--to", "tracy", trace(bench, zones, kind), "-o", path])
    return path


def captured_file(bench, zones):
    """Nested zones in the container that Tracy's capture writes."""
    path = bench.work / f"nested-{zones // 1000000}M-streams.tracy"
    if not path.exists():
        streams.put_in_streams(tracy_file(bench, zones, "nested"), path)
    return path


def row(bench, name, zones, command, bar_ms=0):
    runs = [measure.run_exactly(bench, command) for _ in range(5)]
    wall, cpu = min(used["wall_s"] for used in runs), min(used["cpu_s"] for used in runs)
    peak = max(used["peak_kib"] for used in runs)
    return [name, f"{zones / 1e6:.0f} M", f"{1000 * wall:.0f} ms", f"{bar_ms} ms" if bar_ms else "", f"{1000 * cpu:.0f} ms", f"{peak / 1024:.1f} MiB"]


def report(bench):
    plan = [("info", 50_000_000, []), ("stats", 50_000_000, []), ("stats", 50_000_000, ["--quick"]), ("csv", 10_000_000, [])]
    if bench.large:
        plan.insert(0, ("info", 500_000_000, []))
    rows = [row(bench, " ".join([command, *more]), zones, [bench.strobe, command, *more, trace(bench, zones)]) for command, zones, more in plan]
    files = [(".strobe", trace(bench, 10_000_000)), (".tracy", tracy_file(bench, 10_000_000)),
             (".tracy, nested, 4 streams of zstd", captured_file(bench, 10_000_000))]
    for kind, path in files:
        for option, bar_ms in BARS_MS.items():
            rows.append(row(bench, " ".join(["tracy-csvexport", *option.split(), f"of a {kind}"]), 10_000_000,
                            [bench.program("tracy-csvexport"), *option.split(), path], bar_ms if path.suffix == ".tracy" else 0))
    return [measure.table(["command, best of 5", "zones", "wall time", "its bar", "CPU time", "memory, peak"], rows)]
