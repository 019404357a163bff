"""instructions.py - instructions per zone, counted by callgrind: the difference of two lengths of the loop, its own turn included. The kernel of a
virtual machine often has no hardware counters for perf_event_open; callgrind counts the same on every machine, loaded or not.
SPDX-License-Identifier: MIT"""
import re
import subprocess

import measure
import zone
from measure import Figure, Trial

CLAIM = "a zone is at most 36 instructions while it is recorded and 8 with nobody recording, the turn of the loop included"
PEER = "the bars; Tracy's client"
BARS = {"recorded": 36, "idle": 8}
SHORT, LONG = 100_000, 200_000


def counted(tree, program, recorded, n):
    """Instructions in bench_zones, its callees included."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=bench_zones", str(program), "count", str(n)]
    env = {"TRACY_NO_INVARIANT_CHECK": "1"}
    if recorded:
        command = [str(tree.strobe), "record", "-o", str(tree.work / "callgrind.strobe"), "--", *command]
        env["BENCH_WAIT"] = "1"
    output = measure.finish(measure.spawn(command, env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    found = re.search(r"Collected\s*:\s*([\d,]+)", output)
    if not found:
        raise measure.Failed(f"callgrind on {program}: {output[-500:]}")
    return int(found[1].replace(",", ""))


def per_zone(tree, program, recorded):
    return (counted(tree, program, recorded, LONG) - counted(tree, program, recorded, SHORT)) / (LONG - SHORT)


def plan(bench):
    ways = {"static": zone.WAYS["static"]} if bench.quick else {"static": zone.WAYS["static"], **zone.OVER}
    ours = {name: lambda tree, program=program: {how: per_zone(tree, tree.program(program), how == "recorded") for how in BARS} for name, (_, program) in ways.items()}
    titles, peers = {name: title for name, (title, _) in ways.items()}, {}
    if bench.peers and bench.peers.tracy:
        for name, (title, kind) in zone.TRACY.items():
            titles[name] = title
            peers[name] = lambda tree, kind=kind: {"recorded": per_zone(tree, bench.peers.tracy[f"{kind}_always"], False),
                                                   "idle": per_zone(tree, bench.peers.tracy[f"{kind}_demand"], False)}
    found = [Figure(f"instructions.{name}.{how}", f"{title}, {how}", "instructions", f"{name} {how}", count=True, bar=bar if name == "static" else None)
             for name, title in titles.items() for how, bar in BARS.items()]
    rows = [[title, *(f"{{instructions.{name}.{how}}}" for how in BARS)] for name, title in titles.items()]
    return [Trial("callgrind", ours, found, peers, rounds=3, limit_s=600)], [{"head": ["instructions per zone and turn of the loop (callgrind)", "recording", "idle"], "rows": rows}]
