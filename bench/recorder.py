"""recorder.py - claims: the recorder's memory is bounded, it takes in 40 M zones per second of its CPU time, and a
zone takes few bytes on disk.  SPDX-License-Identifier: MIT"""
import measure


def row(name, zones, used, note=""):
    return [name, f"{zones / 1e6:.0f} M", f"{used.peak_kib / 1024:.0f} MiB", f"{used.cpu_s / zones * 1e9:.1f} ns",
            f"{zones / used.cpu_s / 1e6:.1f} M", f"{used.bytes / zones:.3f}", note]


def report(bench):
    rows, peers = [], bench.peers
    for zones in [50_000_000] + ([500_000_000] if bench.large else []):
        bench.say(f"recorder: {zones:,} empty zones")
        _, used = measure.record(bench, [bench.program("bench_zone_static"), "count", zones], name=f"empty-{zones // 1000000}M")
        rows.append(row("Strobe, empty zones", zones, used))
    if peers and peers.tracy and peers.capture:
        bench.say("recorder: empty zones into Tracy's capture")
        rows.append(row("Tracy, empty zones", 50_000_000, peers.under_tracy([peers.tracy["cpp_always"], "count", 50_000_000])[1], "saving included"))
    output, _ = measure.run([bench.program("bench_nested_entropy"), 4_000_000])
    limit = measure.figures(output)
    note = f"entropy {limit['bytes_per_zone']:.2f} bytes"
    bench.say("recorder: nested zones")
    _, used = measure.record(bench, [bench.program("bench_nested"), 4_000_000], name="nested-4M")
    rows.append(row("Strobe, nested zones", 4_000_000, used, note))
    _, used = measure.record(bench, [bench.program("bench_nested"), 40_000_000], name="nested-40M")
    rows.append(row("Strobe, nested zones", 40_000_000, used, note))
    if peers and peers.tracy and peers.capture:
        bench.say("recorder: nested zones into Tracy's capture")
        rows.append(row("Tracy, nested zones", 4_000_000, peers.under_tracy([peers.tracy["nested"], 4_000_000])[1], note))
    return [measure.table(["recorder", "zones", "its memory, peak", "its CPU time per zone", "zones per CPU second", "bytes per zone", ""], rows),
            f"Entropy of the nested zones, order 0: {limit['symbol_bits']:.2f} bits per symbol, {limit['difference_bits']:.2f} bits per "
            f"difference of ticks, two of each per zone: {limit['bytes_per_zone']:.2f} bytes."]
