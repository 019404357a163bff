"""tracy.py - Tracy's real clients recorded by Strobe.  SPDX-License-Identifier: MIT"""
import json

import measure
from measure import Figure, Trial
from recorder import HEAD, contest, used_by

CLAIM = "Tracy's real clients are recorded at 50 ns of CPU time per zone and less, in bounded memory, and no zone is lost"
PEER = "Tracy's own capture on the same client"


def kept(tree, program, zones):
    """What the recorder used, and how many of the zones are not in the trace."""
    _, used = measure.record(tree, [program, "count", zones], name="tracy")
    info = json.loads(measure.run([tree.strobe, "info", "--json", used.path])[0])
    return {**used_by(used, zones), "lost": zones - info["kinds"].get("zone_end", 0)}


def plan(bench):
    peers, zones = bench.peers, 2_000_000 if bench.quick else 50_000_000
    if not peers or not peers.newest:
        raise measure.Failed("no Tracy client to be had")
    ours, titles = {"newest": lambda tree: kept(tree, peers.newest, zones)}, {"newest": "Strobe, client of Tracy 0.14"}
    if not bench.quick and peers.tracy:
        ours["old"], titles["old"] = lambda tree: kept(tree, peers.tracy["cpp_always"], zones), "Strobe, client of Tracy 0.11"
    theirs = {}
    if "old" in ours and peers.capture and not bench.old:
        theirs["capture"] = lambda _: used_by(peers.under_tracy([peers.tracy["cpp_always"], "count", zones])[1], zones)
        titles["capture"] = "Tracy's own capture, client of Tracy 0.11"
    found, rows = [], []
    for name, title in titles.items():
        figures, row = contest(f"tracy.{name}", title, name, "capture" if name in ours else "")
        found += figures
        if name in ours:
            found.append(Figure(f"tracy.{name}.lost", f"{title}: zones lost", "zones", f"{name} lost", count=True, bar=0))
        rows.append([*row, f"{{tracy.{name}.lost}}"])
    head = [f"{zones / 1e6:.0f} M zones of a Tracy client, recorded by", *HEAD, "lost"]
    return [Trial("Tracy's clients", ours, found, theirs, limit_s=300)], [{"head": head, "rows": rows}]
