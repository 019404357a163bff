"""program.py - what zones cost a whole program: a ray tracer with 0.9 M zones a second.  SPDX-License-Identifier: MIT"""
import measure
from measure import Figure, Trial

CLAIM = "a program is slowed down by little more than bare clock reads and stores in the same places would"
PEER = "the same ray tracer without zones and with the limit, frame by frame in one process; Tracy with its capture attached"


def shares(found):
    """Added by the tracer and by the limit, in % of the bare frame; zones per µs."""
    bare = found["bare_ns"]
    return {"added": 100 * found["traced_added_ns"] / bare, "limit": 100 * found["limit_added_ns"] / bare, "traced_ns": bare + found["traced_added_ns"],
            "limit_ns": bare + found["limit_added_ns"], "between_us": bare / found["zones"] / 1000}


def plan(bench):
    frames = 60 if bench.quick else 400
    ours = {"strobe": lambda tree: shares(measure.record(tree, [tree.program("bench_program"), frames])[0])}
    titles, peers = {"strobe": "Strobe"}, {}
    if bench.peers and bench.peers.tracy and bench.peers.capture:
        titles["tracy"] = "Tracy C++"
        peers["tracy"] = lambda _: shares(bench.peers.under_tracy([bench.peers.tracy["program"], frames])[0])
    found, rows = [], []
    for name, title in titles.items():
        key = f"program.{name}"
        found += [Figure(f"{key}.between", f"{title}: CPU time from one zone to the next", "µs", f"{name} between_us", narrow=0.1, is_context=True),
                  Figure(f"{key}.added", f"{title}: added by recording", "%", f"{name} added", narrow=0.1, plain=True, grain=0.3),
                  Figure(f"{key}.limit", f"{title}: added by the limit", "%", f"{name} limit", narrow=0.1, plain=True, grain=0.3, is_context=True),
                  Figure(f"{key}.ratio", f"{title}: CPU time of a frame by that with the limit", "×", f"{name} traced_ns", f"{name} limit_ns", narrow=0.002)]
        rows.append([title, *(f"{{{key}.{what}}}" for what in ("between", "added", "limit", "ratio"))])
    head = ["ray tracer, CPU time of its thread", "from zone to zone", "added by recording", "added by the limit", "frame : frame with the limit"]
    return [Trial("ray tracer", ours, found, peers, limit_s=180)], [{"head": head, "rows": rows}]
