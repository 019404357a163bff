#!/usr/bin/env python3
"""test_runs.py BUILD [TEST…]: programs on cores under QEMU: right results, every zone on the timeline under the code that launched it, every record counted."""
import csv
import io
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_qemu import ADD, LANES, STROBE, Case, churn, run  # noqa: E402

ROUNDS = 4


class Example(Case):
    """A reader, a compute and a writer kernel on the five harts of a core."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        trace = os.path.join(cls.folder.name, "add.strobe")
        cls.status, cls.out, cls.errors = run(STROBE, "record", "-q", "-o", trace, "--", ADD, ROUNDS)
        cls.rows = list(csv.DictReader(io.StringIO(run(STROBE, "csv", trace)[1])))
        cls.info = run(STROBE, "info", trace)[1]
        cls.device = [row for row in cls.rows if row["process"].startswith("Device 0: qemu 1x1")]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def count(self, name):
        return sum(row["name"] == name for row in self.device)

    def test_computes_the_right_sums(self):
        self.assertEqual((self.status, self.errors), (0, ""))
        self.assertIn("4096 words in 4 tiles on 1x1 cores: 0 wrong; 120 markers, 0 dropped", self.out)

    def test_has_every_zone_of_every_risc_by_its_name(self):
        self.assertEqual([self.count(name) for name in ("BRISC-KERNEL", "NCRISC-KERNEL", "TRISC-KERNEL", "ReadTile", "AddTile", "WriteTile")],
                         [ROUNDS, ROUNDS, 3 * ROUNDS, 4 * ROUNDS, 3 * 4 * ROUNDS, 4 * ROUNDS])
        self.assertEqual(sorted({row["thread"] for row in self.device}), sorted(LANES))
        self.assertEqual({row["state"] for row in self.device}, {"ended"})
        for row in self.device:
            self.assertEqual(row["depth"], "0" if row["name"].endswith("-KERNEL") else "2" if row["name"].endswith("Tile") else "1", row)

    def test_has_kernels_between_the_first_launch_and_the_end_of_the_wait(self):
        def end(row):
            return int(row["start_ns"]) + int(row["duration_ns"])
        error = 1e3 * float(re.search(r"own clock, .* ([\d.]+) us at most|$", self.info).group(1) or 2000)
        first = min(int(row["start_ns"]) for row in self.rows if row["name"] == "EnqueueProgram")
        last = max(end(row) for row in self.rows if row["name"] == "Finish")
        self.assertGreaterEqual(min(int(row["start_ns"]) for row in self.device), first - error)
        self.assertLessEqual(max(map(end, self.device)), last + error)

    def test_joins_each_launch_to_its_kernels_and_says_that_nothing_is_missing(self):
        kinds = dict((name, int(n)) for n, name in re.findall(r"(\d+)  (flow_\w+)", self.info))
        self.assertEqual(kinds, {"flow_begin": ROUNDS, "flow_end": ROUNDS})
        self.assertIn("coverage: 100.00 %", self.info)
        self.assertIn("0 open at the end, 0 unfinished, 0 ends without a begin", self.info)

    def test_is_no_process_of_the_trace_itself(self):
        self.assertIn("processes  2, threads 6", self.info)


class Runs(Case):
    def test_kernels_without_markers_compute_the_same(self):
        status, out, errors = run(ADD, 1)
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("0 wrong; 0 markers, 0 dropped", out)

    def test_rings_that_are_full_make_their_riscs_wait_and_lose_nothing(self):
        with churn(2, "6000") as it:
            self.done(it)
            self.check_whole(it)
            self.assertEqual(+it.lost(), {})
            n_stalls = sum(int(line.split()[-1]) for line in it.out().splitlines() if line.startswith("lane"))
            self.assertGreater(n_stalls, 0)
            self.assertEqual(sum(row["name"] == "PROFILER-STALL" for row in it.rows("zones")), n_stalls)

    def test_each_policy_counts_exactly(self):
        for policy in ("drop-newest", "drop-oldest", "sum-only"):
            with self.subTest(policy=policy), churn(2, "3000", {"STROBE_DEVICE_POLICY": policy, "STROBE_SIM_RELAY_SLOWDOWN": "40"}) as it:
                self.done(it)
                self.check_whole(it)
                self.assertGreater(sum(it.emitted()[1].values()) or policy == "sum-only", 0)

    def test_many_short_launches_leave_no_zone_open(self):
        with churn(60, "8") as it:
            self.done(it)
            self.check_whole(it)
            self.assertIn("zones      0 open at the end, 0 unfinished", it.strobe("info", it.trace))

    def test_two_cores_run_one_program(self):
        with churn(4, "60", {"STROBE_SIM_GRID_X": "2"}) as it:
            self.done(it)
            self.check_whole(it)
            self.assertEqual(len(it.stored()), 10)

    def test_the_classic_form_is_read_from_dram(self):
        status, out, errors = run(ADD, 3, STROBE_DEVICE_MODE="classic", TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES="1")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("0 wrong", out)
        with churn(3, "20", {"STROBE_DEVICE_MODE": "classic", "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES": "1"}) as it:
            self.done(it)
            stored = it.stored()
            self.assertEqual(sorted(stored), sorted(LANES))
            # in each launch firmware, kernel, "all", ten times "outer" and "inner", and a value
            self.assertEqual(set(stored.values()), {3 * (2 + 1 + 20 + 1)})


if __name__ == "__main__":
    unittest.main(verbosity=2)
