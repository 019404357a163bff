"""python -m tracy: runs beside each other, runs that end badly, counters that take several runs, what the user set."""
import csv
import os
import signal
import socket
import subprocess
import sys

import pytest

import helper

LOGS = "generated/profiler/.logs"

# a device's runtime: an op, and a device log with one row per counter group that was asked for
RUNTIME = r'''
import json, os, sys
import strobe
from tracy import signpost
signpost("start")
body = {"global_call_count": 1024, "op_code": "matmul", "op_type": "tt_dnn_device", "device_id": 0, "op_hash": 7, "program_cache_hit": False,
        "attributes": {}, "input_tensors": [], "output_tensors": [],
        "kernel_info": {"compute_kernels": [{"source": "mm.cpp", "name": "n", "math_fidelity": "HiFi4"}], "datamovement_kernels": []}}
with strobe.zone("TT_DNN_DEVICE_OP") as zone:
    zone.text("id:1024")
    strobe.message("`TT_DNN_DEVICE_OP: \"matmul\", 7, 0, false, 1024 ->\n" + json.dumps(body) + "`")
bits = int(os.environ.get("TT_METAL_PROFILE_PERF_COUNTERS", "0"))
folder = os.path.join(os.environ.get("TT_METAL_PROFILER_DIR", "generated/profiler"), ".logs")
with open("runs.txt", "a") as runs:
    runs.write(f"{bits}\n")
names = {0: "FPU_COUNTER", 1: "PACK_COUNT", 2: "UNPACK_COUNT", 3: "L1_0_COUNT", 4: "L1_1_COUNT", 5: "INSTRN_COUNT"}
if os.environ.get("NO_LOG") != str(bits):
    with open(os.path.join(folder, "profile_log_device.csv"), "w") as log:
        log.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n")
        log.write("PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
                  "trace id counter, zone name, type, source line, source file, meta data\n")
        base = 1000 + bits  # no two runs have the same times
        for at, zone, kind in ((0, "BRISC-FW", "ZONE_START"), (10, "BRISC-KERNEL", "ZONE_START"), (90, "BRISC-KERNEL", "ZONE_END"),
                               (99, "BRISC-FW", "ZONE_END")):
            log.write(f"0,1,1,BRISC,34935,{base + at},0,1024,,,{zone},{kind},1,/fw/brisc.cc,\n")
        for bit, name in names.items():
            if bits >> bit & 1:
                log.write(f'0,1,1,BRISC,9090,{base + 95 + bit},0,1024,,,,TS_DATA,0,,{{"counter type":"{name}";"ref cnt":100;"value":{bit}}}\n')
        if bits >> 4 & 1:  # of an op that the first run has not
            log.write('0,1,1,BRISC,9090,5000,0,2048,,,,TS_DATA,0,,{"counter type":"L1_1_COUNT";"ref cnt":1;"value":1}\n')
'''


def tracy(folder, *words, check=True, **options):
    return helper.run(sys.executable, "-m", "tracy", *words, cwd=folder, check=check, **options)


def reports(folder):
    """{OP CODEs of a report} of every report below a folder."""
    found = []
    for path in sorted((folder / "generated/profiler/reports").rglob("ops_perf_results*.csv")):
        if not path.is_symlink():
            with open(path, newline="") as file:
                found.append([row["OP CODE"] for row in csv.DictReader(file)])
    return found


@pytest.fixture
def runtime(tmp_path):
    (tmp_path / "runtime.py").write_text(RUNTIME)
    return tmp_path


def runs(folder):
    return [int(line) for line in (folder / "runs.txt").read_text().split()]


def test_two_runs_at_once_have_their_own_reports(tmp_path):
    (tmp_path / "app.py").write_text("""
import os, sys, time
from tracy import signpost
own, other = sys.argv[1:]
signpost(f"begin {own}")
open(f"up_{own}", "w").close()
while not os.path.exists(f"up_{other}"):
    time.sleep(0.01)
signpost(f"end {own}")
""")
    started = [subprocess.Popen([sys.executable, "-m", "tracy", "-p", "-r", "app.py", *names], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
               for names in (("a", "b"), ("b", "a"))]
    said = [one.communicate(timeout=300)[1] for one in started]
    assert [one.returncode for one in started] == [0, 0], said
    assert sorted(reports(tmp_path)) == [["begin a", "end a"], ["begin b", "end b"]]
    assert sum("another run uses" in text for text in said) == 1


def test_a_taken_port_is_no_problem(tmp_path):
    (tmp_path / "app.py").write_text("from tracy import signpost\nsignpost('here')\n")
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 8086))
            taken.listen()
        except OSError:
            pass  # somebody has it: as well
        tracy(tmp_path, "-p", "-r", "app.py")
        tracy(tmp_path, "-p", "-r", "-t", "8086", "-n", "named", "app.py")
    assert reports(tmp_path) == [["here"], ["here"]]


@pytest.mark.parametrize("ending, code", [("os.abort()", 134), ("os.kill(os.getpid(), 9)", 137), ("sys.exit(3)", 3)])
def test_what_ran_before_a_bad_end_is_reported(tmp_path, ending, code):
    (tmp_path / "app.py").write_text(f"import os, sys\nfrom tracy import signpost\nsignpost('one')\nsignpost('two')\n{ending}\n")
    assert tracy(tmp_path, "-p", "-r", "app.py", check=False).returncode == code
    assert reports(tmp_path) == [["one", "two"]]
    assert tracy(tmp_path, "--check-exit-code", "app.py", check=False).returncode == 4


def test_an_interruption_leaves_a_report(tmp_path):
    (tmp_path / "app.py").write_text("import time\nfrom tracy import signpost\nsignpost('one')\nprint('up', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([sys.executable, "-m", "tracy", "-p", "-r", "app.py"], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "up\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 3, said
    assert reports(tmp_path) == [["one"]]


def test_a_recorder_that_dies_is_named(tmp_path):
    (tmp_path / "app.py").write_text("import os, time\nfrom tracy import signpost\nsignpost('one')\ntime.sleep(1)\nos.kill(os.getppid(), 9)\n")
    done = tracy(tmp_path, "-p", "-r", "app.py", check=False)
    assert done.returncode == 70 and "the recorder was killed by SIGKILL" in done.stderr
    assert reports(tmp_path) == [["one"]]


def test_what_the_user_set_stays(tmp_path):
    (tmp_path / "env.py").write_text("import os\nprint(os.environ.get('TT_METAL_DEVICE_PROFILER'), "
                                     "os.environ.get('TT_METAL_PROFILER_NO_CACHE_OP_INFO'))\n")
    assert tracy(tmp_path, "env.py").stdout == "1 None\n"
    kept = {"TT_METAL_DEVICE_PROFILER": "0", "TT_METAL_PROFILER_NO_CACHE_OP_INFO": "1"}
    done = tracy(tmp_path, "-r", "env.py", env=kept)
    assert done.stdout == "0 1\n" and "off (TT_METAL_DEVICE_PROFILER=0)" in done.stderr
    assert tracy(tmp_path, "--no-device", "--no-op-info-cache", "env.py", env={"TT_METAL_DEVICE_PROFILER": "1"}).stdout == "None 1\n"


def test_no_web_server_beats_the_variable_and_the_port(tmp_path):
    (tmp_path / "app.py").write_text("pass\n")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    for words, variables in ((["--no-web-server"], {"TRACY_WASM_HTTP_PORT": port}), (["--no-web-server", "--web-app-port", port], {}),
                             ([], {"TRACY_WASM_HTTP_PORT": port, "TRACY_NO_WEB_SERVER": "1"})):
        said = tracy(tmp_path, *words, "app.py", env=variables).stderr
        assert "the viewer has it" not in said and "strobe view" in said


def test_all_counters_take_the_runs_that_they_need(runtime):
    done = tracy(runtime, "-p", "-r", "--profiler-capture-perf-counters", "all", "runtime.py", env={"ARCH_NAME": "wormhole_b0"})
    first, second = runs(runtime)
    assert first & second == 0 and first | second == 0b111111
    assert "the counters need 2 runs" in done.stderr and "1 are of ops that the first pass has not" in done.stderr
    log = (runtime / LOGS / "profile_log_device.csv").read_text().splitlines()
    kept = [(runtime / LOGS / "perf_counter_passes" / f"pass_{i}.csv").read_text().splitlines() for i in range(2)]
    own = [line for line in log if ",9090," in line]
    assert [line for line in log if line in kept[0]] == kept[0] and len(own) == 6
    added = [line for line in own if line not in kept[0]]
    assert log.index(added[0]) == log.index(own[0]) + 1  # behind the first counter of the same op and core, and at its time
    assert {line.split(",")[5] for line in added} == {own[0].split(",")[5]}
    assert reports(runtime) == [["start", "matmul"]]


def test_a_list_that_needs_several_runs_asks_first(runtime):
    refused = tracy(runtime, "--profiler-capture-perf-counters", "l1_0,l1_1,fpu", "runtime.py", check=False)
    assert refused.returncode == 1 and "pass 1: " in refused.stderr and not (runtime / "runs.txt").exists()
    tracy(runtime, "--perf-counter-multipass", "--profiler-capture-perf-counters", "l1_0,l1_1,fpu", "runtime.py")
    assert runs(runtime) == [0b1000, 0b10001] or runs(runtime) == [0b1001, 0b10000]
    (runtime / "runs.txt").unlink()
    tracy(runtime, "--no-multipass", "--profiler-capture-perf-counters", "all", "runtime.py", env={"ARCH_NAME": "wormhole_b0"})
    assert runs(runtime) == [47]


def test_counter_groups_of_other_architectures(runtime):
    for words, architecture, bits in (("l1_5", "blackhole", 1 << 9), ("l1_client=9", "quasar", 9 << 16), ("all", "quasar", 0b100111)):
        tracy(runtime, "--profiler-capture-perf-counters", words, "runtime.py", env={"ARCH_NAME": architecture})
        assert runs(runtime)[-1] == bits
    for words, architecture in (("l1_5", "wormhole_b0"), ("l1_client=9", "blackhole"), ("l1_client=8", "quasar"), ("l1_client=296", "quasar")):
        refused = tracy(runtime, "--profiler-capture-perf-counters", words, "runtime.py", check=False, env={"ARCH_NAME": architecture})
        assert refused.returncode == 1 and "l1_" in refused.stderr
    said = tracy(runtime, "--profiler-capture-perf-counters", "all", "runtime.py", env={"ARCH_NAME": ""}).stderr
    assert runs(runtime)[-2:] == [47, 16] and "architecture is not known" in said  # the first run's log says that there is a second bank


def test_a_pass_without_a_device_log_merges_nothing(runtime):
    words = ["--perf-counter-multipass", "--profiler-capture-perf-counters", "l1_0,l1_1", "runtime.py"]
    done = tracy(runtime, *words, check=False, env={"NO_LOG": str(1 << 4)})
    assert done.returncode == 4 and "pass 1 left no profile_log_device.csv" in done.stderr
    assert not (runtime / LOGS / "profile_log_device.csv").exists()


def test_the_columns_of_older_reports(runtime):
    tracy(runtime, "-p", "-r", "--older-names", "runtime.py")
    path, = [path for path in (runtime / "generated/profiler/reports").rglob("ops_perf_results*.csv") if not path.is_symlink()]
    with open(path, newline="") as file:
        row = [row for row in csv.DictReader(file) if row["OP CODE"] == "matmul"][0]
    assert row["COMPUTE KERNEL PATH"] == "['mm.cpp']" and "DATAMOVEMENT KERNEL PATH" in row and "COMPUTE KERNEL SOURCE" not in row
