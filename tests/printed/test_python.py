#!/usr/bin/env python3
"""test_python.py BUILD: the Python blocks of the documents that need a device, run as they are printed under `python -m tracy -p -r`,
on the simulator. What a document leaves to its reader (a model, an input) stands in front of the printed text, never in it."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import blocks
import world

DEVICE = "import ttnn\nmesh_device = ttnn.open_mesh_device()\na = ttnn.ones((32, 32), device=mesh_device)\n\n\ndef model(x):\n    return ttnn.add(x, 1.0)\n\n\n"
# place: (in front, behind, ops in the report)
RUNS = {
    "5.14": (DEVICE + "input_batch, num_batches = a, 201\n", "", 201),
    "5.28": (world.TRAINING, "", 100),
    "5.30": (DEVICE + "input_tensor = a\n", "", 15),
    "5.32": (DEVICE + "input_tensor = a\n", "", 105),
    "5.33": (DEVICE + "def my_expensive_function():\n    return model(a)\n\n\n", "", 1),
    "5.34": ("", "", 0),
    "5.35": ("", "", 0),
    "5.52": (DEVICE, "\nassert run_model_with_profiling(mesh_device, model, a).to_list()[0][0] == 2.0\n", 105),
}


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.blocks = blocks.read()
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="strobe-printed-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.world = world.World(cls.root, BUILD)

    def csv(self, kind):
        trace = self.world.folder / "generated/profiler/.logs/tracy_profile_log_host.strobe"
        return subprocess.run([BUILD / "bin/strobe", "csv", "--kind", kind, trace], capture_output=True, text=True, check=True).stdout

    def check(self, printed, n_ops):
        messages, zones = self.csv("messages"), self.csv("zones")
        for header in re.findall(r'signpost\("([^"]+)"', printed):
            self.assertIn(f"TT_SIGNPOST: {header}", messages)
        for text in re.findall(r'tracy_message\("([^"]+)"', printed):
            self.assertIn(text, messages)
        for name in re.findall(r'start_tracy_zone\("[^"]+", "([^"]+)"', printed):
            self.assertEqual(zones.count(f",{name},"), 1)
        for name in re.findall(r"profiler\.enable\(\)\n\w+ = (\w+)\(", printed):
            self.assertEqual(zones.count(f",PY_FUNC_{name},"), 1)
        if n_ops:
            ops = [row for row in self.world.rows() if row["OP TYPE"] == "tt_dnn_device"]
            self.assertEqual(len(ops), n_ops)
            self.assertTrue(all(row["DEVICE KERNEL DURATION [ns]"] for row in ops))

    def test_blocks_run_as_printed(self):
        for place, (before, behind, n_ops) in RUNS.items():
            with self.subTest(place):
                self.world.forget()
                printed = self.blocks[place].text
                (self.world.folder / "printed.py").write_text(before + printed + behind)
                done = self.world.run("python -m tracy -p -r printed.py")
                self.assertEqual(done.returncode, 0, f"{printed}\n{done.stderr[-2500:]}")
                self.check(printed, n_ops)


if __name__ == "__main__":
    if blocks.folder() is None:
        print("skipped:", blocks.ABSENT)
        sys.exit(77)
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=1)
