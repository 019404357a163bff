"""zone.py - claim: a zone costs little more than the two clock reads that it cannot avoid.
SPDX-License-Identifier: MIT"""
import re
import statistics
import subprocess

import measure

BURST_ZONES = 8 * 1048576 // 16  # half of the default pool, 16 bytes a zone
WAYS = (("in the program, libstrobe.a", "bench_zone_static"), ("in the program, libstrobe.so", "bench_zone_shared"),
        ("in a shared library", "bench_zone_library"), ("in a dlopen'ed plugin", "bench_zone_plugin"))
OVER = (("Tracy.hpp over Strobe, libstrobe.a", "bench_zone_tracy_cpp"), ("Tracy.hpp over Strobe, libstrobe.so", "bench_zone_tracy_cpp_shared"),
        ("TracyC.h over Strobe, libstrobe.a", "bench_zone_tracy_c"), ("TracyC.h over Strobe, libstrobe.so", "bench_zone_tracy_c_shared"),
        ("functions of our libTracyClient.so", "bench_zone_tracy_abi"))
REAL = (("Tracy C++", "cpp_always"), ("Tracy C", "c_always"))


def ratio_row(name, threads, found):
    median, best = measure.ratio_words(found)
    return [name, threads, f"{statistics.median(found['zone_ns']):.1f}", f"{statistics.median(found['limit_ns']):.1f}",
            f"{median:.3f}", f"{best:.3f}"]


def idle_row(name, found):
    return [name, f"{statistics.median(found['zone_ns']):.2f}", f"{min(found['zone_ns']):.2f}"]


def cost(bench):
    rows = []
    for threads in (1, 2):
        for name, program in WAYS if threads == 1 else WAYS[:1] + WAYS[3:]:
            bench.say(f"zone: {name}, {threads} threads")
            found, _ = measure.record(bench, [bench.program(program), "ratio", threads])
            rows.append(ratio_row(f"Strobe, {name}", threads, found))
        for name, program in OVER:
            bench.say(f"zone: {name}, {threads} threads")
            found, _ = measure.record(bench, [bench.program(program), "ratio", threads])
            rows.append(ratio_row(name, threads, found))
        peers = bench.peers
        if peers and peers.tracy:
            for name, key in REAL:
                bench.say(f"zone: {name} recorded by Strobe, {threads} threads")
                found, _ = measure.record(bench, [peers.tracy[key], "ratio", threads], env={"TRACY_NO_INVARIANT_CHECK": "1"})
                rows.append(ratio_row(f"{name}, the real client recorded by Strobe", threads, found))
        if peers and peers.tracy and peers.capture:
            for name, key in REAL:
                bench.say(f"zone: {name}, {threads} threads")
                rows.append(ratio_row(name, threads, peers.under_tracy([peers.tracy[key], "ratio", threads])[0]))
        if peers and peers.lttng:
            bench.say(f"zone: LTTng-ust, {threads} threads")
            rows.append(ratio_row("LTTng-ust", threads, peers.under_lttng([peers.lttng, "ratio", threads])))
    return measure.table(["recorded zone, CPU time", "threads", "ns, median", "limit, ns", "ratio, median of 9", "ratio, best"], rows)


def idle(bench):
    rows = []
    for name, program in WAYS:
        output, _ = measure.run([bench.program(program), "ratio", 1])
        rows.append(idle_row(f"Strobe, {name}", measure.figures(output)))
    for name, program in OVER:
        output, _ = measure.run([bench.program(program), "ratio", 1])
        rows.append(idle_row(name, measure.figures(output)))
    if bench.peers and bench.peers.tracy:
        for name, key in (("Tracy C++ (TRACY_ON_DEMAND)", "cpp_demand"), ("Tracy C (TRACY_ON_DEMAND)", "c_demand")):
            output, _ = measure.run([bench.peers.tracy[key], "ratio", 1])
            rows.append(idle_row(name, measure.figures(output)))
    if bench.peers and bench.peers.lttng:
        output, _ = measure.run([bench.peers.lttng, "ratio", 1])
        rows.append(idle_row("LTTng-ust", measure.figures(output)))
    return measure.table(["zone with nobody recording", "ns, median of 9", "ns, best"], rows)


def wall(bench):
    rows = []
    program = bench.program("bench_zone_static")
    bench.say("zone: burst")
    found, _ = measure.record(bench, [program, "burst", BURST_ZONES])
    median = statistics.median(found["zone_ns"]) / statistics.median(found["limit_ns"])
    best = min(found["zone_ns"]) / min(found["limit_ns"])  # wall time: other programs' turns are in it
    rows.append([f"burst of {BURST_ZONES:,} zones (half the pool), ratio to the limit, median by median", f"{median:.3f}", f"best by best {best:.3f}"])
    bench.say("zone: endless loop")
    found, used = measure.record(bench, [program, "endless", 5])
    rows.append(["endless loop: zones per second of wall time", f"{found['zones'] / found['wall_s'] / 1e6:.1f} M",
                 f"share of waiting {100 * (1 - found['cpu_s'] / found['wall_s']):.0f} %"])
    return measure.table(["recorded zone, wall time", "", ""], rows)


def tail(bench):
    runs = [("Strobe", lambda: measure.record(bench, [bench.program("bench_zone_static"), "tail", 2000000])[0])]
    peers = bench.peers
    if peers and peers.tracy and peers.capture:
        runs.append(("Tracy C++", lambda: peers.under_tracy([peers.tracy["cpp_always"], "tail", 2000000])[0]))
    if peers and peers.lttng:
        runs.append(("LTTng-ust", lambda: peers.under_lttng([peers.lttng, "tail", 2000000])))
    rows = []
    for name, go in runs:
        bench.say(f"zone: tail, {name}")
        found = go()
        for what in ("zone", "limit"):
            t = found[what]
            rows.append([name if what == "zone" else "— bare clock reads and stores, same run", f"{t['p50_ns']:.0f}", f"{t['p999_ns']:.0f}",
                         f"{t['worst_ns'] / 1e3:.1f} µs"])
    return measure.table(["one single zone, ns (clock reads around it included)", "p50", "p99.9", "worst"], rows)


def instructions(bench, program, recorded):
    """Instructions per zone by callgrind: the difference of two lengths."""
    counts = []
    for n in (200000, 400000):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=bench_zones", str(program), "count", str(n)]
        env = {"TRACY_NO_INVARIANT_CHECK": "1"}
        if recorded:
            command = [str(bench.strobe), "record", "-o", str(bench.work / "callgrind.strobe"), "--", *command]
            env["BENCH_WAIT"] = "1"
        process = measure.spawn(command, env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = process.communicate()[0]
        found = re.search(r"Collected\s*:\s*([\d,]+)", output)
        if not found:
            raise measure.Failed(f"callgrind on {program}:\n{output[-800:]}")
        counts.append(int(found.group(1).replace(",", "")))
    return (counts[1] - counts[0]) / 200000


def callgrind(bench):
    bench.say("zone: callgrind")
    program = bench.program("bench_zone_static")
    rows = [["Strobe", f"{instructions(bench, program, True):.1f}", f"{instructions(bench, program, False):.1f}"]]
    for name, over in OVER:
        program = bench.program(over)
        rows.append([name, f"{instructions(bench, program, True):.1f}", f"{instructions(bench, program, False):.1f}"])
    if bench.peers and bench.peers.tracy:
        for name, kind in (("Tracy C++", "cpp"), ("Tracy C", "c")):
            rows.append([name, f"{instructions(bench, bench.peers.tracy[kind + '_always'], False):.1f}",
                         f"{instructions(bench, bench.peers.tracy[kind + '_demand'], False):.1f}"])
    return measure.table(["instructions per zone and turn of the loop (callgrind)", "recording", "idle"], rows)


def report(bench):
    return [part(bench) for part in (cost, idle, wall, tail, callgrind)]
