"""strobe_case.py - what the tests of the Python package share: recording a script with the interpreter that runs the tests, and
reading the trace with the `strobe` command that belongs to the package.

The interpreter must have the package as an installation gives it, with its .pth: run.py makes such an environment of a build tree.
STROBE_TEST_MODULES names the folder with the compiled module `counting`."""
import collections
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
MODULES = os.environ.get("STROBE_TEST_MODULES", "")
LEGACY = sys.version_info < (3, 12)  # no sys.monitoring


def command():
    from strobe._record import find_command

    return find_command()


class Ran:
    """A recorded program: its exit code, what it printed, its trace."""

    def __init__(self, code, out, err, trace):
        self.code, self.out, self.err, self.trace = code, out, err, trace

    def rows(self, kind="zones"):
        """The rows of `strobe csv`."""
        text = subprocess.run([command(), "csv", "--kind", kind, str(self.trace)], stdout=subprocess.PIPE, check=True).stdout
        return list(csv.DictReader(io.StringIO(text.decode("utf-8", "replace"))))

    def counts(self, file=None, by_line=False):
        """{name: zones that ended}, of one source file (by its last part) or of all; with by_line {"name:line": zones}."""
        text = subprocess.run([command(), "stats", "--csv", str(self.trace)], stdout=subprocess.PIPE, check=True).stdout
        counted = collections.Counter()
        for row in csv.DictReader(io.StringIO(text.decode("utf-8", "replace"))):
            if file is None or os.path.basename(row["file"]) == file:
                counted[f"{row['name']}:{row['line']}" if by_line else row["name"]] += int(row["count"])
        return counted

    def info(self):
        return json.loads(subprocess.run([command(), "info", "--json", str(self.trace)], stdout=subprocess.PIPE, check=True).stdout)

    def text(self):
        """What `strobe info` prints."""
        return subprocess.run([command(), "info", str(self.trace)], stdout=subprocess.PIPE, check=True).stdout.decode()


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-python-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def script(self, text, name="program.py"):
        path = self.folder / name
        path.write_text(text)
        return path

    def record(self, *arguments, options=(), env=None, timeout=120, python=None):
        """`strobe record` of the interpreter with these arguments."""
        trace = self.folder / f"{len(list(self.folder.iterdir()))}.strobe"
        ran = subprocess.run(
            [command(), "record", "-q", "-o", str(trace), *options, "--", python or sys.executable, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, env={**os.environ, **(env or {})})
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode(), trace)

    def run_plain(self, *arguments, env=None, timeout=120):
        """The interpreter with nobody recording."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("STROBE_") or key in ("STROBE_TEST_MODULES", "STROBE_SAMPLE")}
        ran = subprocess.run([sys.executable, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=timeout, env={**clean, **(env or {})})
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode(), None)

    def trace_of(self, path):
        return Ran(0, "", "", path)


def main():
    unittest.main(verbosity=1)
