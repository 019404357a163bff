#!/usr/bin/env python3
"""test_iree.py WHEELS PLACE: Python's zones and those of IREE's instrumented runtime on one track, nested.

IREE comes from the package index, into an environment of its own. The example, and the document's own program with the
change that tests/wheel/seeds/000-6.diff lists: IREE has renamed a function since."""
import collections
import csv
import io
import os
import pathlib
import subprocess
import sys
import unittest

import venvs

sys.path.insert(0, str(pathlib.Path(__file__).parent / "seeds"))
import documents  # noqa: E402

VERSION = "3.13.0"
NEEDS = ["--no-compile",  # most of it is never imported
         f"iree-base-runtime=={VERSION}", f"iree-base-compiler=={VERSION}", "numpy"]
EXAMPLE = venvs.ROOT / "examples/iree"
TURNS = 3
WHEELS = PLACE = None
Zone = collections.namedtuple("Zone", "name tid start end depth")

# what the document takes for granted, around its function
BEFORE = """
from iree.runtime import Config, SystemContext
def create_context(device):
    return SystemContext(config=Config(device=device))
"""
AFTER = """
import sys
numbers = np.arange(64, dtype=np.float32)
results = run_inference(open(sys.argv[1], "rb").read(), (numbers, numbers))
assert float(np.asarray(results)[3]) == 12.0
"""


def python_for_iree():
    """The newest interpreter that IREE has wheels for."""
    found = {version: path for version, path in venvs.interpreters().items() if (3, 10) <= version <= (3, 13)}
    return found and max(found.items())


class Iree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        chosen = python_for_iree()
        if not chosen:
            raise unittest.SkipTest("there is no interpreter that IREE has wheels for")
        version, python = chosen
        cls.python = venvs.make(python, version, WHEELS, PLACE / "iree", NEEDS)
        cls.bin = cls.python.parent
        cls.module = PLACE / "iree/scale.vmfb"
        subprocess.run([cls.bin / "iree-compile", "--iree-hal-target-backends=llvm-cpu",
                        "--iree-llvmcpu-target-cpu=generic", EXAMPLE / "scale.mlir", "-o", cls.module], check=True)

    def record(self, *command):
        """Record a program on the instrumented runtime; its zones. As root its client would sample call stacks too, and then
        crashes now and then in its own thread, looking up a module that was unloaded."""
        trace = PLACE / "iree/out.strobe"
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([self.bin / "strobe", "record", "-q", "--python", "off", "-o", trace, "--", self.python, *command],
                              env={**clean, "IREE_PY_RUNTIME": "tracy", "TRACY_NO_SAMPLING": "1"}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = subprocess.run([self.bin / "strobe", "csv", trace], capture_output=True, text=True, check=True).stdout
        info = subprocess.run([self.bin / "strobe", "info", trace], capture_output=True, text=True, check=True).stdout
        self.assertIn("coverage: 100.00 %", info)
        self.assertIn("0 open at the end, 0 unfinished, 0 ends without a begin", info)
        return [Zone(row["name"], row["tid"], int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"]),
                     int(row["depth"])) for row in csv.DictReader(io.StringIO(text))]

    def inside(self, zones, outer):
        """Zones of the same thread that ran inside a zone, below it."""
        return [zone for zone in zones if zone is not outer and zone.tid == outer.tid and zone.depth > outer.depth and
                outer.start <= zone.start and zone.end <= outer.end]

    def check(self, zones, turns):
        by_name = collections.defaultdict(list)
        for zone in zones:
            by_name[zone.name].append(zone)
        whole, = by_name["IREE Inference"]
        self.assertEqual(whole.depth, 0)
        for name, count in (("Create Device", 1), ("Load Module", 1), ("Execute Function", turns)):
            self.assertEqual(len(by_name[name]), count, name)
            for zone in by_name[name]:
                self.assertEqual((zone.tid, zone.depth), (whole.tid, 1), name)
        for zone in by_name["Execute Function"]:
            names = [inner.name for inner in self.inside(zones, zone)]
            self.assertIn("iree_vm_invoke", " ".join(names))
        load, = by_name["Load Module"]
        self.assertIn("iree_vm_bytecode_module_create", [inner.name for inner in self.inside(zones, load)])
        tracks = {zone.tid for zone in zones if zone.name.startswith("iree_vm_")}
        self.assertEqual(tracks, {whole.tid})

    def test_the_example(self):
        self.check(self.record(EXAMPLE / "example.py", "--module", self.module, "--turns", str(TURNS)), TURNS)

    def test_the_program_of_the_document(self):
        if documents.folder() is None:
            self.skipTest(documents.ABSENT)
        program = PLACE / "iree/printed.py"
        program.write_text(documents.read("000")[6][1])
        changed = subprocess.run(["patch", "-s", str(program), str(pathlib.Path(__file__).parent / "seeds/000-6.diff")],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(changed.returncode, 0, changed.stdout)
        flush = documents.read("000")[7][1].replace("# ... do some work ...", "pass")
        program.write_text(BEFORE + program.read_text() + AFTER + flush)
        self.check(self.record(program, self.module), 1)


if __name__ == "__main__":
    WHEELS, PLACE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    (PLACE / "iree").mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
