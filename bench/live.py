"""live.py - a page that follows a recording, in Chromium.  SPDX-License-Identifier: MIT"""
import json
import pathlib
import statistics
import subprocess

import measure
from measure import Figure, Trial

CLAIM = "a page that follows 5 M zones a second shows what is not half a second old, does not grow, and costs the recorded program nothing"
PEER = "the bars; the same recording without a page"
SETTLED_S, MOST_S = 10, 300


def children_of(pid):
    """Processes below a process, themselves too."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            found += [int(child), *children_of(int(child))]
    return found


def viewer_of(pid):
    """The `strobe view` below a recorder."""
    for child in children_of(pid):
        if b"--recorder" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
            return child
    raise measure.Failed("the recorder has no viewer")


def follow(tree, rate, seconds):
    """(what the program found, what the page found, events lost) of one recording that a page follows; it ends when the page has left."""
    modules = tree.build / "viewer" / "npm"
    measure.run([measure.ROOT / "tests" / "viewer" / "setup.sh", modules])
    path, left = tree.work / f"live-{rate}.strobe", tree.work / "live.left"
    path.unlink(missing_ok=True)
    left.unlink(missing_ok=True)
    with open(tree.work / "live.out", "w+", encoding="utf-8") as output:
        recorder = measure.spawn([tree.strobe, "record", "--live", "-o", path, "--", tree.program("bench_zone_static"), "paced", rate, MOST_S],
                                 {"BENCH_WAIT": "1", "BENCH_UNTIL": str(left), "DISPLAY": ""}, stdout=subprocess.PIPE, stderr=output)
        try:
            link = recorder.stdout.readline().strip()
            seen = measure.figures(measure.run(["node", measure.ROOT / "bench" / "live" / "page.mjs", modules / "node_modules", link, viewer_of(recorder.pid), seconds])[0])
        finally:
            left.touch()
            rest = recorder.stdout.read()
            recorder.wait()
    info = json.loads(measure.run([tree.strobe, "info", "--json", path])[0])
    path.unlink()
    return measure.figures(rest), seen, info["dropped"]


def growth(memory, what):
    """MiB more per minute after SETTLED_S, by the line through all points; None: too few."""
    points = [(m["s"], m[what]) for m in memory if m["s"] >= SETTLED_S]
    return statistics.linear_regression(*zip(*points)).slope * 60 if len(points) > 2 else None


def fast(tree, rate, seconds):
    found, seen, lost = follow(tree, rate, seconds)
    return {"zone_ns": found["zone_ns"], "limit_ns": found["limit_ns"], "per_limit": found["zone_ns"] / found["limit_ns"], "lost": lost, "age_p50_ms": seen["age_p50_ms"],
            "age_p95_ms": seen["age_p95_ms"], "age_max_ms": seen["age_max_ms"], "page_grown": growth(seen["memory"], "page"), "server_grown": growth(seen["memory"], "server")}


def slow(tree, seconds):
    seen = follow(tree, 10, seconds)[1]
    return {"delay_p50_ms": seen["delay_p50_ms"], "delay_max_ms": seen["delay_max_ms"]}


def alone(tree, rate, seconds):
    found, _ = measure.record(tree, [tree.program("bench_zone_static"), "paced", rate, seconds])
    return {**found, "per_limit": found["zone_ns"] / found["limit_ns"]}


def plan(bench):
    rate, seconds = (100_000, 3) if bench.quick else (5_000_000, 30)
    ours = {"fast": lambda tree: fast(tree, rate, seconds)}
    if not bench.quick:
        ours.update(alone=lambda tree: alone(tree, rate, 10), slow=lambda tree: slow(tree, 20))
    rate_words = f"{rate / 1e6:g} M zones/s"
    found = [Figure("live.age.p50", f"{rate_words}: age of the newest drawn event, p50", "ms", "fast age_p50_ms", narrow=0.1), Figure("live.age.p95", f"{rate_words}: age of the newest drawn event, p95", "ms", "fast age_p95_ms", narrow=0.1, bar=500),
             Figure("live.age.max", f"{rate_words}: age of the newest drawn event, largest", "ms", "fast age_max_ms", narrow=0.3),
             Figure("live.page", "page's heap grows per minute by", "MiB", "fast page_grown", plain=True, grain=2, bar=1), Figure("live.server", "server's own memory grows per minute by", "MiB", "fast server_grown", plain=True, grain=2, bar=1),
             Figure("live.zone.with", f"{rate_words}: CPU time of a zone by the limit's, with the page", "×", "fast zone_ns", "fast limit_ns"), Figure("live.zone.without", f"{rate_words}: CPU time of a zone by the limit's, recorded without a page", "×", "alone zone_ns", "alone limit_ns"),
             Figure("live.zone.ratio", f"{rate_words}: a zone with the page, by one without", "×", "fast per_limit", "alone per_limit", bar=1.05), Figure("live.lost", f"{rate_words}: events lost", "events", "fast lost", count=True, bar=0),
             Figure("live.delay.p50", "10 zones/s: from a zone's end to its being drawn, p50", "ms", "slow delay_p50_ms", narrow=0.1), Figure("live.delay.max", "10 zones/s: from a zone's end to its being drawn, largest", "ms", "slow delay_max_ms", narrow=0.3, bar=500)]
    rows = [[figure.title, f"{{{figure.key}}}", "" if figure.bar is None else f"{figure.bar:g} {figure.unit}"] for figure in found]
    return [Trial("followed", ours, found, is_warmed=False, limit_s=480)], [{"head": ["a page that follows a recording", "", "at most"], "rows": rows}]
