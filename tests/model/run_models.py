#!/usr/bin/env python3
"""run_models.py [--large]: prove the models of the ring protocol with SPIN, and see that each planted fault is found.

Each model in this folder is searched exhaustively. Its prologue lists the faults that can be planted (BUG_...): for each of them
the search must find a violation, so that a model which proves everything is noticed. --large: larger counts, by bitstate hashing
(no proof, but a far wider search), without the faults. Prints states and seconds of each; exits with 1 where one fails.
SPDX-License-Identifier: MIT"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DEPTH = 1000000
# what --large sets; the defaults are in the models
LARGE = {"segments": ["EVENTS=9"], "signals": ["EVENTS=7"], "ending": ["ROUNDS=9"], "attach": ["ROUNDS=4"], "waiting": [], "dropping": ["EVENTS=9"]}


def search(model, defines, bitstate=False):
    """One search: (errors, states, seconds, what was violated)."""
    with tempfile.TemporaryDirectory(prefix="strobe-model-") as folder:
        subprocess.run(["spin", *(f"-D{name}" for name in defines), "-a", str(model)], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        mode = ["-DBITSTATE"] if bitstate else ["-DCOLLAPSE"]
        subprocess.run(["cc", "-w", "-O0" if any("BUG" in name for name in defines) else "-O2", "-DSAFETY", *mode, "-o", "pan", "pan.c"], cwd=folder, check=True)
        begun = time.monotonic()
        out = subprocess.run(["./pan", f"-m{DEPTH}", *(["-w30"] if bitstate else [])], cwd=folder, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False).stdout
    if "max search depth too small" in out or "out of memory" in out:
        sys.exit(f"{model.name}: the search was cut short:\n{out}")
    errors = int(re.search(r"errors: (\d+)", out).group(1))
    states = int(re.search(r"(\d+) states, stored", out).group(1))
    violated = re.search(r"pan:1: (.*)", out)
    return errors, states, time.monotonic() - begun, violated.group(1) if violated else ""


def faults_of(model):
    """The BUG_... names that the prologue lists; each must be used below it."""
    prologue, body = model.read_text(encoding="utf-8").split("*/", 1)
    names = re.findall(r"BUG_[A-Z_]+", prologue)
    unused = [name for name in names if name not in body]
    if not names or unused:
        sys.exit(f"{model.name}: faults that its prologue lists and nothing uses: {unused or 'none is listed'}")
    return names


def prove(model):
    """The model as it is, then with each fault. False: something is wrong."""
    errors, states, seconds, violated = search(model, [])
    print(f"{model.stem:10} {states:>10,} states {seconds:7.2f} s   {'holds' if not errors else 'VIOLATED: ' + violated}", flush=True)
    good = not errors
    for name in faults_of(model):
        errors, states, _, violated = search(model, [name])
        print(f"    {name:18} {'found: ' + violated if errors else 'NOT FOUND'}", flush=True)
        good = good and errors > 0
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    if not shutil.which("spin"):
        sys.exit("run_models.py: no `spin` here (scripts/deps test installs it)")
    models = [HERE / f"{name}.pml" for name in given.models] or sorted(HERE.glob("*.pml"))
    good = True
    for model in models:
        if given.large and model.stem in LARGE:
            errors, states, seconds, violated = search(model, LARGE[model.stem], bitstate=True)
            print(f"{model.stem:10} {states:>12,} states {seconds:7.1f} s   {violated or 'no violation met'}", flush=True)
            good = good and not errors
        elif not given.large:
            good = prove(model) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
