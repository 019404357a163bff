"""options_case.py - runs of `python -m tracy` with a program that has a device, for test_options.py, test_profiler_variables.py and test_troubles.py.

A run is made once and looked at by several tests: `run(name, words, program)` is kept by its name. With STROBE_OPTIONS=apart every option has a
run of its own, alone; else options that do not touch each other share one, which is why a whole suite costs seconds."""
import csv
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAM = BUILD / "bin" / "device_options"
STROBE = BUILD / "bin" / "strobe"
LOGS = pathlib.Path("generated/profiler/.logs")
HOST_TRACE = "tracy_profile_log_host.strobe"
LIMIT_S = 280  # a hang's
APART = os.environ.get("STROBE_OPTIONS") == "apart"
KEPT = ("PATH", "HOME", "TMPDIR", "STROBE_KERNEL_DIR", "STROBE_KERNEL_CACHE", "LD_LIBRARY_PATH")

# the program: Python around ops of a device, as a model's script is
APP = """
import subprocess, sys
from tracy import Profiler, signpost
def outside(): return 1
def inside():
    two = 1 + 1
    return two
outside()
profiler = Profiler()
profiler.enable()
inside()
profiler.disable()
signpost("start", "of the ops")
sys.stdout.flush()
code = subprocess.run(sys.argv[1:]).returncode
signpost("stop")
sys.exit(code if code >= 0 else 128 - code)
"""


def environment(**variables):
    """What a run finds: nothing of the caller's but where things are."""
    found = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**found, "STROBE_KERNEL_CACHE": os.environ.get("STROBE_KERNEL_CACHE", str(BUILD / "kernels")), "PYTHONPATH": str(BUILD / "python"),
            "PYTHONDONTWRITEBYTECODE": "1", "STROBE_BIN": str(STROBE), "STROBE_SIM_GRID_X": "2", "STROBE_SIM_GRID_Y": "1", **variables}


def table(path, skip=0):
    with open(path, newline="", encoding="utf8") as lines:
        for _ in range(skip):
            next(lines)
        return list(csv.DictReader(lines, skipinitialspace=True))


class Run:
    """One run of a command in a folder of its own."""

    def __init__(self, folder, command, variables=None, stdin=None):
        self.folder = pathlib.Path(folder)
        (self.folder / "app.py").write_text(APP)
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=environment(**(variables or {})), capture_output=True, text=True,
                              timeout=LIMIT_S, input=stdin, check=False)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def root(self):
        """The artifacts folder."""
        return self.folder / "out" if (self.folder / "out").exists() else self.folder / "generated/profiler"

    @property
    def logs(self):
        return self.root / ".logs"

    def has(self, name):
        return bool(list(self.logs.glob(name)))

    def device_rows(self):
        path = self.logs / "profile_log_device.csv"
        return table(path, 1) if path.exists() else []

    def zones(self):
        """How often each zone is in the device log."""
        names = [row["zone name"] for row in self.device_rows() if row["type"] == "ZONE_START"]
        return {name: names.count(name) for name in names}

    def reports(self):
        return sorted(path for path in (self.root / "reports").rglob("ops_perf_results*.csv")
                      if not path.is_symlink() and not path.parent.name.startswith("process_"))

    def report(self):
        """Rows of the run's only report."""
        found = self.reports()
        assert len(found) == 1, (found, self.err)
        return table(found[0])

    def ops(self):
        return [row for row in self.report() if row.get("OP TYPE") != "signpost"]

    def trace(self, kind="zones", *options):
        """Rows of `strobe csv` of the trace."""
        done = subprocess.run([STROBE, "csv", "--kind", kind, *options, str(self.logs / HOST_TRACE)], capture_output=True, text=True, check=True, timeout=LIMIT_S)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def names(self):
        return [row["name"] for row in self.trace()]

    def device_zones(self):
        return [row["name"] for row in self.trace() if row["process"].startswith("Device")]


class Case(unittest.TestCase):
    maxDiff = None
    kept = {}

    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="strobe-options-"))
        cls.kept = {}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    @classmethod
    def folder(cls, name):
        place = cls.place / name
        place.mkdir(exist_ok=True)
        return place

    @classmethod
    def tracy(cls, name, options, program, variables=None, app=True, stdin=None):
        """`python -m tracy OPTIONS app.py device_options PROGRAM`, once for each name."""
        if name not in cls.kept:
            words = [*(["app.py"] if app else []), PROGRAM, *program.split()]
            if "-m" in options:
                words[0] = "app"
            cls.kept[name] = Run(cls.folder(name), [sys.executable, "-m", "tracy", *options, *words], variables, stdin)
        return cls.kept[name]

    @classmethod
    def plain(cls, name, program, variables=None, recorded=False):
        """The program by itself, or under `strobe record`."""
        if name not in cls.kept:
            folder = cls.folder(name)
            (folder / LOGS).mkdir(parents=True, exist_ok=True)
            before = [STROBE, "record", "-q", "-o", folder / LOGS / HOST_TRACE, "--"] if recorded else []
            cls.kept[name] = Run(folder, [*before, PROGRAM, *program.split()], variables)
        return cls.kept[name]


def main():
    unittest.main(verbosity=2)
