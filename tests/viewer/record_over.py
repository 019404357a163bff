#!/usr/bin/env python3
"""record_over.py STROBE JOBS OUT ZONES: the trace of a program that has more to do than the machine has cores for.

Three processes of three threads each share two cores: whoever is preempted keeps his zones open meanwhile, so that short functions are drawn as wide
zones here and there. JOBS is bench_jobs. The first thread of each process marks frames.  SPDX-License-Identifier: MIT"""
import os
import pathlib
import subprocess
import sys

PROCESSES, THREADS, CORES = 3, 3, 2
RATE = 1e12      # that nobody waits for
MEMORY = "256M"  # all of it fits, so that nothing is lost while the recorder waits for a core


def main():
    strobe, jobs, out, zones = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:CORES]))
    each = f"{jobs} {zones // PROCESSES} {THREADS} 0 {RATE:.0f}"
    line = " & ".join([each] * PROCESSES) + " & wait"
    return subprocess.run([strobe, "record", "-q", "--max-memory", MEMORY, "-o", out, "--", "sh", "-c", line], env={**os.environ, "BENCH_WAIT": "1"}, stdout=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
