#!/usr/bin/env python3
"""test_stubs.py WHEELS PLACE: the type stubs say what the modules have, no more and no less.

Judge: mypy from the package index (its stubtest imports the installed modules and compares them with their stubs)."""
import pathlib
import subprocess
import sys
import unittest

import venvs

WHEELS = PLACE = None
MODULES = ["strobe", "tracy_client", "tracy"]
CONFIG = "[mypy]\nignore_missing_imports = True\n"  # tt-npe and IPython, which are used where they are there
ALLOWED = r"strobe\._scoped\._steps" + "\n"  # mypy does not look into lru_cache
USE = """
import strobe
from tracy_client import scoped

@strobe.zone("step")
def step(n: int) -> int:
    return n

@strobe.zone
def bare(text: str) -> str:
    return text

@scoped.ScopedZoneDecorator(name="other", color=0xFF0000)
def other(n: int) -> int:
    return n

with strobe.record("out.strobe", functions=True, include=["numpy"], min_duration="10us") as recording:
    reveal_type(recording.path)
    with strobe.zone("load", color=0xFF8800) as zone:
        zone.text("x")
    strobe.plot("queue", 3, format="bytes")
    strobe.flow().begin().end()
reveal_type(step(1))
reveal_type(bare("a"))
reveal_type(other(1))
with scoped.ScopedZone("name", 0xFF0000) as held:
    reveal_type(held.is_active)
strobe.message("x", severity="loud")
step("no number")
"""


class Stubs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        version, python = max(venvs.interpreters().items())
        cls.python = venvs.make(python, version, WHEELS, PLACE / "stubs", ["mypy"])

    def run_tool(self, *words):
        return subprocess.run([self.python, "-m", *words], cwd=PLACE / "stubs", capture_output=True, text=True, check=False)

    def test_modules_and_stubs_agree(self):
        (PLACE / "stubs/mypy.ini").write_text(CONFIG)
        (PLACE / "stubs/allowed").write_text(ALLOWED)
        done = self.run_tool("mypy.stubtest", "--mypy-config-file", "mypy.ini", "--allowlist", "allowed", *MODULES)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_checker_understands_a_program(self):
        (PLACE / "stubs/use.py").write_text(USE)
        done = self.run_tool("mypy", "--strict", "use.py")
        told = [line.split(": ", 2)[1:] for line in done.stdout.splitlines() if line.startswith("use.py")]
        types = [text.split('"')[1] for kind, text in told if kind == "note" and "Revealed" in text]
        self.assertEqual([name.replace("builtins.", "") for name in types], ["str", "int", "str", "int", "bool"], done.stdout)
        self.assertEqual(len([text for kind, text in told if kind == "error"]), 2, done.stdout)  # the two wrong calls


if __name__ == "__main__":
    WHEELS, PLACE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    (PLACE / "stubs").mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
