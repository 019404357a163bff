"""zone.py - what a zone costs: recorded, with nobody recording, one by one, in wall time.  SPDX-License-Identifier: MIT"""
import measure
from measure import Figure, Trial

CLAIM = "a zone costs little more than the two clock reads that it cannot avoid"
PEER = ("the limit: two clock reads and two stores of 16 bytes into a buffer in the first-level cache, in the same process and by turns of 0.5 ms; Tracy's macros and functions "
        "over Strobe; Tracy with its capture attached, and recorded by Strobe; LTTng-ust")

HZ = 997  # of samples
BURST_ZONES = 8 * 1048576 // 16  # half of the default pool, 16 bytes a zone
WAYS = {"static": ("Strobe, in the program, libstrobe.a", "bench_zone_static"), "shared": ("Strobe, in the program, libstrobe.so", "bench_zone_shared"),
        "library": ("Strobe, in a shared library", "bench_zone_library"), "plugin": ("Strobe, in a dlopen'ed plugin", "bench_zone_plugin")}
OVER = {"hpp-static": ("Tracy.hpp over Strobe, libstrobe.a", "bench_zone_tracy_cpp"), "hpp-shared": ("Tracy.hpp over Strobe, libstrobe.so", "bench_zone_tracy_cpp_shared"),
        "c-static": ("TracyC.h over Strobe, libstrobe.a", "bench_zone_tracy_c"), "c-shared": ("TracyC.h over Strobe, libstrobe.so", "bench_zone_tracy_c_shared"),
        "abi": ("functions of our libTracyClient.so", "bench_zone_tracy_abi")}
TRACY = {"tracy-cpp": ("Tracy C++", "cpp"), "tracy-c": ("Tracy C", "c")}


def chosen(bench):
    """{name: (title, program)} of ours: all, or one of each kind."""
    every = {**WAYS, **OVER}
    return {name: every[name] for name in ("static", "hpp-shared")} if bench.quick else every


def alone(program, *words):
    return measure.figures(measure.run([program, *words])[0])


def recorded_peers(bench, threads):
    """{name: (title, function)}"""
    peers, found = bench.peers, {}
    if peers and peers.tracy:
        for name, (title, kind) in TRACY.items():
            def under_strobe(tree, program=peers.tracy[f"{kind}_always"]):
                return measure.record(tree, [program, "ratio", threads], env={"TRACY_NO_INVARIANT_CHECK": "1"})[0]

            def under_tracy(_, program=peers.tracy[f"{kind}_always"]):
                return peers.under_tracy([program, "ratio", threads])[0]
            found[f"{name}-strobe"] = (f"{title}, the real client recorded by Strobe", under_strobe)
            if peers.capture:
                found[name] = (title, under_tracy)
    if peers and peers.lttng:
        found["lttng"] = ("LTTng-ust", lambda _: peers.under_lttng([peers.lttng, "ratio", threads]))
    return found


def recorded(bench, threads):
    """(trial, rows): zones of every kind while somebody records."""
    ours = {name: (title, lambda tree, program=program: measure.record(tree, [tree.program(program), "ratio", threads])[0])
            for name, (title, program) in chosen(bench).items() if threads == 1 or name not in ("shared", "library")}
    peers, found, rows = recorded_peers(bench, threads), [], []
    for name, (title, _) in {**ours, **peers}.items():
        key = f"zone.recorded.{name}.{threads}"
        title = f"{title}, {threads} thread{'s' if threads > 1 else ''}"
        narrow = 0.01 if name in ours else 0.1
        found += [Figure(f"{key}.ns", f"{title}: CPU time", "ns", f"{name} zone_ns", narrow=0.1),
                  Figure(f"{key}.limit", f"{title}: the limit's CPU time", "ns", f"{name} limit_ns", narrow=0.1, is_context=True),
                  Figure(f"{key}.ratio", f"{title}: CPU time by the limit's", "×", f"{name} zone_ns", f"{name} limit_ns", narrow=narrow),
                  Figure(f"{key}.wall", f"{title}: wall time by the limit's", "×", f"{name} zone_wall_ns", f"{name} limit_wall_ns", narrow=0.2)]
        rows.append([title, *(f"{{{key}.{what}}}" for what in ("ns", "limit", "ratio", "wall"))])
    trial = Trial(f"recorded, {threads} threads", {n: go for n, (_, go) in ours.items()}, found, {n: go for n, (_, go) in peers.items()}, limit_s=240)
    return trial, rows


def idle(bench):
    ours = {name: (title, lambda tree, program=program: alone(tree.program(program), "ratio", 1)) for name, (title, program) in chosen(bench).items()}
    peers = {}
    if bench.peers and bench.peers.tracy:
        peers = {name: (f"{title} (TRACY_ON_DEMAND)", lambda _, program=bench.peers.tracy[f"{kind}_demand"]: alone(program, "ratio", 1)) for name, (title, kind) in TRACY.items()}
    if bench.peers and bench.peers.lttng:
        peers["lttng"] = ("LTTng-ust", lambda _: alone(bench.peers.lttng, "ratio", 1))
    every = {**ours, **peers}
    found = [Figure(f"zone.idle.{name}.ns", f"{title}, nobody records: CPU time", "ns", f"{name} zone_ns", narrow=0.05) for name, (title, _) in every.items()]
    found += [Figure(f"zone.idle.{name}.ratio", f"{title}, nobody records: CPU time by the limit's", "×", f"{name} zone_ns", f"{name} limit_ns", narrow=0.05)
              for name, (title, _) in every.items()]
    rows = [[title, f"{{zone.idle.{name}.ns}}", f"{{zone.idle.{name}.ratio}}"] for name, (title, _) in every.items()]
    return Trial("nobody records", {n: go for n, (_, go) in ours.items()}, found, {n: go for n, (_, go) in peers.items()}), rows


def wall(bench):
    """A burst that fits the pool, and zones without a pause."""
    def burst(tree):
        return measure.record(tree, [tree.program("bench_zone_static"), "burst", BURST_ZONES])[0]

    def endless(tree):
        found, _ = measure.record(tree, [tree.program("bench_zone_static"), "endless", 1 if bench.quick else 3])
        return {"wall_ns": 1e9 * found["wall_s"] / found["zones"], "waiting": 100 * (1 - found["cpu_s"] / found["wall_s"])}
    found = [Figure("zone.burst.wall", f"burst of {BURST_ZONES:,} zones (half the pool): wall time by the limit's", "×", "burst zone_wall_ns", "burst limit_wall_ns", narrow=0.05),
             Figure("zone.burst.cpu", f"burst of {BURST_ZONES:,} zones (half the pool): CPU time by the limit's", "×", "burst zone_ns", "burst limit_ns", narrow=0.03),
             Figure("zone.endless.wall", "zones without a pause: wall time of a zone", "ns", "endless wall_ns", narrow=0.1),
             Figure("zone.endless.waiting", "zones without a pause: share of waiting", "%", "endless waiting", narrow=0.2, plain=True, grain=5)]
    rows = [[figure.title, f"{{{figure.key}}}"] for figure in found]
    return Trial("wall time", {"burst": burst, "endless": endless}, found), rows


def sampled(bench):
    """Zones while samples are taken, too: what is measured without them, and the interrupts' share of all that runs."""
    def ratio(tree, hz):
        return measure.record(tree, [tree.program("bench_zone_static"), "ratio", 1], env={"STROBE_SAMPLE": str(hz)})[0]
    found = [Figure("zone.sampled.without", "no samples: CPU time by the limit's", "×", "plain zone_ns", "plain limit_ns", narrow=0.01),
             Figure("zone.sampled.interrupts", f"the limit with samples at {HZ} Hz, by the limit without: the interrupts' share", "×", "sampled limit_ns", "plain limit_ns", narrow=0.01, is_context=True),
             Figure("zone.sampled.with", f"samples at {HZ} Hz: CPU time by the limit's without samples", "×", "sampled zone_ns", "plain limit_ns", narrow=0.01),
             Figure("zone.sampled.within", "— by the limit's with samples: the interrupts' share taken out again", "×", "sampled zone_ns", "sampled limit_ns", narrow=0.01)]
    rows = [[figure.title, f"{{{figure.key}}}"] for figure in found]
    return Trial("with samples", {"plain": lambda tree: ratio(tree, 0), "sampled": lambda tree: ratio(tree, HZ)}, found, limit_s=240), rows


def tail(bench):
    n = 200_000 if bench.quick else 2_000_000

    def flat(found):
        return {f"{what}_{name}": value for what in ("zone", "limit") for name, value in found[what].items()}
    ours = {"strobe": lambda tree: flat(measure.record(tree, [tree.program("bench_zone_static"), "tail", n])[0])}
    peers, titles = {}, {"strobe": "Strobe"}
    if bench.peers and bench.peers.tracy and bench.peers.capture:
        peers["tracy-cpp"] = lambda _: flat(bench.peers.under_tracy([bench.peers.tracy["cpp_always"], "tail", n])[0])
        titles["tracy-cpp"] = "Tracy C++"
    found, rows = [], []
    for name, title in titles.items():
        for what, words in (("zone", title), ("limit", f"— the limit, in {title}'s runs")):
            for measured, more in (("p50_ns", {"narrow": 0.1}), ("p999_ns", {"narrow": 0.2}), ("worst_ns", {"narrow": 1})):
                found.append(Figure(f"zone.tail.{name}.{what}.{measured}", f"one single zone, {words}: {measured[:-3]}", "ns", f"{name} {what}_{measured}", is_context=what == "limit", **more))
            rows.append([words, *(f"{{zone.tail.{name}.{what}.{m}}}" for m in ("p50_ns", "p999_ns", "worst_ns"))])
    return Trial("tail", ours, found, peers, limit_s=60), rows


def plan(bench):
    """(trials, tables)"""
    one, one_rows = recorded(bench, 1)
    two, two_rows = recorded(bench, 2)
    idles, idle_rows = idle(bench)
    walls, wall_rows = wall(bench)
    tails, tail_rows = tail(bench)
    samples, sample_rows = sampled(bench)
    trials = [one, idles, walls, samples, tails] if bench.quick else [one, two, idles, walls, samples, tails]
    tables = [{"head": ["recorded zone", "CPU time", "limit, CPU time", "CPU time : limit", "wall time : limit"], "rows": one_rows + ([] if bench.quick else two_rows)},
              {"head": ["zone with nobody recording", "CPU time", "CPU time : limit"], "rows": idle_rows},
              {"head": ["recorded zone, wall time", ""], "rows": wall_rows},
              {"head": ["recorded zone, with samples", ""], "rows": sample_rows},
              {"head": ["one single zone (clock reads around it included)", "p50", "p99.9", "worst"], "rows": tail_rows}]
    return trials, tables
