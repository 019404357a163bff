"""opening.py - claim: a trace opens at once, and statistics and CSV come fast, from Tracy's files too.  Uses the traces of
recorder.py and makes those that are missing.  SPDX-License-Identifier: MIT"""
import measure


def trace(bench, zones):
    path = bench.work / f"empty-{zones // 1000000}M.strobe"
    if not path.exists():
        bench.say(f"opening: making the trace of {zones:,} zones")
        measure.record(bench, [bench.program("bench_zone_static"), "count", zones], name=path.stem)
    return path


def tracy_file(bench, zones):
    path = trace(bench, zones).with_suffix(".tracy")
    if not path.exists():
        bench.say(f"opening: making the .tracy file of {zones:,} zones")
        measure.run([bench.strobe, "export", "--to", "tracy", trace(bench, zones), "-o", path])
    return path


def row(bench, name, zones, command):
    runs = [measure.run_exactly(bench, command) for _ in range(5)]
    wall, cpu = min(used["wall_s"] for used in runs), min(used["cpu_s"] for used in runs)
    peak = max(used["peak_kib"] for used in runs)
    return [name, f"{zones / 1e6:.0f} M", f"{1000 * wall:.0f} ms", f"{1000 * cpu:.0f} ms", f"{peak / 1024:.1f} MiB"]


def report(bench):
    plan = [("info", 50_000_000, []), ("stats", 50_000_000, []), ("stats", 50_000_000, ["--quick"]), ("csv", 10_000_000, [])]
    if bench.large:
        plan.insert(0, ("info", 500_000_000, []))
    rows = [row(bench, " ".join([command, *more]), zones, [bench.strobe, command, *more, trace(bench, zones)]) for command, zones, more in plan]
    for path in (trace(bench, 10_000_000), tracy_file(bench, 10_000_000)):
        for more in ([], ["-u"]):
            rows.append(row(bench, " ".join(["tracy-csvexport", *more, f"of a {path.suffix}"]), 10_000_000,
                            [bench.program("tracy-csvexport"), *more, path]))
    return [measure.table(["command, best of 5", "zones", "wall time", "CPU time", "memory, peak"], rows)]
