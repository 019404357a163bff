#!/usr/bin/env python3
"""test_profiler_variables.py BUILD: the variables of tt-metal's profiler, each by what it changes of a run with a device, against its default; and the tools that
read what they leave: profile_this.py, process_device_log, tracy-capture."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from options_case import BUILD, LIMIT_S, LOGS, PROGRAM, Case, environment, main, table  # noqa: E402

ON = {"TT_METAL_DEVICE_PROFILER": "1"}
FAKE_CLIENT = pathlib.Path(__file__).resolve().parents[1] / "tracy" / "fake_client.py"


class Variables(Case):
    """The default is the run `on`: the profiler, and nothing else."""

    @classmethod
    def on(cls):
        return cls.plain("on", "ops 2 leak", ON)

    @classmethod
    def run_with(cls, program="ops 2 leak", recorded=False, **variables):
        return cls.plain("".join(f"{name}={value} " for name, value in variables.items()).replace("/", "_") + program, program, {**ON, **variables}, recorded)

    def test_device_profiler(self):
        self.assertEqual(self.on().zones()["BRISC-KERNEL"], 4)
        off = self.plain("off", "ops 2", {})
        self.assertEqual((off.code, off.device_rows()), (0, []))
        kept = self.tracy("kept off", ["-p", "-r"], "ops 2", {"TT_METAL_DEVICE_PROFILER": "0"}, app=False)
        self.assertEqual((kept.device_rows(), kept.device_zones()), ([], []))
        self.assertIn("off (TT_METAL_DEVICE_PROFILER=0)", kept.err)

    def test_sync(self):
        n_default, n_sync = (len((run.logs / "sync_device_info.csv").read_text().splitlines()) for run in (self.on(), self.run_with(TT_METAL_PROFILER_SYNC="1")))
        self.assertLess(n_default, 250)
        self.assertGreaterEqual(n_sync, 250)

    def test_program_support_count(self):
        classic = {"STROBE_DEVICE_MODE": "classic"}
        whole = self.run_with("ops 60", **classic)  # 1000 by default
        self.assertEqual((whole.zones()["Work"], "were full" in whole.err), (120, False))
        cut = self.run_with("ops 60", TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT="50", **classic)
        self.assertLess(cut.zones()["Work"], 120)
        self.assertRegex(cut.err, r"Profiler DRAM buffers were full, markers were dropped! device 0, worker core \d+, \d+, Risc \w+, bufferEndIndex = \d+")
        self.assertIn("Please either decrease the number of ops being profiled or run read device profiler more often", cut.err)
        read = self.run_with("ops 60 read", TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT="50", **classic)  # the remedy of the warning
        self.assertEqual((read.zones()["Work"], "were full" in read.err), (120, False))

    def test_mid_run_dump(self):
        for name, variables in (("mid", {"TT_METAL_PROFILER_MID_RUN_DUMP": "1"}), ("end", {})):
            folder = self.folder(name)
            process = subprocess.Popen([str(PROGRAM), "ops", "1", "read", "say"], cwd=folder, env=environment(**ON, **variables), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            self.assertEqual(process.stdout.readline(), "read\n")
            self.assertEqual((folder / LOGS / "profile_log_device.csv").exists(), bool(variables))
            process.communicate("\n", timeout=LIMIT_S)

    def test_cpp_post_process(self):
        rows = table(self.run_with(TT_METAL_PROFILER_CPP_POST_PROCESS="1").logs / "cpp_device_perf_report.csv")
        self.assertEqual([row["GLOBAL CALL COUNT"] for row in rows], ["1024", "2048"])
        self.assertFalse(self.on().has("cpp_device_perf_report.csv"))

    def test_device_profiler_noc_events(self):
        entries = json.loads((self.run_with("ops 1 compute", TT_METAL_DEVICE_PROFILER_NOC_EVENTS="1", TT_METAL_PROFILER_SUM="1", TT_METAL_PROFILE_PERF_COUNTERS="1")
                              .logs / "noc_trace_dev0_program_1_ID1024.json").read_text())
        reads = [entry for entry in entries if entry.get("type") == "READ"]
        self.assertEqual([(entry["num_bytes"], entry["noc"], entry["proc"]) for entry in reads], [(256, "NOC_0", "BRISC")] * 2)
        self.assertFalse(self.on().has("noc_trace*"))

    def test_sum(self):
        run = self.run_with("ops 1 compute", TT_METAL_DEVICE_PROFILER_NOC_EVENTS="1", TT_METAL_PROFILER_SUM="1", TT_METAL_PROFILE_PERF_COUNTERS="1")
        self.assertEqual([row["zone name"] for row in run.device_rows() if row["type"] == "ZONE_TOTAL"], ["Summed"] * 2)
        self.assertNotIn("ZONE_TOTAL", {row["type"] for row in self.on().device_rows()})

    def test_trace_profiler(self):
        run = self.run_with("ops 2 trace 3", TT_METAL_TRACE_PROFILER="1")
        self.assertEqual(run.zones(), {"TRACE-FW": 6, "TRACE-KERNEL": 6})
        self.assertIn("Work", self.run_with("ops 2 trace 3").zones())

    def test_device_profiler_dispatch(self):
        names = [row["zone name"] for row in self.run_with("ops 1", TT_METAL_DEVICE_PROFILER_DISPATCH="1").device_rows()]
        self.assertIn("CQ-DISPATCH-SUBORDINATE:CQ_DISPATCH_CMD_SEND_GO_SIGNAL", names)
        self.assertFalse(any("DISPATCH" in name for name in self.on().zones()))

    def test_accumulate(self):
        self.assertEqual({row["run host ID"] for row in self.run_with(TT_METAL_PROFILER_ACCUMULATE="1").device_rows()}, {"1024"})
        self.assertEqual({row["run host ID"] for row in self.on().device_rows()}, {"1024", "2048"})

    def test_mem_profiler(self):
        run = self.run_with("ops 1 leak", True, TT_METAL_MEM_PROFILER="1")
        self.assertEqual([(row["what"], row["pool"], row["size"]) for row in run.trace("memory") if row["what"] == "alloc"],
                         [("alloc", "Device 0 DRAM", "4096"), ("alloc", "Device 0 L1", "2048")])
        self.assertIn("1 buffer of L1 that was not freed", run.err)
        self.assertEqual(self.run_with("ops 1 leak", True).trace("memory"), [])
        self.assertNotIn("not freed", self.on().err)

    def test_no_cache_op_info(self):
        for value, n_whole in (("1", 2), ("0", 1)):
            run = self.tracy(f"cache {value}", ["-p", "-r"], "ops 2", {"TT_METAL_PROFILER_NO_CACHE_OP_INFO": value}, app=False)
            self.assertEqual(sum("kernel_info" in row["text"] for row in run.trace("messages")), n_whole)
            self.assertEqual([op["COMPUTE KERNEL SOURCE"] for op in run.ops()], ["['computes.cpp']"] * 2)

    def test_profiler_dir(self):
        run = self.run_with(TT_METAL_PROFILER_DIR="elsewhere")
        self.assertTrue((run.folder / "elsewhere/.logs/profile_log_device.csv").exists())
        self.assertEqual(run.device_rows(), [])
        self.assertTrue((self.on().folder / "generated/profiler/.logs/profile_log_device.csv").exists())

    def test_disable_dump_to_files(self):
        run = self.run_with("ops 1", True, TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES="1")
        self.assertEqual(run.device_rows(), [])
        self.assertEqual(run.device_zones().count("Work"), 2)

    def test_disable_push_to_tracy(self):
        run = self.run_with("ops 1", True, TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY="1")
        self.assertEqual(run.zones()["Work"], 2)
        self.assertEqual(run.device_zones(), [])

    def test_a_run_that_says_it_is_invalid_leaves_nothing(self):
        run = self.run_with("ops 2 invalid", STROBE_DEVICE_MODE="classic")
        self.assertNotIn("Work", run.zones())


class Tools(Case):
    def test_profile_this(self):
        folder = self.folder("this")
        (folder / "module.py").write_text(f"import subprocess\nsubprocess.run([{str(PROGRAM)!r}, 'ops', '1'], check=True)\n")
        done = subprocess.run([sys.executable, "-m", "tracy.profile_this", "-c", "module 'an argument'", "-o", "out", "-n", "this"], cwd=folder,
                              env=environment(), capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        report, = [path for path in (folder / "out/reports/this").rglob("ops_perf_results_this_*.csv") if not path.is_symlink()]
        self.assertEqual([row["OP CODE"] for row in table(report)], ["moves"])
        self.assertIn("running ", done.stderr)  # it is -v -r -p

    def device_log(self, *words):
        run = self.plain("log", "ops 2", ON)
        done = subprocess.run([sys.executable, "-m", "tracy.process_device_log", *words], cwd=run.folder, env=environment(), capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return run, done.stdout

    def test_process_device_log_with_all_flags(self):
        run, text = self.device_log()
        made = run.folder / "generated/profiler/output/device"
        self.assertIn("= device_kernel_duration =", text)
        self.assertEqual({path.name for path in made.iterdir()}, {"device_stats.txt", "device_analysis_data.json", "device_perf_results.tgz", "profile_log_device.csv"})
        log = str(run.logs / "profile_log_device.csv")
        other = run.folder / "other"
        _, text = self.device_log("-s", "test_multi_op", "-d", log, "-o", str(other), "--no-print-stats", "--no-artifacts", "--no-op-detection")
        self.assertNotIn("===", text)
        self.assertEqual(sorted(path.name for path in other.iterdir()), ["device_analysis_data.json", "device_stats.txt", "profile_log_device.csv"])
        self.assertIn("BRISC KERNEL_START->KERNEL_END", (other / "device_stats.txt").read_text())
        self.assertNotIn("device_kernel_duration", (other / "device_stats.txt").read_text())  # ops were not looked for

    def capture(self, *limits):
        """Seconds that a capture with these options took of a client that lingers for ten minutes."""
        folder = self.folder("capture" + limits[0])
        session = FAKE_CLIENT.with_name("session_example.json")
        import socket
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        client = subprocess.Popen([sys.executable, "-B", str(FAKE_CLIENT), str(session), "--port", port, "--linger", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            began = time.monotonic()
            done = subprocess.run([str(BUILD / "bin/tracy-capture"), "-o", "out.tracy", "-p", port, *limits], cwd=folder, env=environment(),
                                  capture_output=True, text=True, timeout=LIMIT_S)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            took_s = time.monotonic() - began
        finally:
            client.kill()
            client.wait()
        self.assertTrue((folder / "out.tracy").stat().st_size)
        return took_s, folder

    def test_tracy_capture_ends_after_s_seconds(self):
        took_s, folder = self.capture("-s", "1", "-m", "50")
        self.assertGreaterEqual(took_s, 1)  # and not the client's 600
        rows = subprocess.run([str(BUILD / "bin/tracy-csvexport"), "-u", "out.tracy"], cwd=folder, capture_output=True, text=True, check=True).stdout
        self.assertGreater(len(rows.splitlines()), 1)

    def test_tracy_capture_ends_at_m_percent_of_the_memory(self):
        self.capture("-m", "0.00001")  # of any memory, less than an empty trace has: it ends by itself


class Complete(Case):
    def test_every_variable_of_the_device_library_is_in_its_document(self):
        tree = pathlib.Path(__file__).resolve().parents[2]
        read = set()
        for path in (tree / "src/device_host").glob("*.c"):
            read |= set(re.findall(r'"(TT_METAL_[A-Z_]+[A-Z])"', path.read_text()))
        text = (tree / "docs/device.md").read_text() + (tree / "docs/tt-metal-profiler.md").read_text()
        self.assertEqual({name for name in read if name not in text and name.replace("TT_METAL_STREAMING_PROFILER", "") not in text}, set())


if __name__ == "__main__":
    main()
