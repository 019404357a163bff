"""What the report's tests share: running the command, reading its CSV files."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
STROBE = os.environ.get("STROBE_BIN", "strobe")
sys.path.insert(0, str(HERE))


def strobe(*arguments, code=0, cwd=None, environment=None):
    """Run `strobe report`; its standard output. The exit code must be `code`."""
    done = subprocess.run([STROBE, "report", *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
                          env=dict(os.environ, **(environment or {})), check=False)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, not {code}: {done.stderr}{done.stdout[-2000:]}")
    return done.stdout


def rows_of(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-report-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def golden(self, name):
        """A writable copy of a golden run's logs; its root."""
        root = self.folder / name
        if not root.exists():
            shutil.copytree(HERE / "golden" / name / "logs", root / ".logs")
        return root

    def report(self, root, *options, code=0):
        """Make the report of a run; the summary as a dict and the path of the CSV."""
        out = strobe(root, "-o", self.folder / "out", "--no-date", "--json", *options, code=code)
        summary = json.loads(out)
        return summary, pathlib.Path(summary["report"])
