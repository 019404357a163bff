"""quiet.py - claims: 64 quiet processes cost the recorder less than 1 % of a core; a program that nobody records does
not grow.  SPDX-License-Identifier: MIT"""
import time

import measure


def quiet(bench):
    bench.say("quiet: 64 processes")
    path = bench.work / "quiet.strobe"
    path.unlink(missing_ok=True)
    process = measure.spawn([bench.strobe, "record", "-o", path, "--", bench.program("bench_quiet"), 64, 14])
    time.sleep(2)  # starting 64 processes is not being quiet
    before, start = measure.cpu_seconds(process.pid), time.monotonic()
    time.sleep(10)
    share = (measure.cpu_seconds(process.pid) - before) / (time.monotonic() - start)
    process.wait()
    return share


def report(bench):
    rows = [["64 quiet processes for 10 s: recorder's share of a core", f"{100 * quiet(bench):.2f} %"]]
    output, _ = measure.run([bench.program("bench_zone_static"), "count", 10_000_000])
    rows.append(["10 M zones with nobody recording: Strobe's program grows by", f"{measure.figures(output)['grown_kib']} KiB"])
    if bench.peers and bench.peers.tracy:
        output, _ = measure.run([bench.peers.tracy["cpp_always"], "count", 10_000_000], {"TRACY_ONLY_LOCALHOST": "1"})
        rows.append(["— Tracy's program, likewise", f"{measure.figures(output)['grown_kib']:,} KiB"])
    return [measure.table(["at rest", ""], rows)]
