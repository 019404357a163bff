"""opening.py - the commands on a trace.  SPDX-License-Identifier: MIT"""
import measure
import streams
from measure import Figure, Trial

CLAIM = "a trace opens at once, and statistics and CSV come fast, from Tracy's files too"
PEER = "the limit: reading the same file once (`cat`); the bars of csvexport on 10 M zones of Tracy's files"
BARS_MS = {"": 400, "-u": 2000}  # of csvexport


def short(zones):
    return f"{zones // 1_000_000}M" if zones >= 1_000_000 else f"{zones // 1000}k"


def trace(tree, zones, kind="empty"):
    path = tree.work / f"opening-{kind}-{short(zones)}.strobe"
    if not tree.has(path):
        command = ["bench_zone_static", "count", zones] if kind == "empty" else ["bench_nested", zones]
        measure.record(tree, [tree.program(command[0]), *command[1:]], name=path.stem)
    return path


def tracy_file(tree, zones, kind="empty"):
    path = trace(tree, zones, kind).with_suffix(".tracy")
    if not tree.has(path):
        measure.run([tree.strobe, "export", "--to", "tracy", trace(tree, zones, kind), "-o", path])
    return path


def captured_file(tree, zones):
    """Nested zones in the container that Tracy's capture writes."""
    path = tree.work / f"opening-nested-{short(zones)}-streams.tracy"
    if not tree.has(path):
        streams.put_in_streams(tracy_file(tree, zones, "nested"), path)
    return path


def used(tree, command, path):
    found = measure.run_exactly(tree, [*command, path])
    return {"wall_ms": 1e3 * found["wall_s"], "cpu_ms": 1e3 * found["cpu_s"], "peak_mib": found["peak_kib"] / 1024}


def commands(bench):
    """{name: (title, zones, program, words, file of a tree, bar)}"""
    many, some = (500_000, 500_000) if bench.quick else (50_000_000, 10_000_000)
    plan = {"info": ("info", many, "strobe", ["info"], trace, None), "stats": ("stats", many, "strobe", ["stats"], trace, None),
            "stats-quick": ("stats --quick", many, "strobe", ["stats", "--quick"], trace, None), "csv": ("csv", some, "strobe", ["csv"], trace, None)}
    if bench.large:
        plan["info-large"] = ("info", 500_000_000, "strobe", ["info"], trace, None)
    files = {"strobe": (".strobe", trace), "tracy": (".tracy", tracy_file), "streams": (".tracy, nested, 4 streams of zstd", captured_file)}
    for kind, (words, make) in files.items():
        for option, bar_ms in BARS_MS.items():
            plan[f"csvexport{option}-{kind}"] = (f"tracy-csvexport {option + ' ' if option else ''}of a {words}", some, "tracy-csvexport", option.split(), make,
                                                 bar_ms if kind != "strobe" and not bench.quick else None)
    return plan


def plan(bench):
    ours, found, rows = {}, [], []
    for name, (title, zones, program, words, make, bar_ms) in commands(bench).items():
        key, title = f"opening.{name}", f"{title}, {short(zones)} zones"
        ours[name] = lambda tree, program=program, words=words, make=make, zones=zones: used(tree, [tree.program(program), *words], make(tree, zones))
        found += [Figure(f"{key}.wall", f"{title}: wall time", "ms", f"{name} wall_ms", narrow=0.1, grain=2, bar=bar_ms), Figure(f"{key}.cpu", f"{title}: CPU time", "ms", f"{name} cpu_ms", narrow=0.05, grain=2),
                  Figure(f"{key}.peak", f"{title}: memory, peak", "MiB", f"{name} peak_mib", narrow=0.05)]
        rows.append([title, f"{{{key}.wall}}", f"{bar_ms} ms" if bar_ms else "", f"{{{key}.cpu}}", f"{{{key}.peak}}"])
    zones = commands(bench)["stats"][1]
    ours["cat"] = lambda tree: used(tree, ["/bin/cat"], trace(tree, zones))
    found += [Figure("opening.cat.wall", f"limit: cat of the trace of {short(zones)} zones: wall time", "ms", "cat wall_ms", narrow=0.2, grain=2, is_context=True),
              Figure("opening.cat.cpu", f"limit: cat of the trace of {short(zones)} zones: CPU time", "ms", "cat cpu_ms", narrow=0.2, grain=2, is_context=True),
              Figure("opening.stats.ratio", f"stats of {short(zones)} zones: CPU time by cat's", "×", "stats cpu_ms", "cat cpu_ms", narrow=0.1)]
    rows += [[f"limit: `cat` of the trace of {short(zones)} zones", "{opening.cat.wall}", "", "{opening.cat.cpu}", ""], [f"`stats` : `cat`, {short(zones)} zones", "", "", "{opening.stats.ratio}", ""]]
    return [Trial("commands", ours, found, limit_s=180)], [{"head": ["command", "wall time", "its bar", "CPU time", "memory, peak"], "rows": rows}]
