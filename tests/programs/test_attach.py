"""test_attach.py - recorders that come to a running program, leave it, come again; sessions; time and size limits."""
import glob
import os
import signal
import subprocess
import time
import unittest

import harness


def holders(inode):
    """Processes that have a pipe open."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(path) == f"pipe:[{inode}]":
                found.add(int(path.split("/")[2]))
        except OSError:  # it was closed, or is not ours
            pass
    return found


def naps(pid):
    """How often the main thread of a process has slept."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))


class OtherUser(harness.ProgramTest):
    """A process of somebody else."""

    @unittest.skipIf(os.geteuid(), "needs root to be two users")
    def test_who_asks_for_a_process_of_another_user_is_told_what_to_type(self):
        program = self.start("sleep", "60", preexec_fn=lambda: os.setuid(65534))
        code, _, err = self.run_it(harness.STROBE, "record", "--no-sample", "-o", self.path("other.strobe"), "--pid", str(program.pid))
        program.kill()
        program.communicate()
        self.assertEqual(code, 1, err)
        self.assertRegex(err, f"another user .*: sudo -u .* strobe record --pid {program.pid}")


class Attached(harness.ProgramTest):
    def beacon(self, **env):
        """A running beacon."""
        process = self.start(self.program("beacon"), stdin=subprocess.PIPE, env=env)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def finish(self, beacon):
        """End it; how many ticks it emitted."""
        out, _ = beacon.communicate("", timeout=120)
        self.assertEqual(beacon.returncode, 0)
        return int(out)

    def check_names(self, trace):
        """All that the beacon says is known by name."""
        zones = {name for _, name in trace.zones()}
        self.assertLessEqual({"tick", "part", "help", "turn 0", "turn 3"}, zones)
        self.assertEqual(set(trace.threads().values()), {"keeper", "helper"})
        strings = {fields[1] for key, fields in trace.trace.keyed.items() if key[0] == "string"}
        self.assertLessEqual({b"level", b"beat"}, strings)
        names = [fields[0] for key, fields in trace.trace.keyed.items() if key[0] == "program_name"]
        self.assertEqual(names, [b"the beacon"])
        self.assertEqual([proc.exe for proc in trace.procs.values()], [self.program("beacon")])
        self.assertEqual(trace.dropped(), {})

    def wait_for_names(self, path):
        """Until the trace, which is being recorded, has zones of all names."""
        def has_all():
            out = self.run_it(harness.STROBE, "stats", "--csv", path)[1]
            return all(f"\n{name}," in out for name in ("tick", "part", "help", "turn 0", "turn 3"))
        self.wait_for(has_all)

    def test_a_recorder_that_comes_later_shows_zones_as_begun_before(self):
        beacon = self.beacon()
        recorder, path = self.attach("t.strobe", "--pid", str(beacon.pid))
        self.wait_for_names(path)
        self.finish(beacon)
        recorder.communicate(timeout=120)    # it ends with the program
        self.assertEqual(recorder.returncode, 0)
        trace = self.judge(path)
        self.check_names(trace)
        lost = sorted(trace.trace.loc_name(proc, loc) for proc, _, _, _, loc, _ in trace.trace.lost_begins)
        self.assertLessEqual({"inner life", "whole life"}, set(lost))
        self.assertLessEqual(len(lost), 5)  # and what was open on both threads at that moment
        self.assertEqual(trace.facts["unfinished"], 0)
        self.assertEqual([proc.how for proc in trace.procs.values()], [1])
        self.assertIn(3, [what for _, what in trace.trace.recordings])

    def test_every_recorder_gets_all_names(self):
        beacon = self.beacon()
        for number in range(3):
            recorder, path = self.attach(f"{number}.strobe", "--pid", str(beacon.pid), "--for", "0.3s")
            recorder.communicate(timeout=120)
            self.assertEqual(recorder.returncode, 0)
            trace = self.judge(path)
            self.check_names(trace)
            ticks = trace.n_zones("tick")
            self.assertLess(trace.n_zones("turn 0"), ticks)
            self.assertGreater(ticks, 3)
            self.assertLess(ticks, 700)     # none of an earlier recording
            self.assertIn("still running", " ".join(trace.notes()))
        self.finish(beacon)

    def test_zones_begun_under_one_recorder_end_under_the_next(self):
        beacon = self.beacon()
        first, _ = self.attach("1.strobe", "--session", "default", "--for", "0.2s")
        first.communicate(timeout=120)
        second, path = self.attach("2.strobe", "--session", "default")
        self.wait_for_names(path)
        self.finish(beacon)
        code, _, err = self.end(second)
        self.assertEqual(code, 0, err)
        trace = self.judge(path)
        self.check_names(trace)

    def test_a_recorder_that_was_killed_is_followed_by_one_that_gets_all_names(self):
        beacon = self.beacon()
        first, _ = self.attach("1.strobe", "--pid", str(beacon.pid))
        time.sleep(0.2)
        first.kill()
        first.wait()
        second, path = self.attach("2.strobe", "--pid", str(beacon.pid), "--for", "0.3s")
        second.communicate(timeout=120)
        trace = self.judge(path)
        self.check_names(trace)
        self.finish(beacon)

    def test_a_trace_is_mended_while_its_program_runs_on_and_the_program_can_be_recorded_again(self):
        beacon = self.beacon()
        first, path = self.attach("1.strobe", "--pid", str(beacon.pid))
        self.wait_for_names(path)
        first.kill()
        first.wait()
        code, out, err = self.run_it(harness.STROBE, "recover", path)
        self.assertEqual(code, 0, err)
        self.assertIn("its recorder died before the end", out)
        trace = self.judge(path)
        self.check_names(trace)
        self.assertTrue(any("its recorder died" in note for note in trace.notes()), trace.notes())
        self.assertIn("its recorder died", self.run_it(harness.STROBE, "info", path)[1])
        second, path = self.attach("2.strobe", "--pid", str(beacon.pid), "--for", "0.3s")
        second.communicate(timeout=120)
        self.check_names(self.judge(path))
        self.finish(beacon)

    def test_what_a_session_left_is_saved_though_its_traces_name_was_used_again(self):
        beacon = self.beacon()
        first, path = self.attach("1.strobe", "--pid", str(beacon.pid))
        self.wait_for_names(path)
        first.kill()
        first.wait()
        self.finish(beacon)
        self.assertEqual(self.run_it(harness.STROBE, "record", "-o", path, "--", "true")[0], 0)
        code, _, err = self.run_it(harness.STROBE, "recover", "--session", "default")
        self.assertEqual(code, 1)
        self.assertIn("another recording has its name; 'strobe recover --session default -o OUT'", err)
        code, out, err = self.run_it(harness.STROBE, "recover", "--session", "default", "-o", self.path("saved.strobe"))
        self.assertEqual(code, 0, err)
        trace = self.judge(self.path("saved.strobe"))
        self.assertEqual(len(trace.procs), 1)
        self.assertEqual(sum(trace.dropped().values()), 1)

    def test_a_process_without_the_library_gets_a_clear_error(self):
        sleeper = self.start("sleep", "30")
        code, _, err = self.run_it(harness.STROBE, "record", "--pid", str(sleeper.pid))
        self.assertEqual(code, 1)
        self.assertIn("does not have the Strobe library in it", err)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_process_that_is_not_there_gets_a_clear_error(self):
        sleeper = self.start("true")
        sleeper.wait()
        code, _, err = self.run_it(harness.STROBE, "record", "--pid", str(sleeper.pid))
        self.assertEqual(code, 1)
        self.assertIn("there is no process", err)

    def test_a_second_recorder_of_one_session_is_refused(self):
        beacon = self.beacon()
        first, _ = self.attach("1.strobe", "--pid", str(beacon.pid))
        code, _, err = self.run_it(harness.STROBE, "record", "-o", self.path("2.strobe"), "--pid", str(beacon.pid))
        self.assertEqual(code, 1)
        self.assertIn("being recorded by another strobe", err)
        self.finish(beacon)
        first.communicate(timeout=120)
        self.judge(self.path("1.strobe"))

    def test_a_session_records_all_that_join_it_and_nobody_else(self):
        recorder, path = self.attach("t.strobe", "--session", "crew")
        crew = [self.beacon(STROBE_SESSION="crew") for _ in range(3)]
        other = self.beacon()
        time.sleep(0.2)
        ticks = sum(self.finish(beacon) for beacon in crew)
        self.finish(other)
        code, _, err = self.end(recorder)
        self.assertEqual(code, 0, err)
        trace = self.judge(path)
        self.assertEqual(trace.n_zones("tick"), ticks)
        self.assertEqual({proc.pid for proc in trace.procs.values()}, {beacon.pid for beacon in crew})

    def test_for_ends_the_recording_and_not_the_command(self):
        ran = self.record("sh", "-c", f"(sleep 1 | {self.program('beacon')}); exit 7", options=("--for", "0.3s"))
        self.assertEqual(ran.code, 7)
        self.assertIn("ready", ran.out)
        self.assertGreater(int(ran.out.split()[1]), ran.trace.n_zones("tick"))

    def test_a_program_that_outlives_its_recorder_leaves_nothing_behind(self):
        self.record("sh", "-c", f"sleep 0.6 | {self.program('beacon')}", options=("--for", "0.2s"))
        self.wait_for(lambda: not os.listdir(self.sessions), 5)

    def test_nobody_records_and_nothing_stays_behind(self):
        for _ in range(3):
            self.finish(self.beacon())
        self.assertEqual(os.listdir(os.path.join(self.sessions, "default")), [])
        killed = [self.beacon() for _ in range(4)]
        for beacon in killed:
            beacon.kill()
            beacon.wait()
        for _ in range(200):    # sooner or later one that starts sweeps up
            self.run_it(self.program("brief"))
            if not os.listdir(os.path.join(self.sessions, "default")):
                return
        self.fail("pools of killed programs stay in the default session")


class Limits(harness.ProgramTest):
    def test_policy_drop_loses_and_counts(self):
        ran = self.record(self.program("flood"), "3000000", options=("--policy", "drop", "--max-memory", "256K"),
                          whole=False)
        zones, dropped = ran.trace.n_zones("flood"), ran.trace.dropped()
        self.assertEqual(set(dropped) - {0}, set(), dropped)
        self.assertGreater(dropped[0], 0)
        kinds = ran.trace.facts["kinds"]
        self.assertEqual(kinds["63"] + kinds["0"] + dropped[0] + kinds.get("1", 0), 2 * 3000000)
        self.assertGreater(zones, 0)

    def test_max_file_stops_storing_and_counts(self):
        ran = self.record(self.program("names"), "400000", options=("--max-file", "1M"), whole=False)
        self.assertLess(os.path.getsize(ran.trace.path), 5 << 18)
        self.assertEqual(set(ran.trace.dropped()), {4})
        stored = sum(ran.trace.facts["kinds"].values())
        self.assertEqual(stored + ran.trace.dropped()[4], 800000)


class Launched(harness.ProgramTest):
    def check(self, path, n_procs):
        """Wait for the recorder that the program started itself."""
        def is_closed():
            try:
                return harness.Judged(path).trace.closed and not os.listdir(self.sessions)
            except (OSError, ValueError, harness.sf.FormatError):
                return False
        self.wait_for(is_closed, 10)
        trace = self.judge(path)
        self.assertEqual(len(trace.procs), n_procs)
        return trace

    def test_STROBE_TRACE_records_with_no_second_command(self):
        path = self.path("out.strobe")
        started = time.monotonic()
        code, out, err = self.run_it(self.program("names"), "1000", env={"STROBE_TRACE": path})
        took = time.monotonic() - started
        self.assertEqual((code, err), (0, ""))
        trace = self.check(path, 1)
        self.assertEqual(trace.n_zones(), 1000)
        self.assertLess(took, 5)

    def test_STROBE_TRACE_records_children_too(self):
        path = self.path("out.strobe")
        code, _, err = self.run_it(self.program("tree"), "10", env={"STROBE_TRACE": path})
        self.assertEqual((code, err), (0, ""))
        trace = self.check(path, 1 + 8 + 64 + 32)   # forked, then exec'ed: two images
        self.assertEqual(trace.n_zones("leaf"), 640)

    def test_STROBE_TRACE_of_a_killed_program_is_whole(self):
        path = self.path("out.strobe")
        beacon = self.start(self.program("beacon"), stdin=subprocess.PIPE, env={"STROBE_TRACE": path})
        self.assertEqual(beacon.stdout.readline(), "ready\n")
        slept = naps(beacon.pid)    # after each tick
        self.wait_for(lambda: naps(beacon.pid) > slept + 15, 60)
        beacon.kill()
        beacon.wait()
        trace = self.check(path, 1)
        self.assertGreater(trace.n_zones("tick"), 10)
        self.assertEqual(trace.dropped(), {})

    def test_STROBE_TRACE_holds_none_of_the_programs_descriptors(self):
        path = self.path("out.strobe")
        read, write = os.pipe()
        beacon = self.start(self.program("beacon"), stdin=subprocess.PIPE, pass_fds=(write,),
                            env={"STROBE_TRACE": path})
        os.close(write)
        self.assertEqual(beacon.stdout.readline(), "ready\n")
        self.assertEqual(holders(os.fstat(read).st_ino), {os.getpid(), beacon.pid})
        beacon.communicate("", timeout=120)
        self.assertEqual(os.read(read, 1), b"")
        os.close(read)
        self.check(path, 1)

    def test_STROBE_TRACE_without_a_recorder_says_so_and_runs(self):
        code, out, err = self.run_it(self.program("brief"), env={"STROBE_TRACE": "x.strobe", "STROBE_BIN": "/nowhere"})
        self.assertEqual(code, 0)
        self.assertIn("no `strobe` program was found", err)


if __name__ == "__main__":
    harness.main()
