#!/usr/bin/env python3
"""peers.py STROBE BURNER CAUSES FOLDER: the same programs under Strobe and under other profilers, what they say beside each other: the table of docs/sampling.md.

perf and heaptrack are the distribution's; py-spy and memray come from PyPI into FOLDER/venv (scripts of a virtual environment) where pip may fetch them.
Who is missing is said and left out. As root; exit status 1 where two disagree by more than the row's bound, 77 without root.
"""
import collections
import csv
import io
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

STROBE, BURNER, CAUSES = map(os.path.abspath, sys.argv[1:4])
FOLDER = pathlib.Path(sys.argv[4]).resolve()
VENV = FOLDER / "venv"
BLOCKS = "kept = []\nfor i in range(200):\n    kept.append(bytearray(1 << 20))\nkept.clear()\nfor i in range(20):\n    kept.append(bytearray(1 << 20))\n"
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "STROBE_SAMPLE"}
FAILED = []


def run(*command):
    """(what it printed, CPU seconds of it and all below it)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=FOLDER, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fresh(name):
    """A path in the folder with nothing at it."""
    path = FOLDER / name
    path.unlink(missing_ok=True)
    return path


def row(program, what, ours, theirs, peer, bound, unit=""):
    """One figure; disagreeing by more than the bound counts as a failure."""
    is_right = abs(ours - theirs) <= bound
    FAILED.extend([] if is_right else [what])
    print(f"| {program} | {what} | {ours:,.1f}{unit} | {peer}: {theirs:,.1f}{unit} | {abs(ours - theirs):,.1f} of {bound:,.1f}{unit} |{'' if is_right else ' DISAGREE'}", flush=True)


def costs(program, ours, theirs, peer):
    """CPU seconds and bytes of file, of all that was recorded and of the tools."""
    print(f"| {program} | CPU time, file | {ours[0]:.2f} s, {ours[1]:,} B | {peer}: {theirs[0]:.2f} s, {theirs[1]:,} B | |", flush=True)


def our_stacks(path):
    """Names of each sample's frames, the innermost first."""
    rows = csv.DictReader(io.StringIO(run(STROBE, "csv", "--kind", "samples", path)[0]))
    return [[name for frame in r["frames"].split(";") for name in frame.split(" (")[0].split(" < ")] for r in rows]


def perf():
    """Shares of a C program without frame pointers."""
    names, trace, data = ("half", "third", "fifth"), fresh("perf.strobe"), fresh("perf.data")
    _, ours_cpu = run(STROBE, "record", "-o", trace, "--", BURNER, "split", "3")
    _, their_cpu = run("perf", "record", "-q", "-F", "997", "--call-graph", "dwarf,8192", "-e", "cpu-clock", "-o", data, "--", BURNER, "split", "3")
    script, _ = run("perf", "script", "-i", data, "-F", "ip,sym", "--no-inline")
    theirs = [[line.split(None, 1)[1].split("+")[0] for line in block.splitlines() if len(line.split(None, 1)) > 1] for block in script.split("\n\n") if block.strip()]
    stacks = our_stacks(trace)
    for name in names:
        shares = [100 * sum(name in stack for stack in list_) / len(list_) for list_ in (stacks, theirs)]
        p = shares[1] / 100
        row("C without frame pointers", f"samples in `{name}`", *shares, "perf", 400 * (p * (1 - p) * (1 / len(stacks) + 1 / len(theirs))) ** 0.5, " %")
    costs("C without frame pointers", (ours_cpu, trace.stat().st_size), (their_cpu, data.stat().st_size), "perf")


TIMED = """
import time
from pygments.lexer import RegexLexer
whole, lexes, clock = time.thread_time(), RegexLexer.get_tokens_unprocessed, time.thread_time
inside = 0
def timed(self, text, stack=("root",)):
    global inside
    tokens, begin = lexes(self, text, stack), clock()
    for token in tokens:
        inside += clock() - begin
        yield token
        begin = clock()
    inside += clock() - begin
RegexLexer.get_tokens_unprocessed = timed
"""


def true_share(python, program):
    """The share of CPU time in the lexer, by the program's own clock."""
    timed = fresh("timed.py")
    head, loop = program.read_text().split("for i in range", 1)
    timed.write_text(f"{head}{TIMED}for i in range{loop}print(100 * inside / (clock() - whole))\n")
    return float(run(python, timed)[0])


def py_spy():
    """Shares of a Python program, by its own functions. py-spy goes by wall time: where a machine has more to do than processors, it sees where the program waits
    for one, and is no judge. That is seen by the program's own clock, which Strobe has to agree with in any case."""
    trace, raw, python = fresh("spy.strobe"), fresh("spy.txt"), VENV / "bin" / "python3"
    program = fresh("highlight.py")
    program.write_text("import pathlib, pygments, pygments.lexers, pygments.formatters\ntext = pathlib.Path(pygments.lexers.__file__).read_text() * 4\n"
                       "for i in range(60):\n    pygments.highlight(text, pygments.lexers.PythonLexer(), pygments.formatters.HtmlFormatter())\n")
    _, ours_cpu = run(STROBE, "record", "--python", "off", "-o", trace, "--", python, program)
    _, their_cpu = run(VENV / "bin" / "py-spy", "record", "-r", "200", "-f", "raw", "-o", raw, "--", python, program)
    stacks, theirs = our_stacks(trace), collections.Counter()
    for line in raw.read_text().splitlines():
        stack, n = line.rsplit(" ", 1)
        theirs[tuple(re.sub(r".*\.", "", re.sub(r" \(.*", "", frame)) for frame in stack.split(";"))] += int(n)
    stacks = [[re.sub(r".*\.", "", name) for name in stack] for stack in stacks if any("highlight" in name for name in stack)]
    all_of_theirs = sum(n for stack, n in theirs.items() if "highlight" in stack)
    truth = true_share(python, program)
    for name in ("get_tokens_unprocessed", "format_unencoded"):
        ours, peers = 100 * sum(name in stack for stack in stacks) / max(1, len(stacks)), 100 * sum(n for stack, n in theirs.items() if name in stack) / max(1, all_of_theirs)
        if name == "get_tokens_unprocessed":
            row("CPython with pygments", f"samples in `{name}`", ours, truth, "the program's own clock", 6, " %")
            if abs(peers - truth) > 6:
                print(f"| CPython with pygments | samples in `{name}` | {ours:,.1f} % | py-spy: {peers:,.1f} % | not compared: py-spy is off the program's own clock |", flush=True)
                continue
        row("CPython with pygments", f"samples in `{name}`", ours, peers, "py-spy", 6, " %")
    costs("CPython with pygments", (ours_cpu, trace.stat().st_size), (their_cpu, raw.stat().st_size), "py-spy")


def heaptrack():
    """A leak, exact."""
    trace = fresh("leak.strobe")
    for old in FOLDER.glob("heaptrack.leak*"):
        old.unlink()
    _, ours_cpu = run(STROBE, "record", "--no-sample", "--memory=all", "-o", trace, "--", CAUSES, "leak")
    _, their_cpu = run("heaptrack", "-o", FOLDER / "heaptrack.leak", CAUSES, "leak")
    data = next(FOLDER.glob("heaptrack.leak*"))
    printed, _ = run("heaptrack_print", data)
    ours = json.loads(run(STROBE, "memory", "--json", trace)[0])
    unit = {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}
    figure = {word: float(n) * unit[u] for word, n, u in re.findall(r"^(?:total memory |peak heap memory )?(leaked|consumption): ([\d.]+)([BKMG])", printed, re.M)}
    pools = [p for p in ours["pools"] if p["pool"] == "malloc"]
    row("a leaking program", "bytes leaked", sum(p["live_bytes"] for p in pools), figure["leaked"], "heaptrack", 0.01 * figure["leaked"] + 75000, " B")
    row("a leaking program", "peak bytes", sum(p["peak_bytes"] for p in pools), figure["consumption"], "heaptrack", 0.01 * figure["consumption"] + 75000, " B")
    costs("a leaking program", (ours_cpu, trace.stat().st_size), (their_cpu, data.stat().st_size), "heaptrack")


def memray():
    """The peak of a Python program's large blocks."""
    trace, data, program, python = fresh("blocks.strobe"), fresh("blocks.bin"), fresh("blocks.py"), VENV / "bin" / "python3"
    program.write_text(BLOCKS)
    _, ours_cpu = run(STROBE, "record", "--python", "off", "--no-sample", "--memory=all", "-o", trace, "--", python, program)
    _, their_cpu = run(python, "-m", "memray", "run", "-q", "-f", "-o", data, program)
    run(python, "-m", "memray", "stats", "--json", "-o", fresh("blocks.json"), data)
    theirs = json.loads((FOLDER / "blocks.json").read_text())["metadata"]["peak_memory"]
    ours = json.loads(run(STROBE, "memory", "--json", trace)[0])
    row("CPython with large blocks", "peak bytes", ours["peak_bytes"], theirs, "memray", 0.03 * theirs, " B")
    costs("CPython with large blocks", (ours_cpu, trace.stat().st_size), (their_cpu, data.stat().st_size), "memray")


def main():
    """Print the table."""
    if os.geteuid():
        print("skipped: peers sample as root")
        return 77
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (VENV / "bin" / "memray").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=False, capture_output=True)
        subprocess.run([VENV / "bin" / "pip", "install", "-q", "memray", "py-spy", "pygments"], check=False, capture_output=True)
    print("| program | figure | Strobe | peer | difference |\n|---|---|---|---|---|")
    for peer, compare, where in (("perf", perf, shutil.which("perf")), ("py-spy", py_spy, (VENV / "bin" / "py-spy").exists()), ("heaptrack", heaptrack, shutil.which("heaptrack_print")), ("memray", memray, (VENV / "bin" / "memray").exists())):
        if where:
            compare()
        else:
            print(f"{peer} is not installed", file=sys.stderr)
    print(f"disagree: {FAILED}" if FAILED else "all agree within their bounds", file=sys.stderr)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
