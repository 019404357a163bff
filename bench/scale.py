#!/usr/bin/env python3
"""scale.py - what grows with threads and processes: bench/scale.py [--zones N] [--shapes 1x1,1x16,...] [--out FILE] [--fill].

Records the same number of zones as PROCESSESxTHREADS, up to the 256 threads of a large machine, on the processors that are here. Of each shape: are
all zones in the file (else it ends with 1), the recorder's CPU time per zone and its memory, the shared memory at its peak, bytes on disk, and how long
`strobe stats` takes. docs/scale.md explains the table; --fill puts it there.
SPDX-License-Identifier: MIT"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import measure  # noqa: E402

SHAPES = "1x1,1x16,1x256,1x4096,16x16,64x4,256x1,64x64"
DOCUMENT = HERE.parent / "docs" / "scale.md"
TABLE = re.compile(r"(<!-- table: bench/scale.py --fill -->\n).*?(<!-- end of the table -->)", re.S)
HEAD = ("processes x threads", "zones", "stored", "dropped", "recorder ns/zone", "its own MiB", "shared MiB", "bytes/zone", "stats s")


class Watch(threading.Thread):
    """The most that a folder of shared memory held, and the most of the recorder's memory that is no file's, in MiB; looked at fifty times a second."""

    def __init__(self, folder, pid):
        super().__init__(daemon=True)
        self.folder, self.pid, self.shared, self.own, self.is_over = folder, pid, 0.0, 0.0, threading.Event()
        self.start()

    def look(self):
        total = 0
        for path in self.folder.rglob("*"):
            try:
                total += path.lstat().st_blocks * 512
            except OSError:  # gone meanwhile
                pass
        self.shared = max(self.shared, total / 2**20)
        try:
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            self.own = max(self.own, int(status.partition("RssAnon:")[2].split()[0]) / 1024)
        except (OSError, IndexError):  # it has ended
            pass

    def run(self):
        while not self.is_over.wait(0.02):
            self.look()

    def done(self):
        self.is_over.set()
        self.join()


def start_all(program, zones, processes, threads):
    """A shell line that runs so many of them at once, and fails if one does."""
    one = f"{program} {zones // processes} {threads}"
    return ["sh", "-c", f'set -e; p=; i=0; while [ $i -lt {processes} ]; do {one} >/dev/null & p="$p $!"; i=$((i+1)); done; for one in $p; do wait $one; done']


def events_of(strobe, path):
    facts = json.loads(subprocess.run([strobe, "info", "--json", path], check=True, capture_output=True, text=True).stdout)
    return facts["stored"], facts["dropped"]


def one_shape(tree, zones, processes, threads):
    zones -= zones % (processes * threads)
    path = tree.work / "scale.strobe"
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="strobe-scale-", dir="/dev/shm") as sessions:
        command = start_all(tree.program("bench_jobs"), zones, processes, threads)
        process = measure.spawn([tree.strobe, "record", "-q", "-o", path, "--", *command], {"BENCH_WAIT": "1", "STROBE_DIR": sessions})
        watch, used = Watch(pathlib.Path(sessions), process.pid), measure.Used(process.pid).done()
        watch.done()
        if process.wait():
            raise measure.Failed(f"{processes} processes of {threads} threads: the recorder ended with {process.returncode}")
    stored, dropped = events_of(tree.strobe, path)
    began = time.monotonic()
    subprocess.run([tree.strobe, "stats", path], check=True, stdout=subprocess.DEVNULL)
    took = time.monotonic() - began
    row = {"shape": f"{processes}x{threads}", "zones": zones, "stored": stored, "dropped": dropped, "cpu_ns": 1e9 * used.cpu_s / zones, "own_mib": watch.own,
           "shared_mib": watch.shared, "bytes": path.stat().st_size / zones, "stats_s": took, "is_exact": stored + dropped == 2 * zones}
    path.unlink()
    return row


def line(row):
    cells = (row["shape"], f"{row['zones']:,}", f"{row['stored']:,}", f"{row['dropped']:,}", f"{row['cpu_ns']:.1f}", f"{row['own_mib']:.1f}", f"{row['shared_mib']:.1f}",
             f"{row['bytes']:.2f}", f"{row['stats_s']:.2f}")
    return "| " + " | ".join(cells) + " |" + ("" if row["is_exact"] else " NOT EXACT")


def fill(lines, load):
    machine = measure.machine()
    said = f"`bench/scale.py`: commit {measure.git('rev-parse', '--short=10', 'HEAD')}, {datetime.date.today()}; {machine['cores']} × {machine['cpu']}; load {load:.1f} before.\n\n"
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(TABLE.sub(lambda found: found[1] + said + "\n".join(lines) + "\n" + found[2], text), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zones", type=int, default=12_288_000)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--build", default=str(HERE.parent / "build"))
    parser.add_argument("--fill", action="store_true", help="put the table into docs/scale.md")
    parser.add_argument("--out", help="the rows as JSON, too")
    options = parser.parse_args()
    tree = measure.Tree(options.build)
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")]
    load, rows, lines = os.getloadavg()[0], [], ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    print("\n".join(lines))
    for processes, threads in shapes:
        rows.append(one_shape(tree, options.zones, processes, threads))
        lines.append(line(rows[-1]))
        print(lines[-1], flush=True)
    is_exact = all(row["is_exact"] for row in rows)
    if options.fill and is_exact:
        fill(lines, load)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"processors": os.cpu_count(), "rows": rows}, indent=1) + "\n")
    return 0 if is_exact else 1


if __name__ == "__main__":
    sys.exit(main())
