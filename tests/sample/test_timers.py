"""test_timers.py - stack samples where the kernel refuses perf events: a filter of system calls refuses them as a container's does, timers in the
program take the samples (preload/timer.c), and the second reader judges.

    python3 test_timers.py STROBE PROGRAMS [unittest arguments]

STROBE_BURNER is the program with a known split of its time (burner.c)."""
import collections
import errno
import os
import re
import shutil
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_sample import BURNER, SampleTest, functions, harness  # noqa: E402

TICK_HZ = round(1 / time.clock_getres(6))  # the kernel's own: of CLOCK_MONOTONIC_COARSE
HZ = min(997, TICK_HZ)
OUTERMOST = {"_start", "__clone3", "clone3", "clone", "__clone"}
SAID = "a timer in the program takes the stack samples"


class Timers(SampleTest):
    def timed(self, *command, options=(), error=errno.EACCES, status=0, env=None):
        """Record a command where perf events are refused: (its trace, its samples, what was said)."""
        path = self.path("t.strobe")
        code, _, err = self.run_it(BURNER, "refuse", harness.STROBE, "record", "-o", path, *options, "--", *command,
                                   env=dict(env or {}, BURNER_ERRNO=str(error)), timeout=400)
        self.assertEqual((code, err.count(SAID)), (status, 1), err)
        trace = harness.Judged(path)
        self.assertEqual((trace.problems, trace.dropped()), ([], {}), err)
        return trace, self.rows(path), err

    def gaps(self, trace):
        """(periods without a sample, samples without their outer frames)"""
        has_any = "sample_gap" in trace.trace.names.values()
        rows = [event.fields for event in trace.events("sample_gap")] if has_any else []
        return sum(row[0] for row in rows), sum(row[1] for row in rows)


class Programs(Timers):
    def test_time_is_found_where_the_program_spends_it(self):
        trace, rows, err = self.timed(BURNER, "split", "2")
        shares = collections.Counter(next((f for f in functions(row) if f in ("half", "third", "fifth")), "") for row in rows)
        error = 4 * (0.25 / len(rows)) ** 0.5
        for name, share in (("half", 0.5), ("third", 0.3), ("fifth", 0.2)):
            self.assertAlmostEqual(shares[name] / len(rows), share, delta=error)
        self.assertIn("perf_event_paranoid", err)

    def test_samples_and_missed_periods_are_the_cpu_time(self):
        trace, rows, _ = self.timed(BURNER, "split", "0.6")
        missed, _ = self.gaps(trace)
        self.assertGreaterEqual(len(rows) + missed, 0.6 * HZ - 2)
        self.assertLess(len(rows) + missed, HZ)  # what the loader and the end of the last burn took

    def test_each_errno_of_a_refusal_is_one(self):
        for error in (errno.EPERM, errno.ENOSYS):
            _, rows, _ = self.timed(BURNER, "split", "0.2", error=error)
            self.assertIn("half", {name for row in rows for name in functions(row)})

    def test_stacks_of_all_threads_reach_their_start(self):
        trace, rows, _ = self.timed(BURNER, "split", "0.2", "3")
        self.assertEqual(len({row["tid"] for row in rows}), 3)
        stacks = [functions(row) for row in rows if "burn" in functions(row)]
        self.assertTrue(stacks)
        self.assertLessEqual({stack[-1] for stack in stacks}, OUTERMOST)
        self.assertEqual(self.gaps(trace)[1], 0)

    def test_a_signal_handler_is_above_what_it_interrupted(self):
        _, rows, _ = self.timed(BURNER, "signal", "0.3")
        stack = next(functions(row) for row in rows if "handle" in functions(row))
        self.assertLess(stack.index("handle"), stack.index("interrupted"))
        self.assertLess(stack.index("interrupted"), stack.index("main"))

    def test_stubs_the_vdso_and_libc_are_walked_through(self):
        trace, rows, _ = self.timed(BURNER, "library", "0.5")
        stacks = [functions(row) for row in rows]
        whole = sum("calls" in stack and stack[-1] in OUTERMOST for stack in stacks)
        self.assertGreater(whole, 0.85 * len(stacks))

    def test_a_library_that_is_loaded_later_has_names(self):
        _, rows, _ = self.timed(BURNER, "loaded", "0.3")
        self.assertIn("pow", " ".join(name for row in rows if "libm.so" in row["frames"] for name in functions(row)))

    def test_children_and_what_they_execute_are_sampled(self):
        _, rows, _ = self.timed("sh", "-c", f"{BURNER} split 0.2; sh -c 'exec {BURNER} library 0.2'; true")
        names = collections.defaultdict(set)
        for row in rows:
            names[row["pid"]].update(functions(row))
        self.assertEqual(sum("half" in found for found in names.values()), 1)
        self.assertEqual(sum("calls" in found for found in names.values()), 1)

    def test_a_stack_deeper_than_a_record_is_cut_and_counted(self):
        trace, rows, _ = self.timed(BURNER, "deep", "0.4", "150")
        _, n_cut = self.gaps(trace)
        self.assertGreater(n_cut, 0)
        self.assertEqual(n_cut, sum(int(row["n_frames"]) == 109 for row in rows))

    def test_names_are_in_the_trace_when_the_program_is_gone(self):
        program = self.path("gone")
        shutil.copy(BURNER, program)
        trace, before, _ = self.timed(program, "split", "0.2")
        os.unlink(program)
        after = self.rows(trace.path)
        self.assertIn("half", {name for row in after for name in functions(row)})
        self.assertEqual([row["frames"] for row in before], [row["frames"] for row in after])

    def test_samples_lie_on_the_track_of_the_zones(self):
        trace, rows, _ = self.timed(os.path.join(os.path.dirname(BURNER), "marked"), "12000")
        zones = {(row["pid"], row["tid"]) for row in self.rows(trace.path, "zones")}
        self.assertTrue(rows)
        self.assertEqual({(row["pid"], row["tid"]) for row in rows}, zones)


class Manners(Timers):
    def test_time_with_all_signals_blocked_is_missed_and_counted(self):
        trace, rows, _ = self.timed(BURNER, "masked", "0.3")
        missed, _ = self.gaps(trace)
        self.assertFalse([row for row in rows if "masked" in functions(row)])
        self.assertGreaterEqual(missed, 0.3 * HZ - 2)

    def test_a_program_that_takes_the_signal_has_it(self):
        trace, rows, _ = self.timed(BURNER, "greedy", "0.3")  # its status says that none came
        texts = [event.fields[-1] for event in trace.events("message")]
        self.assertTrue(any(b"uses the signal" in text for text in texts), texts)
        self.assertTrue(rows)

    def test_a_program_that_gives_the_signal_its_default_lives_on(self):
        _, rows, _ = self.timed(BURNER, "given", "0.3")  # one may wait in a thread that has it blocked
        self.assertTrue(rows)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the code is x86-64's")
    def test_a_stack_that_is_smaller_than_it_was_is_walked_no_further(self):
        _, rows, _ = self.timed(BURNER, "shrunk", "0.3")  # its status says that it ended in order
        self.assertTrue([row for row in rows if "spin_on" in functions(row)])

    @unittest.skipUnless(os.uname().machine == "x86_64", "the code is x86-64's")
    def test_a_thread_that_holds_the_loaders_lock_is_not_waited_for(self):
        trace, rows, _ = self.timed("timeout", "60", BURNER, "listed", "0.3")  # it waits for the one that is sampled
        self.assertTrue([row for row in rows if "listed" in functions(row)])
        self.assertEqual(self.gaps(trace)[1], 0)

    def test_a_small_alternate_stack_has_room_for_whole_samples(self):
        for n_bytes in (1100, 2500, 4400, 6000):  # beside the kernel's frame: of 8 KiB, 4.4 are left with AVX-512
            trace, rows, _ = self.timed(BURNER, "narrow", "0.2", str(n_bytes))
            stacks = [functions(row) for row in rows if "narrow_burn" in functions(row)]
            self.assertTrue(stacks)
            self.assertLessEqual({stack[-1] for stack in stacks}, OUTERMOST)
            self.assertEqual(self.gaps(trace)[1], 0)

    def test_time_with_an_alternate_stack_for_no_signal_is_missed_and_counted(self):
        trace, rows, _ = self.timed(BURNER, "narrow", "0.3", "300")
        self.assertFalse([row for row in rows if "narrow_burn" in functions(row)])
        self.assertGreaterEqual(self.gaps(trace)[0], 0.3 * HZ - 2)

    def test_memory_is_recorded_beside_it(self):
        trace, rows, _ = self.timed(sys.executable, "-S", "-c", "rows = [[i] * 9 for i in range(200000)]; print(len(rows))",
                                    options=("--memory=all", "--python", "off"))
        self.assertTrue(trace.events("block"))
        self.assertTrue(rows)

    def test_no_sample_leaves_timers_out(self):
        path = self.path("t.strobe")
        code, _, err = self.run_it(BURNER, "refuse", harness.STROBE, "record", "--no-sample", "-o", path, "--", BURNER, "split", "0.1")
        self.assertEqual((code, err.count(SAID)), (0, 0))
        self.assertEqual(harness.Judged(path).events("sample"), [])


class Answers(Timers):
    def test_info_says_how_they_were_taken(self):
        trace, rows, err = self.timed(BURNER, "split", "0.2")
        line = next(line for line in self.run_it(harness.STROBE, "info", trace.path)[1].splitlines() if line.startswith("samples"))
        self.assertIn(f"{len(rows):,} at {HZ} per second of CPU time, by timers in the program", line)
        missed, cut = self.gaps(trace)
        self.assertTrue(re.search(rf"{missed:,} periods without a sample, {cut:,} stacks", line), line)
        self.assertIn("stats --stacks", err)

    def test_a_lower_rate_is_as_asked(self):
        trace, rows, _ = self.timed(BURNER, "split", "0.6", options=("--sample", "50"))
        self.assertTrue(28 <= len(rows) + self.gaps(trace)[0] <= 50, len(rows))


if __name__ == "__main__":
    harness.main()
