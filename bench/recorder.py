"""recorder.py - the recorder's memory, its CPU time, and the size of the file.  SPDX-License-Identifier: MIT"""
import measure
from measure import Figure, Trial

CLAIM = "the recorder's memory is bounded, it takes 25 ns of CPU time per zone, and a zone takes few bytes on disk"
PEER = "Tracy's capture on the same zones (its saving included); for the bytes the entropy of what was generated"

HEAD = ["its memory, peak", "its CPU time per zone", "CPU time : Tracy's capture", "wall time per zone", "bytes per zone"]


def used_by(used, zones):
    return {"peak_mib": used.peak_kib / 1024, "cpu_ns": 1e9 * used.cpu_s / zones, "wall_ns": 1e9 * used.wall_s / zones, "bytes": used.bytes / zones}


def contest(key, title, of, of_tracy=""):
    """The figures of a contestant, and its row."""
    found = [Figure(f"{key}.peak", f"{title}: memory, peak", "MiB", f"{of} peak_mib", narrow=0.1), Figure(f"{key}.cpu", f"{title}: CPU time per zone", "ns", f"{of} cpu_ns", narrow=0.05),
             Figure(f"{key}.wall", f"{title}: wall time per zone", "ns", f"{of} wall_ns", narrow=0.2), Figure(f"{key}.bytes", f"{title}: bytes per zone", "bytes", f"{of} bytes", narrow=0.02)]
    if of_tracy:
        found.append(Figure(f"{key}.ratio", f"{title}: CPU time by that of Tracy's capture", "×", f"{of} cpu_ns", f"{of_tracy} cpu_ns", narrow=0.05))
    return found, [title, *(f"{{{key}.{what}}}" for what in ("peak", "cpu", "ratio", "wall", "bytes"))]


def entropy(tree, zones):
    return measure.figures(measure.run([tree.program("bench_nested_entropy"), zones])[0])


def plan(bench):
    empty, nested = (2_000_000, 200_000) if bench.quick else (50_000_000, 4_000_000)

    def strobe(program, zones, name):
        return lambda tree: used_by(measure.record(tree, [tree.program(program[0]), *program[1:], zones], name=name)[1], zones)
    ours = {"empty": strobe(["bench_zone_static", "count"], empty, "recorder-empty"), "nested": strobe(["bench_nested"], nested, "recorder-nested")}
    titles = {"empty": f"Strobe, {empty / 1e6:.0f} M empty zones", "nested": f"Strobe, {nested / 1e6:.1f} M nested zones"}
    peers = {}
    if bench.peers and bench.peers.tracy and bench.peers.capture:
        tracy = bench.peers.tracy
        peers = {"tracy-empty": lambda _: used_by(bench.peers.under_tracy([tracy["cpp_always"], "count", empty])[1], empty),
                 "tracy-nested": lambda _: used_by(bench.peers.under_tracy([tracy["nested"], nested])[1], nested)}
        titles.update({"tracy-empty": f"Tracy, {empty / 1e6:.0f} M empty zones", "tracy-nested": f"Tracy, {nested / 1e6:.1f} M nested zones"})
    parts = [contest(f"recorder.{name}", title, name, f"tracy-{name}" if peers and name in ours else "") for name, title in titles.items()]
    trials = [Trial("recorder", ours, [one for found, _ in parts for one in found], peers, limit_s=300),
              Trial("entropy", {"limit": lambda tree: entropy(tree, nested)}, [Figure("recorder.entropy", "entropy of the nested zones, order 0", "bytes", "limit bytes_per_zone", narrow=0.05, is_context=True)])]
    rows = [row for _, row in parts]
    if bench.large:
        figures, row = contest("recorder.large", "Strobe, 500 M empty zones", "large")
        trials.append(Trial("recorder, large", {"large": strobe(["bench_zone_static", "count"], 500_000_000, "recorder-large")}, figures, limit_s=240))
        rows.append(row)
    rows.append(["limit: entropy of the nested zones, order 0", "", "", "", "", "{recorder.entropy}"])
    return trials, [{"head": ["recorder", *HEAD], "rows": rows}]
