#!/usr/bin/env python3
"""test_sessions.py BUILD: what programs with devices leave in a session's folder: a page while nobody records, nothing that stays, and never less than somebody may still want."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
STROBE, PROGRAM = BUILD / "bin" / "strobe", BUILD / "bin" / "strobe-device-add"
LIMIT_S = 60  # a hang's
PAGE = 4096


class Sessions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name) / "sessions"
        self.environment = {**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), "STROBE_DIR": str(self.root), "TT_METAL_DEVICE_PROFILER": "1",
                            "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES": "1", "STROBE_SIM_GRID_X": "2", "STROBE_SIM_GRID_Y": "2"}

    def strobe(self, *words):
        """What a command prints."""
        return subprocess.run([STROBE, *words], check=True, capture_output=True, text=True, timeout=LIMIT_S, env=self.environment).stdout

    def start(self):
        """A program that launches kernels until it is ended, and whose device is open."""
        program = subprocess.Popen([PROGRAM, "100000000"], env=self.environment, stdout=subprocess.DEVNULL)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.wait_for(lambda: re.search(rf"^ +{program.pid} +device 0 ", self.strobe("sessions"), re.M) or program.poll() is not None)
        self.assertIsNone(program.poll())
        return program

    def streams(self):
        return sorted(self.root.glob("default/*.device"))

    def wait_for(self, condition):
        until = time.monotonic() + LIMIT_S
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def kill(self, program):
        program.kill()
        program.wait()

    def test_a_stream_that_nobody_records_is_a_page(self):
        program = self.start()
        self.assertEqual([stream.stat().st_size for stream in self.streams()], [PAGE])
        self.assertRegex(self.strobe("sessions"), rf"{program.pid} +device 0 +idle")

    def test_a_killed_programs_empty_stream_is_cleaned(self):
        program = self.start()
        self.kill(program)
        self.assertEqual(len(self.streams()), 1)
        self.assertRegex(self.strobe("sessions"), rf"{program.pid} +device 0 +dead\n")
        self.assertIn("2 removed", self.strobe("sessions", "--clean"))  # its pool, too
        self.assertEqual(self.streams(), [])

    def test_a_live_programs_stream_stays_when_sessions_are_cleaned(self):
        self.start()
        self.assertIn("0 removed", self.strobe("sessions", "--clean"))
        self.assertEqual(len(self.streams()), 1)

    def test_programs_that_start_later_sweep_it_up(self):
        self.kill(self.start())
        for _ in range(200):  # sooner or later one of them does
            subprocess.run([BUILD / "bin" / "programs" / "brief"], check=True, timeout=LIMIT_S, env=self.environment)
            if not self.streams():
                return
        self.fail("the stream of a killed program stays in the default session")

    def record(self, program, *words):
        trace = os.path.join(self.folder.name, "a.strobe")
        recorder = subprocess.Popen([STROBE, "record", "-q", "-o", trace, "--pid", str(program.pid), *words], env=self.environment)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return trace, recorder

    def zones_in(self, trace):
        said = subprocess.run([STROBE, "info", trace], capture_output=True, text=True, timeout=LIMIT_S, env=self.environment).stdout
        found = re.search(r"(\d+)  zone_begin", said.replace(",", ""))
        return int(found.group(1)) if found and "Device 0" in said else 0

    def test_a_recorder_that_comes_gets_the_stream_and_leaves_an_empty_one(self):
        program = self.start()
        trace, recorder = self.record(program)
        self.wait_for(lambda: self.zones_in(trace) > 1000)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(timeout=LIMIT_S), 0)
        self.assertIn("AddTile", self.strobe("stats", "--quick", trace))
        self.kill(program)
        self.assertNotIn("data", self.strobe("sessions", "--clean"))
        self.assertEqual(self.streams(), [])

    def test_what_a_killed_recorder_left_is_not_cleaned_before_it_is_recovered(self):
        program = self.start()
        trace, recorder = self.record(program)
        self.wait_for(lambda: self.zones_in(trace) > 1000)
        recorder.kill()
        recorder.wait()
        self.kill(program)
        self.assertRegex(self.strobe("sessions", "--clean"), rf"{program.pid} +device 0 +dead, with data")
        self.assertEqual(len(self.streams()), 1)
        self.strobe("recover", trace)
        self.assertEqual(self.streams(), [])


if __name__ == "__main__":
    unittest.main()
