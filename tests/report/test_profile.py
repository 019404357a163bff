#!/usr/bin/env python3
"""strobe profile, tt_profile and profile.py: a command line, several processes, the op report with its MLIR columns.

The commands are Python programs that say what tt-metal's runtime would: op messages, host zones, MLIR messages; a device log is
left in the logs folder as the runtime would leave it."""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import unittest

from helper import HERE, STROBE, ReportTest, rows_of

BIN = pathlib.Path(STROBE).resolve().parent
PACKAGE = BIN.parent / "python"
SCRIPT = HERE.parents[1] / "tt_torch/tools/profile.py"
LOGS = "generated/profiler/.logs"

# ops first..last of this process, each at the MLIR location of its number
RUNTIME = r"""
import json, os, sys, time
import strobe
first, last, ending = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def op(number):
    strobe.message(f'MLIR_OP_LOCATION;loc("layer {number}")')
    strobe.message(f"MLIR_CONST_EVAL_OP;{'true' if number % 2 else 'false'}")
    with strobe.zone("TT_DNN_DEVICE_OP") as zone:
        zone.text(f"id:{number << 10}")
        body = {"global_call_count": number << 10, "op_code": f"op{number}", "op_type": "tt_dnn_device", "device_id": 0, "op_hash": number,
                "program_cache_hit": False, "attributes": {}, "input_tensors": [], "output_tensors": []}
        strobe.message(f'`TT_DNN_DEVICE_OP: "op{number}", {number}, 0, false, {number << 10} ->\n{json.dumps(body)}`')
for number in range(first, last):
    op(number)
if ending == "exit":
    sys.exit(5)
if ending == "kill":
    os.kill(os.getpid(), 9)
if ending == "wait":
    print("up", flush=True)
    time.sleep(60)
if ending == "environment":
    for name in ("TT_METAL_DEVICE_PROFILER", "TT_METAL_CLEAR_L1", "TT_METAL_DEVICE_PROFILER_DISPATCH", "TT_RUNTIME_ENABLE_PERF_TRACE"):
        print(name, os.environ.get(name))
"""


@unittest.skipUnless((PACKAGE / "strobe/_strobe.abi3.so").exists(), "the Python package is not built")
class Profile(ReportTest):
    def setUp(self):
        super().setUp()
        (self.folder / "runtime.py").write_text(RUNTIME)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("TT_")}
        self.environment.update(PYTHONPATH=str(PACKAGE), PATH=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")

    def profile(self, *words, code=0, tool=(STROBE, "profile")):
        done = subprocess.run([*map(str, tool), *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def ops(self, path="results/perf/device_ops_perf_trace.csv"):
        return [(row["OP CODE"], row["LOC"], row["CONST_EVAL_OP"], row["PROGRAM_METADATA"]) for row in rows_of(self.folder / path)]

    def expected(self, first, last):
        return [(f"op{n}", f'loc("layer {n}")', "true" if n % 2 else "false", "{}") for n in range(first, last)]

    def test_the_files_are_where_the_document_says(self):
        self.profile("python3 runtime.py 1 4 end")
        self.assertEqual(self.ops(), self.expected(1, 4))
        self.assertEqual((self.folder / "install/tt-metal" / LOGS / "tracy_profile_log_host.tracy").read_bytes()[:4], b"tr\xfdP")

    def test_processes_of_one_command_are_in_one_report(self):
        self.profile("python3 runtime.py 1 4 end && python3 runtime.py 4 6 end")
        self.assertEqual(self.ops(), self.expected(1, 6))

    def test_the_three_ways_to_type_it(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/tt_profile").symlink_to(pathlib.Path(STROBE).resolve())
        for tool in ((sys.executable, SCRIPT), (self.folder / "bin/tt_profile",), (sys.executable, "-m", "tracy.tt_profile")):
            self.profile("-o", "out/named.csv", "python3 runtime.py 1 2 end", tool=tool)
            self.assertEqual(self.ops("out/named.csv"), self.expected(1, 2))
            (self.folder / "out/named.csv").unlink()
        code = "from tracy.tt_profile import tt_profile; tt_profile('python3 runtime.py 2 3 end', output_filename='mine.csv')"
        subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=self.environment, check=True, capture_output=True)
        self.assertEqual(self.ops("results/perf/mine.csv"), self.expected(2, 3))

    def test_a_taken_port_is_no_problem(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.profile("-p", str(taken.getsockname()[1]), "python3 runtime.py 1 3 end")
        self.assertEqual(self.ops(), self.expected(1, 3))

    def test_the_commands_end_is_its_own_and_what_ran_is_reported(self):
        for ending, code in (("exit", 5), ("kill", 137)):
            self.profile(f"exec python3 runtime.py 1 3 {ending}", code=code)
            self.assertEqual(self.ops(), self.expected(1, 3))

    def test_an_interruption_leaves_the_report_of_what_ran(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([STROBE, "profile", "exec python3 runtime.py 1 3 wait"], cwd=self.folder, env=self.environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
            self.assertEqual(process.stdout.readline(), "up\n")
            os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
            process.communicate(timeout=120)
            self.assertEqual(process.returncode, 3)
            self.assertEqual(self.ops(), self.expected(1, 3))

    def test_what_the_device_left_is_in_the_report(self):
        home = self.folder / "home"
        log = HERE / "golden/A_host_device_legacy/logs/profile_log_device.csv"
        self.environment["TT_METAL_HOME"] = str(home)
        self.profile(f"python3 runtime.py 1 4 end && cp '{log}' '{home / LOGS}/'")
        rows = rows_of(self.folder / "results/perf/device_ops_perf_trace.csv")
        self.assertTrue(any(int(row["DEVICE KERNEL DURATION [ns]"] or 0) > 0 for row in rows))
        self.assertTrue((home / LOGS / "tracy_profile_log_host.tracy").exists())

    def test_the_programs_environment(self):
        said = self.profile("python3 runtime.py 1 2 environment").stdout
        for line in ("TT_METAL_DEVICE_PROFILER 1", "TT_METAL_CLEAR_L1 1", "TT_METAL_DEVICE_PROFILER_DISPATCH 0", "TT_RUNTIME_ENABLE_PERF_TRACE 1"):
            self.assertIn(line + "\n", said)
        self.environment["TT_METAL_DEVICE_PROFILER"] = "0"
        self.assertIn("TT_METAL_DEVICE_PROFILER 0\n", self.profile("python3 runtime.py 1 2 environment").stdout)

    def test_wrong_words_and_a_run_without_ops(self):
        self.assertIn("quote it", self.profile("python3", "runtime.py", code=2).stderr)
        self.profile(code=2)
        self.profile("-p", "x", "true", code=2)
        self.assertIn("usage: strobe profile [-h] [-o OUTPUT_PATH] [-p PORT]", self.profile("-h").stdout)
        self.assertIn("ran no ops", self.profile("true").stderr)


if __name__ == "__main__":
    unittest.main()
