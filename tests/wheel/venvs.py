"""Fresh virtual environments with the wheels, one per interpreter, and the interpreters that this machine has.

An environment is made anew whenever the wheels have changed. What tests need beside Strobe (pytest, IPython, numpy) comes
from the package index, into the environment alone."""
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLDEST = (3, 9)
EXTRA = ["pytest"]


def version_of(python):
    """(3, 11), or None for what is no usable CPython."""
    code = "import sys, venv, ensurepip; print(*sys.version_info[:2], sys.implementation.name, sys.abiflags)"
    try:
        found = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    words = found.stdout.split()
    if words[2:3] != ["cpython"] or "t" in "".join(words[3:]):
        return None
    return int(words[0]), int(words[1])


def interpreters():
    """{version: path} of every CPython from 3.9 on: $STROBE_PYTHONS, pyenv's, those on PATH."""
    named = os.environ.get("STROBE_PYTHONS", "").split()
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = {}
    for python in [*named, *sorted(glob.glob(f"{pyenv}/versions/3.*/bin/python")), *on_path(), sys.executable]:
        version = version_of(python)
        if version and version >= OLDEST:
            found.setdefault(version, python)
    return dict(sorted(found.items()))


def on_path():
    return [path for minor in range(OLDEST[1], 30) for path in [shutil.which(f"python3.{minor}")] if path]


def wheels(folder):
    """The wheels of a folder by their distributions."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.whl")):
        name, tag = path.name.split("-")[0], path.name.rsplit("-", 3)[-3:]
        found["fallback" if name == "strobe" and tag[0] == "py3" else name] = path
    return found


def digest(folder):
    total = hashlib.sha256()
    for path in sorted(wheels(folder).values()):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()


def make(python, version, folder, place, extra=()):
    """The environment of an interpreter, with the wheels of `folder`; its python."""
    home = pathlib.Path(place).resolve() / f"{version[0]}.{version[1]}"
    stamp, wanted = home / "wheels.sha256", digest(folder) + " ".join(extra)
    own = home / "bin" / "python"
    if stamp.exists() and stamp.read_text() == wanted:
        return own
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(home)], check=True)
    pip = [str(own), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    subprocess.run([*pip, "--no-index", "--find-links", str(folder), "strobe[tracy,tracy-client]"], check=True)
    subprocess.run([*pip, *EXTRA, *extra], check=True)
    stamp.write_text(wanted)
    return own
