"""memory.py - what it costs a program that its memory and its locks are recorded.  SPDX-License-Identifier: MIT"""
import os
import re
import shutil

import measure
from measure import Figure, Trial

CLAIM = "malloc and free cost 6 ns more sampled and 70 ns more with every stack, a mutex 3 ns more; leaks and peaks are heaptrack's"
PEER = "the same program without Strobe; heaptrack, where it is installed"


def alone(tree, what, n):
    return measure.figures(measure.run([tree.program("bench_blocks"), what, n])[0])


def recorded(tree, option, what, n):
    path = tree.work / "memory.strobe"
    path.unlink(missing_ok=True)
    found = measure.figures(measure.run([tree.strobe, "record", "-q", "--no-sample", option, "-o", path, "--", tree.program("bench_blocks"), what, n])[0])
    return {**found, "bytes": path.stat().st_size / (2 * n)}


def leaked(tree, n):
    """Bytes that were never freed, as strobe memory has them."""
    recorded(tree, "--memory=all", "leak", n)
    out = measure.run([tree.strobe, "memory", "--by", "function", "--csv", tree.work / "memory.strobe"])[0]
    return {"leaked": sum(int(line.split(",")[8]) for line in out.splitlines() if line.startswith("leak,"))}


def heaptrack(tree, what, n):
    path = tree.work / "heaptrack"
    out = measure.run(["heaptrack", "-o", path, tree.program("bench_blocks"), what, n])[0]
    found = measure.figures(out)
    for name in (f"{path}.zst", f"{path}.gz"):
        if what == "leak" and os.path.exists(name):
            said = measure.run(["heaptrack_print", name])[0]
            number, unit = re.search(r"total memory leaked: ([\d.]+)([KMG]?)", said).groups()
            found["leaked"] = float(number) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit]
    return found


def plan(bench):
    n = 20_000 if bench.quick else 1_000_000
    ours = {"bare": lambda tree: alone(tree, "pairs", n), "sampled": lambda tree: recorded(tree, "--memory", "pairs", n),
            "all": lambda tree: recorded(tree, "--memory=all", "pairs", n)}
    found = [Figure("memory.bare", "malloc and free", "ns", "bare ns", is_context=True), Figure("memory.sampled", "— sampled", "ns", "sampled ns"),
             Figure("memory.all", "— every block, 23 frames", "ns", "all ns"), Figure("memory.bytes", "— bytes on disk per event", "B", "all bytes", count=True, bar=2)]
    peers = {}
    if bench.peers and shutil.which("heaptrack"):
        peers["heaptrack"] = lambda tree: heaptrack(bench.tree, "pairs", n)
        found.append(Figure("memory.heaptrack", "— under heaptrack", "ns", "heaptrack ns"))
    trials = [Trial("blocks", ours, found, peers)]
    trials.append(Trial("locks", {"bare": lambda tree: alone(tree, "locks", 5 * n), "waits": lambda tree: recorded(tree, "--locks", "locks", 5 * n)},
                        [Figure("memory.mutex", "lock and unlock", "ns", "bare ns", is_context=True), Figure("memory.waits", "— waits recorded", "ns", "waits ns")]))
    leaks = {"strobe": lambda tree: leaked(tree, 10_000)}
    found = [Figure("memory.leak", "10,000 blocks of 1,000 bytes are lost: Strobe says", "bytes", "strobe leaked", count=True)]
    peers = {}
    if bench.peers and shutil.which("heaptrack"):
        peers["heaptrack"] = lambda tree: heaptrack(bench.tree, "leak", 10_000)
        found.append(Figure("memory.leak.heaptrack", "— heaptrack says", "bytes", "heaptrack leaked", count=True))
    trials.append(Trial("leak", leaks, found, peers, rounds=2))
    rows = [[figure.title, f"{{{figure.key}}}"] for trial in trials for figure in trial.figures]
    return trials, [{"head": ["memory and locks, CPU time", ""], "rows": rows}]
