"""test_harm.py - the library never harms the program: no limit, no signal and no cancellation makes it end, block or lie."""
import csv
import io
import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import harness

UNNAMED, FILE_SIZE, NO_STATE, ABANDONED, TRACE_SIZE, UNRECORDED = 2, 9, 10, 11, 12, 13
STEPS = platform.machine() == "x86_64"


def file_size(soft, hard=resource.RLIM_INFINITY):
    """What a child does first: it sets its file size limit."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class HarmTest(harness.ProgramTest):
    def check_exact(self, ran, emitted):
        """What was emitted is stored or counted."""
        stored = ran.trace.facts["events"]
        dropped = ran.trace.dropped()
        self.assertEqual(stored + sum(dropped.values()), emitted, (ran.err, dropped))
        return stored, dropped


class FileSize(HarmTest):
    def test_a_program_that_nobody_records_lives_under_any_limit(self):
        for limit in (0, 1, 4095, 4096, 4097, 100000, 1024000):
            code, _, err = self.run_it(self.program("harm"), "emit", "1000", preexec_fn=file_size(limit))
            self.assertEqual(code, 0, (limit, err))
        self.assertEqual(os.listdir(os.path.join(self.sessions, "default")), [])

    def test_a_forked_child_that_may_write_nothing_lives_and_is_named(self):
        ran = self.record(self.program("harm"), "fork", "1000", whole=False)
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual(ran.trace.facts["events"], 2000)
        self.assertEqual(ran.trace.dropped(), {UNRECORDED: 1})
        self.assertEqual([note for note in ran.trace.notes() if "could not take part: its file size" in note][1:], [])
        self.assertIn("1 process could not take part", ran.err)
        self.assertNotIn("100.00 %", ran.err)
        info = json.loads(self.run_it(harness.STROBE, "info", "--json", ran.trace.path)[1])
        self.assertEqual([loss for loss in info["losses"] if loss["first_ns"] < 0], [], "before the recording began")

    def test_a_recorder_with_a_larger_limit_makes_the_room(self):
        ran = self.record("prlimit", "--fsize=4096:4096", self.program("harm"), "emit", "200000", whole=False)
        self.assertEqual(ran.code, 0, ran.err)
        stored, dropped = self.check_exact(ran, 400000)
        self.assertLessEqual(set(dropped), {FILE_SIZE, UNNAMED})    # named when there was no room, lost when there was
        self.assertGreater(stored, 0)

    def test_a_recorder_that_attaches_makes_the_room(self):
        program = self.start(self.program("harm"), "cancel", preexec_fn=file_size(4096, 4096))
        self.assertEqual(program.stdout.readline(), "ready\n")
        recorder, path = self.attach("attached.strobe", "--pid", str(program.pid))
        out, err = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 0, err)
        recorder.communicate(timeout=60)
        trace = self.judge(path)
        self.assertEqual((out, trace.facts["events"], trace.dropped()), ("1001\n", 2002, {}))

    def test_where_nobody_can_make_room_it_is_counted(self):
        path = self.path("limited.strobe")
        code, _, err = self.run_it("prlimit", "--fsize=200000:200000", harness.STROBE, "record", "-o", path,
                                   "--max-memory", "1G", "--",
                                   "prlimit", "--fsize=8192:8192", self.program("harm"), "emit", "20000")
        trace = self.judge(path)
        self.assertEqual(trace.facts["events"], 0, err)
        self.assertEqual(trace.dropped(), {FILE_SIZE: 40000})
        self.assertEqual(code, 0, err)

    def test_samples_that_found_no_room_in_the_trace_are_not_promised(self):
        path = self.path("short.strobe")
        _, _, err = self.run_it("prlimit", "--fsize=102400:102400", harness.STROBE, "record", "--sample", "997", "-o", path, "--",
                                "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
        if "context switches" not in err:
            self.skipTest("the kernel gives no samples here")
        said = re.search(r"(\d+) stack samples?[a-z ]*, (\d+) context switches(.*)", err)
        info = json.loads(self.run_it(harness.STROBE, "info", "--json", path)[1])
        stored = info["kinds"].get("sample", 0), info["kinds"].get("switch_out", 0)
        self.assertEqual((int(said[1]), int(said[2])), stored, err)
        self.assertEqual("stats --stacks" in said[3], stored[0] > 0)

    def test_a_recorder_raises_its_own_soft_limit_and_not_the_commands(self):
        path = self.path("raised.strobe")
        code, out, err = self.run_it(
            "prlimit", "--fsize=271000:unlimited", harness.STROBE, "record", "-o", path, "--", "sh", "-c",
            f"{self.program('harm')} emit 4000000; ulimit -f")
        self.assertEqual(code, 0, err)
        trace = self.judge(path)
        self.assertEqual((trace.facts["events"], trace.dropped()), (8000000, {}))
        self.assertGreater(os.path.getsize(path), 271000)
        self.assertNotIn("unlimited", out)

    def test_a_recorder_at_its_hard_limit_ends_its_file_well(self):
        path = self.path("full.strobe")
        code, _, err = self.run_it("prlimit", "--fsize=300000:300000", harness.STROBE, "record", "-o", path, "--",
                                   self.program("harm"), "emit", "3200000")
        trace = self.judge(path)
        dropped = trace.dropped()
        self.assertEqual(trace.facts["events"] + sum(dropped.values()), 6400000, err)
        self.assertGreater(dropped.get(TRACE_SIZE, 0), 0)
        self.assertLessEqual(set(dropped), {TRACE_SIZE, FILE_SIZE})
        self.assertGreater(trace.facts["events"], 0)
        self.assertLessEqual(os.path.getsize(path), 300000)
        self.assertIn("ulimit -f", err)
        self.assertEqual(code, 1, err)

    def test_the_command_keeps_what_SIGXFSZ_does(self):
        ran = self.record("sh", "-c", "ulimit -f 1; dd if=/dev/zero of=big bs=1024 count=4 2>/dev/null", judge=False)
        self.assertEqual(ran.code, 128 + signal.SIGXFSZ, ran.err)


class NoMemory(HarmTest):
    def test_a_thread_without_state_drops_for_ever_and_lives(self):
        ran = self.record(self.program("harm"), "nomap", "200000", whole=False)
        self.assertEqual(ran.code, 0, ran.err)
        _, dropped = self.check_exact(ran, 2 * int(ran.out))
        self.assertEqual(dropped, {NO_STATE: 400000})

    def test_a_process_without_descriptors_is_recorded(self):
        ran = self.record(self.program("harm"), "exhausted", "1000")
        self.assertEqual((ran.code, ran.trace.facts["events"]), (0, 2000), ran.err)

    def test_processes_that_start_without_descriptors_live_and_are_named(self):
        ran = self.record(self.program("harm"), "nofiles", "1000", whole=False)
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual((ran.trace.facts["events"], ran.trace.dropped()), (2000, {UNRECORDED: 4}))
        self.assertEqual(sum("no file descriptor left" in note for note in ran.trace.notes()), 4)

    def test_the_smallest_stack_is_enough(self):
        ran = self.record(self.program("harm"), "small", "50")
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual(ran.trace.n_zones("harm"), int(ran.out))


class Droughts(HarmTest):
    """Zones that end while there is no room."""

    def drought(self, depth):
        ran = self.record(self.program("harm"), "drought", str(depth), whole=False, options=("--no-sample", "--max-memory", "256K", "--policy", "drop"))
        self.assertEqual(ran.code, 0, ran.err)
        self.check_exact(ran, int(ran.out))
        table = self.run_it(harness.STROBE, "csv", "--kind", "zones", ran.trace.path)[1]
        zones = {}
        for row in csv.DictReader(io.StringIO(table)):
            zones.setdefault(row["name"], []).append((int(row["start_ns"]), int(row["duration_ns"] or 0), int(row["depth"]), row["state"]))
        self.assertEqual({state for rows in zones.values() for _, _, _, state in rows}, {"ended"})
        self.assertEqual({depth for _, _, depth, _ in zones["after"]}, {1}, "what follows lies in the outer zone alone")
        self.assertEqual(sorted(depth for _, _, depth, _ in zones["open"]), list(range(1, depth + 1)))
        return ran, zones

    def test_ends_without_room_come_later_with_their_own_time(self):
        ran, zones = self.drought(20)
        again = sorted(start for start, _, _, _ in zones["after"])[1]
        self.assertLess(max(start + duration for start, duration, _, _ in zones["open"]), again - 50_000_000)
        self.assertNotIn("look longer", " ".join(ran.trace.notes()))

    def test_of_very_many_the_last_come_when_there_is_room_and_that_is_said(self):
        ran, zones = self.drought(100)
        again = sorted(start for start, _, _, _ in zones["after"])[1]
        by_depth = {depth: start + duration for start, duration, depth, _ in zones["open"]}
        # 32 have a place; the one that used the room up may have been an end as well
        self.assertLess(max(by_depth[depth] for depth in range(70, 101)), again - 50_000_000)
        self.assertGreater(min(by_depth[depth] for depth in range(1, 69)), again - 50_000_000)
        self.assertRegex(" ".join(ran.trace.notes()), "6[89] zones ended while there was no room")


class OtherClass(HarmTest):
    """A program of 32 bits."""

    def build(self, name):
        source, path = self.path(f"{name}.c"), self.path(name)
        with open(source, "w", encoding="ascii") as file:
            file.write("int main(void) { return 7; }\n")
        done = subprocess.run(["cc", "-m32", "-o", path, source], stderr=subprocess.DEVNULL, check=False)
        if done.returncode:
            self.skipTest("no compiler for 32 bits")
        return path

    def check_named(self, command):
        ran = self.record(command, whole=False)
        self.assertEqual(ran.code, 7, ran.err)
        self.assertNotIn("ld.so", ran.err)
        self.assertIn("is a program of 32 bits", ran.err)
        self.assertEqual(ran.trace.dropped(), {UNRECORDED: 1})

    @unittest.skipUnless(STEPS, "x86-64 runs programs of 32 bits")
    def test_a_command_of_32_bits_is_named_and_the_loader_says_nothing(self):
        self.check_named(self.build("narrow"))

    @unittest.skipUnless(STEPS, "x86-64 runs programs of 32 bits")
    def test_so_is_a_script_whose_interpreter_has_32_bits(self):
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!{self.build('narrow')}\n")
        os.chmod(script, 0o755)
        self.check_named(script)


class Cancel(HarmTest):
    def test_a_pending_cancel_does_not_act_inside_the_library(self):
        program = self.start(self.program("harm"), "cancel")
        self.assertEqual(program.stdout.readline(), "ready\n")
        recorder, path = self.attach("attached.strobe", "--pid", str(program.pid))
        out, err = program.communicate(timeout=60)
        self.assertEqual((program.returncode, out), (0, "1001\n"), err)
        recorder.communicate(timeout=60)
        self.assertEqual(self.judge(path).facts["events"], 2002)

    def test_threads_cancelled_anywhere_leave_no_lock_behind(self):
        ran = self.record(self.program("harm"), "cancel-any", "100", whole=False)
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual(ran.trace.n_zones("harm"), int(ran.out))
        self.assertLessEqual(set(ran.trace.dropped()), {ABANDONED})


class Jumps(HarmTest):
    @unittest.skipUnless(STEPS, "steps through x86-64 instructions")
    def test_a_jump_out_of_each_instruction_costs_its_event_at_most(self):
        ran = self.record(self.program("harm"), "jump", whole=False, options=("--max-memory", "256M"))
        self.assertEqual(ran.code, 0, ran.err)
        emitted, left, _ = map(int, ran.out.split())
        self.assertGreater(left, 0)
        self.assertEqual(ran.trace.dropped(), {ABANDONED: left})
        self.assertEqual(ran.trace.facts["events"], emitted)

    @unittest.skipUnless(STEPS, "steps through x86-64 instructions")
    def test_an_event_that_was_interrupted_for_long_lands_once(self):
        ran = self.record(self.program("harm"), "stop", options=("--max-memory", "256M"))
        self.assertEqual(ran.code, 0, ran.err)
        emitted, _, pending = map(int, ran.out.split())
        self.assertGreater(pending, 0)
        self.assertEqual(ran.trace.facts["events"], emitted)

    def test_a_jump_out_of_a_wait_for_room_is_counted_off(self):
        ran = self.record(self.program("harm"), "jump-asleep", "20", whole=False, options=("--max-memory", "256K"))
        self.assertEqual((ran.code, ran.out), (0, "0\n"), ran.err)


class Roots(harness.ProgramTest):
    @unittest.skipIf(os.geteuid(), "chroot needs root")
    def test_a_program_in_another_root_hears_nothing_of_libraries_that_are_not_there(self):
        root, tool = self.path("root"), shutil.which("true")
        listed = subprocess.run(["ldd", tool], capture_output=True, text=True, check=True).stdout
        for file in [tool, *re.findall(r"(/\S+) \(0x", listed)]:
            os.makedirs(root + os.path.dirname(file), exist_ok=True)
            shutil.copy(os.path.realpath(file), root + file)
        code, _, err = self.run_it(harness.STROBE, "record", "--memory", "-o", self.path("t.strobe"), "--", "chroot", root, tool)
        self.assertEqual((code, [line for line in err.splitlines() if "ld.so" in line]), (0, []), err)

    @unittest.skipIf(os.geteuid(), "chroot needs root")
    def test_what_the_user_preloads_stays_in_another_root(self):
        libc = "import ctypes, os, sys; c = ctypes.CDLL(None); c.getenv.restype = ctypes.c_char_p; os.chroot(sys.argv[1]); print(c.getenv(b'LD_PRELOAD').decode())"
        mine = next(path for path in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", shutil.which("true")], capture_output=True, text=True, check=True).stdout) if "libc" in path)
        code, out, err = self.run_it(harness.STROBE, "record", "-q", "--python", "off", "-o", self.path("t.strobe"), "--", sys.executable, "-c", libc, self.path("."), env={"LD_PRELOAD": mine})
        self.assertEqual((code, out), (0, mine + "\n"), err)


if __name__ == "__main__":
    harness.main()
