"""opening.py - claim: a trace opens at once, and statistics and CSV come fast.  Uses the traces of recorder.py and
makes those that are missing.  SPDX-License-Identifier: MIT"""
import measure


def trace(bench, zones):
    path = bench.work / f"empty-{zones // 1000000}M.strobe"
    if not path.exists():
        bench.say(f"opening: making the trace of {zones:,} zones")
        measure.record(bench, [bench.program("bench_zone_static"), "count", zones], name=path.stem)
    return path


def report(bench):
    plan = [("info", 50_000_000, []), ("stats", 50_000_000, []), ("stats", 50_000_000, ["--quick"]), ("csv", 10_000_000, [])]
    if bench.large:
        plan.insert(0, ("info", 500_000_000, []))
    rows = []
    for command, zones, more in plan:
        path = trace(bench, zones)
        runs = [measure.run_exactly(bench, [bench.strobe, command, *more, path]) for _ in range(5)]
        wall, cpu = min(used["wall_s"] for used in runs), min(used["cpu_s"] for used in runs)
        peak = max(used["peak_kib"] for used in runs)
        rows.append([" ".join([command, *more]), f"{zones / 1e6:.0f} M", f"{1000 * wall:.0f} ms", f"{1000 * cpu:.0f} ms", f"{peak / 1024:.1f} MiB"])
    return [measure.table(["command, best of 5", "zones", "wall time", "CPU time", "memory, peak"], rows)]
