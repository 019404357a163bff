#!/usr/bin/env python3
"""test_replay.py BUILD walks|pairs [--times N] [--seed S] [MODEL...]: the models of tests/model on the real code.

walks: random simulations of each model, replayed step by step; then orders that the scheduler itself takes by chance, with memory
       as weak as arm64's; then all orders of a few switches. No violation may be seen. --times 10: ten times as many.
pairs: five faults, each planted in a model and in the code. SPIN must find the first, and a counterexample of the model, replayed,
       the second; without the fault the same replay must pass.
What is replayed, and what is not: tests/replay/README.md.  SPDX-License-Identifier: MIT"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import walks  # noqa: E402

# simulations, random orders, switches of the search and orders at most
PLAN = {
    "segments": (500, 150, 1, 150),
    "signals": (400, 150, 1, 100),
    "ending": (300, 100, 1, 150),
    "waiting": (300, 150, 2, 500),
    "cancel": (200, 100, 1, 100),
    "attach": (150, 50, 1, 50),
    "liveness": (200, 20, 1, 20),
}
# model, its fault, the patch of tests/planted
PAIRS = [
    ("segments", "BUG_GIVE_BACK", "collector_back_before_events", "give back before store"),
    ("segments", "BUG_POSITION", "ring_position_after_magic", "position before fill"),
    ("liveness", "BUG_FOREIGN_ID", "ring_lives_by_foreign_id", "liveness by a foreign id"),
    ("ending", "BUG_NO_HANDSHAKE", "collector_leaves_unheard", "end without handshake"),
    ("attach", "BUG_NO_ACQUIRE", "client_gate_without_acquire", "`active` and `floor` without acquire"),
]
TRIES = 200


class Bench:
    def __init__(self, build, folder):
        self.build, self.folder = pathlib.Path(build).resolve(), folder

    def run(self, program, *arguments):
        """(whether it passed, its last line)"""
        done = subprocess.run([str(self.build / "bin" / program), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        lines = done.stdout.strip().splitlines()
        return done.returncode == 0, lines[-1] if lines else f"exit code {done.returncode}"

    def replay(self, program, model, named_steps):
        path = pathlib.Path(self.folder) / "walks"
        path.write_text("".join(walks.lines(name, steps) for name, steps in named_steps), encoding="ascii")
        return self.run(program, model, "walks", path)


def test_walks(bench, given):
    good, n_all = True, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in given.models or PLAN:
            n_walks, n_random, switches, n_orders = PLAN[name]
            begun = time.monotonic()
            model = walks.Model(name, bench.folder)
            seeds = range(given.seed, given.seed + n_walks * given.times)
            passed = [bench.replay("replay", name, zip(seeds, pool.map(model.walk, seeds))),
                      bench.run("replay", name, "random", n_random * given.times, given.seed),
                      bench.run("replay", name, "search", switches, n_orders * given.times)]
            for is_good, line in passed:
                print(("" if is_good else "VIOLATION ") + line, flush=True)
                good = good and is_good
            n_all += len(seeds)
            print(f"          seeds {seeds[0]} to {seeds[-1]} of the model, {given.seed} to {given.seed + n_random * given.times - 1} of the scheduler, "
                  f"{time.monotonic() - begun:.1f} s", flush=True)
    print(f"{n_all} walks of the models replayed")
    return good


def find_in_code(bench, name, model, first, patch):
    """By which replay the planted fault is found: (what, the violation, how the same replay ends without it)."""
    def tried(what, steps):
        is_good, line = bench.replay(f"replay_{patch}", name, [(what, steps)])
        if is_good:
            return None
        return what, line, bench.replay("replay", name, [(what, steps)])
    found = tried("counterexample", first)
    for seed in range(1, TRIES):
        if found:
            break
        steps = model.violating_walk(seed)
        found = steps and tried(f"counterexample-of-seed-{seed}", steps)
    return found


def test_pairs(bench):
    good = True
    for name, fault, patch, what in PAIRS:
        model = walks.Model(name, bench.folder, [fault])
        first = model.counterexample()
        found = first and find_in_code(bench, name, model, first, patch)
        is_good = bool(found) and found[2][0]
        good = good and is_good
        print(f"{what}:\n    model {name}, {fault}: {f'SPIN finds a violation after {len(first)} steps' if first else 'NOT FOUND'}\n"
              f"    code, {patch}: {f'{found[1]}' if found else 'NOT FOUND'}", flush=True)
        if found:
            print(f"    without the fault: {'' if found[2][0] else 'VIOLATION '}{found[2][1]}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("what", choices=["walks", "pairs"])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strobe-replay-") as folder:
        bench = Bench(given.build, folder)
        return 0 if (test_walks(bench, given) if given.what == "walks" else test_pairs(bench)) else 1


if __name__ == "__main__":
    sys.exit(main())
