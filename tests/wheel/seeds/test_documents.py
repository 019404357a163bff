"""The programs of the documents that need no device, run as they are printed.

What a document leaves to its reader (a model, an input, a script of that name) is supplied around the printed text, never in
it; the names are listed in HELPERS below. Every Python and every shell block is run or stands in LEFT_OUT with its reason."""
import os
import re
import subprocess
import sys

import pytest

import documents

pytestmark = pytest.mark.skipif(documents.folder() is None, reason=documents.ABSENT)
BIN = os.path.dirname(sys.executable)
STROBE = os.path.join(BIN, "strobe")

# (document, block): what the reader is expected to have, in front of the printed program
HELPERS = {
    ("001", 6): "def child_function_1(): pass\ndef child_function_2(): pass\n",
    ("001", 7): "def run_inference(): pass\ndef post_proc(): pass\n",
    ("004", 27): "model, input_tensor = (lambda tensor: tensor), 1\n",
    ("004", 29): "model, input_tensor = (lambda tensor: tensor), 1\n",
    ("004", 30): "def my_expensive_function(): return sum(range(1000))\n",
}
TTNN = "def synchronize_device(device): pass\ndef ReadDeviceProfiler(device): pass\n"
PLAIN = [("000", 5), ("001", 6), ("001", 7), ("004", 27), ("004", 29), ("004", 30)]
WITH_TTNN = [("004", 31), ("004", 32), ("004", 49)]

LEFT_OUT = {
    ("000", 0): "the build scripts: tests/wheel/test_build.py runs them",
    ("000", 1): "the build by CMake: tests/wheel/test_build.py",
    ("000", 2): "source_env.sh: tests/wheel/test_ways.py",
    ("000", 3): "a PYTHONPATH by hand: tests/wheel/test_ways.py",
    ("000", 4): "installing the wheel: tests/wheel/test_ways.py",
    ("000", 6): "IREE: tests/wheel/test_iree.py",
    ("000", 7): "IREE: tests/wheel/test_iree.py",
    ("001", 0): "installs a viewer on macOS", ("001", 1): "starts a viewer", ("001", 2): "builds tt-metal",
    ("004", 2): "installs a viewer on macOS", ("004", 3): "builds a viewer", ("004", 4): "ssh to another machine",
    ("004", 8): "a synopsis", ("004", 12): "reads a device", ("004", 17): "builds tt-metal", ("004", 22): "reboots",
    ("004", 25): "opens a device",
}


def block(number, index):
    return documents.read(number)[index][1]


def run(command, cwd, **variables):
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **variables}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(command, cwd=cwd, env=environment, shell=isinstance(command, str), capture_output=True, text=True,
                          executable="/bin/bash" if isinstance(command, str) else None, check=False, timeout=300)


def csv(trace, kind):
    return subprocess.run([STROBE, "csv", "--kind", kind, str(trace)], capture_output=True, text=True, check=True).stdout


def record(program, cwd):
    """Record a program; the text of its zones and messages."""
    done = run([STROBE, "record", "-q", "--python", "off", "-o", "out.strobe", "--", sys.executable, str(program)], cwd)
    assert done.returncode == 0, done.stderr
    return csv(cwd / "out.strobe", "zones"), csv(cwd / "out.strobe", "messages")


@pytest.mark.parametrize("number, index", PLAIN)
def test_python_programs(number, index, tmp_path):
    printed = block(number, index)
    program = tmp_path / "printed.py"
    program.write_text(HELPERS.get((number, index), "") + printed)
    zones, messages = record(program, tmp_path)
    for name in re.findall(r'ScopedZone\("([^"]+)"', printed):
        assert zones.count(f",{name},") == 1
    for header in re.findall(r'signpost\((?:header=)?"([^"]+)"', printed):
        assert f"TT_SIGNPOST: {header}" in messages
    if "profiler.enable()" in printed:
        called = re.search(r"profiler\.enable\(\)\n(?:\w+ = )?(\w+)\(", printed).group(1)
        assert zones.count(f",PY_FUNC_{called},") == 1
    assert "not available" not in zones


@pytest.mark.parametrize("number, index", WITH_TTNN)
def test_programs_that_use_ttnns_names(number, index, tmp_path):
    (tmp_path / "ttnn.py").write_text(TTNN)
    printed = block(number, index)
    after = "\nrun_model_with_profiling(None, lambda x: x, 1)\n" if "def run_model_with_profiling" in printed else ""
    (tmp_path / "printed.py").write_text(printed + after)
    done = run([sys.executable, "-m", "tracy", "-p", "printed.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    trace = tmp_path / "generated/profiler/.logs/tracy_profile_log_host.strobe"
    zones, messages = csv(trace, "zones"), csv(trace, "messages")
    for text in re.findall(r'tracy_message\("([^"]+)"', printed):
        assert text in messages
    for name in re.findall(r'start_tracy_zone\("[^"]+", "([^"]+)"', printed):
        assert zones.count(f",{name},") == 1
    if after:
        assert "TT_SIGNPOST: Measurement Phase Start" in messages and zones.count(",PY_FUNC_<lambda>,") == 100


def shell_blocks():
    if documents.folder() is None:
        return []
    return [(number, index) for number in ("001", "004") for index, (language, _) in enumerate(documents.read(number))
            if language in ("sh", "bash") and (number, index) not in LEFT_OUT]


def supply(command, cwd):
    """The scripts that a command names, so that it can be run as it is."""
    for name in re.findall(r"(?<![\w/])([\w/]+\.py)(?:::(\w+))?", command):
        path = cwd / name[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def {name[1]}():\n    pass\n" if name[1] else
                        "from tracy import Profiler, signpost\ndef work(): return 1\n"
                        "with Profiler():\n    work()\nsignpost('end')\n")
    home = cwd / "tt-metal"
    binary = home / "build/tt-train/sources/examples/nano_gpt/nano_gpt"
    binary.parent.mkdir(parents=True, exist_ok=True)
    binary.write_text("#!/bin/sh\necho trained\n")
    binary.chmod(0o755)
    return home


@pytest.mark.parametrize("number, index", shell_blocks())
def test_shell_commands(number, index, tmp_path):
    ran = 0
    for command in documents.commands(block(number, index)):
        if "python -m tracy" not in command:
            continue  # ls, jupyter, scp, unset: around the command of interest
        command = command.replace("{test_script}", "test_script")
        home = supply(command, tmp_path)
        done = run(command, tmp_path, TT_METAL_HOME=str(home))
        assert done.returncode == 0, (command, done.stderr)
        logs = home / "generated/profiler/.logs"
        assert (logs / "tracy_profile_log_host.strobe").exists()
        if re.search(r" -r\b", command):
            check_report(home / "generated/profiler/reports", done.stderr)
        ran += 1
    assert ran or "your_script.py" not in block(number, index)


def check_report(reports, words):
    newest = max((path for path in reports.rglob("tracy_ops_data.csv")), key=lambda path: path.stat().st_mtime).parent
    for name in ("tracy_profile_log_host.tracy", "tracy_ops_times.csv", "tracy_ops_data.csv"):
        assert (newest / name).exists(), name
    assert "profile_log_device.csv is absent" in words


def test_every_block_is_run_or_has_a_reason():
    for number in ("000", "001", "004"):
        for index, (language, _) in enumerate(documents.read(number)):
            if language.lower() in ("c++", "cpp"):
                continue  # the headers' tests
            known = (number, index) in LEFT_OUT or (number, index) in PLAIN + WITH_TTNN + shell_blocks()
            assert known, (number, index, language)
