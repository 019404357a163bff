"""test_sample.py - stack samples and context switches of programs that know nothing of Strobe, judged by the second reader.

    python3 test_sample.py STROBE PROGRAMS [unittest arguments]

STROBE_BURNER is the program with a known split of its time (burner.c)."""
import bisect
import collections
import csv
import io
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs"))
import harness  # noqa: E402
import kernel  # noqa: E402

BURNER = os.environ.get("STROBE_BURNER", "burner")
NOBODY = 65534
DEAD = 108  # the reason of a thread's last switch
STACK_CUT, STACK_SHORT, SWITCHES_OFF, REASONS_FULL = 18, 19, 21, 22
NO_EVENTS = {16, 17, STACK_CUT, STACK_SHORT, SWITCHES_OFF, REASONS_FULL}  # and 16: on a machine that is busy with other things


def functions(row):
    """Names of a sample's frames, the innermost first; inlined ones apart."""
    return [name for frame in row["frames"].split(";") for name in frame.split(" (")[0].split(" < ")]


class SampleTest(harness.ProgramTest):
    def setUp(self):
        super().setUp()
        self.env.pop("STROBE_SAMPLE", None)

    def rows(self, path, kind="samples"):
        """A table of a trace, as dictionaries."""
        code, out, err = self.run_it(harness.STROBE, "csv", "--kind", kind, path)
        self.assertEqual((code, err), (0, ""))
        return list(csv.DictReader(io.StringIO(out)))

    def sampled(self, *command, options=(), **more):
        """Record a command: (what the second reader says, its samples)."""
        ran = self.record(*command, options=options, whole=False, **more)
        self.assertFalse(set(ran.trace.dropped()) - NO_EVENTS, ran.err)
        if "no stack samples" in ran.err or "refuses perf events" in ran.err:
            self.skipTest("the kernel gives no samples here")
        return ran, self.rows(ran.trace.path)


class Programs(SampleTest):
    def test_time_is_found_where_a_program_without_marks_spends_it(self):
        _, rows = self.sampled(BURNER, "split", "1")
        shares = collections.Counter(next((f for f in functions(row) if f in ("half", "third", "fifth")), "") for row in rows)
        self.assertGreater(len(rows), 700)
        for name, share in (("half", 0.5), ("third", 0.3), ("fifth", 0.2)):
            self.assertAlmostEqual(shares[name] / len(rows), share, delta=0.06)  # over 3 standard errors

    @unittest.skipUnless(shutil.which("nm"), "binutils know how long a function is")
    def test_the_code_of_hot_functions_is_in_the_trace_as_it_is_in_the_file(self):
        ran, rows = self.sampled(BURNER, "split", "0.3")
        self.assertGreater(sum(functions(row)[0] == "burn" for row in rows), 20)
        size = next(int(line.split()[1], 16) for line in subprocess.run(["nm", "-S", BURNER], capture_output=True, text=True, check=True).stdout.splitlines() if line.endswith(" burn"))
        code = [record.fields for record in ran.trace.trace.records if record.name == "code"]
        start = next(record.fields[3] for record in ran.trace.trace.records if record.name == "symbol" and record.fields[4] == b"burn")
        pieces = [fields for fields in code if fields[0] == start]
        self.assertEqual([fields[1:3] for fields in pieces], [[0, size]])
        with open(BURNER, "rb") as file:
            self.assertIn(pieces[0][3], file.read())
        self.assertLessEqual(sum(len(fields[3]) for fields in code), 128 << 10)

    def test_statistics_of_a_program_without_zones_name_those_of_its_samples(self):
        ran, _ = self.sampled(BURNER, "split", "0.02")
        printed = subprocess.run([harness.STROBE, "stats", ran.trace.path], capture_output=True, text=True, check=True).stdout
        self.assertIn("no zones; functions by stack samples: strobe stats --stacks\n", printed)

    def test_stacks_reach_the_start_of_their_thread(self):
        ran, rows = self.sampled(BURNER, "split", "0.4", "2")
        self.assertEqual(len({row["tid"] for row in rows}), 2)
        ends = {functions(row)[-1] for row in rows if "burn" in functions(row)}
        self.assertLessEqual(ends, {"_start", "__clone3", "clone3", "clone", "__clone"})
        self.assertFalse({STACK_CUT, STACK_SHORT} & set(ran.trace.dropped()))

    def test_samples_of_an_image_that_is_being_loaded_have_no_frames_of_the_one_before(self):
        _, rows = self.sampled(BURNER, "split", "0.02", options=("--sample", "19997"))
        loading = [functions(row) for row in rows if row["frames"].rpartition(";")[2].startswith("entry_SYSCALL") and "execve" in row["frames"]]
        if os.geteuid() == 0:
            self.assertTrue(loading)  # the kernel works for longer than a period
        self.assertFalse([row["frames"] for row in rows if functions(row)[-1].startswith("0x")])

    def test_the_system_call_that_makes_a_thread_has_its_callers(self):
        for rounds in (1000, 5000, 25000):  # how many of them a sample meets is the machine's affair
            _, rows = self.sampled(BURNER, "births", str(rounds), options=("--sample", "9997"))
            parents = [functions(row) for row in rows if row["tid"] == row["pid"] and "births" in functions(row)]
            makers = [stack for stack in parents if any("clone" in name and "sys" not in name for name in stack)]
            if len(makers) > 10 or os.geteuid():
                break
        if os.geteuid() == 0:
            self.assertGreater(len(makers), 10)
        self.assertEqual({stack[-1] for stack in makers} - {"_start"}, set())

    def test_every_turn_on_a_processor_has_an_end(self):
        ran, _ = self.sampled(BURNER, "births", "50")
        turns = collections.defaultdict(list)
        for row in self.rows(ran.trace.path, "switches"):
            turns[row["tid"]].append((row["what"], row["reason"]))
        self.assertEqual(len(turns), 51)
        for tid, rows in turns.items():
            whats = [what for what, _ in rows]
            self.assertEqual(whats, ["switch_in", "switch_out"] * (len(whats) // 2), tid)
            self.assertEqual(rows[-1][1], str(DEAD))

    def test_a_signal_handler_is_above_what_it_interrupted(self):
        _, rows = self.sampled(BURNER, "signal", "0.3")
        stack = next(functions(row) for row in rows if "handle" in functions(row))
        self.assertLess(stack.index("handle"), stack.index("interrupted"))
        self.assertLess(stack.index("interrupted"), stack.index("main"))

    def test_a_stack_deeper_than_its_copy_is_joined_to_the_one_before(self):
        ran, rows = self.sampled(BURNER, "deep", "0.6", "60")  # 60 frames of 512 bytes and more: 32 KiB
        deepest = max(rows, key=lambda row: functions(row).count("deep"))
        self.assertEqual(functions(deepest).count("deep"), 61)
        self.assertEqual(functions(deepest)[-1], "_start")

    def test_a_library_that_is_loaded_later_has_names(self):
        _, rows = self.sampled(BURNER, "loaded", "0.3")
        rows = [row for row in rows if "loaded" in functions(row) and "libm.so" in row["frames"]]
        self.assertGreater(len(rows), 50)
        self.assertIn("pow", " ".join(name for row in rows for name in functions(row)))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the code is x86-64's")
    def test_code_that_is_made_at_run_time_has_the_names_of_its_map(self):
        ran, rows = self.sampled(BURNER, "jit", "0.4")
        for name in {f"/tmp/perf-{row['pid']}.map" for row in rows}:
            os.unlink(name)
        stacks = [functions(row) for row in rows if "made at run time" in functions(row)]
        self.assertGreater(len(stacks), 150)
        # no table describes the code: a sample between its push and the frame that this begins, or behind the frame, has no caller, and counts as cut
        whole = [stack for stack in stacks if "jit" in stack and "main" in stack]
        self.assertGreater(len(whole), 0.97 * len(stacks))
        self.assertEqual(ran.trace.dropped().get(STACK_CUT, 0), len(stacks) - len(whole))
        self.assertNotIn("another one", {name for row in rows for name in functions(row)})
        self.assertNotIn(STACK_SHORT, ran.trace.dropped())

    @unittest.skipUnless(os.uname().machine == "x86_64", "the code is x86-64's")
    def test_code_that_is_made_at_run_time_has_the_names_of_its_dump(self):
        _, rows = self.sampled(BURNER, "jitdump", "0.4")
        stacks = [functions(row) for row in rows if "dumped at run time" in functions(row)]
        self.assertGreater(len(stacks), 150)
        self.assertGreater(sum("jitdump" in stack and "main" in stack for stack in stacks), 0.97 * len(stacks))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the code is x86-64's")
    def test_a_forked_child_has_the_names_of_its_parents_dump(self):
        _, rows = self.sampled(BURNER, "jitdump", "0.4", "fork")
        stacks = [functions(row) for row in rows if "jitdump" in functions(row)]
        self.assertGreater(len(stacks), 150)
        self.assertGreater(sum("dumped at run time" in stack for stack in stacks), 0.97 * len(stacks))

    def test_children_and_what_they_execute_are_sampled(self):
        _, rows = self.sampled("sh", "-c", f"{BURNER} split 0.2; sh -c 'exec {BURNER} library 0.2'; true")
        self.assertEqual({row["process"] for row in rows} & {"burner"}, {"burner"})
        of_pid = collections.defaultdict(set)
        for row in rows:
            of_pid[row["process"], row["pid"]].update(functions(row))
        self.assertEqual(sum("half" in names for names in of_pid.values()), 1)
        self.assertEqual(sum("calls" in names for names in of_pid.values()), 1)

    def test_names_are_in_the_trace_when_the_program_is_gone(self):
        program = self.path("gone")
        shutil.copy(BURNER, program)
        ran, before = self.sampled(program, "split", "0.2")
        os.unlink(program)
        after = self.rows(ran.trace.path)
        self.assertIn("half", {name for row in after for name in functions(row)})
        self.assertEqual([row["frames"] for row in before], [row["frames"] for row in after])

    def test_a_program_that_was_deleted_while_it_ran_is_unwound(self):
        if os.geteuid():
            self.skipTest("root alone reaches deleted files by their mapping")
        program = self.path("gone")
        shutil.copy(BURNER, program)
        _, rows = self.sampled("sh", "-c", f"'{program}' split 0.4 & sleep 0.05; rm '{program}'; wait")
        stacks = [functions(row) for row in rows if "half" in functions(row)]
        self.assertGreater(len(stacks), 20)

    def test_switches_of_a_thread_come_in_turns(self):
        ran, _ = self.sampled(BURNER, "switches", "200")
        turns = collections.defaultdict(list)
        for row in self.rows(ran.trace.path, "switches"):
            turns[row["tid"]].append(row["what"])
        self.assertGreaterEqual(sum(map(len, turns.values())), 400)
        for row in turns.values():
            self.assertTrue(all(a != b for a, b in zip(row, row[1:])))

    def test_too_many_switches_are_turned_off_and_told(self):
        ran, _ = self.sampled("taskset", "-c", "0", BURNER, "switches", "60000")
        if SWITCHES_OFF not in ran.trace.dropped():
            self.skipTest("this machine has no 20,000 switches a second and processor")
        self.assertIn("context switches", ran.err)

    def test_a_thread_is_one_track_with_its_marks(self):
        ran, rows = self.sampled(self.program("flood"), "200000")
        zones = {(row["pid"], row["tid"]) for row in self.rows(ran.trace.path, "zones")}
        self.assertTrue(zones)
        for row in rows:
            if row["process"] == "flood":
                self.assertIn((row["pid"], row["tid"]), zones | {(row["pid"], row["pid"])})

    def asked(self, path, question):
        """The first row of a query's answer."""
        code, out, err = self.run_it(harness.STROBE, "query", "--format", "csv", path, question)
        self.assertEqual(code, 0, err)
        return [int(value) for value in out.splitlines()[1].split(",")]

    def test_sql_and_csv_have_a_thread_with_both_once(self):
        ran, rows = self.sampled(os.path.join(os.path.dirname(BURNER), "marked"), "12000")
        path = ran.trace.path
        self.assertEqual(self.asked(path, "SELECT (SELECT count(*) FROM process), (SELECT count(*) FROM thread), (SELECT count(*) FROM track WHERE kind = 'thread')"), [1, 1, 1])
        zoned = "track_id IN (SELECT track_id FROM zone)"
        self.assertEqual(self.asked(path, f"SELECT count(*) FROM sample WHERE {zoned}"), [len(rows)])
        self.assertEqual(self.asked(path, "SELECT count(*) FROM sample s JOIN thread t ON t.id = s.track_id JOIN process p ON p.id = t.process_id"), [len(rows)])
        self.assertEqual(self.asked(path, f"SELECT count(*) FROM switch WHERE NOT {zoned}"), [0])
        self.assertEqual(self.asked(path, "SELECT count(*) FROM sched WHERE thread_id NOT IN (SELECT track_id FROM zone) OR process_id NOT IN (SELECT process_id FROM zone)"), [0])
        self.assertEqual(self.asked(path, "SELECT count(*) FROM sample s JOIN thread t ON t.id = s.track_id WHERE s.ts NOT BETWEEN t.start_ts AND t.end_ts"), [0])
        self.assertEqual([len(self.rows(path, kind)) for kind in ("processes", "threads")], [1, 1])
        self.assertNotEqual(self.rows(path, "processes")[0]["parent_pid"], "0")

    def test_a_process_counts_once_whatever_it_executes(self):
        ran, _ = self.sampled("sh", "-c", "for i in 1 2 3; do /bin/true; done; exec /bin/true")
        images, pids = self.asked(ran.trace.path, "SELECT count(*), count(DISTINCT pid) FROM process")
        self.assertEqual(pids, 4)
        self.assertGreater(images, pids)
        code, out, _ = self.run_it(harness.STROBE, "info", ran.trace.path)
        self.assertEqual(code, 0)
        self.assertIn(f"processes  4, threads 4; {images - pids} more images by exec\n", out)
        self.assertIn(" 4 processes, 4 threads\n", ran.err)

    def test_the_last_lines_have_its_thread_and_no_function_without_a_sample(self):
        for command in (("/bin/true",), (BURNER, "split", "0.02"), (self.program("flood"), "0")):  # the last has a client that emits nothing
            ran, _ = self.sampled(*command)
            self.assertIn(" 1 process, 1 thread\n", ran.err)
            self.assertIn("processes  1, threads 1\n", self.run_it(harness.STROBE, "info", ran.trace.path)[1])
            self.assertNotIn("           0 x  ", ran.err)

    @unittest.skipIf(os.geteuid(), "a PID namespace needs root")
    def test_a_process_of_another_pid_namespace_counts_once_however_short_it_is(self):
        for _ in range(3):  # the sampler asks for its number inside before it is gone, or not
            ran, _ = self.sampled("unshare", "-pf", "--mount-proc", self.program("brief"))
            listed = [line.split()[0] for line in self.run_it(harness.STROBE, "info", ran.trace.path)[1].splitlines() if "  pid " in line]
            self.assertEqual(listed.count("brief"), 1, listed)

    def test_samples_lie_in_the_zones_that_they_were_taken_in(self):
        ran, rows = self.sampled(os.path.join(os.path.dirname(BURNER), "marked"), "12000", options=("--sample", "1999"))
        zones = sorted((int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"]))
                       for row in self.rows(ran.trace.path, "zones"))
        starts = [zone[0] for zone in zones]
        error = max(record.fields[-2] for record in ran.trace.trace.records if record.name == "sampled") + 2
        seen = collections.Counter()
        for row in rows:
            at, names = int(row["time_ns"]), functions(row)
            i = bisect.bisect_right(starts, at + error) - 1
            is_in = i >= 0 and at <= zones[i][1] + error
            if "inside" in names:
                self.assertTrue(is_in, f"{at} is in no zone")
            elif "outside" in names:
                self.assertFalse(i >= 0 and zones[i][0] + error < at < zones[i][1] - error, f"{at} is in a zone")
            seen.update(set(names) & {"inside", "outside"})
        self.assertGreater(min(seen["inside"], seen["outside"]), 50)

    def test_no_sample_leaves_all_of_it_out(self):
        for options, env in ((("--no-sample",), {}), ((), {"STROBE_SAMPLE": "0"})):
            ran = self.record(BURNER, "split", "0.1", options=options, env=env)
            self.assertEqual(ran.trace.events("sample") + ran.trace.events("switch_in"), [])

    def test_the_rate_is_as_asked(self):
        _, few = self.sampled(BURNER, "split", "0.5", options=("--sample", "97"))
        _, many = self.sampled(BURNER, "split", "0.5", options=("--sample", "1999"))
        self.assertGreater(len(many), 5 * len(few))


class Calls(SampleTest):
    def test_as_root_system_calls_are_zones_with_their_results(self):
        if os.geteuid():
            self.skipTest("the kernel's tracepoints are root's")
        if not kernel.tracing_answers():
            self.skipTest("the kernel's tracing does not answer")
        script = "import os, time; r, w = os.pipe()\nfor i in range(30): os.write(w, b'four'); os.read(r, 4)\ntime.sleep(0.05)\ntry: os.rmdir('/none')\nexcept OSError: pass"
        ran, _ = self.sampled(sys.executable, "-S", "-c", script, options=("--syscalls", "--python", "off"))
        zones = [row for row in self.rows(ran.trace.path, "zones") if row["file"] == "[system call]"]
        if 16 in ran.trace.dropped():
            self.skipTest("the kernel's buffer was full")
        of = collections.defaultdict(list)
        for row in zones:
            of[row["name"]].append(row)
        self.assertEqual(sum(row["value"] == "4" for row in of["write"]), 30)
        self.assertGreaterEqual(sum(row["value"] == "4" for row in of["read"]), 30)
        self.assertGreaterEqual(max(int(row["duration_ns"]) for row in of["clock_nanosleep"]), 50_000_000)
        self.assertEqual([row["text"] for row in of["rmdir"]], ["ENOENT"])
        self.assertEqual({row["depth"] for row in zones}, {"0"})
        self.assertFalse(of["exit_group"])

    def test_without_root_system_calls_are_said_to_be_missing(self):
        if os.geteuid():
            self.skipTest("only root can become another user")
        os.chmod(self.dir, 0o777)
        ran, _ = self.sampled("true", options=("--syscalls",), user=NOBODY, group=NOBODY, extra_groups=[], env={"HOME": "/", "STROBE_DIR": self.path("own")})
        self.assertIn("--syscalls", ran.err)

    def test_calls_lie_in_the_programs_own_zones(self):
        if os.geteuid():
            self.skipTest("the kernel's tracepoints are root's")
        if not kernel.tracing_answers():
            self.skipTest("the kernel's tracing does not answer")
        ran, _ = self.sampled(self.program("nap"), options=("--syscalls",))
        zones = self.rows(ran.trace.path, "zones")
        calls = [row for row in zones if row["file"] == "[system call]"]
        self.assertTrue({row["tid"] for row in calls} & {row["tid"] for row in zones if row["file"] != "[system call]"})
        self.assertTrue(any(int(row["depth"]) > 0 for row in calls))


LOCK, SLEEP, DATA, CHILD = 129, 130, 133, 135  # docs/file-format.md, kind 29


class Waits(SampleTest):
    def reasons(self, path, name):
        """How often a thread of this name left its processor, by reason, preemptions not counted."""
        rows = [row for row in self.rows(path, "switches") if row["thread"] == name and row["what"] == "switch_out"]
        return collections.Counter(int(row["reason"]) for row in rows if row["reason"] != "32")

    def test_as_root_each_wait_has_its_reason(self):
        if os.geteuid():
            self.skipTest("the kernel's tracepoints are root's")
        if not kernel.tracing_answers():
            self.skipTest("the kernel's tracing does not answer")
        ran, _ = self.sampled(BURNER, "waits", "50", options=("--waits",))
        for name, reason, least in (("sleeper", SLEEP, 50), ("reader", DATA, 25), ("locker", LOCK, 20)):
            found = self.reasons(ran.trace.path, name)
            self.assertGreaterEqual(found[reason], least, (name, found))
            self.assertFalse(found[0], (name, found))

    def check_wakeups(self, ran, rows):
        """Every wait that ended has its wake-up, or is counted."""
        ended = collections.Counter()
        waits = set()
        for row in self.rows(ran.trace.path, "switches"):
            if row["what"] == "switch_out" and row["reason"] != "32":
                waits.add(row["tid"])
            elif row["what"] == "switch_in" and row["tid"] in waits:
                waits.remove(row["tid"])
                ended[row["tid"]] += 1
        woken = collections.Counter(row["tid"] for row in rows)
        missing = sum((ended - woken).values())
        if set(ran.trace.dropped()) & {16, SWITCHES_OFF}:  # then a switch may be missing, too
            return
        self.assertFalse(woken - ended - collections.Counter(waits), (ended, woken))
        self.assertLessEqual(missing, ran.trace.dropped().get(REASONS_FULL, 0), (ended, woken))

    def test_as_root_a_thread_is_woken_by_whom_it_waited_for(self):
        if os.geteuid():
            self.skipTest("the kernel's tracepoints are root's")
        if not kernel.tracing_answers():
            self.skipTest("the kernel's tracing does not answer")
        ran, _ = self.sampled(BURNER, "waits", "50", options=("--waits",))
        rows = self.rows(ran.trace.path, "wakeups")
        self.assertTrue(rows)
        self.check_wakeups(ran, rows)
        main = rows[0]["pid"]
        self.assertLessEqual({row["by"] for row in rows if row["thread"] == "reader"}, {main, "0"})
        woken = collections.Counter(row["by"] for row in rows if row["thread"] == "locker")
        if sum(woken.values()) > 20:  # who has the lock wakes, or a timer does; main a lock of the kernel's, now and then
            self.assertLess(woken[main], sum(woken.values()) / 4, woken)

    def test_for_others_long_waits_have_the_reason_that_proc_says(self):
        if os.geteuid():
            self.skipTest("only root can become another user")
        os.chmod(self.dir, 0o777)
        ran, _ = self.sampled("sh", "-c", "sleep 0.7; true", user=NOBODY, group=NOBODY, extra_groups=[],
                              env={"HOME": "/", "STROBE_DIR": self.path("own")})
        rows = self.rows(ran.trace.path, "switches")
        reasons = {int(row["reason"]) for row in rows if row["what"] == "switch_in"}
        self.assertEqual(reasons & {SLEEP, CHILD}, {SLEEP, CHILD}, rows)
        self.assertFalse({int(row["reason"]) for row in rows if row["what"] == "switch_out"} - {0, 32, DEAD})


class Answers(SampleTest):
    def test_stats_stacks_and_folded_stacks_count_the_same_samples(self):
        ran, rows = self.sampled(BURNER, "split", "0.4")
        path = ran.trace.path
        table = list(csv.DictReader(io.StringIO(self.run_it(harness.STROBE, "stats", "--stacks", "--csv", path)[1])))
        by_name = {row["function"]: (int(row["self"]), int(row["total"])) for row in table}
        self.assertEqual(sum(own for own, _ in by_name.values()), len(rows))
        self.assertEqual(by_name["burn"][0], sum(functions(row)[0] == "burn" for row in rows))
        self.assertEqual(by_name["half"][1], sum("half" in functions(row) for row in rows))
        self.assertEqual([int(row["self"]) for row in table], sorted((int(row["self"]) for row in table), reverse=True))
        code, out, _ = self.run_it(harness.STROBE, "export", "--to", "folded", "-o", "-", path)
        folded = [line.rsplit(" ", 1) for line in out.splitlines()]
        self.assertEqual((code, sum(int(n) for _, n in folded)), (0, len(rows)))
        self.assertEqual(sum(int(n) for stack, n in folded if ";half;" in stack), by_name["half"][1])
        self.assertTrue(all(stack.startswith("burner;") for stack, _ in folded))

    def test_info_has_a_line_of_samples(self):
        ran, rows = self.sampled(BURNER, "split", "0.2")
        out = self.run_it(harness.STROBE, "info", ran.trace.path)[1]
        line = next(line for line in out.splitlines() if line.startswith("samples"))
        self.assertIn(f"{len(rows):,} at 997", line)
        self.assertIn("processes  1, threads 1", out)

    def test_a_trace_without_samples_is_told(self):
        ran = self.record(BURNER, "split", "0.01", options=("--no-sample",))
        for command in (("stats", "--stacks"), ("export", "--to", "folded", "-o", "-")):
            code, _, err = self.run_it(harness.STROBE, *command, ran.trace.path)
            self.assertEqual(code, 0)
            self.assertIn("no stack samples", err)

    def test_a_flight_recording_has_samples(self):
        path = self.path("f.strobe")
        code, _, err = self.run_it(harness.STROBE, "record", "--flight", "30s", "-o", path, "--", "sh", "-c",
                                   f"{BURNER} split 0.3; kill -SEGV $$")
        self.assertEqual(code, 139, err)
        kept = [name for name in os.listdir(self.dir) if name.endswith(".strobe")]
        self.assertEqual(len(kept), 1, err)
        self.assertIn("half", {name for row in self.rows(self.path(kept[0])) for name in functions(row)})


class Rights(SampleTest):
    def test_an_ordinary_user_has_samples_without_the_kernel(self):
        if os.geteuid():
            self.skipTest("only root can become another user")
        os.chmod(self.dir, 0o777)
        ran, rows = self.sampled(BURNER, "split", "0.3", user=NOBODY, group=NOBODY, extra_groups=[],
                                 env={"HOME": "/", "STROBE_DIR": self.path("own")})
        self.assertIn("half", {name for row in rows for name in functions(row)})
        sampled = [record.fields for record in ran.trace.trace.records if record.name == "sampled"]
        self.assertTrue(sampled and all(fields[-1] == 0 for fields in sampled))

    def test_a_refusal_is_told_once_and_the_recording_goes_on(self):
        process = self.start(self.program("steady"), self.path("pages"), "1", "1000", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        path = self.path("t.strobe")
        code, _, err = self.run_it(BURNER, "refuse", harness.STROBE, "record", "-o", path, "--for", "1s", "--pid", str(process.pid))
        self.assertEqual(code, 0, err)
        self.assertEqual(err.count("no stack samples"), 1)
        self.assertIn("perf_event_paranoid", err)


class Attached(SampleTest):
    def sample_pid(self, process, *options):
        """`strobe record --pid`: what it said."""
        code, _, err = self.run_it(harness.STROBE, "record", "-o", self.path("t.strobe"), *options, "--pid", str(process.pid))
        if "does not have" in err or "no stack samples" in err:
            self.skipTest("the kernel gives no samples here")
        self.assertEqual(code, 0, err)
        return err

    def test_all_threads_of_a_running_program_are_sampled(self):
        process = self.start(BURNER, "split", "30", "4")
        self.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 4)
        self.sample_pid(process, "--for", "1s")
        self.assertIsNone(process.poll())
        rows = self.rows(self.path("t.strobe"))
        self.assertEqual({row["tid"] for row in rows}, set(os.listdir(f"/proc/{process.pid}/task")))
        self.assertIn("half", {name for row in rows for name in functions(row)})

    def test_threads_that_are_made_later_are_sampled_and_the_end_is_seen(self):
        process = self.start(BURNER, "birth", "0.4")
        self.wait_for(lambda: os.path.exists(f"/proc/{process.pid}/task"))
        self.sample_pid(process)
        process.wait(60)
        self.assertGreater(len({row["tid"] for row in self.rows(self.path("t.strobe"), "switches")}), 1)

    def test_a_process_that_is_not_there_is_told(self):
        code, _, err = self.run_it(harness.STROBE, "record", "-o", self.path("t.strobe"), "--pid", "4194303")
        self.assertNotEqual(code, 0)
        self.assertIn("no process", err)


class Deaths(SampleTest):
    def test_what_was_sampled_survives_the_death_of_the_recorder(self):
        path = self.path("t.strobe")
        recorder = self.start(harness.STROBE, "record", "-o", path, "--", BURNER, "split", "30")

        def has_samples():
            return os.path.exists(path) and len(self.run_it(harness.STROBE, "csv", "--kind", "samples", path)[1]) > 5000
        self.wait_for(has_samples)
        burner = int(subprocess.run(["pgrep", "-P", str(recorder.pid)], capture_output=True, text=True).stdout.split()[0])
        recorder.kill()
        recorder.wait()
        os.kill(burner, signal.SIGKILL)
        self.assertIn("half", {name for row in self.rows(path) for name in functions(row)})
        code, _, err = self.run_it(harness.STROBE, "recover", path)
        self.assertEqual(code, 0, err)
        self.assertIn("half", {name for row in self.rows(path) for name in functions(row)})

    def test_what_was_sampled_survives_the_death_of_the_program(self):
        code, _, _ = self.run_it(harness.STROBE, "record", "-o", self.path("t.strobe"), "--", "sh", "-c",
                                 f"{BURNER} split 30 & sleep 0.5; kill -KILL $!; kill -KILL $$")
        self.assertEqual(code, 137)
        self.assertIn("half", {name for row in self.rows(self.path("t.strobe")) for name in functions(row)})


if __name__ == "__main__":
    harness.main()
