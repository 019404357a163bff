"""python.py - what tracing costs a Python program.

Each run is a fresh process, the first touch of the tool's memory included. The limit is a callback on the same hook and the same events that
reads the clock and stores 16 bytes. VizTracer keeps the last million events and writes nothing here; Strobe's are all recorded.
BENCH_PYTHONS=3.11,3.13: these versions alone.  SPDX-License-Identifier: MIT"""
import csv
import io
import glob
import os
import pathlib
import subprocess

import measure
from measure import Figure, Trial

CLAIM = "every call of a Python program costs what its hooks cost, and a zone by hand what the clock costs"
PEER = "the limit: a callback on the same hook that reads the clock and stores 16 bytes; VizTracer; cProfile; a context manager in C that reads the clock twice, and an empty one"

HERE = pathlib.Path(__file__).resolve().parent / "python"
WORKLOADS = ("fib", "small")
TOOLS = {"plain": "plain", "limit": "limit", "strobe": "Strobe", "viztracer": "VizTracer", "cprofile": "cProfile"}

# The bars: at most so many times the other's CPU time. A first trial of the frame hook took ×1.2, ×1.2 and ×1.9 of the plain run's.
OF_PLAIN = {"3.9": 1.38, "3.10": 1.38, "3.11": 2.18}
OF_LIMIT, OF_CLOCK, OF_EMPTY = 1.15, 1.15, 1.10
OF_VIZTRACER = {"3.9": 0.50, "3.10": 0.50, "3.11": 0.40}  # from 3.12 on: 0.70
OF_VIZTRACER_WITH_C = 0.85


def interpreters(bench):
    """{version: path} of the CPythons from 3.9 on that are here; one of them for a quick run."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    paths = glob.glob(f"{root}/versions/3.*/bin/python3") + [f"/usr/bin/python3.{minor}" for minor in range(9, 16)]
    found = {}
    for path in paths:
        if not os.access(path, os.X_OK):
            continue
        text = "import sys; print('%d.%d' % sys.version_info[:2] if sys.implementation.name == 'cpython' else '')"
        version = subprocess.run([path, "-c", text], stdout=subprocess.PIPE).stdout.decode().strip()
        if version and tuple(map(int, version.split("."))) >= (3, 9):
            found.setdefault(version, path)
    wanted = os.environ.get("BENCH_PYTHONS")
    found = {version: path for version, path in found.items() if not wanted or version in wanted.split(",")}
    found = sorted(found.items(), key=lambda item: tuple(map(int, item[0].split("."))))
    return dict(found[-1:] if bench.quick else found)


def with_viztracer(bench, version, path):
    """An interpreter that has VizTracer, in an environment of its own; None where it can't be had."""
    folder = bench.tree.work / "python" / version
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        made = subprocess.run([path, "-m", "venv", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        got = made or subprocess.run([str(python), "-m", "pip", "-q", "install", "viztracer"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL).returncode
        if got:
            return None
        (folder / "ready").write_text("")
    return str(python)


def work(tree, python, *arguments, recorded=False):
    """One run of python/work.py; (figures, what the recorder used)."""
    env = {"PYTHONPATH": f"{tree.build}/python:{tree.build}/bench-python", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, str(HERE / "work.py"), *map(str, arguments)]
    if recorded:
        return measure.record(tree, command, options=["--python", "off"], env=env)
    return measure.figures(measure.run(command, env)[0]), None


def calls(bench, version, path, c):
    """The trial of all tools on both workloads."""
    peer = with_viztracer(bench, version, path) if bench.peers else None
    ours, peers, found = {}, {}, []
    for workload in WORKLOADS[:1] if bench.quick else WORKLOADS:
        for tool in TOOLS:
            if tool == "viztracer" and not peer:
                continue
            side = ours if tool in ("plain", "limit", "strobe") else peers
            side[f"{tool}-{workload}"] = lambda tree, tool=tool, workload=workload: work(
                tree, peer if tool == "viztracer" else path, tool, workload, c, recorded=tool == "strobe")[0]
        bars = {"plain": OF_PLAIN.get(version), "limit": None if version in OF_PLAIN else OF_LIMIT, "viztracer": OF_VIZTRACER.get(version, 0.70)}
        if c:
            bars = {"viztracer": OF_VIZTRACER_WITH_C}
        key, what = f"python.{version}.{'c' if c else 'py'}.{workload}", f"{version}, {workload}{', C functions too' if c else ''}"
        found.append(Figure(f"{key}.plain", f"{what}: plain run, CPU time", "s", f"plain-{workload} cpu_s", narrow=0.1, is_context=True))
        for tool in ("limit", "strobe", "viztracer", "cprofile"):
            found.append(Figure(f"{key}.{tool}", f"{what}: {TOOLS[tool]} by the plain run, CPU time", "×", f"{tool}-{workload} cpu_s", f"plain-{workload} cpu_s",
                                narrow=0.05 if tool == "strobe" else 0.2, is_context=tool != "strobe", bar=bars.get("plain") if tool == "strobe" else None))
        found.append(Figure(f"{key}.strobe-wall", f"{what}: Strobe by the plain run, wall time", "×", f"strobe-{workload} wall_s", f"plain-{workload} wall_s", narrow=0.2))
        for tool in ("limit", "viztracer"):
            found.append(Figure(f"{key}.of-{tool}", f"{what}: Strobe by {TOOLS[tool]}, CPU time", "×", f"strobe-{workload} cpu_s", f"{tool}-{workload} cpu_s", narrow=0.05, bar=bars.get(tool)))
    return Trial(f"Python {version}, {'with' if c else 'without'} C functions", ours, found, peers)


def zones(version, path):
    """Context managers: ours and the limit's in one process."""
    ours, found = {}, []
    for how, peer, bar in (("recorded", "clock", OF_CLOCK), ("idle", "empty", OF_EMPTY)):
        ours[how] = lambda tree, how=how, peer=peer: work(tree, path, "zones", peer, recorded=how == "recorded")[0]
        for use, words in (("reused", "one object, used again"), ("new", "zone(name)")):
            key, what = f"python.{version}.zone.{how}.{use}", f"{version}, with zone, {words}, {how}"
            found += [Figure(f"{key}.ns", f"{what}: CPU time", "ns", f"{how} ours_{use}_ns", narrow=0.1),
                      Figure(f"{key}.ratio", f"{what}: CPU time by the limit's", "×", f"{how} ours_{use}_ns", f"{how} peer_{use}_ns", narrow=0.04, bar=bar)]
    return Trial(f"Python {version}, with zone", ours, found, limit_s=40)


def rest(bench, version, path):
    """The start of an interpreter with nobody recording, and calls in bulk."""
    n = 100_000 * (2 if bench.quick else 300 if bench.large else 30)

    def bulk(tree):
        found, used = work(tree, path, "many", n, recorded=True)
        text = measure.run([tree.strobe, "stats", "--csv", used.path])[0]
        stored = next(int(row["count"]) for row in csv.DictReader(io.StringIO(text)) if "leaf" in row["name"])
        return {"bytes": used.bytes / n, "grown_kib": found["grown_kib"], "lost": n - stored}

    def startup(tree):
        return measure.figures(measure.run([path, "-S", str(HERE / "work.py"), "startup", str(measure.ROOT / "python/strobe.pth")])[0])
    key = f"python.{version}"
    start = Trial(f"Python {version}, start", {"start": startup}, [Figure(f"{key}.start.wall", f"{version}: a start, nobody records: wall time added by strobe.pth", "µs", "start us", narrow=0.1),
                  Figure(f"{key}.start.cpu", f"{version}: a start, nobody records: CPU time added by strobe.pth", "µs", "start cpu_us", narrow=0.1)], limit_s=20)
    many = Trial(f"Python {version}, bulk", {"bulk": bulk}, [Figure(f"{key}.bulk.bytes", f"{version}, {n:,} calls: bytes per call", "bytes", "bulk bytes", count=True),
                 Figure(f"{key}.bulk.grown", f"{version}, {n:,} calls: the process grows by", "KiB", "bulk grown_kib", count=True), Figure(f"{key}.bulk.lost", f"{version}, {n:,} calls: lost", "calls", "bulk lost", count=True, bar=0)],
                 rounds=3, limit_s=60)
    return [start, many]


def tables(versions, workloads):
    found = []
    for c, title in (("py", "Python functions only"), ("c", "Python functions and C functions")):
        found.append({"head": [title, "plain, CPU time", "limit", "Strobe", "Strobe, wall time", "VizTracer", "cProfile", "Strobe : limit", "Strobe : VizTracer"],
                      "rows": [[f"{v}, {w}", *(f"{{python.{v}.{c}.{w}.{what}}}" for what in ("plain", "limit", "strobe", "strobe-wall", "viztracer", "cprofile", "of-limit", "of-viztracer"))]
                               for v in versions for w in workloads]})
    uses = [(how, use) for how in ("recorded", "idle") for use in ("reused", "new")]
    found.append({"head": ["`with zone`, CPU time, and by the limit's", "recorded, object used again", "recorded, `zone(name)`", "idle, object used again", "idle, `zone(name)`"],
                  "rows": [[v, *(f"{{python.{v}.zone.{how}.{use}.ns:value}}, {{python.{v}.zone.{how}.{use}.ratio}}" for how, use in uses)] for v in versions]})
    found.append({"head": ["start of an interpreter, nobody records; calls in a row", "strobe.pth, wall time", "CPU time", "bytes per call", "growth of the process", "lost"],
                  "rows": [[v, *(f"{{python.{v}.{what}}}" for what in ("start.wall", "start.cpu", "bulk.bytes", "bulk.grown", "bulk.lost"))] for v in versions]})
    return found


def plan(bench):
    versions, trials = interpreters(bench), []
    for version, path in versions.items():
        trials += [calls(bench, version, path, c) for c in (0, 1)] + [zones(version, path)] + rest(bench, version, path)
    return trials, tables(versions, WORKLOADS[:1] if bench.quick else WORKLOADS)
