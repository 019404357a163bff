# SPDX-License-Identifier: MIT
"""Finds and runs the `strobe` command for the modules that keep upstream's command lines."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys


class NotFound(FileNotFoundError):
    """There is no `strobe` command; the message says where it was looked for."""


def find():
    """Path of the binary: $STROBE_BIN, in the package `strobe`, beside this one, beside the interpreter, on PATH."""
    named = os.environ.get("STROBE_BIN")
    if named:
        return named
    here = pathlib.Path(__file__).resolve().parent
    for folder in (package_folder(), here, here.parent, here.parent / "bin", here.parent.parent / "build" / "bin",
                   pathlib.Path(sys.executable).parent):
        candidate = folder / "strobe"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("strobe")
    if not found:
        raise NotFound("the strobe command was not found: neither in the installed package `strobe`, nor beside the "
                       "interpreter, nor on PATH. Install the whole wheel (not the client alone), or set STROBE_BIN")
    return found


def package_folder():
    """strobe/bin of the installed wheel, without importing it."""
    spec = importlib.util.find_spec("strobe")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return pathlib.Path(places[0]) / "bin" if places else pathlib.Path(os.devnull)


def run(*arguments):
    """Run `strobe report ...`; its exit code."""
    sys.stdout.flush()
    return subprocess.run([find(), "report", *map(str, arguments)], check=False).returncode
