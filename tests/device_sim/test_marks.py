#!/usr/bin/env python3
"""test_marks.py BUILD: marks of a kernel, sums of zones and values, are in the trace where they were in time, with all that they had."""
import collections
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
STROBE, MARKS = BUILD / "bin" / "strobe", BUILD / "bin" / "device_marks"
LIMIT_S = 100  # a hang's
LAUNCHES, CORES = 5, 2
ENVIRONMENT = {**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), "STROBE_SIM_GRID_X": str(CORES), "STROBE_SIM_GRID_Y": "1",
               "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES": "1"}


def strobe(*words):
    return subprocess.run([STROBE, *words], check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


def rows(trace, kind="zones"):
    return list(csv.DictReader(io.StringIO(strobe("csv", "--kind", kind, trace))))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "marks.strobe"

    def record(self, *words, **variables):
        """What the recorder and the program said."""
        done = subprocess.run([STROBE, "record", "--no-sample", "-o", self.trace, "--", MARKS, *words], capture_output=True, text=True, timeout=LIMIT_S,
                              env={**ENVIRONMENT, **variables}, check=False)
        self.assertTrue(self.trace.exists(), done.stderr)
        return done.stderr


class Sums(Case):
    def test_they_stand_behind_the_zones_of_their_launch(self):
        self.record(str(LAUNCHES), TT_METAL_PROFILER_SUM="1", TT_METAL_DEVICE_PROFILER="1")
        last = {}
        for row in rows(self.trace, "all"):
            lane, time = (row["process"], row["thread"]), int(row["time_ns"] or 0)
            self.assertGreaterEqual(time, last.get(lane, 0), row)
            last[lane] = time
        zones = [row for row in rows(self.trace) if row["thread"].endswith("BRISC")]
        sums = [row for row in zones if row["name"].endswith(" sum (added up)")]
        self.assertEqual([row["value"] for row in sums], ["4"] * (2 * LAUNCHES * CORES))
        for core in {row["thread"] for row in zones}:
            kernels = [int(row["start_ns"]) for row in zones if row["thread"] == core and row["name"] == "BRISC-KERNEL"]
            found = [sum(begin <= int(row["start_ns"]) for begin in kernels) for row in sums if row["thread"] == core]
            self.assertEqual(sorted(found), sorted(2 * list(range(1, LAUNCHES + 1))))

    def test_a_recorder_alone_will_do(self):
        self.record("1", TT_METAL_PROFILER_SUM="1")
        self.assertEqual([row["value"] for row in rows(self.trace) if row["name"] == "first sum (added up)"], ["4"] * CORES)

    def test_the_exports_have_the_same_times(self):
        self.record(str(LAUNCHES), TT_METAL_PROFILER_SUM="1", TT_METAL_DEVICE_PROFILER="1")

        def times(trace):
            return collections.Counter((row["thread"], row["name"], row["start_ns"], row["duration_ns"]) for row in rows(trace) if row["thread"].startswith("core"))

        strobe("export", "--to", "perfetto", "-o", self.folder / "marks.pftrace", self.trace)
        strobe("import", "-o", self.folder / "again.strobe", self.folder / "marks.pftrace")
        self.assertEqual(times(self.folder / "again.strobe"), times(self.trace))


class Values(Case):
    def check(self, found):
        """Pairs of name and value, in order."""
        found = [pair for pair in found if pair[0] in ("one", "two")]
        self.assertEqual(found, [("one", "101"), ("two", "202"), ("two", "201")] * (LAUNCHES * CORES))

    def test_streaming(self):
        said = self.record(str(LAUNCHES))
        self.check([(row["name"], row["value"]) for row in rows(self.trace)])
        self.assertIn("coverage 100.00 %", said)

    def test_classic(self):
        said = self.record(str(LAUNCHES), STROBE_DEVICE_MODE="classic")
        self.check([(row["name"], row["value"]) for row in rows(self.trace)])
        self.assertIn("coverage 100.00 %", said)

    def test_imported(self):
        done = subprocess.run([MARKS, str(LAUNCHES)], capture_output=True, text=True, timeout=LIMIT_S, check=False, env={
            **ENVIRONMENT, "TT_METAL_DEVICE_PROFILER": "1", "TT_METAL_PROFILER_DIR": self.folder, "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        strobe("import", "-o", self.trace, self.folder / ".logs")
        self.check([(row["name"], row["value"]) for row in rows(self.trace)])


class Unread(Case):
    """Classic buffers of a program that ends without reading them."""

    def test_it_is_said_and_counted(self):
        for end in ("exit", "kill"):
            self.record(str(LAUNCHES), end, STROBE_DEVICE_MODE="classic")
            info = strobe("info", self.trace)
            self.assertRegex(info, rf"device 0: markers of {LAUNCHES} launches are missing.*ReadDeviceProfiler")
            self.assertRegex(info, rf"coverage: .* \+ {LAUNCHES} dropped\)")
            self.trace.unlink()

    def test_one_that_was_read_is_whole(self):
        said = self.record(str(LAUNCHES), "read", STROBE_DEVICE_MODE="classic")
        self.assertNotIn("are missing", strobe("info", self.trace))
        self.assertIn("coverage 100.00 %", said)


class Virtual(Case):
    def test_nothing_is_claimed_of_a_virtual_clock(self):
        self.record(str(LAUNCHES), STROBE_SIM_CLOCK="virtual")
        info = strobe("info", self.trace)
        self.assertIn("device 0 runs on a virtual clock: its times have no relation to the host's", info)
        self.assertIn("own clock, error not known", info)
        clocks = [process["own_clock"] for process in json.loads(strobe("info", "--json", self.trace))["processes"] if "own_clock" in process]
        self.assertEqual([(clock["error_ns"], clock["least_error_ns"]) for clock in clocks], [(None, None)])


class Wrong(unittest.TestCase):
    def run_marks(self, *words, **variables):
        return subprocess.run([MARKS, *words], capture_output=True, text=True, timeout=LIMIT_S, env={**ENVIRONMENT, **variables}, check=False)

    def test_a_word_that_a_variable_does_not_have(self):
        for name, value, wanted in (("STROBE_DEVICE_POLICY", "drop", "block, drop-newest, drop-oldest or sum-only"), ("STROBE_DEVICE_MODE", "clasic", "classic or streaming"),
                                    ("TT_METAL_DEVICE_PROFILER", "yes", "1 (on) or 0 (off)")):
            done = self.run_marks("1", **{name: value})
            self.assertEqual((done.returncode, done.stderr), (0, f"strobe: {name}={value} is not used: it wants {wanted}\n"))

    def test_cores_outside_of_the_grid(self):
        done = self.run_marks("1", "wide")
        self.assertEqual((done.returncode, done.stderr), (1, "enqueue: invalid argument (a kernel is to run on cores 0,0 to 2,0: device 0 has cores 0,0 to 1,0)\n"))


class Late(Case):
    def test_a_recorder_that_finds_unmarked_kernels_says_so(self):
        environment = {**ENVIRONMENT, "STROBE_DIR": str(self.folder / "session")}
        with subprocess.Popen([MARKS, "0", "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment) as program:
            self.addCleanup(program.kill)

            def launch():
                program.stdin.write("\n")
                program.stdin.flush()
                self.assertEqual(program.stdout.readline(), "ran\n")

            launch()
            with subprocess.Popen([STROBE, "record", "-q", "--no-sample", "-o", self.trace, "--pid", str(program.pid)], env=environment) as recorder:
                self.addCleanup(recorder.kill)
                end = time.monotonic() + LIMIT_S
                while time.monotonic() < end and not (self.trace.exists() and "EnqueueProgram" in self.said("csv")):
                    launch()
                    time.sleep(0.02)
                program.stdin.close()
                self.assertEqual(recorder.wait(LIMIT_S), 0)
        told = [row["text"] for row in rows(self.trace, "messages")]
        self.assertEqual(len(told), 1)
        self.assertIn("device 0: its kernels are not marked", told[0])

    def said(self, *words):
        return subprocess.run([STROBE, *words, self.trace], capture_output=True, text=True, timeout=LIMIT_S, check=False).stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)
