#!/usr/bin/env python3
"""The programs that people read op reports with take ours as they take upstream's.

$STROBE_PEERS is the bin folder of a Python environment with tt-perf-report and ttnn-visualizer from
PyPI; skipped where it is absent. With $STROBE_UPSTREAM, a folder whose tracy package is tt-metal's own
(tools/ of a checkout, or the packages `tracy` and `tt_llk_perf` of a ttnn wheel; its requirements in the same
environment), a run of 1,000 ops and runs on the simulator are compared with upstream's report too.
$STROBE_UPSTREAM_HOME is then the folder with its tt_metal/tt-llk, where the scripts look for headers.
"""
import csv
import io
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

import gen_run
from helper import HERE, STROBE, ReportTest, rows_of, strobe

sys.path.insert(0, str(HERE.parent / "ttnn"))
import programs  # noqa: E402

PEERS = pathlib.Path(os.environ.get("STROBE_PEERS", "/nonexistent"))
UPSTREAM = os.environ.get("STROBE_UPSTREAM")
BUILD = pathlib.Path(STROBE).resolve().parents[1]
DURATION = "DEVICE KERNEL DURATION [ns]"
RUNS = ["A_host_device_legacy", "B_trace_replay_legacy", "C_device_only", "D_perf_counters"]


def perf_report(path):
    """What tt-perf-report prints of a report, and its exit code."""
    done = subprocess.run([PEERS / "tt-perf-report", "--no-color", path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.replace(str(path), "REPORT"), done.stderr.count("Error")


def upstreams(root, *options):
    """The report that upstream's scripts make of a run's logs."""
    environment = dict(os.environ, PYTHONPATH=UPSTREAM, TT_METAL_HOME=os.environ.get("STROBE_UPSTREAM_HOME", str(root)))
    subprocess.run([PEERS / "python", "-m", "tracy.process_ops_logs", "-o", root, *options], env=environment, check=True, capture_output=True)
    return root / "reports" / "ops_perf_results.csv"


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
        theirs = upstreams(root)
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


MESH_AND_TRACES = """
import ttnn
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
a = ttnn.from_list([[1.0] * 64] * 32, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=1))
ttnn.relu(ttnn.add(a, 1.0))
trace = ttnn.begin_trace_capture(mesh, cq_id=0)
ttnn.relu(ttnn.add(a, 1.0))
ttnn.end_trace_capture(mesh, trace, cq_id=0)
for _ in range(3):
    ttnn.execute_trace(mesh, trace, cq_id=0, blocking=False)
ttnn.all_gather(ttnn.relu(a), dim=1)
ttnn.argmax(a)
mesh.close()
"""


class SimRun(programs.TracyTest, Visualizer):
    """A run on the simulator, by `python -m tracy -r`: what others read of it. They know chips alone, so the device has the name of one."""
    build = BUILD
    test_serves_a_folder_of_ours = None  # of another run

    def setUp(self):
        super().setUp()
        if not (BUILD / "lib" / "libstrobe-device.so").exists():
            self.skipTest("this build has no libstrobe-device")

    def run_model(self, *options):
        self.run_tracy("-p", "-r", *options, programs.TREE / "examples/ttnn/bert_tiny.py", ARCH_NAME="wormhole_b0")
        return self.folder / "generated" / "profiler", max((self.folder / "generated").rglob("ops_perf_results*.csv"))

    def device_ops(self, path):
        return [(row["OP CODE"], int(row[DURATION])) for row in rows_of(path) if row.get(DURATION)]

    def test_perf_report_has_our_ops_and_durations(self):
        _, path = self.run_model()
        out = self.folder / "theirs.csv"
        subprocess.run([PEERS / "tt-perf-report", "--no-color", "--ignore-signposts", "--no-stacked-report", "--raw-op-codes", path, "--csv", out], check=True,
                       capture_output=True, cwd=self.folder)
        theirs = [(row["OP Code"].split()[0], round(1000 * float(row["Device Time"]))) for row in rows_of(out) if row["Device Time"]]
        self.assertEqual(theirs, self.device_ops(path))
        self.assertEqual(len(theirs), 46)

    def test_visualizer_has_our_ops_and_durations(self):
        _, path = self.run_model()
        instance = self.start(path.parent)
        raw = [(row["OP CODE"], int(row[DURATION])) for row in csv.DictReader(io.StringIO(self.get("perf-results/raw", instance))) if row.get(DURATION)]
        self.assertEqual(raw, self.device_ops(path))
        for page, word in (("perf-results/report", "SoftmaxDeviceOperation"), ("device-log", "WRITE-PAGES"), ("device-log/meta", "wormhole_b0")):
            self.assertTrue(word in self.get(page, instance), page)

    def test_upstream_makes_the_same_report_of_our_logs(self):
        if not UPSTREAM:
            self.skipTest("STROBE_UPSTREAM does not name upstream's scripts")
        (self.folder / "mesh.py").write_text(MESH_AND_TRACES)
        for words in ([programs.TREE / "examples/ttnn/bert_tiny.py"], ["mesh.py"]):
            shutil.rmtree(self.folder / "generated", ignore_errors=True)
            self.run_tracy("-p", "-r", *words)
            root = self.folder / "generated" / "profiler"
            ours = max(root.rglob("ops_perf_results*.csv"))
            self.assertEqual(ours.read_bytes(), upstreams(root).read_bytes())
            strobe(root, "-o", self.folder / "legacy", "--no-date", "-q", "--force-legacy-device-logs")
            legacy = next((self.folder / "legacy").rglob("ops_perf_results*.csv"))
            self.assertEqual(legacy.read_bytes(), upstreams(root, "--force-legacy-device-logs").read_bytes())


if __name__ == "__main__":
    if not (PEERS / "tt-perf-report").exists():
        print("skipped: STROBE_PEERS does not name an environment with tt-perf-report and ttnn-visualizer")
        sys.exit(77)
    unittest.main()
