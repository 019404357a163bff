#!/usr/bin/env python3
"""test_freethreaded.py WHEELS PLACE: what a free-threaded interpreter gets: the wheel that explains, and no crash.

The interpreter is $STROBE_FREE_THREADED, pyenv's, or on PATH; else it is built from the source that Debian has of its stable
release (some minutes, once). Ends with 77 where none can be had."""
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.request

import venvs

MIRROR = os.environ.get("STROBE_DEBIAN_MIRROR", "http://deb.debian.org/debian")
SOURCE = "pool/main/p/python3.13/python3.13_3.13.5.orig.tar.xz"
SOURCE_SHA256 = "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640"
WHEELS = HOME = None
EXPLANATION = "strobe does not work on free-threaded Python"


def is_free_threaded(python):
    code = "import sys, sysconfig; sys.exit(not sysconfig.get_config_var('Py_GIL_DISABLED'))"
    return subprocess.run([python, "-I", "-c", code], stderr=subprocess.DEVNULL, check=False).returncode == 0


def find(place):
    """A free-threaded interpreter that is there; None: there is none."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    named = [os.environ.get("STROBE_FREE_THREADED"), *glob.glob(f"{pyenv}/versions/3.*t*/bin/python"),
             *(shutil.which(f"python3.{minor}t") for minor in range(13, 30)), str(place / "python-t/bin/python3")]
    return next((path for path in named if path and os.path.exists(path) and is_free_threaded(path)), None)


def build(place):
    """Build one from Debian's source, which is checked; its path. OSError: it can't be had."""
    print(f"no free-threaded interpreter is here: one is built from {MIRROR}/{SOURCE}", flush=True)
    with urllib.request.urlopen(f"{MIRROR}/{SOURCE}", timeout=120) as answer:
        data = answer.read()
    if hashlib.sha256(data).hexdigest() != SOURCE_SHA256:
        raise OSError(f"{SOURCE} is not what it was")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        archive = pathlib.Path(folder) / "source.tar.xz"
        archive.write_bytes(data)
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        source, = [path for path in pathlib.Path(folder).iterdir() if path.is_dir()]
        for command in (["./configure", "-q", "--disable-gil", f"--prefix={place / 'python-t'}"],
                        ["make", "-s", f"-j{os.cpu_count() or 1}"], ["make", "-s", "install"]):
            subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, "CFLAGS": "-O1"})
    return str(place / "python-t/bin/python3")


def run(*command, check=True, env=None):
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "STROBE_BIN")}
    done = subprocess.run([str(word) for word in command], cwd=HOME, env={**clean, **(env or {})}, capture_output=True,
                          text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


class FreeThreaded(unittest.TestCase):
    python = None  # of the environment that has the wheels, as pip chose them

    def test_pip_takes_the_wheel_that_explains(self):
        self.assertFalse(list(HOME.glob("lib/python3*t/site-packages/strobe/*.so")))
        self.assertFalse(list(HOME.glob("lib/python3*t/site-packages/strobe.pth")))

    def test_pip_refuses_the_wheel_of_the_stable_abi(self):
        done = run(*venvs.pip_for(self.python, HOME.parent), "install", "--no-deps", "--force-reinstall", venvs.wheels(WHEELS)["strobe_profiler"], check=False)
        self.assertIn("is not a supported wheel on this platform", done.stderr)

    def test_importing_explains(self):
        for module in ("strobe", "tracy_client"):
            done = run(self.python, "-c", f"import {module}", check=False)
            self.assertIn("ImportError: ", done.stderr)
            self.assertIn(EXPLANATION, done.stderr)

    def test_the_commands_record_a_program_and_name_the_interpreter_that_could_not_join(self):
        trace = HOME / "out.strobe"
        done = run(HOME / "bin/strobe", "record", "-q", "-o", trace, "--", self.python, "-c", "print('as ever')")
        self.assertEqual(done.stdout, "as ever\n")
        self.assertRegex(run(HOME / "bin/strobe", "info", trace).stdout, r"not traced|can't join|did not join")

    def test_python_m_strobe_and_python_m_tracy_explain(self):
        (HOME / "app.py").write_text("print('as ever')\n")
        for words in (["strobe", "doctor"], ["strobe", "record", "app.py"], ["tracy", "app.py"]):
            done = run(self.python, "-m", *words, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(EXPLANATION, done.stderr)
            self.assertTrue(words[0] == "strobe" or "Traceback" not in done.stderr, done.stderr)

    def test_python_m_tracy_runs_a_binary_and_a_program_that_traces_nothing(self):
        (HOME / "app.py").write_text("print('as ever')\n")
        self.assertEqual(run(self.python, "-m", "tracy", "-p", "app.py").stdout, "as ever\n")
        self.assertEqual(run(self.python, "-m", "tracy", "/bin/echo", "as ever").stdout, "as ever\n")

    def test_pytest_is_not_disturbed(self):
        (HOME / "test_one.py").write_text("def test_one(): pass\n")
        self.assertIn("1 passed", run(self.python, "-m", "pytest", "-q", "test_one.py").stdout)


def main():
    global WHEELS, HOME
    WHEELS, place = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    place.mkdir(parents=True, exist_ok=True)
    try:
        python = find(place) or build(place)
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"there is no free-threaded interpreter, and none can be built: {problem}")
        return 77
    version = (*venvs.version_of(python, free_threaded=True), "t")
    FreeThreaded.python = venvs.make(python, version, WHEELS, place)
    HOME = FreeThreaded.python.parents[1]
    return not unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
