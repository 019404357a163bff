"""test_record.py - what `strobe record` passes through, refuses and tells; clocks, rights, folders, versions."""
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

import harness

NOBODY = 65534


class PassedThrough(harness.ProgramTest):
    def strobe(self, *options, **more):
        """Run `strobe record`: (code, out, err)."""
        return self.run_it(harness.STROBE, "record", "-o", self.path("t.strobe"), *options, **more)

    def test_variables_with_odd_values_are_named_and_not_used(self):
        for variable, values in {"STROBE_SAMPLE": ("-1", "fast", "99999999999", "10hz"), "STROBE_CLOCK": ("tsc", "-1"),
                                 "STROBE_EXIT_WAIT": ("-3", "soon", "99999999999")}.items():
            for value in values:
                code, _, err = self.strobe("--", "true", env={variable: value})
                self.assertEqual(code, 0, err)
                self.assertIn(f"{variable}={value}", err)
                self.assertIn("it wants", err)

    def test_the_exit_code_of_the_command_is_passed_on(self):
        for code in (0, 1, 42, 255):
            self.assertEqual(self.strobe("--", "sh", "-c", f"exit {code}")[0], code)

    def test_a_death_by_signal_is_128_and_its_number(self):
        self.assertEqual(self.strobe("--", "sh", "-c", "kill -KILL $$")[0], 137)
        self.assertEqual(self.strobe("--", "sh", "-c", "kill -TERM $$")[0], 143)

    def test_a_command_that_is_not_there_gives_127_and_a_clear_error(self):
        code, _, err = self.strobe("--", "no-such-program")
        self.assertEqual(code, 127)
        self.assertIn("no-such-program", err)
        self.assertFalse(os.path.exists(self.path("t.strobe")))
        self.assertEqual(os.listdir(self.sessions), [])

    def test_a_command_that_is_no_program_gives_126(self):
        code, _, err = self.strobe("--", self.dir)
        self.assertEqual(code, 126)
        self.assertIn(self.dir, err)

    def test_bad_options_give_2_and_say_why(self):
        for options, word in ((("--policy", "maybe", "--", "true"), "wait or drop"),
                              (("--for", "soon", "--", "true"), "a time like"),
                              (("--max-memory", "1K", "--", "true"), "256K"),
                              (("--max-file", "many", "--", "true"), "1M"),
                              (("--pid", "me"), "number of a process"),
                              (("--nonsense", "--", "true"), "--nonsense"),
                              (("--pid", "1", "--", "true"), "one thing to record"),
                              ((), "one thing to record")):
            code, _, err = self.strobe(*options)
            self.assertEqual((options, code), (options, 2))
            self.assertIn(word, err)

    def test_an_option_that_no_command_has_is_named_with_the_command_and_where_the_options_are(self):
        for command in ("record", "info", "stats", "memory", "locks", "top", "view", "csv", "query", "explain", "mcp", "diff", "merge", "cut",
                        "export", "import", "recover", "sessions", "doctor", "report", "profile", "tracy-bridge", "report --compare"):
            code, out, err = self.run_it(harness.STROBE, *command.split(), "--nonsense")
            self.assertEqual((command, code, out), (command, 2, ""))
            self.assertEqual(err, f"strobe {command}: unrecognized option '--nonsense'\n'strobe {command} --help' shows the options\n")

    def test_what_can_not_be_printed_ends_with_1(self):
        for words in (("--help",), ("--version",), ("doctor",), ("record", "--help"), ("sessions", "--help"), ("query", "--tables")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                process = self.start(harness.STROBE, *words, stdout=full)
                err = process.communicate(timeout=60)[1]
            self.assertEqual((words, process.returncode), (words, 1))
            if words != ("doctor",):  # which may end with 1 for what it found
                self.assertIn("strobe: writing to stdout", err)

    def test_a_name_that_no_session_can_have_is_told_as_such(self):
        for name in ("a/b", ".hidden", "x" * 61):
            code, _, err = self.strobe("--session", name)
            self.assertEqual(code, 1)
            self.assertIn(f"'{name}' can't be a session's name", err)

    def test_a_recorder_that_gets_no_thread_names_the_limits_that_may_be_why(self):
        for kib in (30000, 60000):
            code, _, err = self.strobe("--no-sample", "--", "true",
                                       preexec_fn=lambda n=kib: resource.setrlimit(resource.RLIMIT_AS, (n << 10, n << 10)))
            self.assertNotEqual(code, 0)
            self.assertTrue("ulimit -v" in err or "out of memory" in err, err)

    def test_a_folder_that_is_not_there_is_told_before_the_command_runs(self):
        code, _, err = self.run_it(harness.STROBE, "record", "-o", self.path("no/t.strobe"), "--", "touch",
                                   self.path("ran"))
        self.assertNotEqual(code, 0)
        self.assertIn("no/t.strobe", err)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertEqual(os.listdir(self.sessions), [])

    def test_stdin_and_stdout_are_the_commands(self):
        process = self.start(harness.STROBE, "record", "-q", "-o", self.path("t.strobe"), "--", "cat",
                             stdin=subprocess.PIPE)
        out, err = process.communicate("line\n" * 1000, timeout=120)
        self.assertEqual((out, err), ("line\n" * 1000, ""))

    def check_signal(self, number, trap):
        """A signal to strobe reaches the command, whose end is strobe's."""
        process = self.start(harness.STROBE, "record", "-q", "-o", self.path("t.strobe"), "--", "sh", "-c",
                             f"trap 'echo got it; exit 9' {trap}; echo ready; while :; do sleep 0.05; done")
        self.assertEqual(process.stdout.readline(), "ready\n")
        code, out, _ = self.end(process, number)
        self.assertEqual((code, out), (9, "got it\n"))
        self.judge(self.path("t.strobe"))

    def test_SIGTERM_reaches_the_command(self):
        self.check_signal(signal.SIGTERM, "TERM")

    def test_SIGINT_to_strobe_alone_reaches_the_command(self):
        self.check_signal(signal.SIGINT, "INT")

    def test_SIGUSR1_and_SIGUSR2_reach_the_command(self):
        self.check_signal(signal.SIGUSR1, "USR1")
        self.check_signal(signal.SIGUSR2, "USR2")

    def test_what_was_ignored_stays_ignored(self):
        script = "import signal, sys; sys.exit(signal.getsignal(signal.SIGHUP) != signal.SIG_IGN)"
        code, _, err = self.run_it("sh", "-c", f"trap '' HUP; exec {harness.STROBE} record -q -o {self.path('t.strobe')}"
                                   f" -- {sys.executable} -c '{script}'")
        self.assertEqual(code, 0, err)

    def test_a_command_without_the_library_is_told_how_to_begin(self):
        code, _, err = self.strobe("--", "true")
        self.assertEqual(code, 0)
        self.assertIn("strobe", err)
        self.assertEqual(len(self.judge(self.path("t.strobe")).procs), 0)

    def test_ctrl_c_while_the_viewer_stays_is_for_the_viewer(self):
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.env.pop(name, None)  # no browser
        ours, its = os.openpty()  # on a terminal it stays when the recording has ended
        self.addCleanup(os.close, ours)
        with open(self.path("said"), "w") as said:
            recorder = self.start(harness.STROBE, "record", "--live", "-o", self.path("t.strobe"), "--", "sh", "-c",
                                  "read x; exit 3", stdin=subprocess.PIPE, stdout=its, stderr=said)
        os.close(its)
        self.assertIn(b"http", os.read(ours, 1000))  # the viewer runs
        with open(f"/proc/{recorder.pid}/task/{recorder.pid}/children") as file:
            viewer = int(file.read().split()[0])
        recorder.stdin.close()
        self.wait_for(lambda: "strobe: next:" in open(self.path("said")).read(), 60)  # the recorder's last word
        recorder.send_signal(signal.SIGINT)
        os.kill(viewer, signal.SIGTERM)
        self.assertEqual(recorder.wait(timeout=60), 3)
        recorder.stdin = None  # it is closed


class OtherFiles(harness.ProgramTest):
    """What is at the place of the trace already."""

    def touch_recorded(self, path, *options):
        return self.run_it(harness.STROBE, "record", "-q", "-o", path, *options, "--", "touch", self.path("ran"))

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_a_file_that_is_no_trace_is_never_replaced(self):
        path = self.write("test_it.py", b"def test_it(): pass\n")
        for options in ((), ("--live",), ("--tracy-bridge",), ("--flight", "1s")):
            code, _, err = self.touch_recorded(path, *options)
            self.assertEqual((options, code), (options, 2))
            self.assertIn(f"{path} exists and is no Strobe trace; remove it or choose another name", err)
            self.assertEqual(self.read(path), b"def test_it(): pass\n")
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_trace_and_an_empty_file_are_replaced(self):
        path = self.write("t.strobe", b"")
        for _ in range(2):
            self.assertEqual(self.touch_recorded(path)[0], 0)
            self.judge(path)

    def test_a_program_that_records_itself_replaces_no_other_file(self):
        path = self.write("notes.txt", b"notes\n")
        code, _, err = self.run_it(self.program("flood"), "1000", env={"STROBE_TRACE": path})
        self.assertEqual((code, self.read(path)), (0, b"notes\n"))
        self.assertIn("is no Strobe trace", err)

    def test_pipes_and_devices_are_refused_and_stay(self):
        os.mkfifo(self.path("pipe"))
        places = [self.path("pipe")]
        if os.geteuid() == 0:
            os.mknod(self.path("null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            places.append(self.path("null"))
        for path in places:
            code, _, err = self.touch_recorded(path)
            self.assertEqual(code, 2)
            self.assertIn("no regular file", err)
            self.assertTrue(os.path.exists(path))

    def test_recovering_a_copy_replaces_no_other_file(self):
        trace, notes = self.path("t.strobe"), self.write("notes.txt", b"notes\n")
        self.touch_recorded(trace)
        code, _, err = self.run_it(harness.STROBE, "recover", trace, "-o", notes)
        self.assertEqual((code, self.read(notes)), (2, b"notes\n"))
        self.assertIn("is no Strobe trace", err)

    def test_what_went_from_the_session_into_a_copy_is_missed_in_the_original(self):
        trace, copy = self.path("t.strobe"), self.path("copy.strobe")
        self.run_it(harness.STROBE, "record", "-o", trace, "--", "sh", "-c", f"kill -STOP $PPID; {self.program('flood')} 2000; kill -9 $PPID")
        self.run_it(harness.STROBE, "recover", trace, "-o", copy)
        self.assertEqual(self.judge(copy).facts["events"], 4000)
        self.run_it(harness.STROBE, "recover", trace)
        original = self.judge(trace)
        self.assertEqual(original.facts["events"], 0)
        self.assertTrue(original.dropped())


class Nesting(harness.ProgramTest):
    def test_unbalanced_ends_are_told_as_such(self):
        facts = self.record(self.program("nesting"), "zones").trace.facts
        self.assertEqual((facts["unfinished"], facts["lost_begin"], facts["open"]), (1, 2, 0))
        self.assertEqual({row["name"]: row["count"] for row in facts["zones"]}, {"a": 1, "c": 1})

    def test_overlapping_spans_cross_threads(self):
        trace = self.record(self.program("nesting"), "spans").trace
        begins, ends = trace.events("span_begin"), trace.events("span_end")
        self.assertEqual([event.fields[0] for event in begins], [1, 2, 3])
        self.assertEqual([event.fields[0] for event in ends if event.track == begins[0].track], [1, 9])
        self.assertEqual([event.fields[0] for event in ends if event.track != begins[0].track], [2])
        names = [trace.trace.loc_name(event.proc, event.fields[1]) for event in begins]
        self.assertEqual(names, ["first", "second", "never ended"])

    def test_flows_are_kept_inside_and_outside_of_zones(self):
        trace = self.record(self.program("nesting"), "flows").trace
        flows = [[event.fields[0] for event in trace.events(kind)] for kind in ("flow_begin", "flow_step", "flow_end")]
        self.assertEqual(flows, [[7], [7], [7, 8]])

    def test_a_fiber_goes_on_on_another_thread(self):
        trace = self.record(self.program("nesting"), "fibers").trace
        zones = {trace.trace.loc_name(zone.proc, zone.loc): zone for zone in type(trace.trace)(trace.path).zones()}
        self.assertEqual({name: (zone.state, zone.depth, bool(zone.fiber)) for name, zone in zones.items()},
                         {"journey": ("ended", 0, True), "stage": ("ended", 1, True),
                          "main's own": ("ended", 0, False), "thread's own": ("ended", 0, False)})
        self.assertEqual(zones["journey"].extras, ((4, b"arrived"),))

    def test_zones_open_at_exit_are_told_as_such(self):
        facts = self.record(self.program("nesting"), "open").trace.facts
        self.assertEqual([(zone["name"], zone["depth"]) for zone in facts["open_zones"]], [("outer", 0), ("inner", 1)])
        self.assertEqual({row["name"] for row in facts["zones"]}, {"done"})


class Texts(harness.ProgramTest):
    def test_texts_of_any_length_and_bytes_come_whole(self):
        trace = self.record(self.program("texts")).trace
        whole = bytes(65 + i % 23 for i in range(1 << 20))
        sizes = [0, 1, 719, 720, 721, 65535, 65536, 65537, 1 << 20]
        messages = [event.fields[2] for event in trace.events("message")]
        self.assertEqual([len(text) for text in messages[:9]], sizes)
        self.assertTrue(all(whole.startswith(text) for text in messages[:9]))
        self.assertEqual(messages[9], b"\xff\xfe valid \xc3\x28 \0 after")
        self.assertEqual(messages[10], whole[:5000])
        self.assertEqual([event.fields[0] for event in trace.events("zone_text")], messages[:9])
        self.assertEqual(trace.n_zones(whole[:5000].decode()), 1)
        self.assertEqual(trace.events("zone_name")[0].fields[0], whole[1:5001])
        strings = [fields[1] for key, fields in trace.trace.keyed.items() if key[0] == "string"]
        self.assertEqual(strings, [whole[:5000]])
        self.assertEqual(list(trace.threads().values()), [whole[:5000].decode()])

    def test_what_is_left_of_a_dropped_text_is_not_put_before_the_next(self):
        ran = self.record(self.program("texts"), "tight", whole=False,
                          options=("--policy", "drop", "--max-memory", "256K"))
        messages = [event.fields[2] for event in ran.trace.events("message")]
        for text in messages:
            self.assertTrue(text.startswith(b"short ") or len(set(text)) <= 1, text[:40] + b"..." + text[-40:])
        self.assertGreater(ran.trace.dropped()[0], 0)


class Clocks(harness.ProgramTest):
    def check_nap(self, trace):
        """50 ms around ten of 2 ms."""
        rows = {row["name"]: row for row in trace.facts["zones"]}
        self.assertGreater(rows["nap"]["total_ns"], 50e6)
        self.assertLess(rows["nap"]["total_ns"], 2e9)
        self.assertEqual(rows["doze"]["count"], 10)
        self.assertGreater(rows["doze"]["min_ns"], 2e6 - 1e4)
        begin, end = (trace.trace.tick_ns(tick) for tick, _ in trace.trace.recordings)
        self.assertLessEqual(end - begin, 5e9)
        self.assertGreaterEqual(end - begin, 50e6)

    def test_without_a_trusted_counter_CLOCK_MONOTONIC_is_used_and_told(self):
        before = time.monotonic_ns()
        trace = self.record(self.program("nap"), env={"STROBE_CLOCK": "mono"}).trace
        self.check_nap(trace)
        self.assertEqual({sync[0] for sync in trace.trace.syncs}, {2})
        self.assertEqual(trace.facts["mult"], 1 << 32)
        for zone in type(trace.trace)(trace.path).zones():
            self.assertTrue(before < zone.begin < time.monotonic_ns())
        _, out, _ = self.run_it(harness.STROBE, "info", trace.path)
        self.assertIn("CLOCK_MONOTONIC", out)

    def test_with_a_trusted_counter_times_are_right_too(self):
        self.check_nap(self.record(self.program("nap")).trace)

    def test_a_program_with_another_clock_is_refused_in_words(self):
        trace = self.record("sh", "-c", f"STROBE_CLOCK=mono {self.program('nap')}; {self.program('nap')}").trace
        if {sync[0] for sync in trace.trace.syncs} == {2}:
            self.skipTest("this machine has no trusted counter")
        self.assertEqual(len(trace.procs), 1)
        self.assertIn("it reads CLOCK_MONOTONIC", " ".join(trace.notes()))

    def test_a_recorder_takes_the_clock_of_whom_it_attaches_to(self):
        beacon = self.start(self.program("beacon"), stdin=subprocess.PIPE, env={"STROBE_CLOCK": "mono"})
        self.assertEqual(beacon.stdout.readline(), "ready\n")
        recorder, path = self.attach("t.strobe", "--pid", str(beacon.pid), "--for", "0.2s")
        recorder.communicate(timeout=120)
        trace = self.judge(path)
        self.assertEqual({sync[0] for sync in trace.trace.syncs}, {2})
        self.assertGreater(trace.n_zones("tick"), 10)
        beacon.communicate("", timeout=120)


class Rights(harness.ProgramTest):
    def test_STROBE_DISABLE_runs_unrecorded(self):
        ran = self.record(self.program("flood"), "1000", env={"STROBE_DISABLE": "1"})
        self.assertEqual((ran.code, len(ran.trace.procs), ran.trace.facts["events"]), (0, 0, 0))

    def raised_folder(self):
        """A folder in which a program can be given rights; it goes with the test."""
        if os.geteuid():
            self.skipTest("needs root to make a set-user-id program")
        folder = tempfile.mkdtemp(prefix="strobe-test-", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            self.skipTest("no set-user-id programs here")
        os.chmod(folder, 0o755)
        return folder

    def raised(self, folder, name):
        path = shutil.copy(self.program(name), os.path.join(folder, "raised"))
        os.chown(path, 12345, 12345)
        os.chmod(path, 0o4755)
        return path

    def test_a_program_with_raised_rights_runs_unchanged_and_is_named_as_unrecorded(self):
        folder = self.raised_folder()
        os.makedirs(os.path.join(folder, "out"))
        os.chown(os.path.join(folder, "out"), NOBODY, NOBODY)
        strobe = shutil.copy(harness.STROBE, folder)
        plain = shutil.copy(self.program("flood_static"), os.path.join(folder, "plain"))
        for program, n_procs in ((plain, 1), (self.raised(folder, "flood_static"), 0)):
            trace = os.path.join(folder, "out", "t.strobe")
            code, _, err = self.run_it(strobe, "record", "-o", trace, "--", program, "100", user=NOBODY,
                                       group=NOBODY, extra_groups=[], cwd="/",
                                       env={"STROBE_DIR": os.path.join(folder, "out", "sessions")})
            self.assertEqual(code, 0, err)
            judged = self.judge(trace)
            self.assertEqual((program, len(judged.procs)), (program, n_procs))
            self.assertEqual(judged.facts["events"], 200 * n_procs)
            self.assertEqual(sum(judged.dropped().values()), 1 - n_procs)
            self.assertEqual("is not recorded: it runs with rights of its own" in err, not n_procs, err)

    def test_a_child_with_raised_rights_is_named(self):
        program, said = self.raised(self.raised_folder(), "beacon"), self.path("said")
        with open(said, "wb") as out:
            process = self.start(harness.STROBE, "record", "-q", "-o", self.path("t.strobe"), "--", "sh", "-c", f"{program}; true",
                                 stdin=subprocess.PIPE, stderr=out)
            if process.stdout.readline() != "ready\n":
                self.skipTest("another user can't load the library here")
            self.wait_for(lambda: "rights of its own" in open(said, encoding="utf-8").read())
        process.communicate()
        self.assertRegex(open(said, encoding="utf-8").read(), r"raised \(pid \d+\) is not recorded: it runs with rights of its own")
        self.assertEqual(sum(self.judge(self.path("t.strobe")).dropped().values()), 1)


class Folders(harness.ProgramTest):
    def refuse(self):
        """`record` refuses, and the program runs unrecorded all the same."""
        code, _, err = self.run_it(harness.STROBE, "record", "-o", self.path("t.strobe"), "--", "true")
        self.assertEqual(code, 1)
        self.assertIn("session's folder", err)
        self.assertFalse(os.path.exists(self.path("t.strobe")))
        self.assertEqual(self.run_it(self.program("flood"), "1000"), (0, "", ""))

    def test_a_session_folder_of_another_user_is_refused(self):
        if os.geteuid():
            self.skipTest("needs root to give a folder away")
        os.mkdir(self.sessions, 0o700)
        os.chown(self.sessions, NOBODY, NOBODY)
        self.refuse()
        self.assertEqual(os.listdir(self.sessions), [])

    def test_a_session_folder_that_is_a_link_is_refused(self):
        os.mkdir(self.path("real"), 0o700)
        os.symlink(self.path("real"), self.sessions)
        self.refuse()
        self.assertEqual(os.listdir(self.path("real")), [])

    def test_a_session_folder_that_others_may_write_to_is_refused(self):
        os.mkdir(self.sessions)
        os.chmod(self.sessions, 0o777)
        self.refuse()

    def test_a_link_in_place_of_the_sessions_page_is_not_followed(self):
        os.makedirs(os.path.join(self.sessions, "trap"), 0o700)
        with open(self.path("victim"), "w", encoding="ascii") as file:
            file.write("precious")
        os.chmod(self.sessions, 0o700)
        os.symlink(self.path("victim"), os.path.join(self.sessions, "trap", "session"))
        code, _, _ = self.run_it(harness.STROBE, "record", "-o", self.path("t.strobe"), "--session", "trap", "--for",
                                 "0.1s")
        self.assertEqual(code, 1)
        with open(self.path("victim"), encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_a_runtime_folder_that_is_not_there_is_passed_over(self):
        del self.env["STROBE_DIR"]
        for folder in (self.path("missing"), harness.STROBE):
            ran = self.record(self.program("flood"), "1000", env={"XDG_RUNTIME_DIR": folder})
            self.assertEqual((ran.code, ran.trace.n_zones("flood")), (0, 1000), ran.err)
        self.env["XDG_RUNTIME_DIR"] = self.dir
        self.assertEqual(self.record(self.program("flood"), "1000").trace.n_zones("flood"), 1000)
        self.assertEqual(os.listdir(self.path("strobe")), [])

    def test_attaching_finds_a_program_with_another_environment(self):
        beacon = self.start(self.program("beacon"), stdin=subprocess.PIPE)
        self.assertEqual(beacon.stdout.readline(), "ready\n")
        path = self.path("t.strobe")
        code, _, err = self.run_it(harness.STROBE, "record", "-o", path, "--pid", str(beacon.pid), "--for", "0.2s",
                                   env={"STROBE_DIR": self.path("elsewhere")})
        self.assertEqual(code, 0, err)
        self.assertGreater(self.judge(path).n_zones("tick"), 10)
        beacon.communicate("", timeout=120)


class Versions(harness.ProgramTest):
    STAND_IN = """
import os, struct, sys, time
folder = os.path.join(os.environ["STROBE_DIR"], os.environ["STROBE_SESSION"])
n = 256
offset = (4096 + 16 * n + 4095) // 4096 * 4096
page = struct.pack("<QIIQIIQQII", 0x434f525042525453, int(sys.argv[1]), os.getpid(), 1, n, 1, offset, 0, 0, 0)
with open(os.path.join(folder, f"{os.getpid()}-1-0.pool"), "xb", opener=lambda p, f: os.open(p, f, 0o600)) as file:
    file.truncate(offset + 65536 * n)
    file.write(page)
time.sleep(0.3)
"""

    def check(self, version, words):
        """A client of that layout is refused in words; others are recorded."""
        with open(self.path("stand_in.py"), "w", encoding="ascii") as file:
            file.write(self.STAND_IN)
        trace = self.record("sh", "-c", f"{sys.executable} {self.path('stand_in.py')} {version}; "
                            f"{self.program('flood')} 1000").trace
        self.assertEqual(trace.n_zones("flood"), 1000)
        notes = [note for note in trace.notes() if "not recorded" in note]
        self.assertEqual(len(notes), 1, trace.notes())
        self.assertIn(words, notes[0])

    def layout(self):
        """STROBE_RING_VERSION of this tree."""
        path = os.path.join(harness.HERE, os.pardir, os.pardir, "src", "wire", "ring_layout.h")
        with open(path, encoding="utf-8") as file:
            return next(int(line.split()[2]) for line in file if line.startswith("#define STROBE_RING_VERSION"))

    def test_a_newer_client_is_refused_in_words(self):
        self.check(self.layout() + 1, "newer than this recorder")

    def test_an_older_client_is_refused_in_words(self):
        self.check(0, "of another layout")

    def test_a_client_does_not_record_for_a_session_of_another_version(self):
        recorder, path = self.attach("t.strobe", "--session", "other")
        page = os.path.join(self.sessions, "other", "session")
        with open(page, "r+b") as file:
            file.seek(8)
            file.write(struct.pack("<I", self.layout() + 1))
        self.assertEqual(self.run_it(self.program("flood"), "1000", env={"STROBE_SESSION": "other"})[0], 0)
        self.end(recorder)
        self.assertEqual(self.judge(path).facts["events"], 0)


if __name__ == "__main__":
    harness.main()
