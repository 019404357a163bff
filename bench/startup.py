"""startup.py - claim: a program that lives 5 ms is recorded, at less than 1 ms more.  SPDX-License-Identifier: MIT"""
import measure

TIMES = 200


def report(bench):
    bench.say("startup")
    command = [bench.program("bench_startup"), bench.program("bench_short_plain"), bench.program("bench_short"), TIMES]
    found = {"nobody records": measure.figures(measure.run(command)[0]), "recorded": measure.record(bench, command, name="startup")[0]}
    rows = [[f"a program that lives 5 ms, {TIMES} times, {how}", f"{f['first_ms']:.2f} ms", f"{f['second_ms']:.2f} ms",
             f"{f['second_ms'] - f['first_ms']:+.2f} ms", f"{f['second_best_ms'] - f['first_best_ms']:+.2f} ms", f"{f['second_ms'] / f['first_ms']:.3f}"] for how, f in found.items()]
    return [measure.table(["startup, median wall time", "without Strobe", "with Strobe", "added", "added, best by best", "ratio"], rows)]
