#!/usr/bin/env python3
"""test_ways.py WHEELS PLACE STROBE: the three ways to have tracy_client that IREE's document prints, each by its own lines.

The lines come from the document; /path/to/iree is a fresh copy of the tree, made of its source distribution, and built there by the
document's own script. Nothing is installed beside it, and the index is closed to pip. STROBE is the command that records."""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import test_iree
import venvs

sys.path.insert(0, str(pathlib.Path(__file__).parent / "seeds"))
sys.path.insert(0, str(venvs.ROOT / "python/backend"))
import documents  # noqa: E402
import strobe_backend  # noqa: E402

WHEELS = PLACE = STROBE = None
SCRIPTS, BY_SCRIPT, BY_PATH, BY_WHEEL, PROGRAM = 0, 2, 3, 4, 5  # the document's blocks


def run(script, cwd, bin_folder, **variables):
    """Lines of a shell, with a folder of commands first in PATH; what they printed."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "STROBE_BIN", "STROBE_BUILD")}
    environment = {**clean, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "PIP_NO_INDEX": "1", **variables}
    done = subprocess.run(["bash", "-ec", script], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{script}\nended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


@unittest.skipIf(documents.folder() is None, documents.ABSENT)
class Ways(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="strobe-ways-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        name = strobe_backend.build_sdist(cls.home)
        with tarfile.open(cls.home / name) as tar:
            tar.extractall(cls.home)
        cls.tree = cls.home / name[:-len(".tar.gz")]
        cls.blocks = [text.replace("/path/to/iree", str(cls.tree)) for _, text in documents.read("000")]
        version, python = list(venvs.interpreters().items())[-1]
        subprocess.run([python, "-m", "venv", str(cls.home / "own")], check=True)
        cls.bin = cls.home / "own/bin"
        minimal, = [line for line in documents.commands(cls.blocks[SCRIPTS]) if "minimal" in line]
        run(minimal, cls.tree, cls.bin)

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=self.home))
        (self.place / "your_script.py").write_text(self.blocks[PROGRAM])
        (self.place / "whose.py").write_text("import tracy_client, strobe\nprint(tracy_client.__file__, strobe._strobe.__file__)\n")

    def check_recorded(self, script, bin_folder):
        """The document's program, recorded after these lines, has its zones."""
        said = run(f"{script}\n'{STROBE}' record -q --python off -o out.strobe -- python your_script.py\npython whose.py", self.place, bin_folder)
        self.assertNotIn("not available", said)
        text = subprocess.run([STROBE, "csv", self.place / "out.strobe"], capture_output=True, text=True, check=True).stdout
        for name in ("My Zone", "Nested Zone"):
            self.assertEqual(text.count(f",{name},"), 1)
        return said.splitlines()[-1]

    def test_the_source_environment_script(self):
        source, example = documents.commands(self.blocks[BY_SCRIPT])
        whose = self.check_recorded(source.replace("source ", f"source {self.tree}/"), self.bin)
        self.assertEqual(whose.count(str(self.tree / "build/wheel-client/python")), 2)
        chosen = test_iree.python_for_iree()
        if not chosen:
            self.skipTest("there is no interpreter that IREE has wheels for, for the example")
        python = venvs.make(chosen[1], chosen[0], WHEELS, PLACE / "iree", test_iree.NEEDS)
        said = run(f"{source}\n{example} --turns 2", self.tree, python.parent)
        self.assertIn("number 3 of 64 numbers is 12", said)

    def test_a_pythonpath_by_hand(self):
        export, program = documents.commands(self.blocks[BY_PATH])
        self.assertEqual(program, "python your_script.py")
        whose = self.check_recorded(export, self.bin)
        self.assertTrue(whose.startswith(str(self.tree / "third_party/tracy/python/tracy_client")), whose)

    def test_a_tree_without_a_build_says_how_to_build_it(self):
        export = documents.commands(self.blocks[BY_PATH])[0]
        built = self.tree / "build"
        built.rename(self.tree / "away")
        self.addCleanup((self.tree / "away").rename, built)
        said = run(f"{export}\npython whose.py 2>&1 || true", self.place, self.bin)
        self.assertIn("is not built in it yet. Build it: ", said)
        self.assertIn("build-tracy-python-minimal.sh", said)

    def test_the_wheel_file_alone(self):
        install, = documents.commands(self.blocks[BY_WHEEL])
        fresh = self.place / "fresh"
        subprocess.run([list(venvs.interpreters().values())[-1], "-m", "venv", str(fresh)], check=True)
        whose = self.check_recorded(install, fresh / "bin")
        self.assertEqual(whose.count(str(fresh)), 2)


if __name__ == "__main__":
    WHEELS, PLACE, STROBE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    (PLACE / "iree").mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
