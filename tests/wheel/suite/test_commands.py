"""What the wheel carries: commands, library, headers; python -m strobe."""
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import helper


def test_commands_start_without_anything_else():
    bare = {"PATH": "/nowhere"}
    done = subprocess.run([helper.STROBE, "--version"], env=bare, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "strobe"
    assert importlib.metadata.version("strobe-profiler") in done.stdout


def test_the_package_needs_no_distribution():
    wanted = [text for text in importlib.metadata.requires("strobe-profiler") or [] if "extra ==" not in text]
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
    names = {str(path) for path in importlib.metadata.files("strobe-profiler")}
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


def test_python_m_strobe_knows_the_options_of_record_that_take_a_word():
    from strobe import __main__ as command
    helped = helper.run(helper.STROBE, "record", "--help").stdout
    assert command.WITH_VALUE == {"-o", *re.findall(r"^ +(?:-\w, )?(--[\w-]+) [A-Z]", helped, re.MULTILINE)}


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
