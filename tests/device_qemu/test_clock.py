#!/usr/bin/env python3
"""test_clock.py BUILD [PROGRAMS]: the clock of a core under QEMU is where the trace says, within the error that it states there. The truth is known: without -icount a core's
`cycle` is the machine's time stamp counter, and so is the trace's clock, so a time of the core is to be mapped onto itself. The map is read by the second reader. Prints
true and stated errors."""
import bisect
import csv
import io
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_qemu import BUILD, STROBE, Case, run  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "reader"))
import strobe_file  # noqa: E402

PROGRAMS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 12
TSC = 1


class Clock(Case):
    def recorded(self, folder, programs, **environment):
        """Values of the counter that kernels read, and the trace's file."""
        trace = os.path.join(folder, "truth.strobe")
        status, out, errors = run(STROBE, "record", "-q", "-o", trace, "--", BUILD / "bin" / "device_qemu_truth", programs, 20000, **environment)
        self.assertEqual((status, out, errors), (0, "end\n", ""))
        rows = list(csv.DictReader(io.StringIO(run(STROBE, "csv", "--kind", "zones", trace)[1])))
        values = {name: sorted(int(row["value"]) for row in rows if row["name"] == name) for name in ("before", "after")}
        self.assertEqual([len(values["before"]), len(values["after"])], 2 * [4 * programs])
        return values, trace

    def test_times_are_within_the_error_that_is_stated_for_them(self):
        with tempfile.TemporaryDirectory() as folder:
            values, trace = self.recorded(folder, PROGRAMS)
            file = strobe_file.File(trace)
        if {sync[0] for sync in file.syncs} != {TSC}:
            self.skipTest("the trace's clock is no time stamp counter")
        pieces = [record.fields[-4:] for record in file.records if record.name == "clock_map"]
        self.assertEqual(pieces, sorted(pieces))
        times, ns = [piece[0] for piece in pieces], file.mult / 2 ** 32
        found = []
        for value in sorted(values["before"] + values["after"]):
            time, tick, mult, stated = pieces[max(0, bisect.bisect_right(times, value) - 1)]
            true = abs(tick + ((value - time) * mult >> 32) - value) * ns
            found.append((true, stated))
            self.assertLessEqual(true, stated)
        worst, stated = max(found), sorted(stated for _, stated in found)
        print(f"{len(found)} times: true error {worst[0]:.0f} ns at most, where {worst[1]} ns are stated; "
              f"stated {stated[0]} ns at least, {stated[len(stated) // 2]} ns in the middle, {stated[-1]} ns at most", file=sys.stderr)

    def test_a_stretch_of_code_has_as_many_cycles_in_every_run_that_counts_instructions(self):
        def lengths_of_a_run():
            with tempfile.TemporaryDirectory() as folder:
                values, _ = self.recorded(folder, 2, STROBE_SIM_CLOCK="virtual")
                lengths = [after - before for before, after in zip(values["before"], values["after"])]
                return [length for i, length in enumerate(lengths) if i % 4]  # as a launch begins, the bell wakes the other harts too
        first = lengths_of_a_run()
        self.assertEqual(lengths_of_a_run(), first)


if __name__ == "__main__":
    unittest.main(verbosity=2)
