#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The op report with the command line of tt-metal's process_ops_logs; the work is strobe's."""
import argparse
import csv
import os
import pathlib
import sys
import time

from tracy import processes, strobe_command

NOC_FILE = "npe_op_stats.csv"
NOC_COLUMNS = ["NOC UTIL (%)", "MULTICAST NOC UTIL (%)", "DRAM BW UTIL (%)", "DRAM BW UTIL PER CTRL (%)",
               "ETH BW UTIL (%)", "NPE CONG IMPACT (%)"]
KEYS = ["GLOBAL CALL COUNT", "METAL TRACE ID", "METAL TRACE REPLAY SESSION ID"]


def default_folder():
    """Where a run leaves its artifacts."""
    folder = os.environ.get("TT_METAL_PROFILER_DIR")
    return pathlib.Path(folder or pathlib.Path(os.environ.get("TT_METAL_HOME", ".")) / "generated/profiler")


def noc_figures(statistics, row):
    """The six NoC cells of one row of the report; None where tt-npe has nothing for it."""
    ids = [int(row[key]) if row.get(key) else None for key in KEYS]
    found = statistics.getDatapointByID(*ids) if ids[0] is not None else None
    if found is None:
        return None
    result = found.result
    return [round(result.overall_avg_link_util, 1), round(result.overall_avg_mcast_write_link_util, 1),
            round(result.dram_bw_util, 1), result.getDramBwUtilPerControllerStr(),
            result.getEthBwUtilPerCoreStr(), round(result.getCongestionImpact(), 2)]


def analyze_noc(folder, report):
    """Have tt-npe analyse the NoC traces and leave its figures where strobe joins them."""
    try:
        from npe_analyze_noc_trace_dir import analyze_noc_traces_in_dir
    except ImportError:
        print("tt-npe is not importable: NoC figures of the report are Strobe's own (NOC BYTES, NOC LINK UTIL ...)", file=sys.stderr)
        return False
    logs = folder / ".logs"
    statistics = analyze_noc_traces_in_dir(noc_trace_dir=logs, emit_viz_timeline_files=True, quiet=True,
                                           compress_timeline_files=True)
    with open(report, newline="") as source, open(logs / NOC_FILE, "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(KEYS + NOC_COLUMNS)
        for row in csv.DictReader(source):
            cells = noc_figures(statistics, row)
            if cells is not None:
                writer.writerow([row.get(key, "") for key in KEYS] + cells)
    return True


def newest_report(folder):
    """The newest ops_perf_results*.csv below a reports folder."""
    found = [p for p in pathlib.Path(folder).rglob("ops_perf_results*.csv") if not p.is_symlink()]
    return max(found, key=lambda p: p.stat().st_mtime) if found else None


def report_of_processes(folder, folders, name_append, date, arguments, process_columns):
    """The report of a run of several processes; the exit code."""
    when = time.strftime("%Y_%m_%d_%H_%M_%S") if date else ""
    target = folder / "reports" / (name_append or "") / when
    suffix = "".join(f"_{part}" for part in (name_append, when) if part)
    return processes.report(folders, target, suffix, arguments, process_columns)


def process_ops(output_folder=None, name_append=None, date=False, device_only=False, analyze_noc_traces=False,
                device_analysis_types=(), force_legacy_device_logs=False, older_names=False, process_columns=False):
    """Make the report of a run's logs. Raises RuntimeError when it cannot be made."""
    folder = pathlib.Path(output_folder) if output_folder else default_folder()
    arguments = []
    if device_only:
        arguments.append("--device-only")
    if force_legacy_device_logs:
        arguments.append("--force-legacy-device-logs")
    if older_names:
        arguments.append("--older-names")
    for analysis in device_analysis_types:
        arguments += ["-a", analysis]
    folders = processes.folders_of(folder / ".logs")
    if folders:
        code = report_of_processes(folder, folders, name_append, date, arguments, process_columns)
        if code:
            raise RuntimeError(f"strobe report ended with {code}")
        return
    arguments += ["-o", folder, "--date" if date else "--no-date"] + (["-n", name_append] if name_append else [])
    code = strobe_command.run(*arguments)
    if code == 0 and analyze_noc_traces and not device_only:
        report = newest_report(folder / "reports")
        if report and analyze_noc(folder, report):
            code = strobe_command.run(*arguments)
    if not code and process_columns:
        processes.add_columns(newest_report(folder / "reports"), folder / ".logs")
    if code:
        raise RuntimeError(f"strobe report ended with {code}")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="process_ops_logs", description=__doc__)
    parser.add_argument("-o", "--output-folder", help="Artifacts folder: logs are read and reports written there")
    parser.add_argument("-n", "--name-append", help="Name to be appended to the report's folder and file")
    parser.add_argument("--date", action="store_true", help="Append the date to folder and file")
    parser.add_argument("--device-only", action="store_true", help="Only a report of the device's data")
    parser.add_argument("--analyze-noc-traces", action="store_true", help="NoC figures from tt-npe, if it is there")
    parser.add_argument("-a", "--device-analysis-types", action="append", default=[],
                        help="Only this device analysis; may be given again")
    parser.add_argument("--force-legacy-device-logs", action="store_true",
                        help="Use the device log even where there is a C++ report")
    parser.add_argument("--process-columns", action="store_true", help="Columns PROCESS ID and RANK at the end")
    parser.add_argument("--older-names", action="store_true", help="Column names of older reports (COMPUTE KERNEL PATH ...)")
    try:
        process_ops(**vars(parser.parse_args(arguments)))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
