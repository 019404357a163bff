# SPDX-License-Identifier: MIT
"""The report step: the `.tracy` file, the two CSV files of the host, the report folder.

Everything is made of `.logs/tracy_profile_log_host.strobe`. What the device would have left is not made up:
where it is absent, that is said, and why.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

from tracy import processes, strobe_command
from tracy.options import DEFAULT_CHILDREN

HOST_TRACE = "tracy_profile_log_host.strobe"
TRACY_FILE = "tracy_profile_log_host.tracy"
TIMES_FILE = "tracy_ops_times.csv"
DATA_FILE = "tracy_ops_data.csv"
DEVICE_FILE = "profile_log_device.csv"


class ReportError(Exception):
    """The report can't be made, and why."""


def say(text):
    print(f"python -m tracy: {text}", file=sys.stderr, flush=True)


def find_tool(name, folder=None):
    """The binary of tracy-csvexport and the like, to be called by that name: in the folder given, else the one that the
    strobe command is."""
    if not folder:
        beside = pathlib.Path(strobe_command.find()).with_name(name)
        return str(beside) if os.access(beside, os.X_OK) else strobe_command.find()
    if not pathlib.Path(folder).is_dir():
        raise ReportError(f"{folder}, named by --tracy-tools-folder, is not there")
    for candidate in (pathlib.Path(folder) / name, pathlib.Path(folder) / f"{name[len('tracy-'):]}-release"):
        if os.access(candidate, os.X_OK):
            return str(candidate)
    raise ReportError(f"there is no {name} in {folder}")


def run_into(binary, command, path):
    """Run a tool with its output in a file, which is whole or not there."""
    partial = path.with_suffix(".partial")
    with open(partial, "wb") as out:
        code = subprocess.run(command, executable=binary, stdout=out, check=False).returncode
    if code:
        partial.unlink()
        raise ReportError(f"{' '.join(map(str, command))} ended with {code}")
    partial.replace(path)


def export_tracy(logs, tracy, process=None):
    """The `.tracy` file of the host trace, or of one process of it; the one that is there, where there is no trace."""
    trace = logs / HOST_TRACE
    if trace.exists():
        command = [strobe_command.find(), "export", "--to", "tracy", "-o", str(tracy), str(trace)]
        if process is not None:
            command += ["--process", str(process)]
        code = subprocess.run(command, check=False, stderr=None if process is None else subprocess.DEVNULL).returncode
        if code:
            raise ReportError(f"{' '.join(command)} ended with {code}")
    elif not tracy.exists():
        raise ReportError(f"{logs} has neither {HOST_TRACE} nor {TRACY_FILE}: was anything recorded?")
    return tracy


def host_files(logs, tools_folder=None, child_calls=None, process=None, folder=None):
    """Make the `.tracy` file and the two CSV files in the logs folder; of one process: in a folder of its own."""
    folder = folder or logs
    tracy = export_tracy(logs, folder / TRACY_FILE, process)
    tool, binary = "csvexport-release", find_tool("tracy-csvexport", tools_folder)  # by this name texts are as the fork has them
    children = ",".join(child_calls or DEFAULT_CHILDREN)
    run_into(binary, [tool, "-u", "-t", "TT_", "-x", children, str(tracy)], folder / TIMES_FILE)
    run_into(binary, [tool, "-m", "-s", ";", str(tracy)], folder / DATA_FILE)
    return tracy


def tell_absent(logs, environment=None):
    """Say why there are no device files; environment: the program's, where it is known."""
    if (logs / DEVICE_FILE).exists():
        return
    if (environment or os.environ).get("TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES", "").startswith("1"):
        why = "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES is set (--disable-device-data-dump-to-files)"
    elif environment and "TT_METAL_DEVICE_PROFILER" not in environment:
        why = "the device's profiler was off (--no-device)"
    elif environment and environment["TT_METAL_DEVICE_PROFILER"].startswith("0"):
        why = "the device's profiler was off (TT_METAL_DEVICE_PROFILER=0)"
    else:
        why = ("the program's runtime wrote none: no device was used, or it was built without its profiler")
    say(f"{DEVICE_FILE} is absent: {why}. The report has what the host saw")


def recover_device_files(logs, environment=None):
    """What a program with a device left that was killed: its streams become its device files."""
    for folder in [logs, *logs.glob(processes.FOLDERS)]:
        if any(folder.glob("device_*.stream")):
            say(f"a program ended with its device open: its device files are made of what the device had sent ({folder})")
            subprocess.run([strobe_command.find(), "report", "--device-streams", str(folder)], env=environment, check=False)


def newest_folder(reports, since):
    found = [path for path in reports.rglob("*") if path.is_dir() and path.stat().st_mtime >= since - 2
             and any(path.glob("ops_perf_results*.csv"))]
    return max(found, key=lambda path: path.stat().st_mtime) if found else None


def plain_folder(folder, name_append):
    """The report folder of a run without ops: nothing to join, but the host's files belong there."""
    base = folder / "reports"
    return (base / name_append if name_append else base) / time.strftime("%Y_%m_%d_%H_%M_%S")


def has_ops(logs):
    """Whether the run has ops or device data, of which `strobe report` makes its tables."""
    if (logs / DEVICE_FILE).exists() or (logs / "cpp_device_perf_report.csv").exists():
        return True
    with open(logs / DATA_FILE, errors="replace") as data:
        return any("TT_DNN" in line or "TT_SIGNPOST" in line for line in data)


def generate_report(output_folder, bin_folder=None, name_append=None, child_calls=None, collect_noc_traces=False,
                    device_analysis_types=(), environment=None, older_names=False, process_columns=False, device_only=False):
    """Make the report folder of a run's logs; 0, or ReportError. Arguments as tt-metal's function has them; and the
    program's environment, which tells why there is no device data; older_names: of the report's columns; process_columns: two more;
    device_only: rows of the device's runs alone."""
    from tracy import process_ops_logs
    folder = pathlib.Path(output_folder)
    logs, since = folder / ".logs", time.time()
    recover_device_files(logs, environment)
    host_files(logs, bin_folder, child_calls)
    processes.split(logs, logs / HOST_TRACE, lambda pid, own: host_files(logs, bin_folder, child_calls, pid, own))
    tell_absent(logs, environment)
    target = None
    if has_ops(logs):
        try:
            process_ops_logs.process_ops(folder, name_append, True, device_only, analyze_noc_traces=collect_noc_traces,
                                         device_analysis_types=device_analysis_types, older_names=older_names,
                                         process_columns=process_columns)
        except RuntimeError as problem:
            raise ReportError(str(problem)) from None
        target = newest_folder(folder / "reports", since)
    else:
        say("the run has no ops (no TT_DNN zones or messages) and no signposts: there is no ops_perf_results file")
    target = target or plain_folder(folder, name_append)
    target.mkdir(parents=True, exist_ok=True)
    for name in (TRACY_FILE, TIMES_FILE, DATA_FILE, HOST_TRACE, DEVICE_FILE):
        if (logs / name).exists() and not (target / name).exists():
            shutil.copyfile(logs / name, target / name)
    say(f"the report is in {target}")
    return 0
