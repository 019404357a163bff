"""device.py - devices: from the words that a kernel writes to the picture.  The stream of a grid that is not there is decoded, recorded and
looked at; the simulator says what zones cost the kernels.  SPDX-License-Identifier: MIT"""
import os
import sys
import time

import measure
from measure import Figure, Trial

sys.path.insert(0, str(measure.ROOT / "tests" / "viewer"))
import client  # noqa: E402

CLAIM = "a device's zones are decoded at 600 M, recorded at 20 M per CPU second in bounded memory, 100 M of them are on the screen within a second, and they slow kernels by 3 % at most"
PEER = "the bars; for decoding a plain read of the same words, for recording the recorder on nested zones of a host thread"
WIDTH = 1700
DECODED = {  # ns per zone: what, bar
    "scalar": ("streaming zones, scalar", 1000 / 300), "vectors": ("streaming zones, AVX2", 1000 / 600), "timed": ("streaming zones with a time of their own", None),
    "classic": ("classic pairs", 1000 / 250), "nested": ("classic pairs, nested", None)}
SHAPES = {"dense": ("1,000 zones a kernel", 1000), "launches": ("5 zones a kernel", 5)}


def make(tree, zones, per_kernel, name):
    """The trace of a made stream: (its path, what the recorder's side used)."""
    path = tree.work / f"device-{name}.strobe"
    found = measure.figures(measure.run([tree.program("bench_device_record"), path, zones, per_kernel])[0])
    return path, {**found, "cpu_ns": 1e9 * found["cpu_s"] / found["zones"]}


def host(tree, zones):
    """The recorder on nested zones of one thread."""
    return {"cpu_ns": 1e9 * measure.record(tree, [tree.program("bench_nested"), zones], name="device-host")[1].cpu_s / zones}


def view(tree, zones):
    """All lanes of the whole trace, as the page asks for them at its start."""
    path = tree.work / f"device-view-{zones}.strobe"
    if not tree.has(path):
        make(tree, zones, 1000, f"view-{zones}")
    start = time.monotonic()
    with client.Server(str(tree.strobe), str(path)) as server, client.Page(server) as page:
        trace = page.ask("trace")
        lanes = [[t["id"], 0, max(1, t["n_depths"])] for t in trace["tracks"] if t["kind"] == "thread"]
        page.ask("pixels", **{"from": trace["range"][0], "to": trace["range"][1], "width": WIDTH, "budget": 40000, "lanes": lanes})
        return {"whole_ms": 1000 * (time.monotonic() - start), "cpu_ms": measure.cpu_ns(server.process.pid) / 1e6, "peak_mib": server.peak_kib() / 1024}


def overhead(tree, side, pieces):
    kernels = {"STROBE_KERNEL_DIR": os.environ.get("STROBE_KERNEL_DIR", str(measure.ROOT / "kernel")), "STROBE_KERNEL_CACHE": str(tree.build / "kernels")}
    return measure.figures(measure.run([tree.program("bench_device_overhead"), side, pieces], kernels)[0])


def decode_trial(bench):
    mib, rounds = (16, 2) if bench.quick else (256, 5)
    found = [Figure(f"device.decode.{name}", f"decoding, {title}: CPU time per zone", "ns", f"decode {name}_ns", narrow=0.1, grain=0.1, bar=bar) for name, (title, bar) in DECODED.items()]
    found.append(Figure("device.decode.limit", "decoding, streaming zones, AVX2: by a plain read of the same memory", "×", "decode vectors_ns", "decode read_ns", narrow=0.2))
    return Trial("decode", {"decode": lambda tree: measure.figures(measure.run([tree.program("bench_device_decode"), mib, rounds])[0])}, found)


def record_trial(bench):
    zones = 1_000_000 if bench.quick else 20_000_000
    ours, found = {"host": lambda tree: host(tree, zones)}, []
    for name, (title, per_kernel) in SHAPES.items():
        ours[name] = lambda tree, name=name, per_kernel=per_kernel: make(tree, zones, per_kernel, name)[1]
        found += [Figure(f"device.record.{name}.cpu", f"recording, {title}: CPU time per zone", "ns", f"{name} cpu_ns", narrow=0.1, grain=2, bar=None if bench.quick else 50),
                  Figure(f"device.record.{name}.ratio", f"recording, {title}: by a host thread's nested zones", "×", f"{name} cpu_ns", "host cpu_ns", narrow=0.1),
                  Figure(f"device.record.{name}.memory", f"recording, {title}: memory beside the mapped FIFO", "MiB", f"{name} anon_mib", narrow=0.1, bar=64),
                  Figure(f"device.record.{name}.wire", f"{title}: bytes of the stream per zone", "bytes", f"{name} wire_bytes", count=True, bar=10),
                  Figure(f"device.record.{name}.file", f"{title}: bytes of the trace per zone", "bytes", f"{name} file_bytes", narrow=0.05)]
    return Trial("record", ours, found, limit_s=240)


def view_trial(bench):
    zones = 1_000_000 if bench.quick else 100_000_000
    title = f"{zones // 1_000_000} M zones on 320 RISCs"
    return Trial("view", {"view": lambda tree: view(tree, zones)}, [
        Figure("device.view.wall", f"{title}: server started and whole view answered", "ms", "view whole_ms", narrow=0.1, grain=20, bar=1000),
        Figure("device.view.cpu", f"{title}: CPU time of that", "ms", "view cpu_ms", narrow=0.1, grain=10),
        Figure("device.view.peak", f"{title}: the reader's memory, peak", "MiB", "view peak_mib", narrow=0.1, bar=64)])


def overhead_trial(bench):
    side, pieces = (2, 50) if bench.quick else (8, 1000)
    return Trial("overhead", {"sim": lambda tree: overhead(tree, side, pieces)}, [
        Figure("device.overhead", f"a zone per 2,000 cycles on all RISCs of {side * side} cores: kernels are slower by", "%", "sim overhead", count=True, bar=3),
        Figure("device.stalls", "waits of kernels meanwhile", "zones", "sim stalls", count=True, bar=0),
        Figure("device.knee", "the densest zones of which none waits: cycles from one to the next", "cycles", "sim knee_cycles", count=True),
        Figure("device.wire", "bytes of the simulator's stream per zone", "bytes", "sim wire_bytes", count=True, bar=None if bench.quick else 10)], rounds=2)


def plan(bench):
    for name in ("bench_device_record", "bench_device_overhead"):
        if not os.path.exists(bench.tree.program(name)):
            raise measure.Failed("devices are not built here")
    trials = [decode_trial(bench), record_trial(bench), view_trial(bench), overhead_trial(bench)]
    return trials, [{"head": ["devices", "", "at most"], "rows": [
        [figure.title, f"{{{figure.key}}}", "" if figure.bar is None else f"{figure.bar:.4g} {figure.unit}"] for trial in trials for figure in trial.figures]}]
