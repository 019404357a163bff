"""diff.py BUILD [--pairs 20] [--runs 5] [--slower 10 5] [--only NAME...]: how often `strobe diff` is wrong, and how often it finds what is there.

Records sets of RUNS runs of three programs, in turns, and compares pairs of sets: of the same program, where every verdict is false, and with
the zone `crunch` made slower by so many percent, which should be found. All three have nine zones and no other thing to do: one in C++
(tests/diff/work.cpp) and one in Python (below) count their steps, one has them in a kernel on the simulator, whose lengths are drawn anew by
each run's seed (tests/explain/planted_device.c). Prints counts and shares beside their bars. Zones are judged by wall time, as everybody's
are. So that another program of the machine is not what is measured they run before all others (SCHED_FIFO) where that is allowed; where a zone
deviates by more than 1 % between runs all the same, without what all zones of a run have in common, the answer is mostly "can't tell", which is right there: such comparisons are counted apart.
SPDX-License-Identifier: MIT"""
import argparse
import csv
import io
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

UNDECIDED = "can't tell"
FALSE = ("slower", "faster", "new", "gone")
MOST_FALSE = 0.03
LEAST_FOUND = {5: {10: 0.9, 5: 0.55}, 3: {10: 0.8, 5: 0.25}}  # by runs a side and percent: of zones that deviate by STEADY at most
STEADY = 0.01
PYTHON = """import sys
import strobe
def work(steps):
    state = 1
    for _ in range(steps):
        state = state * 25214903917 + 11 & 281474976710655
percent = int(sys.argv[1]) if len(sys.argv) > 1 else 0
for _ in range(60):
    for i in range(8):
        with strobe.zone(f"part {i}"):
            work(3000 + 500 * i)
    with strobe.zone("crunch"):
        work(20000 + 200 * percent)
"""


def compare(strobe, folder, before, after, runs):
    """Verdicts by zone, of runs that are recorded in turns."""
    env = {**os.environ, "STROBE_SAMPLE": "0"}
    done = subprocess.run([strobe, "diff", "--record", "-n", str(runs), "-o", folder, "--format", "json", "--all", before, after], env=env,
                          check=True, capture_output=True, text=True)
    return {row["name"]: row for row in json.loads(done.stdout)["zones"]}


def logs_of(strobe, file):
    """{zone: logarithm of its mean duration}"""
    text = subprocess.run([strobe, "query", "--format", "csv", file, "SELECT name, avg(dur) FROM zone WHERE dur > 0 GROUP BY name"], check=True, capture_output=True, text=True).stdout
    return {row[0]: math.log(float(row[1])) for row in list(csv.reader(io.StringIO(text)))[1:]}


def deviation(strobe, folder, zone):
    """Of a zone's mean duration between the runs of a side, both sides together, less what all zones of a run have in common: `strobe diff` takes
    that out too."""
    runs = {side: [logs_of(strobe, file) for file in pathlib.Path(folder).glob(f"{side}*.strobe")] for side in "ab"}
    every = [run for side in runs.values() for run in side]
    means = {name: statistics.fmean(run[name] for run in every) for name in every[0] if all(name in run for run in every)}
    squares, degrees = 0.0, 0
    for side in runs.values():
        own = [run[zone] - statistics.median(run[name] - mean for name, mean in means.items()) for run in side]
        squares += sum((one - statistics.fmean(own)) ** 2 for one in own)
        degrees += len(own) - 1
    return math.sqrt(squares / degrees)


def programs(build, folder):
    """{name: command}; a percentage may follow."""
    script = pathlib.Path(folder) / "work.py"
    script.write_text(PYTHON)
    first = "chrt -f 10 " if not subprocess.run(["chrt", "-f", "10", "true"], capture_output=True, check=False).returncode else ""
    print("programs run before all others" if first else "programs run beside others: SCHED_FIFO is not allowed here", flush=True)
    return {"C++": f"{first}{build / 'bin/programs/diff_work'}",
            "Python": f"env PYTHONPATH={build / 'python'} {first}{sys.executable} {script}",
            "device": f"env STROBE_KERNEL_CACHE={build / 'kernels'} {first}{build / 'bin/programs/explain_planted_device'} parts 20"}


def says(value, bar, is_most):
    return f"bar {100 * bar:.0f} %: {'holds' if (value <= bar if is_most else value >= bar) else 'MISSED'}"


def measure_equal(options, folder, name, command):
    comparisons = wrong = 0
    for _ in range(options.pairs):
        rows = compare(options.strobe, folder, command, command, options.runs)
        comparisons += len(rows)
        wrong += sum(row["verdict"] in FALSE for row in rows.values())
    share = wrong / max(1, comparisons)
    print(f"{name}, equal sets: {wrong} false verdicts in {comparisons} comparisons ({100 * share:.1f} %; {says(share, MOST_FALSE, True)})", flush=True)


def measure_slower(options, folder, name, command, percent):
    rows, steady = [], []
    for _ in range(options.pairs):
        rows.append(compare(options.strobe, folder, command, f"{command} {percent}", options.runs)["crunch"])
        if deviation(options.strobe, folder, "crunch") <= STEADY:
            steady.append(rows[-1])
    found, bar = sum(row["verdict"] == "slower" for row in steady), LEAST_FOUND.get(options.runs, {}).get(percent)
    judged = f"; {says(found / len(steady), bar, False)}" if bar and steady else ""
    print(f"{name}, +{percent} %: found in {found} of {len(steady)} steady ones{judged}; of all {len(rows)} found in {sum(row['verdict'] == 'slower' for row in rows)}, "
          f"undecided in {sum(row['verdict'] == UNDECIDED for row in rows)}, in the wrong direction in {sum(row['verdict'] == 'faster' for row in rows)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a build with tests (STROBE_TESTS=ON)")
    parser.add_argument("--only", nargs="*", help="C++, Python, device")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--slower", type=int, nargs="*", default=[10, 5])
    options = parser.parse_args()
    build = options.build.resolve()
    options.strobe = build / "bin/strobe"
    with tempfile.TemporaryDirectory(prefix="strobe-diff-") as folder:
        for name, command in programs(build, folder).items():
            if options.only and name not in options.only:
                continue
            measure_equal(options, folder, name, command)
            for percent in options.slower:
                measure_slower(options, folder, name, command, percent)


if __name__ == "__main__":
    main()
