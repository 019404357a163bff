"""fleet.py STROBE MAKE_TRACE [--runs 200] [--zones 1000000] [--folder DIR] [--python PYTHON]: the example of examples/fleet at its full size.

Makes the runs of two weeks, in the second of which "zone 3" takes 110 ticks more, loads them into a lake, and asks every engine that PYTHON has
(duckdb, chdb, pyspark) which zone became slower: CPU time of all its threads beside the bar, and whether the answers are equal.
SPDX-License-Identifier: MIT"""
import argparse
import ctypes
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "fleet"
BARS = {"duckdb": 6, "clickhouse": 12, "spark": 90}
SLOW_TICKS = 110
ASK = "import json, sys; sys.path.insert(0, sys.argv[1]); import fleet; print(json.dumps(fleet.slower(sys.argv[2], 'w31-*', 'w32-*', sys.argv[3], 1000, sys.argv[4])))"
PR_SET_CHILD_SUBREAPER = 36


def make(options, lake):
    half = options.runs // 2
    for i in range(options.runs):
        trace = lake.parent / f"w{31 + i // half}-{i % half:03}.strobe"
        subprocess.run([options.make_trace, trace, str(options.zones), "4", "40", "0", "0", str(i + 1), str(SLOW_TICKS * (i // half))], check=True)
        subprocess.run([options.strobe, "export", "--to", "parquet", "-o", lake, trace], check=True, capture_output=True)
        trace.unlink()


def cpu_of(command):
    """(what it prints, seconds of CPU time of it and of everything that it started)"""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    while True:  # a JVM outlives its Python by a moment
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def alike(ours, theirs):
    return len(ours) == len(theirs) and all(a[0] == b[0] and a[4] == b[4] and all(abs(x - y) <= 1e-9 * x for x, y in zip(a[1:4], b[1:4])) for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("strobe")
    parser.add_argument("make_trace")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--zones", type=int, default=1_000_000)
    parser.add_argument("--folder", help="keep the lake there, and take the one that is there")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--engines", nargs="*", default=list(BARS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strobe-fleet-") as own:
        lake = pathlib.Path(options.folder or own) / "lake"
        if not lake.exists():
            make(options, lake)
        for source in ("stat", "zone"):
            first = None
            for engine in options.engines:
                done, cpu = cpu_of([options.python, "-c", ASK, EXAMPLE, lake, engine, source])
                if done.returncode:
                    print(f"{source} {engine}: not asked: {done.stderr.strip().splitlines()[-1]}", flush=True)
                    continue
                rows = json.loads(done.stdout.splitlines()[-1])  # an engine may have drawn its progress above
                first = first or rows
                print(f"{source} {engine}: {cpu:.2f} s of CPU time (bar {BARS[engine]} s), {rows[0][0]} {rows[0][1]:.1f} -> {rows[0][2]:.1f} ns, "
                      f"{'the same answer' if alike(first, rows) else 'ANOTHER ANSWER'}", flush=True)


if __name__ == "__main__":
    main()
