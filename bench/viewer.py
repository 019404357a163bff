"""viewer.py - claim: the viewer's server answers at once, whatever the size of the trace.  A realistic trace (16 threads, 1,000
locations, 7 deep) is looked at from all of it to one zone in 20 steps.  SPDX-License-Identifier: MIT"""
import glob
import statistics
import sys
import time

import measure

sys.path.insert(0, str(measure.ROOT / "tests" / "viewer"))
import client  # noqa: E402

STEPS, WIDTH = 20, 1900


def cpu_ms(pid):
    """CPU time of all threads so far."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
        except OSError:
            pass
    return total / 1e6


def zoom(server, page):
    """(wall, CPU) in ms of each step from the whole trace to one zone."""
    trace = page.ask("trace")
    lanes = [[t["id"], 0, max(1, t["n_depths"])] for t in trace["tracks"] if t["kind"] == "thread"]
    low, high = trace["range"]
    steps = []
    for _ in range(STEPS):
        cpu, start = cpu_ms(server.process.pid), time.monotonic()
        page.ask("pixels", **{"from": low, "to": high}, width=WIDTH, budget=5000, lanes=lanes)
        steps.append(((time.monotonic() - start) * 1000, cpu_ms(server.process.pid) - cpu))
        middle, span = low * 0.6 + high * 0.4, (high - low) / 2.9
        low, high = middle - span / 2, middle + span / 2
    return steps


def report(bench):
    rows = []
    for zones in [20_000_000] + ([500_000_000] if bench.large else []):
        path = bench.work / f"viewer-{zones // 1000000}M.strobe"
        if not path.exists():
            bench.say(f"viewer: making the trace of {zones:,} zones")
            measure.run([bench.program("make_trace"), path, zones, 16, 1000, 7])
        start = time.monotonic()
        with client.Server(str(bench.strobe), str(path)) as server, client.Page(server) as page:
            ready = (time.monotonic() - start) * 1000
            zoom(server, page)  # warm
            steps = zoom(server, page)
            rows.append([f"{zones / 1e6:.0f} M", f"{ready:.0f} ms", f"{steps[0][0]:.0f} / {steps[0][1]:.0f} ms",
                         f"{statistics.median(s[0] for s in steps):.0f} / {statistics.median(s[1] for s in steps):.0f} ms",
                         f"{max(s[0] for s in steps):.0f} / {max(s[1] for s in steps):.0f} ms", f"{server.peak_kib() / 1024:.0f} MiB"])
    return [measure.table(["zones", "server ready", "whole trace, wall / CPU", "zooming in 20 steps, median", "largest", "server's memory, peak"], rows)]
