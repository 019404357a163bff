"""report.py - the op report of invented tt-metal runs: CPU time and memory.

  STROBE_UPSTREAM=DIR STROBE_PEERS=DIR   tt-metal's own tracy package, and the bin folder of a Python with what it needs; without: left out
SPDX-License-Identifier: MIT"""
import os
import shutil
import sys

import measure
from measure import Figure, Trial

CLAIM = "10,000 ops take 2 s of CPU time and 200 MiB at most"
PEER = "the bars; tt-metal's own process_ops_logs on 300 ops, where STROBE_UPSTREAM and STROBE_PEERS name it"

def logs(tree, ops):
    folder = tree.work / f"report-{ops}"
    if not (folder / ".logs").exists():
        measure.run([sys.executable, measure.ROOT / "tests/report/gen_run.py", folder, "--ops", ops, "--cores", 16])
    return folder


def used(tree, command):
    found = measure.run_exactly(tree, command)
    return {"cpu_s": found["cpu_s"], "wall_s": found["wall_s"], "peak_mib": found["peak_kib"] / 1024}


def strobe(tree, ops):
    out = tree.work / "report-out"
    shutil.rmtree(out, ignore_errors=True)
    return used(tree, [tree.strobe, "report", logs(tree, ops), "-o", out, "--no-date", "-q"])


def upstream(tree, ops):
    env = ["/usr/bin/env", f"PYTHONPATH={os.environ['STROBE_UPSTREAM']}", f"TT_METAL_HOME={tree.work}"]
    return used(tree, [*env, f"{os.environ['STROBE_PEERS']}/python", "-m", "tracy.process_ops_logs", "-o", logs(tree, ops)])


def plan(bench):
    trials, rows = [], []
    has_upstream = bench.peers and os.environ.get("STROBE_UPSTREAM") and os.environ.get("STROBE_PEERS")
    for ops in [100] if bench.quick else [300, 10_000] if has_upstream else [10_000]:
        key, title = f"report.{ops}", f"device log of {ops:,} ops"
        bars = {"cpu": 2, "peak": 200} if ops == 10_000 else {}
        found = [Figure(f"{key}.cpu", f"{title}: CPU time", "s", "strobe cpu_s", narrow=0.05, grain=0.005, bar=bars.get("cpu")),
                 Figure(f"{key}.wall", f"{title}: wall time", "s", "strobe wall_s", narrow=0.2, grain=0.005),
                 Figure(f"{key}.peak", f"{title}: memory, peak", "MiB", "strobe peak_mib", bar=bars.get("peak"))]
        peers = {}
        if ops == 300:
            peers["upstream"] = lambda tree, ops=ops: upstream(tree, ops)
            found.append(Figure(f"{key}.ratio", f"{title}: CPU time by upstream's", "×", "strobe cpu_s", "upstream cpu_s", narrow=0.1))
        trials.append(Trial(f"{ops:,} ops", {"strobe": lambda tree, ops=ops: strobe(tree, ops)}, found, peers, limit_s=180))
        rows.append([title, f"{{{key}.cpu}}", f"{bars['cpu']:g} s" if bars else "", f"{{{key}.wall}}", f"{{{key}.peak}}", "200 MiB" if bars else "", f"{{{key}.ratio}}"])
    return trials, [{"head": ["op report", "CPU time", "at most", "wall time", "memory, peak", "at most", "CPU time : upstream's"], "rows": rows}]
