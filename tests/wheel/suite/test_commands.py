"""What the wheel carries: commands, library, headers; python -m strobe; the notebook's magic."""
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import helper


def test_commands_start_without_anything_else():
    bare = {"PATH": "/nowhere"}
    done = subprocess.run([helper.STROBE, "--version"], env=bare, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "strobe"
    assert importlib.metadata.version("strobe") in done.stdout


def test_the_package_needs_no_distribution():
    wanted = [text for text in importlib.metadata.requires("strobe") or [] if "extra ==" not in text]
    assert wanted == []


def test_stubs_and_docstrings_are_there():
    import strobe
    import tracy_client
    folder = pathlib.Path(strobe.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "__init__.pyi").exists()
    assert (pathlib.Path(tracy_client.__file__).parent / "py.typed").exists()
    missing = [f"{module.__name__}.{name}" for module in (strobe, tracy_client) for name in module.__all__
               if name not in ("Color", "PlotType") and not getattr(module, name).__doc__]
    assert missing == []


def test_licences_are_there():
    names = {str(path) for path in importlib.metadata.files("strobe")}
    licences = [name for name in names if "/licenses/" in name]
    assert any(name.endswith("/LICENSE") for name in licences)
    for library in ("libzstd", "libdw", "libelf", "zlib1g", "liblzma", "libbz2", "libxxhash"):
        assert any(library in name for name in licences), library


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_a_c_program_is_built_with_what_the_wheel_carries(tmp_path):
    prefix = dict(line.split(None, 1) for line in helper.run(sys.executable, "-m", "strobe", "paths").stdout.splitlines())
    (tmp_path / "hello.c").write_text('#include <strobe/strobe.h>\nint main(void) { STROBE_SCOPE("from C"); return 0; }\n')
    helper.run("cc", "hello.c", "-o", "hello", f"-I{prefix['include']}", f"-L{prefix['lib']}", "-lstrobe",
               f"-Wl,-rpath,{prefix['lib']}", cwd=tmp_path)
    helper.run(helper.STROBE, "record", "-q", "-o", "c.strobe", "--", "./hello", cwd=tmp_path)
    helper.one(tmp_path / "c.strobe", "from C")
    # and by itself: the library finds the recorder beside it
    helper.run("./hello", cwd=tmp_path, env={"STROBE_TRACE": "own.strobe", "PATH": "/nowhere"})


def test_python_m_strobe_records_a_script_and_a_module(tmp_path):
    (tmp_path / "app.py").write_text("import sys\ndef work(): print(sys.argv)\nif __name__ == '__main__': work()\n")
    done = helper.run(sys.executable, "-m", "strobe", "record", "-q", "-o", "a.strobe", "app.py", "x y", "-o", cwd=tmp_path)
    assert done.stdout == "['app.py', 'x y', '-o']\n"
    assert len(helper.zones(tmp_path / "a.strobe", "work")) == 1
    done = helper.run(sys.executable, "-m", "strobe", "record", "-q", "-o", "m.strobe", "-m", "app", "-v", cwd=tmp_path)
    assert done.stdout.endswith("'-v']\n")
    assert len(helper.zones(tmp_path / "m.strobe", "work")) == 1
    failed = helper.run(sys.executable, "-m", "strobe", "record", "-q", "-o", "f.strobe", "--", "sh", "-c", "exit 6",
                        cwd=tmp_path, check=False)
    assert failed.returncode == 6
    assert "zone" in helper.run(sys.executable, "-m", "strobe", "stats", "a.strobe", cwd=tmp_path).stdout


def test_doctor_finds_nothing_wrong():
    done = helper.run(sys.executable, "-m", "strobe", "doctor", env={"STROBE_DISABLE": ""})
    assert "WRONG" not in done.stdout
    assert "module tracy_client: Strobe's" in done.stdout and "module tracy: Strobe's" in done.stdout
    wrong = helper.run(sys.executable, "-m", "strobe", "doctor", env={"STROBE_DISABLE": "1"}, check=False)
    assert wrong.returncode == 1 and "STROBE_DISABLE is set" in wrong.stdout


def test_python_m_strobe_tracy_is_python_m_tracy(tmp_path):
    (tmp_path / "tracy.py").write_text("raise SystemExit('a foreign tracy')\n")
    (tmp_path / "app.py").write_text("def work(): pass\nwork()\n")
    helper.run(sys.executable, "-m", "strobe", "tracy", "--help")
    assert "foreign" in helper.run(sys.executable, "-m", "tracy", "app.py", cwd=tmp_path, check=False).stderr


class Shell:
    """What the magic needs of IPython, where there is none."""

    def __init__(self):
        self.magics = {}

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = function

    @staticmethod
    def run_cell(cell):
        exec(cell, {})


def test_the_magic_records_a_cell_and_shows_its_zones(tmp_path, capsys, monkeypatch):
    import strobe
    if strobe.recording():
        pytest.skip("this test run is being recorded")
    monkeypatch.chdir(tmp_path)
    code = f"""
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import strobe
from test_commands import Shell
shell = Shell()
strobe.load_ipython_extension(shell)
magic = shell.magics["cell", "strobe"]
magic("", "def crunch(): return 1\\ncrunch(); crunch()")
magic("--keep kept.strobe --no-functions", "import strobe\\nwith strobe.zone('by hand'): pass")
"""
    done = helper.run(sys.executable, "-c", code, cwd=tmp_path)
    assert "crunch" in done.stdout and "by hand" in done.stdout and "cell" in done.stdout
    assert os.path.exists("kept.strobe")


def test_the_magic_in_ipython_itself(tmp_path):
    pytest.importorskip("IPython")
    code = """
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
shell.run_line_magic("load_ext", "strobe")
shell.run_cell_magic("strobe", "--limit 50", "def crunch():\\n    return 1\\ncrunch()\\n")
"""
    done = helper.run(sys.executable, "-c", code, cwd=tmp_path, env={"IPYTHONDIR": str(tmp_path)})
    assert "crunch" in done.stdout
