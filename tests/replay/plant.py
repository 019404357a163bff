#!/usr/bin/env python3
"""plant.py ROOT PATCH OUT - the files that a patch of tests/planted changes, changed, in OUT; of a public header all its fellows
too, so that they include each other there.  SPDX-License-Identifier: MIT"""
import pathlib
import re
import shutil
import subprocess
import sys


def main():
    root, patch, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    shutil.rmtree(out, ignore_errors=True)
    for name in re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(encoding="utf-8"), re.M):
        target = out / name
        if name.startswith("include/"):
            shutil.copytree(root / "include", out / "include", dirs_exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, target)
    subprocess.run(["git", "apply", "-C1", "--recount", str(patch)], cwd=out, check=True, env={"PATH": "/usr/bin:/bin", "GIT_DIR": "/nonexistent"})


if __name__ == "__main__":
    main()
