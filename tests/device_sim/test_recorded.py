#!/usr/bin/env python3
"""test_recorded.py BUILD: a program that runs kernels on a device, under `strobe record`: its cores' zones are in the trace, with their names, on the host's clock, joined to
the launches, and all of them, also where the program is killed."""
import csv
import io
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
ENVIRONMENT = {**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels")}
ROUNDS, CORES = 5, 64
LIMIT_S = 280  # a hang's


def run(*words, **environment):
    """What a command prints."""
    return subprocess.run([STROBE, *words], check=True, capture_output=True, text=True, timeout=LIMIT_S, env={**ENVIRONMENT, **environment}).stdout


def zones(trace):
    """Rows of `strobe csv`."""
    return list(csv.DictReader(io.StringIO(run("csv", trace))))


def program_of(recorder):
    """The pid of the command that a recorder runs."""
    while True:
        children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        for child in children:
            if pathlib.Path(f"/proc/{child}/comm").read_text().startswith("strobe-device"):
                return int(child)
        time.sleep(0.01)


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = os.path.join(cls.folder.name, "whole.strobe")
        run("record", "-q", "-o", cls.trace, "--", PROGRAM, str(ROUNDS))
        cls.rows = zones(cls.trace)
        cls.device = [row for row in cls.rows if row["process"].startswith("Device 0")]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def count(self, name):
        return sum(row["name"] == name for row in self.device)

    def test_has_every_zone_of_every_core_by_its_name(self):
        self.assertEqual(self.count("BRISC-KERNEL"), ROUNDS * CORES)
        self.assertEqual(self.count("NCRISC-KERNEL"), ROUNDS * CORES)
        self.assertEqual(self.count("TRISC-KERNEL"), 3 * ROUNDS * CORES)
        self.assertEqual(self.count("AddTile"), 3 * 4 * ROUNDS * CORES)
        self.assertEqual(len({row["thread"] for row in self.device}), 5 * CORES)
        self.assertEqual({row["state"] for row in self.device}, {"ended"})

    def test_says_that_nothing_is_missing(self):
        info = run("info", self.trace)
        self.assertIn("coverage: 100.00 %", info)
        self.assertIn("0 open at the end, 0 unfinished, 0 ends without a begin", info)
        self.assertNotIn("notes", info)

    def test_finds_kernels_by_a_path_from_the_working_folder(self):
        tree = pathlib.Path(__file__).resolve().parents[2]
        environment = {**ENVIRONMENT, "STROBE_EXAMPLE_KERNELS": "device/kernels"}
        said = subprocess.run([PROGRAM, "1"], cwd=tree / "examples", capture_output=True, text=True, timeout=LIMIT_S, env=environment)
        self.assertEqual((said.returncode, said.stderr), (0, ""))

    def test_finds_kernels_below_the_home_of_tt_metal(self):
        tree = pathlib.Path(__file__).resolve().parents[2]
        environment = {**ENVIRONMENT, "STROBE_EXAMPLE_KERNELS": "device/kernels", "TT_METAL_HOME": str(tree / "examples")}
        said = subprocess.run([PROGRAM, "1"], cwd=self.folder.name, capture_output=True, text=True, timeout=LIMIT_S, env=environment)
        self.assertEqual((said.returncode, said.stderr), (0, ""))

    def limited(self, blocks):
        """Record the example with a limit on the size of the files that it makes: what `info` says."""
        trace = os.path.join(self.folder.name, f"{blocks}.strobe")
        run("record", "-q", "-o", trace, "--", "sh", "-c", f"ulimit -f {blocks}; exec {PROGRAM} 1")
        return run("info", trace)

    def test_a_stream_without_room_is_named_as_missing(self):
        info = self.limited(100)
        self.assertIn("the stream of a device that it opened has no room", info)
        self.assertNotIn("coverage: 100.00 %", info)

    def test_a_stream_with_little_room_is_all_there(self):
        info = self.limited(8000)
        self.assertIn("coverage: 100.00 %", info)
        self.assertIn("Device 0", info)

    def test_joins_each_launch_to_its_kernels(self):
        kinds = dict((name, int(n)) for n, name in re.findall(r"(\d+)  (flow_\w+)", run("info", self.trace).replace(",", "")))
        self.assertEqual(kinds, {"flow_begin": ROUNDS, "flow_end": ROUNDS})

    def test_puts_kernels_between_the_first_launch_and_the_end_of_the_wait(self):
        host = [row for row in self.rows if not row["process"].startswith("Device")]
        first = min(int(row["start_ns"]) for row in host if row["name"] == "EnqueueProgram")
        last = max(int(row["start_ns"]) + int(row["duration_ns"]) for row in host if row["name"] == "Finish")
        self.assertGreaterEqual(min(int(row["start_ns"]) for row in self.device), first)
        self.assertLessEqual(max(int(row["start_ns"]) + int(row["duration_ns"]) for row in self.device), last)

    def test_nests_what_kernels_mark_in_the_kernel(self):
        for row in self.device:
            self.assertEqual(row["depth"], "0" if row["name"].endswith("-KERNEL") else "2" if row["name"].endswith("Tile") else "1", row)

    def test_a_killed_program_leaves_what_its_device_had_sent(self):
        trace = os.path.join(self.folder.name, "killed.strobe")
        recorder = subprocess.Popen([STROBE, "record", "-q", "-o", trace, "--", PROGRAM, "1000000"], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        pid = program_of(recorder)
        while int(re.search(r"zone_begin +(\d+)|(\d+)  zone_begin|$", self.info_while(trace)).group(2) or 0) < 10000:
            self.assertIsNone(recorder.poll())
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        recorder.wait(LIMIT_S)
        info = run("info", trace)
        self.assertIn("coverage: 100.00 %", info)
        self.assertIn("device 0 was not closed: its program, or the recording, ended before", info)
        kernels = sum(row["name"] == "BRISC-KERNEL" and row["state"] == "ended" for row in zones(trace))
        self.assertGreater(kernels, CORES)

    def info_while(self, trace):
        """`strobe info` of a trace that is being made, without commas; "" before there is one."""
        done = subprocess.run([STROBE, "info", trace], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        return done.stdout.replace(",", "")


class Classic(unittest.TestCase):
    """The classic form on the same timeline: what the program reads of its device's buffers reaches the recorder too."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def record(self, rounds, **environment):
        trace = os.path.join(self.folder.name, f"{rounds}.strobe")
        run("record", "-q", "-o", trace, "--", PROGRAM, str(rounds), STROBE_DEVICE_MODE="classic", **environment)
        return run("info", trace), [row for row in zones(trace) if row["process"].startswith("Device 0")]

    def test_has_every_zone_of_every_core_by_its_name(self):
        info, rows = self.record(ROUNDS)
        self.assertIn("coverage: 100.00 %", info)
        self.assertNotIn("notes", info)
        names = [row["name"] for row in rows]
        for name, n in {"BRISC-FW": 1, "NCRISC-FW": 1, "TRISC-FW": 3, "BRISC-KERNEL": 1, "NCRISC-KERNEL": 1, "TRISC-KERNEL": 3, "AddTile": 12}.items():
            self.assertEqual(names.count(name), n * ROUNDS * CORES, name)
        self.assertEqual(len({row["thread"] for row in rows}), 5 * CORES)
        for row in rows:
            depth = "0" if row["name"].endswith("-FW") else "1" if row["name"].endswith("-KERNEL") else "3" if row["name"].endswith("Tile") else "2"
            self.assertEqual(row["depth"], depth, row)
        kinds = dict((name, int(n)) for n, name in re.findall(r"(\d+)  (flow_\w+)", info.replace(",", "")))
        self.assertEqual(kinds, {"flow_begin": ROUNDS, "flow_end": ROUNDS})

    def test_counts_what_found_no_room_and_names_the_count_that_would_have_sufficed(self):
        rounds, words, held = 60, 12 + 2 * 2 * (1 + 4), 43 * 12  # WriteToDRAM with 4 times WriteTile, and the guaranteed; of 43 programs
        info, rows = self.record(rounds, TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT="10")
        self.assertIn("Profiler DRAM buffers were full, markers were dropped! device 0, worker core ", info)
        self.assertIn(f"(TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT={rounds * words // 12} would have sufficed)", info)
        whole = held // words
        guaranteed = min(rounds - whole, (held - whole * words) // 12)
        brisc = [row["name"] for row in rows if row["thread"].endswith("core 0,0 BRISC")]
        self.assertEqual(brisc.count("WriteTile"), 4 * whole)
        self.assertEqual(brisc.count("BRISC-FW"), whole + guaranteed)
        emitted, stored, dropped = (int(n.replace(",", "")) for n in re.search(r"\(([\d,]+) emitted = ([\d,]+) stored \+ ([\d,]+) dropped", info).groups())
        self.assertEqual(emitted, stored + dropped)
        self.assertEqual(dropped + len(rows), rounds * CORES * (5 * 2 + 2 * 5 + 3 * 5))  # every RISC: FW, KERNEL; five zones more each


if __name__ == "__main__":
    unittest.main(verbosity=2)
