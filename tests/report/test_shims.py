#!/usr/bin/env python3
"""python -m tracy.process_ops_logs and its kin do upstream's work with upstream's command lines."""
import os
import pathlib
import subprocess
import sys
import unittest

from helper import HERE, STROBE, ReportTest, rows_of

PYTHON = HERE.parent.parent / "python"


class Shims(ReportTest):
    def run_module(self, name, *arguments, code=0, environment=None):
        env = dict(os.environ, PYTHONPATH=str(PYTHON), STROBE_BIN=STROBE, PYTHONDONTWRITEBYTECODE="1",
                   **(environment or {}))
        done = subprocess.run([sys.executable, "-m", f"tracy.{name}", *map(str, arguments)], env=env,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def expected(self, name):
        return (HERE / "golden" / name / "reports" / "ops_perf_results.csv").read_bytes()

    def test_process_ops_logs(self):
        root = self.golden("A_host_device_legacy")
        self.run_module("process_ops_logs", "-o", root)
        self.assertEqual((root / "reports" / "ops_perf_results.csv").read_bytes(), self.expected("A_host_device_legacy"))

    def test_process_ops_logs_name_and_date(self):
        root = self.golden("F_trace_replay_cpp_report")
        self.run_module("process_ops_logs", "-o", root, "-n", "x", "--date")
        found = list((root / "reports" / "x").glob("20*/ops_perf_results_x_20*.csv"))
        self.assertEqual(found[0].read_bytes(), self.expected("F_trace_replay_cpp_report"))

    def test_process_ops_logs_device_only_and_analyses(self):
        root = self.golden("A_host_device_legacy")
        self.run_module("process_ops_logs", "-o", root, "--device-only", "-a", "device_fw_duration",
                        "-a", "device_kernel_duration")
        header = list(rows_of(root / "reports" / "ops_perf_results.csv")[0])
        self.assertIn("DEVICE KERNEL DURATION [ns]", header)
        self.assertNotIn("DEVICE BRISC KERNEL DURATION [ns]", header)

    def test_process_ops_logs_fails_without_logs(self):
        self.run_module("process_ops_logs", "-o", self.folder, code=1)

    def test_noc_figures_of_tt_npe_are_joined(self):
        """A stand-in for tt-npe's module: the same call, the same results."""
        root = self.golden("B_trace_replay_legacy")
        module = self.folder / "npe"
        module.mkdir()
        (module / "npe_analyze_noc_trace_dir.py").write_text(
            "class Result:\n"
            "    overall_avg_link_util, overall_avg_mcast_write_link_util, dram_bw_util = 12.345, 25.04, 7.96\n"
            "    def getDramBwUtilPerControllerStr(self): return '0:1,1:2'\n"
            "    def getEthBwUtilPerCoreStr(self): return ''\n"
            "    def getCongestionImpact(self): return 1.237\n"
            "class Point: result = Result()\n"
            "class Stats:\n"
            "    def getDatapointByID(self, op, trace, session):\n"
            "        return Point() if (op, trace, session) == (2048, 4, 1) else None\n"
            "def analyze_noc_traces_in_dir(**options): return Stats()\n")
        path = os.pathsep.join([str(PYTHON), str(module)])
        env = dict(os.environ, PYTHONPATH=path, STROBE_BIN=STROBE)
        subprocess.run([sys.executable, "-m", "tracy.process_ops_logs", "-o", root, "--analyze-noc-traces"],
                       env=env, check=True, capture_output=True)
        rows = [r for r in rows_of(root / "reports" / "ops_perf_results.csv") if r["NOC UTIL (%)"]]
        self.assertEqual(len(rows), 1)
        self.assertEqual((rows[0]["METAL TRACE REPLAY SESSION ID"], rows[0]["NOC UTIL (%)"],
                          rows[0]["DRAM BW UTIL PER CTRL (%)"], rows[0]["NPE CONG IMPACT (%)"]),
                         ("1", "12.3", "0:1;1:2", "1.24"))

    def test_process_device_log(self):
        root = self.golden("C_device_only")
        out = self.run_module("process_device_log", environment={"TT_METAL_PROFILER_DIR": str(root)})
        expected = (HERE / "golden" / "C_device_only" / "device_stats.txt").read_text()
        self.assertEqual(out, expected)
        folder = root / "output" / "device"
        self.assertEqual((folder / "device_stats.txt").read_text(), expected)
        for name in ("device_analysis_data.json", "device_perf_results.tgz", "profile_log_device.csv"):
            self.assertTrue((folder / name).exists(), name)

    def test_process_device_log_test_setups(self):
        root = self.golden("A_host_device_legacy")
        out = self.run_module("process_device_log", "-s", "test_multi_op", "--no-artifacts",
                              environment={"TT_METAL_PROFILER_DIR": str(root)})
        self.assertIn("BRISC KERNEL_START->KERNEL_END", out)
        self.run_module("process_device_log", "-s", "nonsense", code=2)

    def test_compare_ops_logs(self):
        root = self.golden("F_trace_replay_cpp_report")
        here = {"TT_METAL_PROFILER_DIR": str(root)}
        self.run_module("process_ops_logs", "-o", root)
        self.assertIn("are equal", self.run_module("compare_ops_logs", environment=here))
        self.run_module("process_ops_logs", "-o", root, "--force-legacy-device-logs")
        self.assertIn("not equal", self.run_module("compare_ops_logs", environment=here, code=1))
        self.run_module("compare_ops_logs", "--only-compare-op-ids", environment=here)


if __name__ == "__main__":
    unittest.main()
