"""program.py - claim: a whole program is slowed down by little more than bare clock reads and stores would.
SPDX-License-Identifier: MIT"""
import statistics

import measure

N_RUNS = 9
N_FRAMES = 600


def row(name, runs):
    traced = statistics.median(r["traced_added_ns"] / r["bare_ns"] for r in runs)
    limit = statistics.median(r["limit_added_ns"] / r["bare_ns"] for r in runs)
    ratio = statistics.median(r["traced_added_ns"] / r["limit_added_ns"] for r in runs)
    rate = statistics.median(r["zones"] / r["bare_ns"] for r in runs) * 1e3
    return [name, f"{rate:.2f} M", f"{100 * traced:.2f} %", f"{100 * limit:.2f} %", f"{ratio:.2f}"]


def report(bench):
    strobe, tracy = [], []
    for i in range(N_RUNS):
        bench.say(f"program: run {i + 1} of {N_RUNS}")
        strobe.append(measure.record(bench, [bench.program("bench_program"), N_FRAMES])[0])
        if bench.peers and bench.peers.tracy and bench.peers.capture:
            tracy.append(bench.peers.under_tracy([bench.peers.tracy["program"], N_FRAMES])[0])
    rows = [row("Strobe", strobe)] + ([row("Tracy C++", tracy)] if tracy else [])
    return [measure.table(["ray tracer, CPU time of its thread, median of 9", "zones/s", "added by recording", "added by the limit", "ratio"], rows)]
