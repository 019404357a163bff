"""Fresh virtual environments with the wheels, one per interpreter, and the interpreters that this machine has.

An environment is made anew whenever the wheels have changed. What tests need beside Strobe (pytest, IPython, numpy) comes
from the package index, into the environment alone."""
import contextlib
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLDEST = (3, 9)
EXTRA = ["pytest"]


def version_of(python, free_threaded=False):
    """(3, 11), or None for what is no usable CPython, with or without the GIL."""
    code = "import sys, venv, ensurepip; print(*sys.version_info[:2], sys.implementation.name, sys.abiflags)"
    try:
        found = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    words = found.stdout.split()
    if words[2:3] != ["cpython"] or ("t" in "".join(words[3:])) != free_threaded:
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
        found["fallback" if name == "strobe_profiler" and tag[0] == "py3" else name] = path
    return found


def digest(folder):
    total = hashlib.sha256()
    for path in sorted(wheels(folder).values()):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()


def pip_for(python, place):
    """The words that run pip for an environment: one pip for all that it can serve, for its making takes seconds."""
    home = pathlib.Path(place).resolve() / "pip"
    shared = [str(home / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as folder:  # others may do the same now
            subprocess.run([list(interpreters().values())[-1], "-m", "venv", f"{folder}/pip"], check=True)
            with contextlib.suppress(OSError):
                os.rename(f"{folder}/pip", home)
    if subprocess.run([*shared, "--version"], capture_output=True, check=False).returncode == 0:
        return shared
    subprocess.run([python, "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)
    return [str(python), "-m", "pip", "--disable-pip-version-check"]


def make(python, version, folder, place, extra=(), must=True):
    """The environment of an interpreter, with the wheels of `folder`; its python. Of one that is there and has more than
    is asked for nothing is made. must=False: what can't be had of `extra` is left out."""
    home = pathlib.Path(place).resolve() / "".join([f"{version[0]}.{version[1]}", *version[2:]])
    stamp, wanted = home / "wheels.sha256", [digest(folder), *sorted(extra)]
    own = home / "bin" / "python"
    has = stamp.read_text().split() if stamp.exists() else []
    if has[:1] == wanted[:1] and set(wanted) <= set(has):
        return own
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([python, "-m", "venv", "--without-pip", str(home)], check=True)
    install = [*pip_for(own, place), "install", "-q"]
    subprocess.run([*install, "--no-index", "--find-links", str(folder), "strobe-profiler[tracy,tracy-client,microbenchmark]"], check=True)
    subprocess.run([*install, *EXTRA, *(extra if must else ())], check=True)
    if extra and not must:
        subprocess.run([*install, *extra], stderr=subprocess.DEVNULL, check=False)
    stamp.write_text(" ".join(wanted))
    return own
