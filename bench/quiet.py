"""quiet.py - what it costs while nothing happens.  SPDX-License-Identifier: MIT"""
import time

import measure
from measure import Figure, Trial

CLAIM = "64 quiet processes cost the recorder 1 % of a core at most; a program that nobody records does not grow"
PEER = "the bar; Tracy's client for the growth"


def share(tree, processes, start_s, seconds):
    """The recorder's CPU time in % of a core."""
    path = tree.work / "quiet.strobe"
    path.unlink(missing_ok=True)
    process = measure.spawn([tree.strobe, "record", "-q", "-o", path, "--", tree.program("bench_quiet"), processes, start_s + seconds + 1])
    time.sleep(start_s)  # starting 64 processes is not being quiet
    before, start = measure.cpu_ns(process.pid), time.monotonic()
    time.sleep(seconds)
    found = {"share": 100 * (measure.cpu_ns(process.pid) - before) / 1e9 / (time.monotonic() - start)}
    measure.finish(process)
    return found


def grown(program, zones, env=None):
    return {"grown_kib": measure.figures(measure.run([program, "count", zones], env)[0])["grown_kib"]}


def plan(bench):
    processes, start_s, seconds, zones = (16, 1, 1, 1_000_000) if bench.quick else (64, 2, 5, 10_000_000)
    trials = [Trial("quiet", {"quiet": lambda tree: share(tree, processes, start_s, seconds)},
                    [Figure("quiet.share", f"{processes} quiet processes: recorder's share of a core", "%", "quiet share", narrow=0.1, bar=1)])]
    peers = {}
    found = [Figure("quiet.grown.strobe", f"{zones / 1e6:.0f} M zones with nobody recording: Strobe's program grows by", "KiB", "strobe grown_kib", count=True, bar=0)]
    if bench.peers and bench.peers.tracy:
        peers["tracy"] = lambda _: grown(bench.peers.tracy["cpp_always"], zones, {"TRACY_ONLY_LOCALHOST": "1"})
        found.append(Figure("quiet.grown.tracy", f"{zones / 1e6:.0f} M zones with nobody recording: Tracy's program grows by", "KiB", "tracy grown_kib", count=True))
    trials.append(Trial("growth", {"strobe": lambda tree: grown(tree.program("bench_zone_static"), zones)}, found, peers, rounds=3))
    rows = [[figure.title, f"{{{figure.key}}}", "" if figure.bar is None else f"{figure.bar:g} {figure.unit}"] for trial in trials for figure in trial.figures]
    return trials, [{"head": ["at rest", "", "at most"], "rows": rows}]
