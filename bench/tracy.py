"""tracy.py - claims: real Tracy clients are taken in at 20 M zones per second of the recorder's CPU time and more, in
bounded memory, and none is lost.  SPDX-License-Identifier: MIT"""
import json
import subprocess

import measure

ZONES = 50_000_000


def stored(bench, path):
    """Zones that ended, and losses, as the trace says."""
    done = subprocess.run([str(bench.strobe), "info", "--json", str(path)], capture_output=True, text=True, check=True)
    info = json.loads(done.stdout)
    return info["kinds"].get("zone_end", 0), info["dropped"]


def row(name, used, kept):
    return [name, f"{ZONES / 1e6:.0f} M", f"{used.peak_kib / 1024:.0f} MiB", f"{used.cpu_s:.2f} s", f"{ZONES / used.cpu_s / 1e6:.1f} M",
            f"{used.wall_s:.1f} s", f"{used.bytes / ZONES:.3f}", kept]


def record(bench, name, program):
    bench.say(f"tracy: {name}")
    _, used = measure.record(bench, [program, "count", ZONES], name="tracy-50M")
    n, lost = stored(bench, used.path)
    return row(name, used, "all" if n == ZONES and not lost else f"{n:,}, {lost:,} dropped")


def report(bench):
    peers = bench.peers
    if not peers or not peers.newest or not peers.tracy:
        raise measure.Failed("no Tracy client to be had")
    rows = [record(bench, "Strobe, client of Tracy 0.14", peers.newest),
            record(bench, "Strobe, client of Tracy 0.11", peers.tracy["cpp_always"])]
    if peers.capture:
        bench.say("tracy: Tracy's own capture")
        _, used = peers.under_tracy([peers.tracy["cpp_always"], "count", ZONES])
        rows.append(row("Tracy's own capture, client of Tracy 0.11", used, "not asked"))
    return [measure.table(["a Tracy client recorded by", "zones", "its memory, peak", "its CPU time", "zones per CPU second",
                           "wall time", "bytes per zone", "kept"], rows)]
