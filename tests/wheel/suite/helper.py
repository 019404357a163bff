"""Runs programs under the installed `strobe` and reads what it recorded."""
import collections
import csv
import io
import os
import pathlib
import subprocess
import sys

BIN = pathlib.Path(sys.executable).parent
STROBE = str(BIN / "strobe")

Zone = collections.namedtuple("Zone", "name function file line start duration depth text value state tid pid")


def run(*command, cwd=None, env=None, input=None, check=True):
    """Run a command; its result, with text output."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**os.environ, **(env or {})}, input=input,
                          capture_output=True, text=True, check=False, timeout=300)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def record(folder, source, *arguments, check=True, env=None, options=()):
    """Record a Python program given as text; its result and the trace."""
    program, trace = folder / "program.py", folder / "out.strobe"
    program.write_text(source)
    done = run(STROBE, "record", "-q", *options, "-o", trace, "--", sys.executable, program, *arguments, cwd=folder,
               check=check, env={"STROBE_PYTHON": "off", **(env or {})})
    return done, trace


def zones(trace, name=None):
    """All zones of a trace, or those of a name."""
    text = run(STROBE, "csv", trace).stdout
    rows = [Zone(row["name"], row["function"], row["file"], int(row["line"]), int(row["start_ns"]),
                 int(row["duration_ns"] or 0), int(row["depth"]), row["text"], row["value"], row["state"], row["tid"],
                 row["pid"]) for row in csv.DictReader(io.StringIO(text))]
    return [zone for zone in rows if name is None or zone.name == name]


def one(trace, name):
    found = zones(trace, name)
    assert len(found) == 1, (name, found)
    return found[0]


def lost(trace):
    """What `info` says about zones that are not whole."""
    text = run(STROBE, "info", trace).stdout
    return [line for line in text.splitlines() if line.startswith("zones")][0].split(None, 1)[1]


ALL_WHOLE = "0 open at the end, 0 unfinished, 0 ends without a begin"
