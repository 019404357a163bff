"""live.py - claim: a page that follows a recording of 5 M zones a second shows what is not half a second old, grows no more than its
server does, and costs the recorded program nothing.  SPDX-License-Identifier: MIT"""
import pathlib
import re
import statistics
import subprocess

import measure

RATE, SECONDS, SETTLED_S = 5_000_000, 72, 10
MARGIN_S = 12  # the page comes a little after the recording's begin and leaves before its end


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


def follow(bench, rate, seconds):
    """(what the program found, what the page found, `strobe info`) of one recording that a page follows."""
    modules = bench.build / "viewer" / "npm"
    measure.run([measure.ROOT / "tests" / "viewer" / "setup.sh", modules])
    path = bench.work / f"live-{rate}.strobe"
    path.unlink(missing_ok=True)
    with open(bench.work / "live.out", "w+", encoding="utf-8") as output:
        recorder = measure.spawn([bench.strobe, "record", "--live", "-o", path, "--", bench.program("bench_zone_static"), "paced", rate, seconds],
                                 {"BENCH_WAIT": "1", "DISPLAY": ""}, stdout=subprocess.PIPE, stderr=output)
        link = recorder.stdout.readline().strip()
        page = measure.spawn(["node", measure.ROOT / "bench" / "live" / "page.mjs", modules / "node_modules", link, viewer_of(recorder.pid), seconds - MARGIN_S],
                             stdout=subprocess.PIPE)
        seen = measure.figures(page.communicate(timeout=2 * seconds + 60)[0])  # it leaves before the recording ends
        rest = recorder.stdout.read()
        recorder.wait()
    info, _ = measure.run([bench.strobe, "info", path])
    path.unlink()
    return measure.figures(rest), seen, info


def growth(memory, what):
    """MiB at SETTLED_S and at the end, and how much more per minute, by the line through all points between."""
    points = [(m["s"], m[what]) for m in memory if m["s"] >= SETTLED_S]
    if len(points) < 3:
        return "–"
    slope = statistics.linear_regression(*zip(*points)).slope * 60
    return f"{points[0][1]:.1f} → {points[-1][1]:.1f} MiB ({slope:+.2f} a minute)"


def report(bench):
    bench.say("live: the same zones without a page")
    alone, _ = measure.record(bench, [bench.program("bench_zone_static"), "paced", RATE, 15])
    bench.say(f"live: {RATE:,} zones a second, {SECONDS} s")
    fast, seen, info = follow(bench, RATE, SECONDS)
    bench.say("live: ten zones a second")
    _, slow, _ = follow(bench, 10, 32)
    ratio, plain = (f["zone_ns"][0] / f["limit_ns"][0] for f in (fast, alone))
    lost = re.search(r"coverage: .*", info).group(0)
    rows = [[f"{RATE / 1e6:.0f} M zones/s, {fast['wall_s']:.0f} s: age of the newest drawn event, p50 / p95 / largest",
             f"{seen['age_p50_ms']:.0f} / {seen['age_p95_ms']:.0f} / {seen['age_max_ms']:.0f} ms", "p95 ≤ 500 ms"],
            ["page's heap", growth(seen["memory"], "page"), "no growth after 10 s"],
            ["server's own memory", growth(seen["memory"], "server"), "no growth after 10 s"],
            ["a zone against the limit, CPU time, with the page / recorded without one", f"{ratio:.3f} / {plain:.3f}", "within 5 %"],
            ["lost", lost, "none"],
            [f"10 zones/s: from its end to its being drawn, p50 / largest of {slow['n_drawn']}",
             f"{slow['delay_p50_ms'] or 0:.0f} / {slow['delay_max_ms'] or 0:.0f} ms", "each ≤ 500 ms"]]
    return [measure.table(["a page that follows a recording", "", "bar"], rows)]
