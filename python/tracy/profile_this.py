#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile_this.py -c "COMMAND": an older way to say `python -m tracy -v -r -p -m COMMAND`."""
import argparse
import os
import shlex
import subprocess
import sys


def command_line(given):
    words = [sys.executable, "-m", "tracy", "-v", "-r", "-p"]
    for option, value in (("-o", given.output_folder), ("-n", given.name_append),
                          ("--profiler-capture-perf-counters", given.profiler_capture_perf_counters)):
        if value:
            words += [option, value]
    if given.collect_noc_traces:
        words.append("--collect-noc-traces")
    return [*words, "-m", *shlex.split(given.command)]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="profile_this", description=__doc__)
    parser.add_argument("-c", "--command", required=True, help="Module and its arguments")
    parser.add_argument("-o", "--output-folder")
    parser.add_argument("-n", "--name-append")
    parser.add_argument("--collect-noc-traces", action="store_true")
    parser.add_argument("--profiler-capture-perf-counters")
    given = parser.parse_args(arguments)
    environment = {**os.environ, "TT_METAL_DEVICE_PROFILER": "1"}
    return subprocess.run(command_line(given), env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
