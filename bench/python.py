"""python.py - claim: tracing every call of a Python program costs what its hooks cost, and a zone by hand the clock.

Each figure is process CPU time of one run in a fresh process, the first touch of the tool's memory included: the least of some rounds
in which all tools take turns. The limit is a callback on the same hook and the same events that reads the clock and stores 16 bytes.
VizTracer keeps the last million events and writes nothing here; Strobe's are all recorded.
BENCH_ROUNDS: how many turns; BENCH_PYTHONS=3.11,3.13: these versions alone, some 50 s each.  SPDX-License-Identifier: MIT"""
import glob
import os
import pathlib
import subprocess

import measure

HERE = pathlib.Path(__file__).resolve().parent / "python"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "13"))  # the runs are short: the host spoils the least of a few
WORKLOADS = ("fib", "small")

# The bars: at most so many times the other's CPU time. A first trial of the frame hook took ×1.2, ×1.2 and ×1.9 of the plain run's.
TRIAL = {"3.9": 1.2, "3.10": 1.2, "3.11": 1.9}
MOST_OF_TRIAL = MOST_OF_LIMIT = MOST_OF_CLOCK = 1.15
MOST_OF_EMPTY = 1.10
MOST_OF_VIZTRACER = {"3.9": 0.50, "3.10": 0.50, "3.11": 0.40}  # from 3.12 on: 0.70
MOST_OF_VIZTRACER_WITH_C = 0.85


def interpreters():
    """{version: path} of the CPythons from 3.9 on that are here."""
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
    return dict(sorted(found.items(), key=lambda item: tuple(map(int, item[0].split(".")))))


def with_viztracer(bench, version, path):
    """An interpreter that has VizTracer, in an environment of its own; None where it can't be had."""
    folder = bench.work / "python" / version
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        made = subprocess.run([path, "-m", "venv", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        got = made or subprocess.run([str(python), "-m", "pip", "-q", "install", "viztracer"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL).returncode
        if got:
            return None
        (folder / "ready").write_text("")
    return str(python)


def once(bench, python, arguments):
    """One run; its figures."""
    env = {"PYTHONPATH": f"{bench.build}/python:{bench.build}/bench-python", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, str(HERE / "work.py"), *map(str, arguments)]
    if "strobe" in arguments or arguments[0] == "many":
        return measure.record(bench, command, options=["--python", "off"], env=env)[0]
    return measure.figures(measure.run(command, env)[0])


def compare(bench, version, path, c):
    """{(tool, workload): least CPU seconds}"""
    peer = with_viztracer(bench, version, path) if bench.peers else None
    best = {}
    for i in range(ROUNDS):
        tools = ["plain", "limit", "strobe"] + (["viztracer"] if peer else []) + (["cprofile"] if i == 0 else [])
        for workload in WORKLOADS:
            for tool in tools:
                cpu_s = once(bench, peer if tool == "viztracer" else path, [tool, workload, c])["cpu_s"]
                best[tool, workload] = min(cpu_s, best.get((tool, workload), 1e9))
    return best


def ratios(best, tool, other):
    """The tool's time by the other's for each workload; None where the other is not to be had."""
    return [best[tool, w] / best[other, w] for w in WORKLOADS] if (other, "fib") in best else None


def held(found, most):
    """A bar: what was found of each kind, beside what it may be at most."""
    if found is None or most is None:
        return "–"
    missed = " **missed**" if max(found) > most else ""
    return " / ".join(f"{one:.2f}" for one in found) + f" ≤ {most:.3g}{missed}"


def row(version, best):
    """A version's times and how the tools compare."""
    cells = [version, " / ".join(f"{best['plain', w]:.3f} s" for w in WORKLOADS)]
    for tool in ("limit", "strobe", "viztracer", "cprofile"):
        cells.append(" / ".join(f"×{one:.2f}" for one in ratios(best, tool, "plain")) if (tool, "fib") in best else "–")
    return cells


def calls(bench, c):
    """{version: {(tool, workload): s}}"""
    found = {}
    for version, path in interpreters().items():
        bench.say(f"python: {version}, {'with' if c else 'without'} C functions")
        found[version] = compare(bench, version, path, c)
    return found


def times(title, found):
    return measure.table([title, "plain", "limit", "Strobe", "VizTracer", "cProfile"], [row(version, best) for version, best in found.items()])


def bars_of_calls(functions, with_c):
    """A row per version: each promise, and what became of it."""
    rows = []
    for version, best in functions.items():
        trial = TRIAL.get(version)
        rows.append([version,
                     held(ratios(best, "strobe", "plain"), trial and MOST_OF_TRIAL * trial),
                     held(ratios(best, "strobe", "limit"), None if trial else MOST_OF_LIMIT),
                     held(ratios(best, "strobe", "viztracer"), MOST_OF_VIZTRACER.get(version, 0.70)),
                     held(ratios(with_c[version], "strobe", "viztracer"), MOST_OF_VIZTRACER_WITH_C)])
    return measure.table(["fib / small, Strobe :", "plain run", "limit", "VizTracer", "VizTracer, with C functions"], rows)


def manager(bench, path, peer, recorded):
    """The cost of a use of each context manager in one process."""
    env = {"PYTHONPATH": f"{bench.build}/python:{bench.build}/bench-python"}
    command = [path, str(HERE / "work.py"), "zones", peer]
    if recorded:
        return measure.record(bench, command, options=["--python", "off"], env=env)[0]
    return measure.figures(measure.run(command, env)[0])


def managers(bench):
    """The process in which ours and the peer's together took least."""
    rows = []
    for version, path in interpreters().items():
        bench.say(f"python: {version}, context managers")
        cells = [version]
        for peer, recorded, most in (("clock", True, MOST_OF_CLOCK), ("empty", False, MOST_OF_EMPTY)):
            best = min((manager(bench, path, peer, recorded) for _ in range(min(ROUNDS, 3))), key=lambda found: sum(found.values()))
            for use in ("reused_ns", "new_ns"):
                ours, other = best[f"ours_{use}"], best[f"peer_{use}"]
                cells.append(f"{ours:.0f} : {other:.0f} = {held([ours / other], most)}")
        rows.append(cells)
    return measure.table(["`with zone`, ns", "recording, reused : two clock reads", "recording, `zone(name)` : new object",
                          "idle, reused : empty", "idle, `zone(name)` : new object"], rows)


def in_bulk(bench):
    n = 30000000 if bench.large else 3000000
    rows = []
    for version, path in interpreters().items():
        bench.say(f"python: {version}, {n:,} calls")
        found, used = measure.record(bench, [path, str(HERE / "work.py"), "many", n], options=["--python", "off"],
                                     env={"PYTHONPATH": f"{bench.build}/python"})
        text = subprocess.run([bench.strobe, "stats", "--csv", used.path], stdout=subprocess.PIPE, check=True).stdout.decode()
        stored = next(int(line.rsplit(",", 10)[1]) for line in text.splitlines() if "leaf" in line)
        rows.append([version, f"{n:,}", f"{stored:,}", f"{used.bytes / n:.2f}", f"{found['grown_kib']} KiB"])
    return measure.table(["calls in a row", "made", "in the file", "bytes per call", "growth of the process"], rows)


def startup(bench):
    """What every start of an interpreter pays with nobody recording: the line of strobe.pth, as site runs it."""
    rows = []
    for version, path in interpreters().items():
        runs = [measure.figures(measure.run([path, "-S", str(HERE / "work.py"), "startup", str(measure.ROOT / "python/strobe.pth")], {})[0])["us"]
                for _ in range(ROUNDS)]
        rows.append([version, f"{min(runs):.0f} µs"])
    return measure.table(["start of an interpreter, nobody records", "added by strobe.pth"], rows)


def report(bench):
    functions, with_c = calls(bench, 0), calls(bench, 1)
    return [times("Python functions only", functions), times("Python functions and C functions", with_c),
            bars_of_calls(functions, with_c), managers(bench), startup(bench), in_bulk(bench)]
