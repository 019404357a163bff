#!/usr/bin/env python3
"""test_variables.py BUILD: each variable of the streaming profiler does what it says."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from churned import BUILD, CHURN, LIMIT_S, STROBE, Round

SMALL = {"STROBE_KERNEL_CACHE": str(BUILD / "kernels"), "STROBE_SIM_GRID_X": "2", "STROBE_SIM_GRID_Y": "1"}


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def churn(self, *words, **variables):
        """Run the program by itself, in a folder of its own."""
        environment = {**os.environ, **SMALL, "STROBE_DIR": str(self.folder / "sessions"), **variables}
        return subprocess.run([CHURN, *words], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    def record(self, *words, **variables):
        trace = self.folder / "a.strobe"
        subprocess.run([STROBE, "record", "-q", "-o", trace, "--", CHURN, *words], env={**os.environ, **SMALL, **variables}, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S)
        return subprocess.run([STROBE, "stats", "--csv", trace], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout


class Variables(Run):
    def test_a_number_that_is_none_is_named_and_not_used(self):
        odd = {"STROBE_SIM_DEVICES": "-1", "STROBE_SIM_SEED": "99999999999", "STROBE_SIM_BANKS": "many", "STROBE_SIM_MHZ": "-5", "STROBE_SIM_JITTER_NS": "nan",
               "STROBE_SIM_OFFSET_NS": "inf", "STROBE_SIM_CLOCK": "fast"}
        done = self.churn("1", **odd)
        self.assertEqual(done.returncode, 0, done.stderr)
        for variable, value in odd.items():
            self.assertEqual(done.stderr.count(f"{variable}={value} is not used: it wants"), 1, done.stderr)

    def test_fifo_mb_is_the_size_of_the_way_to_the_recorder(self):
        for size in (1, 4):
            with Round(1, "8", {"TT_METAL_STREAMING_PROFILER_FIFO_MB": str(size), "CHURN_HOLD": str(self.folder / f"go{size}")}) as it:
                self.assertEqual(it.head(16), size << 20)
                (self.folder / f"go{size}").touch()
                self.assertEqual(it.recorder.wait(LIMIT_S), 0)

    def still(self, **variables):
        """What the cores drop behind a recorder that stands still and a full FIFO; the recording goes on when all launches are done."""
        go = self.folder / "go"
        environment = {"CHURN_PAUSE_US": "0", "STROBE_DEVICE_POLICY": "drop-newest", "TT_METAL_STREAMING_PROFILER_FIFO_MB": "1", "CHURN_HOLD": str(go), **variables}
        with Round(32, "200", environment) as it:
            os.kill(it.recorder.pid, signal.SIGSTOP)
            it.wait_for(lambda: re.search(r"^lane 2 1 4 ", it.out(), re.M))  # the last line of them
            os.kill(it.recorder.pid, signal.SIGCONT)
            it.wait_for(lambda: it.head(64) == it.head(128))  # it has caught up
            go.touch()
            self.assertEqual(it.recorder.wait(LIMIT_S), 0)
            emitted, dropped = it.emitted()
            stored, lost = it.stored(), it.lost()
            self.assertEqual({lane: stored[lane] + lost[lane] for lane in emitted}, dict(emitted))
            go.unlink()
            return sum(dropped.values())

    def test_dram_mb_keeps_what_a_full_fifo_does_not_take(self):
        self.assertEqual(self.still(TT_METAL_STREAMING_PROFILER_DRAM_MB="64"), 0)

    def test_without_dram_mb_the_cores_drop_and_count(self):
        self.assertGreater(self.still(TT_METAL_STREAMING_PROFILER_DRAM_MB="0"), 0)

    def test_ops_csv_and_zone_csv_are_written_where_they_say(self):
        ran = self.churn("2", "8", TT_METAL_STREAMING_PROFILER="1", TT_METAL_STREAMING_PROFILER_OPS_CSV="ops.csv", TT_METAL_STREAMING_PROFILER_ZONE_CSV="zones.csv")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue((self.folder / "ops.csv").read_text().startswith("DEVICE ID,GLOBAL CALL COUNT,EXECUTION,"))
        self.assertIn("outer", (self.folder / "zones.csv").read_text())

    def test_tracy_and_inline_enabled_change_nothing_that_is_recorded(self):
        counts = [re.findall(r"^(all|outer|inner),.*?,\d+,(\d+),", self.record("3", "8", **more), re.M)
                  for more in ({}, {"TT_METAL_STREAMING_PROFILER_TRACY": "1", "TT_METAL_STREAMING_PROFILER_INLINE_ENABLED": "1"})]
        self.assertEqual(len(counts[0]), 3)
        self.assertEqual(sorted(counts[0]), sorted(counts[1]))

    def test_sizes_out_of_bounds_are_refused_with_the_remedy(self):
        for name, value in (("FIFO_MB", "3"), ("FIFO_MB", "0"), ("DRAM_MB", "4096")):
            ran = self.churn("1", "8", TT_METAL_STREAMING_PROFILER="1", **{f"TT_METAL_STREAMING_PROFILER_{name}": value})
            self.assertEqual(ran.returncode, 1)
            self.assertIn("Remedy", ran.stderr)


class Timers(Run):
    def notes(self, **variables):
        trace = self.folder / "a.strobe"
        self.record("30", "8", STROBE_SIM_GRID_X="4", **variables)
        return subprocess.run([STROBE, "info", trace], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout

    def test_timers_that_left_reset_at_other_times_are_named(self):
        self.assertRegex(self.notes(STROBE_SIM_RESET_SKEW_NS="50000", STROBE_SIM_SEED="7"), r"device 0: timers of \d cores stand apart from the others', that of core \d,0 by -?\d+\.\d+ us \(\+-")

    def test_timers_that_stand_together_are_not(self):
        self.assertNotIn("timers of", self.notes())


if __name__ == "__main__":
    unittest.main()
