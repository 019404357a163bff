"""python.py - claim: tracing every call of a Python program costs what its hooks cost, and a zone by hand the clock.

Each figure is process CPU time of a fresh process, the least of some rounds in which all tools take turns. The limit is a callback on the
same hook and the same events that reads the clock and stores 16 bytes. VizTracer keeps the last million events and
writes nothing here; Strobe's are all recorded.  SPDX-License-Identifier: MIT"""
import glob
import os
import pathlib
import subprocess

import measure

HERE = pathlib.Path(__file__).resolve().parent / "python"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "7"))


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
    tools = ["plain", "limit", "strobe", "cprofile"] + (["viztracer"] if peer else [])
    best = {}
    for _ in range(ROUNDS):
        for workload in ("fib", "small"):
            for tool in tools:
                cpu_s = once(bench, peer if tool == "viztracer" else path, [tool, workload, c])["cpu_s"]
                best[tool, workload] = min(cpu_s, best.get((tool, workload), 1e9))
    return best


def row(version, best):
    cells = [version]

    def both(show):
        return " / ".join(show(workload) for workload in ("fib", "small"))

    cells.append(both(lambda w: f"{best['plain', w]:.3f} s"))
    for tool in ("limit", "strobe", "viztracer", "cprofile"):
        cells.append(both(lambda w: f"×{best[tool, w] / best['plain', w]:.2f}") if (tool, "fib") in best else "–")
    cells.append(both(lambda w: f"{best['strobe', w] / best['limit', w]:.2f}"))
    cells.append(both(lambda w: f"{best['strobe', w] / best['viztracer', w]:.2f}") if ("viztracer", "fib") in best else "–")
    return cells


def calls(bench, c):
    head = ["Python functions and C functions" if c else "Python functions only", "plain", "limit", "Strobe", "VizTracer", "cProfile",
            "Strobe : limit", "Strobe : VizTracer"]
    rows = []
    for version, path in interpreters().items():
        bench.say(f"python: {version}, {'with' if c else 'without'} C functions")
        rows.append(row(version, compare(bench, version, path, c)))
    return measure.table(head, rows)


def least(bench, path, tool, recorded):
    """The least cost of a use of each kind over some processes."""
    found = []
    for _ in range(3):
        env = {"PYTHONPATH": f"{bench.build}/python:{bench.build}/bench-python"}
        command = [path, str(HERE / "work.py"), "zones", tool]
        found.append(measure.record(bench, command, options=["--python", "off"], env=env)[0] if recorded
                     else measure.figures(measure.run(command, env)[0]))
    return {key: min(one[key] for one in found) for key in found[0]}


def managers(bench):
    rows = []
    for version, path in interpreters().items():
        bench.say(f"python: {version}, context managers")
        clock, on = least(bench, path, "clock", False), least(bench, path, "strobe", True)
        empty, idle = least(bench, path, "empty", False), least(bench, path, "strobe", False)
        rows.append([version] + [f"{on[k]:.0f} : {clock[k]:.0f} = {on[k] / clock[k]:.2f}" for k in ("reused_ns", "new_ns")] +
                    [f"{idle[k]:.0f} : {empty[k]:.0f} = {idle[k] / empty[k]:.2f}" for k in ("reused_ns", "new_ns")])
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


def report(bench):
    return [calls(bench, 0), calls(bench, 1), managers(bench), in_bulk(bench)]
