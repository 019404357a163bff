# SPDX-License-Identifier: MIT
"""Runs a command under `python -m tracy` and reads sums out of its report, as tt-metal's module of this name does."""
import csv
import pathlib
import shlex
import subprocess
import sys

from tracy import process_ops_logs

DEFAULT_OP_COUNT = int(1000 * 1.333)


def artifacts(subdir):
    return pathlib.Path(process_ops_logs.default_folder()) / subdir


def run_device_profiler(command, output_logs_subdir, check_test_return_code=True, device_analysis_types=(),
                        cwd=None, op_support_count=DEFAULT_OP_COUNT, is_command_binary_exe=False, capture_perf_counters_groups=None):
    """Record `command` with a report below the artifacts folder, and with groups of counters, in as many runs as they need;
    RuntimeError where it fails."""
    words = [sys.executable, "-m", "tracy", "-p", "-r", "-o", str(artifacts(output_logs_subdir).absolute()),
             "--op-support-count", str(op_support_count)]
    if check_test_return_code:
        words.append("--check-exit-code")
    for analysis in device_analysis_types:
        words += ["-a", analysis]
    if capture_perf_counters_groups:
        words += ["--profiler-capture-perf-counters", ",".join(capture_perf_counters_groups), "--perf-counter-multipass"]
    words += ([] if is_command_binary_exe else ["-m"]) + shlex.split(command)
    code = subprocess.run(words, cwd=cwd, check=False).returncode
    if code and check_test_return_code:
        raise RuntimeError(f"{command} under python -m tracy ended with {code}")


def get_latest_ops_log_filename(output_logs_subdir):
    """The newest report's table."""
    found = process_ops_logs.newest_report(artifacts(output_logs_subdir) / "reports")
    if found is None:
        raise FileNotFoundError(f"{artifacts(output_logs_subdir)} has no ops_perf_results file")
    return found


def rows_of_interest(rows, op_name, has_signposts):
    """Rows of the op; with signposts those between `start` and `stop`."""
    inside, kept = not has_signposts, []
    for row in rows:
        if has_signposts and row["OP CODE"] in ("start", "stop"):
            inside = row["OP CODE"] == "start"
        elif inside and (not op_name or row["OP CODE"] == op_name):
            kept.append(row)
    return kept


def post_process_ops_log(output_logs_subdir, columns=None, sum_vals=True, op_name="", has_signposts=False):
    """{column: sum, or list} of the newest report; without columns its rows."""
    with open(get_latest_ops_log_filename(output_logs_subdir), newline="") as file:
        rows = rows_of_interest(csv.DictReader(file), op_name, has_signposts)
    if not columns:
        return rows
    values = {name: [float(row[name]) for row in rows if row.get(name) not in (None, "", "-")] for name in columns}
    return {name: sum(found) if sum_vals else found for name, found in values.items()}
