#!/usr/bin/env python3
"""test_chroot.py WHEELS PLACE [SUITE...]: the wheels in systems that debootstrap makes, which have Python and nothing else.

bookworm has its own Python without pip; sid has the newest CPythons, on which the whole suite runs. Needs root and
debootstrap; ends with 77 where they are not there."""
import os
import pathlib
import shutil
import subprocess
import sys

import venvs

MIRROR = os.environ.get("STROBE_DEBIAN_MIRROR", "http://deb.debian.org/debian")
NEWEST = ["python3.14", "python3.15"]

PROGRAM = """
import time
from tracy_client import scoped
with scoped.ScopedZone("outer", 0xFF0000):
    zone = scoped.ScopedZone("held")
    time.sleep(.01)
    del zone
"""

BARE = """set -e
python3 "$(ls /w/pip-*.whl)/pip" install --break-system-packages -q --no-index --find-links /w 'strobe-profiler[tracy,tracy-client]'
python3 -m strobe doctor
strobe record -q -o /tmp/o.strobe -- python3 /w/program.py
strobe csv /tmp/o.strobe | grep -c ',\\(outer\\|held\\),'
cd /tmp; python3 -m tracy /w/program.py
strobe csv /tmp/generated/profiler/.logs/tracy_profile_log_host.strobe | grep -c ',PY_FUNC_'
"""

SUITE = """set -e
cd /w/suite
for python in {pythons}; do
    rm -rf /tmp/venv; $python -m venv /tmp/venv
    /tmp/venv/bin/pip install -q --no-index --find-links /w 'strobe-profiler[tracy,tracy-client]' pytest
    PATH=/tmp/venv/bin:$PATH $python --version
    PATH=/tmp/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 /tmp/venv/bin/python -m pytest -q -p no:cacheprovider /w/suite
done
"""


def make(name, packages, place):
    """A system in a folder; made once."""
    home = pathlib.Path(place) / f"chroot-{name}"
    if not (home / "made").exists():
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", name, str(home), MIRROR],
                       check=True, stdout=subprocess.DEVNULL)
        (home / "made").touch()
    return home


def fill(home, wheels):
    """The wheels and the tests, in /w of the system."""
    work = home / "w"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for path in venvs.wheels(wheels).values():
        shutil.copy(path, work)
    (work / "program.py").write_text(PROGRAM)
    shutil.copytree(venvs.ROOT / "tests/wheel/suite", work / "suite", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", "-d", str(work), "pip", "pytest",
                    "exceptiongroup", "tomli"], check=True)
    return work


def enter(home, script):
    """Run a script in the system, with /proc and /dev/shm of its own, which end with it."""
    (home / "w/run.sh").write_text("mount -t proc proc /proc\nmount -t tmpfs tmpfs /dev/shm\n" + script)
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8"}
    return subprocess.run(["unshare", "-m", "chroot", str(home), "sh", "/w/run.sh"], env=bare, capture_output=True,
                          text=True, check=False)


def main():
    wheels, place = sys.argv[1:3]
    wanted = sys.argv[3:] or ["bookworm", "sid"]
    if os.geteuid() or not shutil.which("debootstrap") or not shutil.which("unshare"):
        print("root, debootstrap and unshare are needed: not run")
        return 77
    failed = 0
    for name in wanted:
        newest = name == "sid"
        packages = [*NEWEST, *(f"{python}-venv" for python in NEWEST)] if newest else ["python3"]
        home = make(name, packages, place)
        fill(home, wheels)
        done = enter(home, SUITE.format(pythons=" ".join(NEWEST)) if newest else BARE)
        print(f"== {name}: {'passed' if done.returncode == 0 else 'FAILED'}\n{done.stdout}", flush=True)
        if done.returncode:
            print(done.stderr[-6000:])
        elif not newest:
            counts = [line for line in done.stdout.splitlines() if line.isdigit()]
            failed += counts[:1] != ["2"] or int(counts[1]) < 1
        failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
