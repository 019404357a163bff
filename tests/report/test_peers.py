#!/usr/bin/env python3
"""The programs that people read op reports with take ours as they take upstream's.

$STROBE_PEERS is the bin folder of a Python environment with tt-perf-report and ttnn-visualizer from
PyPI; skipped where it is absent. With $STROBE_UPSTREAM, a folder whose tracy package is tt-metal's own
(tools/ of a checkout; its requirements in the same environment), a run of 1,000 ops is compared with
upstream's report too.
"""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

import gen_run
from helper import HERE, ReportTest, strobe

PEERS = pathlib.Path(os.environ.get("STROBE_PEERS", "/nonexistent"))
UPSTREAM = os.environ.get("STROBE_UPSTREAM")
RUNS = ["A_host_device_legacy", "B_trace_replay_legacy", "C_device_only", "D_perf_counters"]


def perf_report(path):
    """What tt-perf-report prints of a report, and its exit code."""
    done = subprocess.run([PEERS / "tt-perf-report", "--no-color", path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.replace(str(path), "REPORT"), done.stderr.count("Error")


class PerfReport(ReportTest):
    def test_prints_ours_as_upstreams(self):
        for name in RUNS:
            with self.subTest(name):
                _, path = self.report(self.golden(name))
                theirs = HERE / "golden" / name / "reports" / "ops_perf_results.csv"
                self.assertEqual(perf_report(path), perf_report(theirs))

    def test_prints_1000_ops(self):
        root = self.folder / "run"
        gen_run.main([str(root), "--ops", "1000", "--cores", "4", "--seed", "3", "--fallbacks", "--sub"])
        _, path = self.report(root)
        code, text, _ = perf_report(path)
        self.assertEqual(code, 0)
        self.assertGreater(len(text.splitlines()), 900)
        if not UPSTREAM:
            return
        environment = dict(os.environ, PYTHONPATH=UPSTREAM, TT_METAL_HOME=str(self.folder))
        subprocess.run([PEERS / "python", "-m", "tracy.process_ops_logs", "-o", root], env=environment, check=True,
                       capture_output=True)
        theirs = root / "reports" / "ops_perf_results.csv"
        self.assertEqual(path.read_bytes(), theirs.read_bytes())
        self.assertEqual((code, text), perf_report(theirs)[:2])


class Visualizer(ReportTest):
    """Serves a folder of ours: its pages answer with our ops and our device log."""

    def start(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.log = self.folder / "server.txt"
        environment = dict(os.environ, HOME=str(self.folder), PATH=f"{PEERS}:{os.environ['PATH']}",
                           PYTHONUNBUFFERED="1")
        with open(self.log, "w") as log:
            server = subprocess.Popen([PEERS / "ttnn-visualizer", "--performance-path", folder, "--host",
                                       "127.0.0.1", "--port", str(self.port)], env=environment, cwd=self.folder,
                                      stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(lambda: (os.killpg(server.pid, signal.SIGTERM), server.wait(20)))
        for _ in range(900):
            found = re.search(r"instanceId=(\w+)", self.log.read_text())
            with socket.socket() as s:
                if found and s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return found.group(1)
            time.sleep(0.1)
        self.fail("ttnn-visualizer does not listen: " + self.log.read_text()[-500:])

    def get(self, page, instance):
        url = f"http://127.0.0.1:{self.port}/api/performance/{page}?instanceId={instance}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read().decode()

    def test_serves_a_folder_of_ours(self):
        root = self.golden("A_host_device_legacy")
        strobe(root, "--date", "-q")
        folder = next((root / "reports").glob("20*"))
        instance = self.start(folder)
        self.assertIn("MatmulDeviceOperation", self.get("perf-results/raw", instance))
        self.assertIn("MatmulDeviceOperation", self.get("perf-results/report", instance))
        self.assertIn("BRISC-FW", self.get("device-log", instance))
        self.assertIn("wormhole_b0", self.get("device-log/meta", instance))


if __name__ == "__main__":
    if not (PEERS / "tt-perf-report").exists():
        print("skipped: STROBE_PEERS does not name an environment with tt-perf-report and ttnn-visualizer")
        sys.exit(77)
    unittest.main()
