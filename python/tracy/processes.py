# SPDX-License-Identifier: MIT
"""One report of a run in which several processes have ops: each process is joined for itself, for op ids count anew in each, and the
rows are put together in the order of time.

  .logs/process              who has the device files of .logs (the first process that opened a device: src/device_host/files.c)
  .logs/process_<pid>/       those of another process; and, made here, the host's two CSV files of each process
"""
import csv
import io
import os
import pathlib
import shutil
import subprocess
import tempfile

from tracy import strobe_command

OWNER = "process"
FOLDERS = "process_*"
COLUMNS = ["PROCESS ID", "RANK"]
DEVICE_FILES = ("profile_log_device.csv", "cpp_device_perf_report.csv", "noc_trace_dev*.json")
OP_WORDS = ("TT_DNN", "TT_METAL_TRACE")


def owner_of(folder):
    """(pid, rank) of the process that has the device files of a folder; None: nobody said so."""
    try:
        words = dict(line.partition(" ")[::2] for line in (folder / OWNER).read_text().splitlines())
        return int(words["pid"]), words.get("rank", "")
    except (OSError, KeyError, ValueError):
        return None


def owners(logs):
    """{pid: (rank, folder of its device files)}."""
    found = {}
    for folder in [logs, *sorted(logs.glob(FOLDERS))]:
        owner = owner_of(folder)
        if owner:
            found.setdefault(owner[0], (owner[1], folder))
    return found


def rows(trace, kind):
    """Rows of `strobe csv`, as they come."""
    command = [strobe_command.find(), "csv", "--kind", kind, str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        yield from csv.DictReader(io.TextIOWrapper(process.stdout, errors="replace", newline=""))


def pids_with_ops(trace):
    """Processes of the trace that emitted op messages; looks at messages only where there are two processes at all."""
    if not trace.exists() or sum(row["pid"] != "0" for row in rows(trace, "processes")) < 2:
        return []
    found = {}
    for row in rows(trace, "messages"):
        if any(word in row["text"] for word in OP_WORDS):
            found.setdefault(int(row["pid"]))
    return list(found)


def split(logs, trace, make_host_files):
    """A folder for each process that has ops or device files, if there are two at least; make_host_files(process, folder) puts the host's CSV
    files there. The folders, in the order of the processes' first ops; [] where one process has all."""
    known = owners(logs)
    pids = list(dict.fromkeys([*pids_with_ops(trace), *known]))
    if len(pids) < 2:
        return []
    in_trace = {int(row["pid"]) for row in rows(trace, "processes")} if trace.exists() else set()
    folders = []
    for pid in pids:
        folder = logs / f"process_{pid}"
        folder.mkdir(exist_ok=True)
        if pid in in_trace:
            make_host_files(pid, folder)
        rank, place = known.get(pid, ("", folder))
        if place != folder:
            for path in (path for pattern in (OWNER, *DEVICE_FILES) for path in place.glob(pattern)):
                if not (folder / path.name).exists():
                    os.link(path, folder / path.name)
        if not (folder / OWNER).exists():
            (folder / OWNER).write_text(f"pid {pid}\nrank {rank}\n")
        folders.append(folder)
    return folders


def folders_of(logs):
    """The folders that `split` made; []: the run has one process, or none of it was split."""
    found = [folder for folder in logs.glob(FOLDERS)
             if any((folder / name).exists() for name in ("tracy_ops_data.csv", "profile_log_device.csv"))]
    return sorted(found, key=lambda folder: ((folder / OWNER).stat().st_mtime_ns if (folder / OWNER).exists() else 0, folder.name)) \
        if len(found) > 1 else []


# ---- one table of several ----

def merge_headers(headers):
    """All columns, each once, in an order that agrees with each table's own as far as they agree with each other."""
    merged = []
    for header in headers:
        place = 0
        for name in header:
            if name in merged:
                place = max(place, merged.index(name) + 1)
            else:
                merged.insert(place, name)
                place += 1
    return merged


def timed(table):
    """(time, row) for each row: its host start, and where it has none that of the row before."""
    last = 0
    for row in table:
        cell = row.get("HOST START TS") or ""
        last = int(cell) if cell.isdigit() else last
        yield last, row


def merge_tables(tables, owners_of_tables, with_columns):
    """(header, rows) of [(header, rows)]; with_columns: of which process each row is."""
    header = merge_headers([head for head, _ in tables])
    merged = []
    for number, ((_, table), (pid, rank)) in enumerate(zip(tables, owners_of_tables)):
        for order, (time, row) in enumerate(timed(table)):
            merged.append(((time, number, order), {**row, COLUMNS[0]: pid, COLUMNS[1]: rank}))
    merged.sort(key=lambda pair: pair[0])
    return header + (COLUMNS if with_columns else []), [row for _, row in merged]


def read_table(path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        return reader.fieldnames or [], list(reader)


def write_table(path, header, table):
    """Whole, or not there."""
    partial = path.with_suffix(".partial")
    with open(partial, "w", newline="") as file:
        writer = csv.DictWriter(file, header, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    partial.replace(path)


def add_columns(path, logs):
    """The two columns in the report of a run with one process."""
    header, table = read_table(path)
    known = owners(logs)
    pid, rank = next(((pid, rank) for pid, (rank, _) in known.items()), ("", ""))
    write_table(path, header + COLUMNS, [{**row, COLUMNS[0]: pid, COLUMNS[1]: rank} for row in table])


def report(folders, target, suffix, arguments, with_columns):
    """One report of several folders in `target`: the table of all, and a folder with what `strobe report` makes of each. `arguments` of that
    command. The exit code of the first that failed."""
    target.mkdir(parents=True, exist_ok=True)
    tables, whose = [], []
    with tempfile.TemporaryDirectory(dir=target) as made:
        for folder in folders:
            own = pathlib.Path(made) / folder.name
            done = subprocess.run([strobe_command.find(), "report", str(folder), "-o", str(own), "--no-date", "--quiet", *map(str, arguments)],
                                  stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                return done.returncode
            print(f"process {folder.name.partition('_')[2]}:", done.stdout.strip().splitlines()[-1], flush=True)
            tables.append(read_table(own / "reports" / "ops_perf_results.csv"))
            whose.append(owner_of(folder) or (folder.name.partition("_")[2], ""))
            shutil.move(str(own / "reports"), str(target / folder.name))
    write_table(target / f"ops_perf_results{suffix}.csv", *merge_tables(tables, whose, with_columns))
    print(f"{len(folders)} processes in one report: {target / f'ops_perf_results{suffix}.csv'}", flush=True)
    return 0
