#!/usr/bin/env python3
"""test_clocks.py BUILD CLASS - clocks that go wrong while a program is recorded: times of a thread never go back, and the file
says where the clock jumped and by how much times may be wrong. The clocks are fault_clock.c's.

Wall      somebody sets the date
Asleep    the machine sleeps and the counter goes on; CLOCK_MONOTONIC doesn't
Ahead     the counter stood still, CLOCK_MONOTONIC went on
Apart     a program whose CPUs have different counters
Back      a program whose counter starts anew
"""
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "death"))
import death  # noqa: E402
import strobe_reader  # noqa: E402
from strobe_format import FormatError  # noqa: E402

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
THREADS = 2


def syncs(path):
    """The sync points that the file has by now."""
    try:
        return strobe_reader.Trace(path).syncs
    except (FormatError, OSError):
        return []


def wait_until(condition, seconds=120):
    """Until it is true; the limit is for a test that hangs."""
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.05)


class Base(unittest.TestCase):
    """A recording in the midst of which a clock goes wrong."""

    def run_with(self, fault, enough, **more):
        """Record until the clock is known, let it go wrong, go on until enough(pages, trace) says so. A Judge of the trace."""
        death.adopt_orphans()
        with death.Place(BUILD) as place:
            pages, at = place.pages(THREADS), os.path.join(place.dir, "now")
            recorder = place.record([place.program("death_emitter"), pages.path, "tree", "1", str(THREADS), "2000"], ["-q"],
                                    preload="fault_clock", FAULT_CLOCK=fault, FAULT_CLOCK_AT=at, **more)
            wait_until(lambda: len(syncs(place.trace)) >= 2 and pages.n_ready == THREADS)
            with open(at, "wb"):
                pass
            wait_until(lambda: enough(pages, place.trace))
            pages.stop()
            self.assertEqual(recorder.wait(60), 0, place.stderr())
            judge = death.Judge(place.trace, closed=True, pattern=death.PATTERN)
            self.assertFalse(judge.compare(pages))
            self.info = place.run("info", place.trace).stdout
            self.csv = place.run("csv", place.trace).stdout
            self.check_order(judge)
            return judge

    def check_order(self, judge):
        """Ticks of a track never go back, nor do their times."""
        last = {}
        for event in judge.trace.events():
            key, ns = (event.proc, event.track), judge.trace.tick_ns(event.tick)
            tick_before, ns_before = last.get(key, (0, ns))
            self.assertGreaterEqual(event.tick, tick_before)
            self.assertGreaterEqual(ns, ns_before, f"{key}: the time of tick {event.tick}")
            last[key] = (event.tick, ns)
        self.assertTrue(last)

    def check_jump(self, judge, size_ns, least_error_ns=1):
        """One new piece; its error, and the rate that it must not change."""
        trace = judge.trace
        if trace.syncs[0][0] != 1:
            self.skipTest("no counter that can be trusted: STROBE_CLOCK is CLOCK_MONOTONIC")
        jumps = [i for i, sync in enumerate(trace.syncs) if sync[5]]
        self.assertTrue(jumps)
        first = trace.syncs[jumps[0]]
        self.assertGreaterEqual(first[4], least_error_ns)
        self.assertLessEqual(first[4], size_ns + 10**9)
        before = trace.syncs[:jumps[0]]
        rate = (before[-1][2] - before[0][2]) / (before[-1][1] - before[0][1])
        self.assertAlmostEqual(trace.mult / 2**32 / rate, 1, delta=0.05)
        self.assertIn("jump", self.info)
        self.assertTrue(any(record.name == "note" and b"moved apart" in record.fields[1] for record in trace.records))


def jumped(_, path):
    """A jump is in the file, and a sync point behind it."""
    flags = [sync[5] for sync in syncs(path)]
    return 1 in flags and len(flags) > flags.index(1) + 1


class Wall(Base):
    """CLOCK_REALTIME."""

    def test_setting_the_date_moves_no_event(self):
        """An hour back."""
        def stepped(_, path):
            found = syncs(path)
            return found[-1][3] < found[0][3]
        trace = self.run_with(f"recorder:wall:{-3600 * 10**9}", stepped).trace
        self.assertFalse([sync for sync in trace.syncs if sync[5]])
        self.assertNotIn("jump", self.info)


class Asleep(Base):
    """CLOCK_MONOTONIC stands still."""

    def test_a_sleep_of_the_machine_is_a_new_piece(self):
        """300 ms that the counter has and the clock has not."""
        self.check_jump(self.run_with(f"recorder:asleep:{300 * 10**6}", jumped), 300 * 10**6)


class Ahead(Base):
    """The counter stands still."""

    def test_a_counter_that_stood_still_is_a_new_piece(self):
        """5 s that the clock has and the counter has not."""
        self.check_jump(self.run_with(f"recorder:ahead:{5 * 10**9}", jumped), 5 * 10**9, 10**6)


def went_on(n):
    """So many events more were emitted."""
    start = {}

    def enough(pages, _):
        now = sum(row.after for row in pages.threads())
        return now - start.setdefault("n", now) >= n
    return enough


class Apart(Base):
    """CPUs that don't agree."""

    def test_a_thread_that_changes_between_counters_never_goes_back(self):
        """3 ms apart."""
        self.run_with(f"program:apart:{3 * 10**6}", went_on(4000), STROBE_CLOCK="mono")


class Back(Base):
    """A counter that starts anew."""

    def test_a_counter_that_goes_back_loses_no_event(self):
        """By a second, and by ten minutes, or as far as it is from 0: it never is below."""
        for ns in (10**9, min(600 * 10**9, time.monotonic_ns() - 10**9)):
            self.run_with(f"program:back:{ns}", went_on(4000), STROBE_CLOCK="mono")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
