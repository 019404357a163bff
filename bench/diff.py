"""diff.py STROBE PLANTED [--pairs 20] [--runs 5] [--slower 10]: how often `strobe diff` is wrong, and how often it finds what is there.

Records sets of RUNS runs of a program, in turns, and compares pairs of sets: of the same program, where every verdict is false, and with one
zone made slower by so many percent, which should be found. Prints counts and shares; CPU time is what the program spins by, but zones are
judged by wall time, as everybody's are: on a loaded machine the answer is mostly "can't tell", which is right there.
SPDX-License-Identifier: MIT"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

UNDECIDED = "can't tell"
FALSE = ("slower", "faster", "new", "gone")


def compare(strobe, folder, before, after, runs):
    """Verdicts by zone, of runs that are recorded in turns."""
    env = {**os.environ, "STROBE_SAMPLE": "0"}
    done = subprocess.run([strobe, "diff", "--record", "-n", str(runs), "-o", folder, "--format", "json", "--all", before, after], env=env,
                          check=True, capture_output=True, text=True)
    return {row["name"]: row for row in json.loads(done.stdout)["zones"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("strobe")
    parser.add_argument("planted", help="the program of tests/explain")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--slower", type=int, nargs="*", default=[10, 5])
    options = parser.parse_args()
    plain = f"{pathlib.Path(options.planted).resolve()} work 20"
    with tempfile.TemporaryDirectory(prefix="strobe-diff-") as folder:
        comparisons = wrong = 0
        for _ in range(options.pairs):
            rows = compare(options.strobe, folder, plain, plain, options.runs)
            comparisons += len(rows)
            wrong += sum(row["verdict"] in FALSE for row in rows.values())
        print(f"equal sets: {wrong} false verdicts in {comparisons} comparisons ({100 * wrong / max(1, comparisons):.1f} %)", flush=True)
        for percent in options.slower:
            verdicts = [compare(options.strobe, folder, plain, f"{plain} {percent}", options.runs)["crunch"]["verdict"] for _ in range(options.pairs)]
            print(f"+{percent} %: found in {verdicts.count('slower')} of {len(verdicts)}, undecided in {verdicts.count(UNDECIDED)}",
                  flush=True)


if __name__ == "__main__":
    main()
