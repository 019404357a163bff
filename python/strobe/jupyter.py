"""%%strobe: record a cell of a notebook and show its zones.

    %load_ext strobe

    %%strobe [--no-functions] [--keep FILE] [--limit N] [--include MODULE]
    ...the cell...
"""
import argparse
import os
import subprocess
import tempfile

import strobe
from strobe._record import find_command


def make_parser():
    parser = argparse.ArgumentParser(prog="%%strobe", add_help=False)
    parser.add_argument("--no-functions", action="store_true", help="only zones made by hand")
    parser.add_argument("--keep", metavar="FILE", help="keep the trace")
    parser.add_argument("--limit", type=int, default=20, help="rows to show")
    parser.add_argument("--include", action="append", default=[], help="only functions of this module")
    return parser


def record_cell(shell, options, cell):
    """Run the cell while recording into a file; the file's path and the cell's result."""
    path = options.keep or os.path.join(tempfile.mkdtemp(prefix="strobe-"), "cell.strobe")
    trace_options = {"include": options.include} if options.include else {}
    recording = strobe.record(path, functions=not options.no_functions, **trace_options)
    try:
        with strobe.zone("cell"):
            result = shell.run_cell(cell)
    finally:
        recording.stop()
    return path, result


def stats(path, limit):
    """The text of `strobe stats`."""
    done = subprocess.run([find_command(), "stats", "--limit", str(limit), path], capture_output=True, text=True,
                          check=False)
    return done.stdout + done.stderr


def strobe_magic(shell, line, cell):
    """The magic itself."""
    try:
        options = make_parser().parse_args(line.split())
    except SystemExit:
        return None
    try:
        path, _ = record_cell(shell, options, cell)
    except RuntimeError as problem:
        print(f"%%strobe: {problem}")
        return None
    print(stats(path, options.limit), end="")
    if options.keep:
        print(f"the trace is {os.path.abspath(path)}")
    else:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    return None


def load_ipython_extension(shell):
    """%load_ext strobe"""

    def run(line, cell):
        return strobe_magic(shell, line, cell)

    run.__doc__ = __doc__
    shell.register_magic_function(run, magic_kind="cell", magic_name="strobe")
