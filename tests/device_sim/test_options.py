#!/usr/bin/env python3
"""test_options.py BUILD: every option of `python -m tracy`, each by what it changes in the trace or the report of a program with a device. The table
OPTIONS names them all; a test holds it to what --help lists."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from options_case import APART, BUILD, LIMIT_S, PROGRAM, Case, environment, main, table  # noqa: E402

# Options that do not touch each other, in one run; the program has a compute kernel and a buffer that it never frees.
TOGETHER = ["-p", "-l", "-r", "-v", "-o", "out", "-n", "named", "--child-functions", "OwnChild", "--no-op-info-cache", "--sync-host-device",
            "--collect-noc-traces", "--enable-sum-profiling", "--device-memory-profiler", "--older-names", "--process-columns",
            "--profiler-capture-perf-counters", "all"]
LONG = ["--partial", "--lines", "--report", "--verbose", "--output-folder", "out", "--name-append", "named", "--port", "9123"]
SAME_KERNELS = ["-p", "--collect-noc-traces", "--enable-sum-profiling"]  # built once for all runs that ask for them


class Runs(Case):
    @classmethod
    def base(cls):
        return cls.tracy("base", ["-r"], "ops 2")

    @classmethod
    def given(cls, *options):
        """A run with these options, and -p -r: with many others, or with STROBE_OPTIONS=apart alone."""
        if not APART:
            return cls.tracy("together", TOGETHER, "ops 2 compute leak")
        return cls.tracy("alone" + "".join(options).replace("/", "_"), [*dict.fromkeys(["-p", "-r", *options])], "ops 2 compute leak")


class Options(Runs):
    # ---- what is recorded of Python ----

    def test_none_records_every_function(self):
        names = self.base().names()
        self.assertEqual((names.count("PY_FUNC_outside"), names.count("PY_FUNC_inside")), (1, 1))

    def test_p_partial(self):
        names = self.given("-p").names()
        self.assertEqual((names.count("PY_FUNC_outside"), names.count("PY_FUNC_inside")), (0, 1))

    def test_l_lines(self):
        self.assertEqual(self.given("-p", "-l").names().count("PY_LINE_inside"), 2)
        self.assertEqual(self.base().names().count("PY_LINE_inside"), 0)

    def test_long_names(self):
        run = self.tracy("long", LONG, "ops 1")
        self.assertEqual(run.names().count("PY_LINE_inside"), 2)
        self.assertIn("running ", run.err)
        self.assertTrue(run.reports()[0].parent.parent.name == "named")

    def test_m(self):
        run = self.tracy("module", ["-p", "-r", "-m", "--no-runtime-analysis", "-a", "device_kernel_duration"], "ops 2")
        self.assertEqual((run.code, len(run.ops())), (0, 2))

    def test_no_capture_tool_runs_the_program_here_and_records_nothing(self):
        run = self.tracy("child", ["--no-capture-tool"], "ops 1")
        self.assertEqual((run.code, run.has("*.strobe")), (0, False))

    # ---- the report ----

    def test_r_report(self):
        run = self.base()
        rows = run.report()
        self.assertEqual([(row["OP CODE"], row["OP TYPE"]) for row in rows],
                         [("start", "signpost"), ("moves", "tt_dnn_device"), ("moves", "tt_dnn_device"), ("stop", "signpost")])
        for op in run.ops():
            self.assertEqual((op["CORE COUNT"], op["DEVICE ID"]), ("2", "0"))
            self.assertGreater(int(op["DEVICE KERNEL DURATION [ns]"]), 0)
            self.assertGreater(int(op["HOST DURATION [ns]"]), 0)
        self.assertEqual({path.name for path in run.reports()[0].parent.iterdir()} &
                         {"tracy_profile_log_host.tracy", "profile_log_device.csv", "tracy_ops_times.csv", "tracy_ops_data.csv"},
                         {"tracy_profile_log_host.tracy", "profile_log_device.csv", "tracy_ops_times.csv", "tracy_ops_data.csv"})
        without = self.tracy("no report", ["-p"], "ops 1")
        self.assertFalse((without.root / "reports").exists())

    def test_v_verbose(self):
        self.assertIn("running ", self.given("-v").err)
        self.assertNotIn("running ", self.base().err)

    def test_o_output_folder(self):
        run = self.given("-o", "out")
        self.assertTrue((run.folder / "out/.logs/profile_log_device.csv").exists())
        self.assertFalse((run.folder / "generated").exists())

    def test_n_name_append(self):
        path, = self.given("-n", "named").reports()
        self.assertEqual(path.parent.parent.name, "named")
        self.assertTrue(path.name.startswith("ops_perf_results_named_"))

    def test_child_functions(self):
        for op in self.given("--child-functions", "OwnChild").ops():
            self.assertGreater(int(op["OwnChild_TT_HOST_FUNC [ns]"]), 0)
            self.assertGreater(int(op["CompileProgram_TT_HOST_FUNC [ns]"]), 0)
        self.assertNotIn("OwnChild_TT_HOST_FUNC [ns]", self.base().ops()[0])

    def test_no_op_info_cache(self):
        for run, n_whole in ((self.given("--no-op-info-cache"), 2), (self.base(), 1)):
            texts = [row["text"] for row in run.trace("messages") if "TT_DNN_DEVICE_OP" in row["text"]]
            self.assertEqual([len(texts), sum("kernel_info" in text for text in texts)], [2, n_whole])
            path = "COMPUTE KERNEL PATH" if "COMPUTE KERNEL PATH" in run.ops()[0] else "COMPUTE KERNEL SOURCE"
            self.assertEqual([op[path] for op in run.ops()], ["['computes.cpp']"] * 2)  # in either case

    def test_older_names(self):
        op = self.given("--older-names").ops()[0]
        self.assertEqual((op["COMPUTE KERNEL PATH"], op["DATAMOVEMENT KERNEL PATH"]), ("['computes.cpp']", "['moves.cpp']"))
        self.assertNotIn("COMPUTE KERNEL PATH", self.base().ops()[0])

    def test_process_columns(self):
        rows = self.given("--process-columns").report()
        self.assertEqual({row["RANK"] for row in rows}, {""})
        self.assertEqual(len({row["PROCESS ID"] for row in rows}), 1)
        self.assertTrue(rows[0]["PROCESS ID"].isdigit())
        self.assertNotIn("PROCESS ID", self.base().report()[0])

    def test_a_device_analysis_types_and_no_runtime_analysis(self):
        run = self.tracy("module", ["-p", "-r", "-m", "--no-runtime-analysis", "-a", "device_kernel_duration"], "ops 2")
        op = run.ops()[0]
        self.assertGreater(int(op["DEVICE KERNEL DURATION [ns]"]), 0)
        self.assertEqual(op["DEVICE FW DURATION [ns]"], "")
        self.assertFalse(run.has("cpp_device_perf_report.csv"))
        self.assertTrue(self.base().has("cpp_device_perf_report.csv"))

    def test_process_logs_only(self):
        before = self.base()
        report, = before.reports()
        made = report.read_bytes()
        report.unlink()
        done = subprocess.run([sys.executable, "-m", "tracy", "--process-logs-only"], cwd=before.folder, env=environment(), capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        again = before.reports()[-1]
        self.assertEqual(again.read_bytes(), made)
        if again != report:
            again.rename(report)  # as other tests know it

    def test_check_exit_code(self):
        run = self.tracy("checked", ["-p", "-r", "--check-exit-code"], "ops 1 exit 3")
        self.assertEqual((run.code, (run.root / "reports").exists()), (4, False))

    # ---- ports and the viewer ----

    def test_t_port_is_the_programs(self):
        run = self.tracy("long", LONG, "ops 1")
        self.assertEqual(run.code, 0)
        self.assertEqual(len(run.ops()), 1)  # no port is needed, and none is in the way

    # ---- the device ----

    def test_no_device(self):
        run = self.tracy("no device", ["-p", "-r", "--no-device"], "ops 2", {"TT_METAL_DEVICE_PROFILER": "1"})
        self.assertEqual((run.code, run.has("profile_log_device.csv")), (0, False))
        self.assertEqual([(op["OP CODE"], op["DEVICE KERNEL DURATION [ns]"]) for op in run.ops()], [("moves", ""), ("moves", "")])
        self.assertIn("the device's profiler was off (--no-device)", run.err)

    def test_the_device_is_profiled_without_being_asked(self):
        self.assertEqual(self.base().zones()["BRISC-FW"], 4)
        self.assertEqual(self.base().device_zones().count("Work"), 4)

    def test_sync_host_device(self):
        rows = len((self.given("--sync-host-device").logs / "sync_device_info.csv").read_text().splitlines())
        self.assertGreaterEqual(rows, 1 + 249)
        self.assertLess(len((self.base().logs / "sync_device_info.csv").read_text().splitlines()), 1 + 249)

    def test_collect_noc_traces(self):
        run = self.given("--collect-noc-traces")
        for op in run.ops():
            self.assertEqual((op["NOC TRANSFERS"], op["NOC BYTES"]), ("2", "512"))  # 256 bytes on each of two cores
            self.assertGreater(float(op["NOC AVG HOPS"]), 0)
        self.assertEqual(len(list(run.logs.glob("noc_trace_dev0_*.json"))), 2)
        self.assertNotIn("NOC BYTES", self.base().ops()[0])
        self.assertFalse(self.base().has("noc_trace*"))

    def test_enable_sum_profiling(self):
        rows = [row for row in self.given("--enable-sum-profiling").device_rows() if row["type"] == "ZONE_TOTAL"]
        self.assertEqual([row["zone name"] for row in rows], ["Summed"] * 4)  # four times in each launch, one row
        self.assertTrue(all(int(row["data"]) > 0 for row in rows))
        self.assertEqual([row for row in self.base().device_rows() if row["type"] == "ZONE_TOTAL"], [])

    def test_device_memory_profiler(self):
        run = self.given("--device-memory-profiler")
        rows = [(row["what"], row["pool"]) for row in run.trace("memory") if row["pool"].startswith("Device")]
        self.assertEqual(sorted(rows), [("alloc", "Device 0 DRAM"), ("alloc", "Device 0 L1"), ("free", "Device 0 DRAM")])
        self.assertIn("device 0 was closed with 1 buffer of L1 that was not freed", run.err)
        pools = {line.split()[7] + " " + line.split()[9]: [int(cell) for cell in line.split()[:4] + line.split()[5:7]] for line in run.err.splitlines()
                 if "Device 0 " in line and line.split()[0].isdigit()}
        self.assertEqual(pools["Device DRAM"], [1, 1, 4096, 4096, 0, 0])  # allocations, frees, bytes, peak, live blocks, live bytes
        self.assertEqual(pools["Device L1"], [1, 0, 2048, 2048, 1, 2048])
        self.assertEqual([row for row in self.base().trace("memory") if row["pool"].startswith("Device")], [])

    def test_profiler_capture_perf_counters_all_takes_the_runs_that_it_needs(self):
        run = self.given("--profiler-capture-perf-counters", "all")
        self.assertIn("pass 1 of 2, for the counters l1_1", run.err)
        counters = {re.search(r'counter type":"(\w+)"', row["meta data"]).group(1) for row in run.device_rows() if row["timer_id"] == "9090"}
        for name in ("SFPU_COUNTER", "PACKER_BUSY", "UNPACK0_BUSY_THREAD0", "L1_0_UNPACKER_0", "L1_1_NOC_RING1_OUTGOING_0", "THREAD_INSTRUCTIONS_1"):
            self.assertIn(name, counters)
        for op in run.ops():
            self.assertGreater(float(op["SFPU Util Avg (%)"] if "SFPU Util Avg (%)" in op else op["Avg SFPU util on full grid (%)"]), 0)
        for title in ("PERFORMANCE COUNTER STATISTICS - DEVICE 0", "EFFICIENCY METRICS SUMMARY - DEVICE 0"):
            self.assertIn(title, run.out)
        self.assertFalse(any(row["timer_id"] == "9090" for row in self.base().device_rows()))

    def test_disable_device_data_dump_to_files(self):
        run = self.tracy("no dump", ["-p", "-r", "--disable-device-data-dump-to-files"], "ops 1", app=False)
        self.assertEqual((run.has("profile_log_device.csv"), run.has("*.stream")), (False, False))
        self.assertEqual(run.device_zones().count("Work"), 2)
        self.assertIn("--disable-device-data-dump-to-files", run.err)

    def test_disable_device_data_push_to_tracy(self):
        run = self.tracy("no push", ["-p", "-r", "--disable-device-data-push-to-tracy"], "ops 1", app=False)
        self.assertEqual(run.device_zones(), [])
        self.assertEqual(run.zones()["Work"], 2)


class Modes(Runs):
    """Options whose runs need kernels of their own, or several runs. They take longer."""

    def test_each_group_of_counters_has_its_own(self):
        found = {}
        for group in ("fpu", "pack", "unpack", "l1", "instrn"):
            run = self.tracy(f"group {group}", [*SAME_KERNELS, "--profiler-capture-perf-counters", group], "ops 1 compute", app=False)
            found[group] = {row["meta data"].split('"')[3] for row in run.device_rows() if row["timer_id"] == "9090"}
        self.assertEqual({group: len(names) for group, names in found.items()}, {"fpu": 3, "pack": 4, "unpack": 9, "l1": 7, "instrn": 13})
        self.assertEqual(sum(map(len, found.values())), len(set().union(*found.values())))

    def test_perf_counter_multipass(self):
        words = ["--profiler-capture-perf-counters", "l1_0,l1_1"]
        self.assertEqual(self.tracy("two banks", ["-p", *words], "ops 1 compute", app=False).code, 1)
        run = self.tracy("multipass", [*SAME_KERNELS, *words, "--perf-counter-multipass"], "ops 1 compute", app=False)
        names = {row["meta data"].split('"')[3][:5] for row in run.device_rows() if row["timer_id"] == "9090"}
        self.assertEqual(names, {"L1_0_", "L1_1_"})

    def test_no_multipass(self):
        run = self.tracy("one pass", [*SAME_KERNELS, "--profiler-capture-perf-counters", "all", "--no-multipass"], "ops 1 compute", app=False)
        self.assertNotIn("pass 1", run.err)
        self.assertFalse(any("L1_1" in row["meta data"] for row in run.device_rows()))

    def test_op_support_count(self):
        classic = {"STROBE_DEVICE_MODE": "classic"}
        few = self.tracy("few", ["-p", "-r", "--op-support-count", "50"], "ops 60", classic, app=False)
        self.assertIn("Profiler DRAM buffers were full, markers were dropped! device 0, worker core ", few.err)
        needed = int(re.search(r"TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT=(\d+) would have sufficed", few.err).group(1))
        enough = self.tracy("enough", ["-p", "-r", "--op-support-count", str(needed)], "ops 60", classic, app=False)
        self.assertNotIn("were full", enough.err)
        self.assertLess(few.zones()["Work"], enough.zones()["Work"])
        self.assertEqual(enough.zones()["Work"], 120)

    def test_dump_device_data_mid_run(self):
        for name, options, is_there in (("mid run", ["--dump-device-data-mid-run"], True), ("not mid run", [], False)):
            folder = self.folder(name)
            process = subprocess.Popen([sys.executable, "-m", "tracy", "-p", *options, str(PROGRAM), "ops", "1", "read", "say"], cwd=folder,
                                       env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.assertEqual(process.stdout.readline(), "read\n")
            self.assertEqual((folder / "generated/profiler/.logs/profile_log_device.csv").exists(), is_there)
            process.communicate("\n", timeout=LIMIT_S)
            self.assertEqual(len(table(folder / "generated/profiler/.logs/profile_log_device.csv", 1)), 30)

    def test_device_trace_profiler(self):
        run = self.tracy("trace only", ["-p", "-r", "--device-trace-profiler"], "ops 2 trace 3", app=False)
        self.assertEqual(run.zones(), {"TRACE-FW": 6, "TRACE-KERNEL": 6})  # a core and a replay each
        self.assertEqual({(row["trace id"], row["trace id counter"]) for row in run.device_rows()}, {("0", "1"), ("0", "2"), ("0", "3")})
        self.assertEqual(len(run.report()), 3)  # replays, not ops

    def test_enable_accumulate_profiling(self):
        run = self.tracy("accumulate", ["-p", "--enable-accumulate-profiling"], "ops 2", app=False)
        self.assertEqual({row["run host ID"] for row in run.device_rows()}, {"1024"})  # the programs are not kept apart
        self.assertEqual(run.zones()["BRISC-KERNEL"], 4)
        refused = self.tracy("accumulate report", ["-r", "--enable-accumulate-profiling"], "ops 2", app=False)
        self.assertEqual(refused.code, 2)

    def test_profile_dispatch_cores(self):
        run = self.tracy("dispatch", ["-p", "-r", "--profile-dispatch-cores"], "ops 2", app=False)
        for op, run_id in zip(run.ops(), ("1024", "2048")):
            commands = [row for row in run.device_rows() if row["zone name"].startswith(f"CQ-DISPATCH:{run_id}:") and row["run host ID"] == run_id]
            self.assertEqual([row["zone name"].split(":")[2] for row in commands if row["type"] == "ZONE_START"],
                             ["CQ_DISPATCH_CMD_WRITE_PACKED_LARGE", "CQ_DISPATCH_CMD_WRITE_PACKED", "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL"])
            times = [int(row["time[cycles since reset]"]) for row in commands]
            self.assertEqual(int(op["DISPATCH TOTAL CQ CMD OP TIME [ns]"]), round((max(times) - min(times)) * 1000 / 1350))
            self.assertGreater(int(op["DISPATCH GO SEND WAIT TIME [ns]"]), 0)
            self.assertEqual(op["CORE COUNT"], "2")  # of the op, not the dispatcher
        self.assertIn("CQ-DISPATCH", run.device_zones())
        self.assertFalse(any("CQ-DISPATCH" in name for name in self.base().zones()))

    def test_web_app_port_and_no_web_server(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        shown = self.tracy("shown", ["-p", "--web-app-port", port], "ops 1")
        pid = int(re.search(r"kill (\d+)", shown.err).group(1))
        try:
            link = re.search(r"the viewer has it: (\S+)", shown.err).group(1)
            self.assertIn(f":{port}/", link)
            self.assertEqual(urllib.request.urlopen(link, timeout=60).status, 200)
        finally:
            os.kill(pid, 15)
            while pathlib.Path(f"/proc/{pid}").exists() and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[1][:3]:
                time.sleep(0.02)
        hidden = self.tracy("hidden", ["-p", "--no-web-server"], "ops 1", {"TRACY_WASM_HTTP_PORT": port})
        self.assertNotIn("the viewer has it", hidden.err)
        with self.assertRaises(OSError):
            urllib.request.urlopen(link, timeout=5)

    def test_tracy_tools_folder(self):
        tools = self.folder("tools")
        (tools / "csvexport-release").write_text(f"#!/bin/sh\necho used >>'{tools}/calls'\nexec -a csvexport-release '{BUILD}/bin/csvexport-release' \"$@\"\n".replace("/bin/sh", "/bin/bash"))
        (tools / "csvexport-release").chmod(0o755)
        run = self.tracy("with tools", ["-p", "-r", "--tracy-tools-folder", str(tools)], "ops 1")
        self.assertEqual((run.code, (tools / "calls").read_text()), (0, "used\nused\n"), run.err)
        self.assertEqual(len(run.ops()), 1)
        self.assertEqual(self.tracy("no tools", ["-p", "--tracy-tools-folder", "/nonexistent"], "ops 1").code, 1)


# Every option: how its test is called
OPTIONS = {
    "-m": "m", "-p": "p_partial", "--partial": "long_names", "-l": "l_lines", "--lines": "long_names", "-r": "r_report", "--report": "long_names",
    "-v": "v_verbose", "--verbose": "long_names", "--no-device": "no_device", "-o": "o_output_folder", "--output-folder": "long_names",
    "-n": "n_name_append", "--name-append": "long_names", "-t": "t_port_is_the_programs", "--port": "t_port_is_the_programs",
    "--web-app-port": "web_app_port_and_no_web_server", "--no-web-server": "web_app_port_and_no_web_server",
    "--no-op-info-cache": "no_op_info_cache", "--op-support-count": "op_support_count", "--child-functions": "child_functions",
    "--process-logs-only": "process_logs_only", "--profile-dispatch-cores": "profile_dispatch_cores", "--enable-sum-profiling": "enable_sum_profiling",
    "--enable-accumulate-profiling": "enable_accumulate_profiling", "--no-runtime-analysis": "a_device_analysis_types_and_no_runtime_analysis",
    "--sync-host-device": "sync_host_device", "--device-trace-profiler": "device_trace_profiler",
    "--device-memory-profiler": "device_memory_profiler", "--dump-device-data-mid-run": "dump_device_data_mid_run",
    "--disable-device-data-dump-to-files": "disable_device_data_dump_to_files",
    "--disable-device-data-push-to-tracy": "disable_device_data_push_to_tracy", "--collect-noc-traces": "collect_noc_traces",
    "--check-exit-code": "check_exit_code", "-a": "a_device_analysis_types_and_no_runtime_analysis",
    "--device-analysis-types": "a_device_analysis_types_and_no_runtime_analysis", "--tracy-tools-folder": "tracy_tools_folder",
    "--profiler-capture-perf-counters": "profiler_capture_perf_counters_all_takes_the_runs_that_it_needs",
    "--perf-counter-multipass": "perf_counter_multipass", "--no-multipass": "no_multipass", "--older-names": "older_names",
    "--process-columns": "process_columns", "--no-capture-tool": "no_capture_tool_runs_the_program_here_and_records_nothing",
}


class Complete(Case):
    def test_every_option_that_help_lists_has_a_test(self):
        helped = subprocess.run([sys.executable, "-m", "tracy", "--help"], env=environment(), capture_output=True, text=True, check=True).stdout
        listed = set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)(?=[ =,\n])", "\n".join(line for line in helped.splitlines() if line.startswith("  -")))) - {"-h", "--help"}
        self.assertEqual(listed, set(OPTIONS))
        for option, name in OPTIONS.items():
            self.assertTrue(hasattr(Options, f"test_{name}") or hasattr(Modes, f"test_{name}"), option)


if __name__ == "__main__":
    main()
