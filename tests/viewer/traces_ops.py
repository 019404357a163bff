#!/usr/bin/env python3
"""traces_ops.py TREE BUILD OUT: traces with ops and regions for the tests of the page, and beside each the report that it must agree with.

golden_*: the runs of tests/report/golden, imported; hosted: the first of them with a host's capture; sim: the example program on the simulator, recorded;
regions: signposts, spans and zones of two processes; large: many ops of several devices. NAME.csv: what `strobe report` wrote of the same logs."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

TREE, BUILD, OUT = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
STROBE, PROGRAM = BUILD / "bin" / "strobe", BUILD / "bin" / "strobe-device-add"
HEAD = "ARCH: blackhole, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 130\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, " \
       "trace id, trace id counter, zone name, type, source line, source file, meta data\n"


def strobe(*words):
    subprocess.run([STROBE, *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=280)


def report(logs, name):
    strobe("report", logs, "--no-date", "-o", OUT / f"{name}.report")
    shutil.copy(OUT / f"{name}.report" / "reports" / "ops_perf_results.csv", OUT / f"{name}.csv")
    shutil.rmtree(OUT / f"{name}.report")


def take(logs, name):
    strobe("import", "-f", "-o", OUT / f"{name}.strobe", logs)
    report(logs, name)


def goldens():
    for golden in sorted((TREE / "tests" / "report" / "golden").iterdir()):
        take(golden / "logs", f"golden_{golden.name[0]}")


def zone(name, pid, us, length, **more):
    return {"name": name, "ph": "X", "ts": us, "dur": length, "pid": pid, "tid": pid, **more}


def hosted():
    """The first golden with a capture of the host: a zone for each op, in which it was launched."""
    logs, source, host = OUT / "hosted.logs", OUT / "host.json", OUT / "host.strobe"
    shutil.copytree(TREE / "tests" / "report" / "golden" / "A_host_device_legacy" / "logs", logs, dirs_exist_ok=True)
    source.write_text(json.dumps([zone("python", 7, 0, 90), *(zone("TT_DNN_DEVICE_OP", 7, 5 + 22 * i, 6, args={"text": f"id:{op}"}) for i, op in enumerate((1024, 2048, 3072)))]))
    strobe("import", "-f", "-o", host, source)
    strobe("export", "--to", "tracy", "-o", logs / "tracy_profile_log_host.tracy", host)
    take(logs, "hosted")


def large():
    """600 ops of 12 names on two devices of 6 by 5 cores, with gaps and cores of different lengths."""
    logs, lines, messages = OUT / "large.logs", [], ["MessageName;total_ns\n"]
    logs.mkdir(exist_ok=True)
    for device in (0, 1):
        for core in range(30):
            for risc in ("BRISC", "NCRISC", "TRISC_0"):
                zones = risc.split("_")[0]
                for op in range(300):
                    run, start = (op + 1) << 10 | device, 1000000 + op * 40000 + op % 7 * 900
                    length = 9000 + op % 12 * 1500 + core % 6 * 400 + core // 6 * 150 + 60 * len(risc)
                    for at, what, kind in ((start, "FW", "ZONE_START"), (start + 300, "KERNEL", "ZONE_START"), (start + length, "KERNEL", "ZONE_END"), (start + length + 500, "FW", "ZONE_END")):
                        lines.append(f"{device},{1 + core % 6},{1 + core // 6},{risc},{len(risc) * 10 + len(what)},{at},0,{run},,,{zones}-{what},{kind},10,/fw/{zones}.cc,\n")
    for op in range(600):
        run, name = (op // 2 + 1) << 10 | op % 2, ("Matmul", "LayerNorm", "Softmax", "Reshard", "AllGather", "Add", "Mul", "Embedding", "Transpose", "Concat", "Typecast", "Conv2d")[op // 2 % 12]
        body = {"global_call_count": run, "op_code": f"{name}DeviceOperation", "op_type": "tt_dnn_device", "device_id": op % 2, "op_hash": op, "program_cache_hit": False, "attributes": {}, "input_tensors": [],
                "output_tensors": [], "performance_model": {"compute_ns": 3000 + op % 5 * 900, "ideal_ns": 4000, "bandwidth_ns": 1500 + op % 4 * 1500, "input_bws": [], "output_bws": []}}
        messages.append(f'`TT_DNN_DEVICE_OP: "{name}", {op}, {op % 2}, false, {run} ->\n{json.dumps(body)}`;{1000 + op * 15000}\n')
    (logs / "profile_log_device.csv").write_text(HEAD + "".join(lines))
    (logs / "tracy_ops_data.csv").write_text("".join(messages))
    take(logs, "large")


def regions():
    """Two processes; messages that are signposts, asynchronous spans, and zones that begin in them."""
    events = []
    for pid in (7, 8):
        events += [{"name": f"TT_SIGNPOST: {name}", "ph": "i", "ts": at, "pid": pid, "tid": pid} for name, at in (("warm up", 100), ("measure", 1000), ("measure", 3000))]
        events += [zone(f"step {n % 2}", pid, 50 + 400 * n, 300) for n in range(10)]
        events += [zone(("load", "compute", "store")[k], pid, 60 + 400 * n + 90 * k, 50 + 10 * k) for n in range(10) for k in range(3)]
        events += [{"name": "request", "ph": phase, "cat": "net", "id": f"{pid}{k}", "ts": 200 + 900 * k + length, "pid": pid, "tid": pid} for k in range(4) for phase, length in (("b", 0), ("e", 700))]
    source = OUT / "regions.json"
    source.write_text(json.dumps(sorted(events, key=lambda e: e["ts"])))
    strobe("import", "-f", "-o", OUT / "regions.strobe", source)


def sim():
    folder = OUT / "sim.run"
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "STROBE_SIM_DEVICES": "1", "TT_METAL_DEVICE_PROFILER": "1"}
    subprocess.run([STROBE, "record", "-q", "-o", OUT / "sim.strobe", "--", PROGRAM, "4"], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=280)
    report(folder / "generated" / "profiler" / ".logs", "sim")


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
goldens()
hosted()
large()
regions()
if PROGRAM.exists():
    sim()
