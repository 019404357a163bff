#!/usr/bin/env python3
"""test_run_files.py BUILD: the files that a program with a device leaves, in both forms, and what `strobe report` makes of them."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
STROBE, PROGRAM = BUILD / "bin" / "strobe", BUILD / "bin" / "strobe-device-add"
ROUNDS, CORES = 4, 64
LIMIT_S = 280  # a hang's


def rows_of(path, skip=0):
    with open(path, newline="", encoding="utf8") as lines:
        for _ in range(skip):
            next(lines)
        return list(csv.DictReader(lines, skipinitialspace=True))


class Run(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.logs = self.folder / "generated" / "profiler" / ".logs"

    def run_program(self, *command, **variables):
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("TT_METAL")}, "STROBE_SIM_DEVICES": "1", **variables}
        return subprocess.run([*command, PROGRAM, str(ROUNDS)], cwd=self.folder, env=environment, check=True, capture_output=True, text=True, timeout=LIMIT_S)

    def report(self):
        out = subprocess.run([STROBE, "report", self.logs.parent, "--no-date", "--json", "--strict", "-o", self.folder / "out"], check=True, capture_output=True, text=True, timeout=LIMIT_S)
        return rows_of(json.loads(out.stdout)["report"])

    def whole_run(self, **variables):
        """Every op is in the log, in the report per op, and in `strobe report`."""
        self.run_program(TT_METAL_PROFILER_CPP_POST_PROCESS="1", **variables)
        log = rows_of(self.logs / "profile_log_device.csv", 1)
        starts = [row["zone name"] for row in log if row["type"] == "ZONE_START"]
        for name, n in {"BRISC-FW": 1, "TRISC-FW": 3, "BRISC-KERNEL": 1, "NCRISC-KERNEL": 1, "TRISC-KERNEL": 3, "AddTile": 12}.items():
            self.assertEqual(starts.count(name), n * ROUNDS * CORES, name)
        self.assertEqual(len(starts) * 2, len(log))
        self.assertEqual({row["run host ID"] for row in log}, {"1024"})
        for ops in (rows_of(self.logs / "cpp_device_perf_report.csv"), self.report()):
            self.assertEqual(len(ops), ROUNDS)
            for op in ops:
                self.assertEqual(op["CORE COUNT"] if "CORE COUNT" in op else str(CORES), str(CORES))
                self.assertGreater(int(op["DEVICE KERNEL DURATION [ns]"]), 0)
        sync = rows_of(self.logs / "sync_device_info.csv")
        self.assertAlmostEqual(float(sync[-1]["frequency"]), 1.35, delta=1.35e-4)
        return log

    def test_streaming_leaves_every_op(self):
        self.whole_run(TT_METAL_DEVICE_PROFILER="1")

    def test_classic_leaves_every_op(self):
        self.whole_run(TT_METAL_DEVICE_PROFILER="1", STROBE_DEVICE_MODE="classic")

    def test_streamings_own_files_have_every_op_and_zone(self):
        log = self.whole_run(TT_METAL_STREAMING_PROFILER="1", TT_METAL_STREAMING_PROFILER_OPS_CSV="ops.csv", TT_METAL_STREAMING_PROFILER_ZONE_CSV="zones.csv")
        zones, ops = rows_of(self.folder / "zones.csv", 1), rows_of(self.folder / "ops.csv")
        for mine, theirs in zip(zones, log):
            self.assertEqual([mine[k] for k in ("core_x", "RISC processor type", "time[cycles since reset]", "zone name", "type")],
                             [theirs[k] for k in ("core_x", "RISC processor type", "time[cycles since reset]", "zone name", "type")])
            self.assertEqual((mine["trace id"], mine["source file"], int(mine["logical_x"]) + 1), ("1", "streaming", int(mine["core_x"])))
        self.assertEqual(len(zones), len(log))
        self.assertEqual([(op["GLOBAL CALL COUNT"], op["EXECUTION"], op["CORE COUNT"]) for op in ops], [("1", str(i), str(CORES)) for i in range(ROUNDS)])
        self.assertLessEqual(int(ops[0]["DEVICE KERNEL DURATION PER CORE MIN [ns]"]), int(ops[0]["DEVICE KERNEL DURATION PER CORE MAX [ns]"]))

    def test_the_device_is_what_arch_name_says(self):
        for said, wanted in (("blackhole", "blackhole"), ("another", "sim")):
            self.run_program(TT_METAL_DEVICE_PROFILER="1", ARCH_NAME=said)
            with open(self.logs / "profile_log_device.csv", encoding="utf8") as log:
                self.assertEqual(log.readline(), f"ARCH: {wanted}, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 64\n")

    def test_no_files_where_they_are_not_wanted(self):
        self.run_program(TT_METAL_DEVICE_PROFILER="1", TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES="1")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_who_is_merely_recorded_leaves_no_files_but_the_trace(self):
        self.run_program(STROBE, "record", "-q", "-o", "run.strobe", "--")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["run.strobe"])

    def test_no_zones_in_the_trace_where_they_are_not_wanted(self):
        self.run_program(STROBE, "record", "-q", "-o", "run.strobe", "--", TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY="1")
        info = subprocess.run([STROBE, "info", "run.strobe"], cwd=self.folder, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
        self.assertNotIn("Device 0", info)

    def test_a_folder_that_cannot_be_made_is_said_and_the_program_goes_on(self):
        (self.folder / "file").write_text("")
        done = self.run_program(TT_METAL_DEVICE_PROFILER="1", TT_METAL_PROFILER_DIR=str(self.folder / "file" / "below"))
        self.assertIn("so there will be no logs", done.stderr)
        self.assertIn("0 wrong", done.stdout)

    def test_both_profilers_are_refused_before_the_start(self):
        with self.assertRaises(subprocess.CalledProcessError) as failed:
            self.run_program(TT_METAL_DEVICE_PROFILER="1", TT_METAL_STREAMING_PROFILER="1")
        self.assertIn("exclude each other", failed.exception.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
