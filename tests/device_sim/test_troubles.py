#!/usr/bin/env python3
"""test_troubles.py BUILD: the troubles that documents of tt-metal, tt-torch and IREE list, and those of runs that end badly or run beside each other: each can't
happen, or one message names cause and command. The table that says so is in docs/tt-metal-profiler.md; TROUBLES holds it to these tests."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from options_case import LIMIT_S, LOGS, PROGRAM, STROBE, Case, Run, environment, main, table  # noqa: E402

TWO = f"""
import os, subprocess
for rank, n_ops in (("0", "1"), ("1", "2")):
    subprocess.run([{str(PROGRAM)!r}, "ops", n_ops], env={{**os.environ, "RANK": rank}}, check=True)
"""


def port_8086():
    """Held, by us or by somebody."""
    held = socket.socket()
    try:
        held.bind(("127.0.0.1", 8086))
        held.listen()
    except OSError:
        pass
    return held


class Listed(Case):
    """tt-metal's seven, tt-torch's two, IREE's four."""

    def test_no_profiling_data_could_be_captured(self):
        run = self.tracy("plain", ["-p", "-r"], "ops 1")  # nothing listens, nothing connects
        self.assertEqual((run.code, len(run.ops())), (0, 1))
        folder = self.folder("full")
        (folder / "file").write_text("")
        done = Run(folder, [sys.executable, "-m", "tracy", "-p", "-o", "file/below", PROGRAM, "ops", "1"])
        self.assertEqual(done.code, 1)
        self.assertIn("file/below", done.err)

    def test_host_and_device_are_aligned(self):
        run = self.tracy("plain", ["-p", "-r"], "ops 1")  # without --sync-host-device
        rows = run.trace()
        enqueue, = [row for row in rows if row["name"] == "EnqueueProgram"]
        finish = [row for row in rows if row["name"] == "Finish"][0]
        for row in (row for row in rows if row["process"].startswith("Device")):
            self.assertGreaterEqual(int(row["start_ns"]), int(enqueue["start_ns"]))
            self.assertLessEqual(int(row["start_ns"]) + int(row["duration_ns"]), int(finish["start_ns"]) + int(finish["duration_ns"]))

    def test_device_data_without_host_markers_names_the_command(self):
        run = self.plain("no host", "ops 1", {"TT_METAL_DEVICE_PROFILER": "1"})
        done = subprocess.run([STROBE, "report", run.root], capture_output=True, text=True, env=environment(), timeout=LIMIT_S)
        self.assertIn("has no host logs", done.stderr)
        self.assertIn("python -m tracy -p -r SCRIPT", done.stderr)

    def test_cached_ops_show_their_kernels(self):
        run = self.tracy("three", ["-p", "-r"], "ops 3", app=False)
        self.assertEqual([op["COMPUTE KERNEL SOURCE"] for op in run.ops()], ["['computes.cpp']"] * 3)

    def test_all_steps_are_captured_and_what_is_dropped_is_counted(self):
        many = self.tracy("many", ["-p", "-r"], "ops 1100", app=False)  # more than the 1000 of a classic buffer
        self.assertEqual(len(many.ops()), 1100)
        self.assertTrue(all(op["DEVICE KERNEL DURATION [ns]"] for op in many.ops()))
        cut = self.tracy("cut", ["-p", "-r", "--op-support-count", "50"], "ops 60", {"STROBE_DEVICE_MODE": "classic"}, app=False)
        self.assertIn("Profiler DRAM buffers were full, markers were dropped!", cut.err)
        self.assertRegex(cut.err, r"TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT=\d+ would have sufficed")
        info = subprocess.run([STROBE, "info", cut.logs / "tracy_profile_log_host.strobe"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("coverage: 100.00 %", info)

    def test_debug_printing_and_the_profiler_conflict(self):
        for variable in ("TT_METAL_DPRINT_CORES", "TT_METAL_WATCHER"):
            run = self.tracy(variable, ["-p"], "ops 1", {variable: "1"}, app=False)
            self.assertNotEqual(run.code, 0)
            self.assertIn(f"{variable} is set", run.err)  # by python -m tracy, before the program starts
            self.assertIn("Unset it, or give --no-device", run.err)
            self.assertIn(f"Remedy: unset {variable}", run.err)  # by the device
            self.assertEqual(self.tracy(variable + " off", ["-p", "--no-device"], "ops 1", {variable: "1"}, app=False).code, 0)

    def test_skewed_timers_of_grayskull(self):
        run = self.tracy("grayskull", ["-p"], "ops 1", {"ARCH_NAME": "grayskull"}, app=False)
        self.assertIn("sudo reboot", run.err)
        self.assertNotIn("sudo reboot", self.tracy("plain", ["-p", "-r"], "ops 1").err)

    def test_a_taken_port_and_several_runs_at_once(self):
        with port_8086():
            folder = self.folder("at once")
            started = [subprocess.Popen([sys.executable, "-m", "tracy", "-p", "-r", str(PROGRAM), "ops", str(n), "read", "say"], cwd=folder, env=environment(),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for n in (1, 2)]
            for n, one in enumerate(started):
                self.assertEqual([one.stdout.readline() for _ in range(1)], ["read\n"], n)  # both are at work
            said = [one.communicate("\n" * 2, timeout=LIMIT_S)[1] for one in started]
        self.assertEqual([one.returncode for one in started], [0, 0], said)
        reports = [table(path) for path in (folder / "generated/profiler/reports").rglob("ops_perf_results*.csv") if not path.is_symlink()]
        self.assertEqual(sorted(len(rows) for rows in reports), [1, 2])
        self.assertTrue(all(row["DEVICE KERNEL DURATION [ns]"] for rows in reports for row in rows))

    def test_several_processes_are_one_report(self):
        folder = self.folder("two")
        (folder / "two.py").write_text(TWO)
        run = Run(folder, [sys.executable, "-m", "tracy", "-p", "-r", "--process-columns", "two.py"])
        rows = run.report()
        self.assertEqual([(row["OP CODE"], row["GLOBAL CALL COUNT"], row["RANK"]) for row in rows], [("moves", "1024", "0"), ("moves", "1024", "1"), ("moves", "2048", "1")])
        self.assertEqual(len({row["PROCESS ID"] for row in rows}), 2)
        self.assertTrue(all(row["DEVICE KERNEL DURATION [ns]"] and row["HOST DURATION [ns]"] for row in rows))
        starts = [int(row["HOST START TS"]) for row in rows]
        self.assertEqual(starts, sorted(starts))
        self.assertIn("2 processes in one report", run.out)

    def test_a_missing_binding_says_what_to_do(self):
        tree, folder = pathlib.Path(__file__).resolve().parents[2], self.folder("bare")
        for name in ("strobe", "tracy_client"):  # the package as it would be without its module
            shutil.copytree(tree / "python" / name, folder / name)
        bare = environment(PYTHONPATH=str(folder), STROBE_BIN="")
        done = subprocess.run([sys.executable, "-c", "import tracy_client"], env=bare, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr.splitlines()[-1], r"ImportError: .*(pip install|build|wheel)")
        doctor = subprocess.run([sys.executable, "-m", "strobe", "doctor"], env=environment(), capture_output=True, text=True, timeout=LIMIT_S)
        self.assertIn("python", (doctor.stdout + doctor.stderr).lower())

    def test_short_programs_are_whole_without_tracy_no_exit(self):
        folder = self.folder("short")
        (folder / "short.py").write_text("from tracy import signpost\nsignpost('all of it')\n")
        run = Run(folder, [sys.executable, "-m", "tracy", "-p", "-r", "short.py"])
        self.assertEqual([row["OP CODE"] for row in run.report()], ["all of it"])


class Ends(Case):
    """A program that ends badly, with its device open."""

    def check(self, run, code):
        self.assertEqual(run.code, code, run.err)
        self.assertEqual([bool(op["DEVICE KERNEL DURATION [ns]"]) for op in run.ops()], [True] * 3)
        self.assertFalse(list(run.logs.glob("*.stream")))

    def test_a_crash_leaves_a_report(self):
        self.check(self.tracy("abort", ["-p", "-r"], "ops 3 abort", app=False), 128 + signal.SIGABRT)

    def test_a_kill_leaves_a_report(self):
        self.check(self.tracy("kill", ["-p", "-r"], "ops 3 kill", app=False), 128 + signal.SIGKILL)

    def test_an_exit_with_3_leaves_a_report(self):
        self.check(self.tracy("exit", ["-p", "-r"], "ops 3 exit 3", app=False), 3)

    def test_ctrl_c_leaves_a_report(self):
        folder = self.folder("int")
        process = subprocess.Popen([sys.executable, "-m", "tracy", "-p", "-r", str(PROGRAM), "ops", "3", "stay"], cwd=folder, env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "up\n")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 3)
        report, = [path for path in (folder / "generated/profiler/reports").rglob("ops_perf_results*.csv") if not path.is_symlink()]
        self.assertEqual([bool(op["DEVICE KERNEL DURATION [ns]"]) for op in table(report)], [True] * 3)

    def test_two_processes_of_which_one_is_killed(self):
        folder = self.folder("one killed")
        (folder / "two.py").write_text(TWO.replace('"ops", n_ops]', '"ops", n_ops, *(["kill"] if rank == "0" else [])]').replace(", check=True", ""))
        run = Run(folder, [sys.executable, "-m", "tracy", "-p", "-r", "two.py"])
        self.assertEqual([bool(row["DEVICE KERNEL DURATION [ns]"]) for row in run.report()], [True] * 3)

    def test_nothing_is_left_of_a_stream_that_was_not_needed(self):
        run = self.tracy("whole", ["-p"], "ops 1", app=False)
        self.assertFalse(list((run.folder / LOGS).glob("*.stream")))
        bad = subprocess.run([STROBE, "report", "--device-streams"], capture_output=True, text=True)
        self.assertEqual((bad.returncode, "one folder" in bad.stderr), (2, True))


# Trouble, as the table of docs/tt-metal-profiler.md words it: its test
TROUBLES = {
    "No profiling data could be captured": "no_profiling_data_could_be_captured",
    "host and device not aligned": "host_and_device_are_aligned",
    "only device data, no host markers": "device_data_without_host_markers_names_the_command",
    "cached ops without kernel paths": "cached_ops_show_their_kernels",
    "only one training step captured": "all_steps_are_captured_and_what_is_dropped_is_counted",
    "DPRINT and the profiler": "debug_printing_and_the_profiler_conflict",
    "timer skew on Grayskull": "skewed_timers_of_grayskull",
    "capture timed out, port 8086 taken": "a_taken_port_and_several_runs_at_once",
    "one process only": "several_processes_are_one_report",
    "Failed to import Tracy Python bindings": "a_missing_binding_says_what_to_do",
    "no data of a short program": "short_programs_are_whole_without_tracy_no_exit",
}


class Complete(Case):
    def test_the_table_of_troubles_is_the_one_that_is_tested(self):
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs/tt-metal-profiler.md").read_text()
        part = text[text.index("## Troubles"):]
        listed = re.findall(r"^\| ([^|]+?) \|", part, re.M)[1:]
        self.assertEqual(set(listed[:len(TROUBLES)]), set(TROUBLES))
        for name in TROUBLES.values():
            self.assertTrue(hasattr(Listed, f"test_{name}"), name)


if __name__ == "__main__":
    main()
