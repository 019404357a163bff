# SPDX-License-Identifier: MIT
"""The perf-data getters: what each program took on its device, for the program that runs them.

They read cpp_device_perf_report.csv, which the device's library writes at every ReadDeviceProfiler. So they need
TT_METAL_DEVICE_PROFILER=1, TT_METAL_PROFILER_MID_RUN_DUMP=1 and TT_METAL_PROFILER_CPP_POST_PROCESS=1; else they return {}."""
import csv
import os
import pathlib
from typing import NamedTuple, Optional

from ttnn._profiler import is_set

N_BUCKETS = 10
BUCKET_STEP_NS = 100
NEEDED = ("TT_METAL_DEVICE_PROFILER", "TT_METAL_PROFILER_MID_RUN_DUMP", "TT_METAL_PROFILER_CPP_POST_PROCESS")
KERNEL_DURATION = "DEVICE KERNEL DURATION [ns]"


class ProgramExecutionUID(NamedTuple):
    runtime_id: int
    trace_id: Optional[int]
    trace_id_counter: Optional[int]


class ProgramSingleAnalysisResult(NamedTuple):
    start_timestamp: Optional[int]
    end_timestamp: Optional[int]
    duration: int


class ProgramAnalysisData(NamedTuple):
    program_execution_uid: ProgramExecutionUID
    program_analyses_results: dict
    core_count: int
    num_available_cores: int


class KernelDurationHistogram(NamedTuple):
    num_buckets: int
    bucket_edges_ns: list
    bucket_counts: list
    underflow: int
    overflow: int


class KernelDurationSummary(NamedTuple):
    count: int
    min_ns: int
    max_ns: int
    avg_ns: float
    histogram: KernelDurationHistogram


def report_path():
    home = os.environ.get("TT_METAL_HOME")
    base = os.environ.get("TT_METAL_PROFILER_DIR") or os.path.join(home or ".", "generated", "profiler")
    return pathlib.Path(base, ".logs", "cpp_device_perf_report.csv")


def number(text):
    return int(text) if text and text.strip() else None


def results_of(row):
    """{name of the analysis: result} of a line; those that it has no duration of are left out."""
    found = {}
    for column, text in row.items():
        if column.endswith("DURATION [ns]") and text:
            stem = column[:-len(" DURATION [ns]")]
            found[column] = ProgramSingleAnalysisResult(number(row.get(f"{stem} START CYCLE")), number(row.get(f"{stem} END CYCLE")), int(text))
    return found


def program_of(row):
    uid = ProgramExecutionUID(int(row["GLOBAL CALL COUNT"]), number(row["METAL TRACE ID"]), number(row["METAL TRACE REPLAY SESSION ID"]))
    return ProgramAnalysisData(uid, results_of(row), number(row["CORE COUNT"]) or 0, number(row["AVAILABLE WORKER CORE COUNT"]) or 0)


class PerfData:
    """What was known at the last read, and what is known now."""

    def __init__(self):
        self.chips, self.seen, self.latest = [], {}, {}

    def open(self, index):
        if index not in self.chips:
            self.chips.append(index)

    def read(self):
        """After ReadDeviceProfiler: what came since the one before is the latest."""
        self.latest = {chip: [] for chip in self.chips}
        if not all(map(is_set, NEEDED)) or not report_path().exists():
            return
        with open(report_path(), newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                chip, program = int(row["DEVICE ID"]), program_of(row)
                known = self.seen.setdefault(chip, {})
                key = program.program_execution_uid + (program.program_analyses_results.get("DEVICE FW DURATION [ns]"),)
                if key not in known:
                    known[key] = program
                    self.latest.setdefault(chip, []).append(program)

    def get(self, of):
        if not all(map(is_set, NEEDED)):
            return {}
        return {chip: list(of.get(chip, ())) for chip in self.chips}


DATA = PerfData()


def get_latest_programs_perf_data():
    """{chip: [ProgramAnalysisData]} of what ran before the last ReadDeviceProfiler, and not before the one ahead of it."""
    return DATA.get(DATA.latest)


def get_all_programs_perf_data():
    """{chip: [ProgramAnalysisData]} of all that was read."""
    return DATA.get({chip: known.values() for chip, known in DATA.seen.items()})


def summary_of(programs):
    """Number, least, greatest, mean and a histogram of ten buckets, each a multiple of 100 ns wide."""
    taken = [data.program_analyses_results[KERNEL_DURATION].duration for data in programs if KERNEL_DURATION in data.program_analyses_results]
    low, high = (min(taken), max(taken)) if taken else (0, 0)
    width = max(1, -(-(high - low + 1) // (N_BUCKETS * BUCKET_STEP_NS))) * BUCKET_STEP_NS
    counts = [0] * N_BUCKETS
    for duration in taken:
        counts[min((duration - low) // width, N_BUCKETS - 1)] += 1
    histogram = KernelDurationHistogram(N_BUCKETS, [low + width * i for i in range(N_BUCKETS + 1)], counts, 0, 0)
    return KernelDurationSummary(len(taken), low, high, sum(taken) / len(taken) if taken else 0.0, histogram)


def get_latest_kernel_duration_summary():
    return {chip: summary_of(programs) for chip, programs in get_latest_programs_perf_data().items()}


def get_all_kernel_duration_summary():
    return {chip: summary_of(programs) for chip, programs in get_all_programs_perf_data().items()}
