# SPDX-License-Identifier: MIT
"""Finds and runs the `strobe` command for the modules that keep upstream's command lines."""
import os
import pathlib
import shutil
import subprocess
import sys


def find():
    """Path of the binary: $STROBE_BIN, beside this package, beside the interpreter, on PATH."""
    named = os.environ.get("STROBE_BIN")
    if named:
        return named
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here, here.parent, here.parent / "bin", here.parent.parent / "build" / "bin",
                   pathlib.Path(sys.executable).parent):
        candidate = folder / "strobe"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("strobe")
    if not found:
        raise FileNotFoundError("the strobe command was not found: set STROBE_BIN to its path")
    return found


def run(*arguments):
    """Run `strobe report ...`; its exit code."""
    sys.stdout.flush()
    return subprocess.run([find(), "report", *map(str, arguments)], check=False).returncode
