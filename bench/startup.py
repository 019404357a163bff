"""startup.py - what Strobe adds to the life of a short program.  SPDX-License-Identifier: MIT"""
import measure
from measure import Figure, Trial

CLAIM = "a program that lives 5 ms is recorded, at less than 1 ms more"
PEER = "the same program without Strobe, by turns"


def lives(found):
    return {**found, "added_ms": found["second_ms"] - found["first_ms"], "added_cpu_ms": found["second_cpu_ms"] - found["first_cpu_ms"]}


def plan(bench):
    times = 20 if bench.quick else 40

    def command(tree):
        return [tree.program("bench_startup"), tree.program("bench_short_plain"), tree.program("bench_short"), times]
    ours = {"idle": lambda tree: lives(measure.figures(measure.run(command(tree))[0])), "recorded": lambda tree: lives(measure.record(tree, command(tree), name="startup")[0])}
    found, rows = [], []
    for name, title in (("idle", "a program that lives 5 ms, nobody records"), ("recorded", "a program that lives 5 ms, recorded")):
        key = f"startup.{name}"
        found += [Figure(f"{key}.without", f"{title}: wall time without Strobe", "ms", f"{name} first_ms", narrow=0.1, is_context=True), Figure(f"{key}.with", f"{title}: wall time", "ms", f"{name} second_ms", narrow=0.05),
                  Figure(f"{key}.added", f"{title}: wall time added", "ms", f"{name} added_ms", narrow=0.1, plain=True, grain=0.1, bar=1),
                  Figure(f"{key}.cpu", f"{title}: CPU time added", "ms", f"{name} added_cpu_ms", narrow=0.1, plain=True, grain=0.1),
                  Figure(f"{key}.ratio", f"{title}: wall time by that without Strobe", "×", f"{name} second_ms", f"{name} first_ms", narrow=0.02)]
        rows.append([title, *(f"{{{key}.{what}}}" for what in ("without", "with", "added", "cpu", "ratio"))])
    head = ["startup", "wall time without Strobe", "with Strobe", "wall time added", "CPU time added", "wall time : without Strobe"]
    return [Trial("startup", ours, found, limit_s=120)], [{"head": head, "rows": rows}]
