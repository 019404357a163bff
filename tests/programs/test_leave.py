"""test_leave.py - a recorder that leaves a running program: nothing that passed the gate is missing,
and who stood still is named."""
import json
import os
import subprocess

import harness

UNHEARD = 14
ROUNDS = int(os.environ.get("STROBE_LEAVE_ROUNDS", "20"))


class Steady:
    """The program and its counts."""

    def __init__(self, test, n_threads, pause_us="0"):
        self.path, self.n = test.path(f"counts-{n_threads}"), n_threads
        self.process = test.start(test.program("steady"), self.path, str(n_threads), pause_us, stdin=subprocess.PIPE)
        test.addCleanup(self.end)
        assert self.process.stdout.readline() == "ready\n"

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def rows(self):
        """(rounds, stored, dropped, tid) of each thread."""
        with open(self.path, "rb") as file:
            words = memoryview(file.read()).cast("Q")
        return [tuple(words[8 * i:8 * i + 4]) for i in range(self.n)]

    def settled(self, test):
        """(stored, dropped) so far, when each thread has gone round once more: all is counted."""
        before = self.rows()
        test.wait_for(lambda: all(now[0] > then[0] + 1 for now, then in zip(self.rows(), before)), 60)
        rows = self.rows()
        return sum(row[1] for row in rows), sum(row[2] for row in rows)


    def settled_when_there(self, test):
        """The same of a program that is just being started: what it has stored."""
        test.wait_for(lambda: os.path.exists(self.path) and len(self.rows_there()) == self.n, 60)
        return self.settled(test)[0]

    def rows_there(self):
        """Rows of threads that run by now."""
        return [row for row in self.rows() if row[3]] if os.path.getsize(self.path) >= 64 * self.n else []


class Leave(harness.ProgramTest):
    def info(self, path):
        """What the trace holds; millions of events are too many for the second reader."""
        code, out, err = self.run_it(harness.STROBE, "info", "--json", path)
        self.assertEqual(code, 0, err)
        facts = json.loads(out)
        facts["begins"] = facts["kinds"].get("zone_begin", 0)
        facts["unheard"] = [loss["count"] for loss in facts["losses"] if loss["cause"] == UNHEARD]
        return facts

    def record_for(self, name, *options):
        path = self.path(name)
        code, _, err = self.run_it(harness.STROBE, "record", "-o", path, *options)
        self.assertEqual(code, 0, err)
        facts = self.info(path)
        os.unlink(path)
        return facts, err

    def test_a_program_that_never_pauses_does_not_keep_its_recorder(self):
        n_zones = 8000000       # many times what a pool holds: the program waits for the recorder
        facts, _ = self.record_for("t.strobe", "--for", "0.5s", "--", self.program("flood"), str(n_zones))
        self.assertLess(facts["begins"], n_zones // 2)

    def test_all_that_passed_the_gate_is_stored_or_dropped(self):
        steady = Steady(self, 16)
        before = steady.settled(self)
        for number in range(ROUNDS):
            facts, err = self.record_for("t.strobe", "--pid", str(steady.process.pid), "--for", "20ms")
            after = steady.settled(self)
            self.assertNotIn("stood still", err)
            self.assertEqual(facts["begins"], after[0] - before[0], f"round {number}: {facts['losses']}")
            before = after

    def test_what_is_dropped_under_one_recorder_is_not_counted_by_the_next(self):
        steady = Steady(self, 4)
        before = steady.settled(self)
        for _ in range(3):
            facts, _ = self.record_for("t.strobe", "--pid", str(steady.process.pid), "--for", "20ms", "--policy", "drop")
            after = steady.settled(self)
            self.assertEqual(facts["begins"], after[0] - before[0])
            tried = sum(after) - sum(before)
            # each has an end; those that were open at either end of the recording may have it or not
            self.assertLessEqual(abs(facts["stored"] + facts["dropped"] - 2 * tried), 2 * steady.n, facts["losses"])
            before = after

    def start_daemon(self, *options):
        """A recorder of a command that leaves a daemon in a session of its own; (recorder, the daemon's counts, what ends it)."""
        path, (read, write) = self.path("counts"), os.pipe()
        command = f"setsid {self.program('steady')} {path} 4 <&{read} >/dev/null 2>&1 & while ! test -s {path}; do :; done"
        recorder = self.start(harness.STROBE, "record", *options, "-o", self.path("t.strobe"), "--", "sh", "-c", command,
                              pass_fds=(read,), stdout=subprocess.DEVNULL)
        os.close(read)
        steady = Steady.__new__(Steady)
        steady.path, steady.n = path, 4
        return recorder, steady, write

    def test_a_daemon_that_outlives_the_command_is_named_and_stored_whole_up_to_then(self):
        recorder, steady, write = self.start_daemon()
        self.addCleanup(os.close, write)    # ends the daemon
        _, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, err)
        facts = self.info(self.path("t.strobe"))
        self.assertEqual(facts["begins"], steady.settled(self)[0])
        self.assertRegex(err, r"steady \(pid \d+\) was still running when the recording ended with its command; --all")
        self.assertIn("was still running when the recording ended", str(facts["notes"]))

    def test_a_process_that_had_not_joined_when_the_command_ended_is_named(self):
        read, write = os.pipe()
        self.addCleanup(os.close, write)
        recorder = self.start(harness.STROBE, "record", "-o", self.path("t.strobe"), "--", "sh", "-c", f"setsid cat <&{read} >/dev/null 2>&1 &",
                              pass_fds=(read,), stdout=subprocess.DEVNULL)
        os.close(read)
        _, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, err)
        self.assertRegex(err, r"\(pid \d+\) was still running when the recording ended with its command, and had not joined it")
        self.assertRegex(str(self.info(self.path("t.strobe"))["notes"]), r"process \d+ \(.*\) was still running when the recording ended, and had not joined it")

    def test_all_records_until_the_last_process_of_the_command_has_ended(self):
        recorder, steady, write = self.start_daemon("--all")
        before = steady.settled_when_there(self)
        self.wait_for(lambda: sum(row[1] for row in steady.rows()) > before + 20000, 60)
        self.assertIsNone(recorder.poll())
        os.close(write)
        _, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, err)
        self.assertEqual(self.info(self.path("t.strobe"))["begins"], sum(row[1] for row in steady.rows()))
        self.assertNotIn("still running", err)

    def test_ctrl_c_ends_a_recording_with_nothing_missing(self):
        steady = Steady(self, 16)
        before = steady.settled(self)
        recorder, path = self.attach("t.strobe", "--pid", str(steady.process.pid))
        self.wait_for(lambda: sum(row[1] for row in steady.rows()) > before[0] + 100000, 60)
        code, _, err = self.end(recorder)
        self.assertEqual(code, 0, err)
        after = steady.settled(self)
        self.assertEqual(self.info(path)["begins"], after[0] - before[0])

    def test_a_thousand_threads_are_heard(self):
        steady = Steady(self, 1000, "20000")
        facts, err = self.record_for("t.strobe", "--pid", str(steady.process.pid), "--for", "50ms")
        after = steady.settled(self)
        self.assertEqual(facts["unheard"], [])
        self.assertEqual(facts["begins"], after[0])

    def test_a_thread_that_is_stopped_in_the_midst_of_an_emit_is_named(self):
        steady = Steady(self, 2, "100")
        recorder, path = self.attach("t.strobe", "--pid", str(steady.process.pid))
        self.wait_for(lambda: all(row[1] for row in steady.rows()), 60)
        tid = steady.rows()[0][3]
        stopper = self.start(self.program("stopper"), str(tid), steady.path, "0", stdin=subprocess.PIPE)
        said = stopper.stdout.readline()
        if said.startswith("no ptrace"):
            self.end(recorder)
            self.skipTest("ptrace is not allowed here")
        self.assertEqual(said, "stopped\n")
        code, _, err = self.end(recorder)
        stopper.communicate("", timeout=120)
        self.assertEqual(code, 0, err)
        self.assertIn(f"thread {tid} (steady) of process {steady.process.pid} stood still", err)
        self.assertNotIn("coverage 100.00 %", err)
        self.judge(path)
        facts = self.info(path)
        self.assertEqual(facts["unheard"], [1])
        self.assertIn(f"thread {tid} (steady) stood still", str(facts["notes"]))
        self.assertEqual(facts["begins"] + 1, steady.settled(self)[0])    # the very one


if __name__ == "__main__":
    harness.main()
