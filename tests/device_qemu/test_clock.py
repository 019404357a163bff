#!/usr/bin/env python3
"""test_clock.py BUILD [PROGRAMS]: the clock of a core under QEMU is where it is said to be: truth.c's kernels and its host part record the same counter, so the distance of
their times in the trace is known; none is larger than the error that the trace states. Prints both."""
import csv
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_qemu import BUILD, STROBE, Case, run  # noqa: E402

PROGRAMS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 12
HOST_ERROR_NS = 200  # between the host's reading of the counter and the begin of its zone, at the best of all


class Clock(Case):
    def test_times_are_within_the_stated_error(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "truth.strobe")
            status, out, errors = run(STROBE, "record", "-q", "-o", trace, "--", BUILD / "bin" / "device_qemu_truth", PROGRAMS, 20000)
            self.assertEqual((status, errors), (0, ""))
            if "no counter" in out:
                self.skipTest("this machine has no time stamp counter")
            rows = list(csv.DictReader(io.StringIO(run(STROBE, "csv", "--kind", "zones", trace)[1])))
            info = json.loads(run(STROBE, "info", "--json", trace)[1])
        def marks(name):
            return sorted((int(row["value"]), int(row["start_ns"])) for row in rows if row["name"] == name)
        host, before, after = marks("host probe"), marks("before"), marks("after")
        stated = next(process["own_clock"] for process in info["processes"] if "own_clock" in process)
        self.assertEqual((len(host), len(before), len(after)), (PROGRAMS + 1, 4 * PROGRAMS, 4 * PROGRAMS))
        # ns of a counter's value: the trace's own clock is the same counter; a zone of the host begins a little after its value was read,
        # in the best case at once
        if info["clock"]["kind"] != "tsc":
            self.skipTest("the trace has another clock")
        ns = info["clock"]["mult"] / 2 ** 32
        c0 = host[0][0]
        base = min(n - (c - c0) * ns for c, n in host)
        wrong = []
        for (earliest, at), (latest, _) in zip(before, after):
            early, late = base + (earliest - c0) * ns - at, at - base - (latest - c0) * ns
            wrong.append(max(0, early, late))
        worst = max(wrong)
        print(f"{len(wrong)} readings: true error up to {worst:.0f} ns beyond what the kernel itself bounds; stated {stated['least_error_ns']} to {stated['error_ns']} ns, "
              f"{stated['pieces']} pieces", file=sys.stderr)
        self.assertLessEqual(worst, stated["error_ns"] + HOST_ERROR_NS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
