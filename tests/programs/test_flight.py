#!/usr/bin/env python3
"""The flight recorder: only the last seconds are kept, and only when something happened."""
import glob
import os
import signal
import time

import harness


class Flight(harness.ProgramTest):
    """`strobe record --flight`."""

    def fly(self, *program, options=()):
        """The trace that was kept (None: none was), and what the recorder said."""
        path = self.path("kept.strobe")
        ran = self.start(harness.STROBE, "record", "--flight", "1s", "--after", "200ms", *options, "-o", path, "--",
                         self.program("flight"), *program)
        _, err = ran.communicate(timeout=60)
        self.code = ran.returncode
        return path if os.path.exists(path) else None, err

    def judge(self, path):
        """The trace, which is right in itself."""
        judged = harness.Judged(path)
        self.assertFalse(judged.problems)
        return judged

    def reason(self, judged):
        """Why it was kept."""
        return [record.fields[1].decode() for record in judged.trace.records if record.name == "trigger_kept"]

    def test_nothing_is_kept_when_nothing_happened(self):
        """And the recorder says so."""
        path, err = self.fly("300", "wait")
        self.assertIsNone(path)
        self.assertIn("no trigger came", err)

    def test_a_zone_over_its_limit_is_kept_with_what_came_before_and_after(self):
        """Its location is known from its first use, which is the one that triggers."""
        path, _ = self.fly("500", "late", "1500", options=["--trigger", "zone late > 20ms"])
        judged = self.judge(path)
        self.assertEqual(judged.n_zones("late"), 1)
        self.assertGreater(judged.n_zones("beat"), 1000)
        self.assertEqual(len(self.reason(judged)), 1)

    def test_a_zone_that_was_met_before_the_limit_counts_too(self):
        """`beat` is named in the first millisecond and is never as long; `all` ends with the program."""
        path, _ = self.fly("600", "wait", options=["--trigger", "zone all > 500ms"])
        self.assertEqual(self.judge(path).n_zones("all"), 1)

    def test_a_zone_under_its_limit_is_no_reason(self):
        """30 ms are not 3 s."""
        path, _ = self.fly("300", "late", options=["--trigger", "zone late > 3s"])
        self.assertIsNone(path)

    def test_the_program_asks(self):
        """strobe_trigger()."""
        path, _ = self.fly("500", "ask", "1500")
        self.assertGreater(self.judge(path).n_zones("beat"), 1000)

    def test_a_crash_is_kept_with_the_last_that_was_done(self):
        """abort(), 300 ms after the start; the zone around it is open."""
        path, _ = self.fly("300", "crash")
        judged = self.judge(path)
        self.assertNotEqual(self.code, 0)
        self.assertEqual(self.reason(judged), ["the program died by a signal"])
        self.assertEqual(judged.n_zones("beat"), 300 * 20)

    def test_only_the_last_time_is_kept(self):
        """Of three seconds, about one; the zone that began before them is open in it."""
        path, _ = self.fly("3000", "crash")
        judged = self.judge(path)
        self.assertGreater(judged.n_zones("beat"), 500)
        self.assertLess(judged.n_zones("beat"), 3000 * 20 * 3 // 4)

    def test_sigusr2_keeps_and_the_recording_goes_on(self):
        """Twice: two traces."""
        path = self.path("kept.strobe")
        ran = self.start(harness.STROBE, "record", "--flight", "1s", "--after", "100ms", "-o", path, "--",
                         self.program("flight"), "2500", "wait")
        for n in (1, 2):
            time.sleep(0.5)
            ran.send_signal(signal.SIGUSR2)
            deadline = time.monotonic() + 120
            while len(glob.glob(self.path("kept*.strobe"))) < n and time.monotonic() < deadline:
                time.sleep(0.02)
        ran.communicate(timeout=60)
        kept = sorted(glob.glob(self.path("kept*.strobe")))
        self.assertEqual(len(kept), 2)
        for trace in kept:
            judged = self.judge(trace)
            self.assertEqual(self.reason(judged), ["SIGUSR2"])
            self.assertGreater(judged.n_zones("beat"), 0)

    def test_a_kept_trace_replaces_no_other_file(self):
        """A file at the name of the second is passed over."""
        with open(self.path("kept-2.strobe"), "w") as file:
            file.write("notes\n")
        ran = self.start(harness.STROBE, "record", "-q", "--flight", "1s", "--after", "100ms", "-o",
                         self.path("kept.strobe"), "--", self.program("flight"), "2500", "wait")
        for name in ("kept.strobe", "kept-3.strobe"):
            time.sleep(0.5)
            ran.send_signal(signal.SIGUSR2)
            deadline = time.monotonic() + 120
            while not os.path.exists(self.path(name)) and time.monotonic() < deadline:
                time.sleep(0.02)
        ran.communicate(timeout=60)
        self.judge(self.path("kept-3.strobe"))
        with open(self.path("kept-2.strobe")) as file:
            self.assertEqual(file.read(), "notes\n")


if __name__ == "__main__":
    harness.main()
