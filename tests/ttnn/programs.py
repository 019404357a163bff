"""What the tests of ttnn share: programs under `python -m tracy`, and the report that they leave."""
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 600  # a hang's


def environment(build, **more):
    """Of a program that finds this tree's modules, library and commands; nothing of the caller's profiler settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TT_METAL", "TTNN_", "TRACY", "STROBE_SIM"))}
    return {**kept, "PATH": f"{build / 'bin'}{os.pathsep}{os.environ['PATH']}", "STROBE_BIN": str(build / "bin/strobe"), "PYTHONDONTWRITEBYTECODE": "1",
            "STROBE_DEVICE_LIBRARY": str(build / "lib/libstrobe-device.so"), "STROBE_KERNEL_DIR": str(TREE / "kernel"),
            "PYTHONPATH": os.pathsep.join((str(TREE / "examples/ttnn"), str(build / "python"))), **more}


def rows_of(folder):
    """The rows of the newest report below a folder."""
    paths = sorted(pathlib.Path(folder).rglob("ops_perf_results*.csv"), key=lambda path: path.stat().st_mtime)
    with open(paths[-1], newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


class TracyTest(unittest.TestCase):
    build = None  # set by the test's main

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-ttnn-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_tracy(self, *words, code=0, **variables):
        """`python -m tracy WORDS` in the test's folder; what it wrote to stderr."""
        done = subprocess.run([sys.executable, "-m", "tracy", *map(str, words)], cwd=self.folder, env=environment(self.build, **variables),
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, done.stderr[-3000:])
        return done.stderr

    def run_program(self, text, *options, **variables):
        """A program under `python -m tracy -p -r`; the rows of its report."""
        (self.folder / "program.py").write_text(text)
        self.run_tracy("-p", "-r", *options, "program.py", **variables)
        return rows_of(self.folder / "generated")
