#!/usr/bin/env python3
"""run.py PYTHON BUILD TEST...: run test files with an interpreter, in an environment that has the package of a build tree as an
installation would give it: on its path, and with its .pth. The environment is made once per interpreter, below BUILD."""
import os
import pathlib
import subprocess
import sys


def environment(python, build):
    """The interpreter of the environment."""
    version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], stdout=subprocess.PIPE,
                             check=True).stdout.decode().strip()
    folder = build / "python-tests" / version
    interpreter = folder / "bin" / "python"
    site = folder / "lib" / f"python{version}" / "site-packages"
    tree = build / "python"
    wanted = {"strobe-tree.pth": f"{tree}\n{tree}/strobe/drop_in\n", "zz-strobe.pth": (tree / "strobe.pth").read_text()}
    if not site.is_dir():
        subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
    for name, text in wanted.items():
        if not (site / name).exists() or (site / name).read_text() != text:
            (site / name).write_text(text)
    return interpreter


def main():
    python, build, tests = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    interpreter = environment(python, build)
    env = {**os.environ, "STROBE_TEST_MODULES": str(build / "python-tests" / "modules"), "PYTHONDONTWRITEBYTECODE": "1"}
    here = pathlib.Path(__file__).resolve().parent
    tests = tests or [str(path) for path in sorted(here.glob("test_*.py"))]
    failed = 0
    for test in tests:
        failed |= subprocess.run([str(interpreter), test], env=env).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
