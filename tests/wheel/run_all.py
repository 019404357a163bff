#!/usr/bin/env python3
"""run_all.py WHEELS PLACE [--only 3.9,3.13]: the same wheel files on every CPython there is, in a fresh environment each.

Runs tests/wheel/suite and, where it is there, tests/python on each; prints a line per interpreter; 1 if any failed."""
import argparse
import os
import pathlib
import subprocess
import sys
import time

import venvs

SUITES = [venvs.ROOT / "tests/wheel/suite", venvs.ROOT / "tests/python"]


def run_suite(python, suite):
    """pytest on one suite, in an environment without anything that leads to the source tree; its last line."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("PYTHONPATH", "STROBE_BIN", "PYTHONHOME")}
    environment.update(PATH=f"{python.parent}{os.pathsep}{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1",
                       STROBE_TEST_MODULES=os.environ.get("STROBE_TEST_MODULES",
                                                          str(venvs.ROOT / "build/python-tests/modules")))
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", str(suite)]
    done = subprocess.run(command, env=environment, cwd=suite, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode not in (0, 5):
        print(done.stdout[-8000:], done.stderr[-3000:], sep="\n")
    return done.returncode in (0, 5), lines[-1] if lines else "nothing ran"


def choose(found, given):
    """The interpreters that were asked for."""
    versions = list(found)
    if given.only:
        versions = [tuple(map(int, text.split("."))) for text in given.only.split(",")]
    elif given.oldest:
        versions = versions[:1]
    elif given.newest:
        versions = versions[-1:]
    return {version: found[version] for version in versions}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheels")
    parser.add_argument("place")
    parser.add_argument("--only", default="", help="versions: 3.9,3.13")
    parser.add_argument("--oldest", action="store_true", help="the oldest, unless it is the newest too")
    parser.add_argument("--newest", action="store_true", help="the newest")
    parser.add_argument("--suite", action="append", help="a folder of tests; default: all")
    parser.add_argument("--with", dest="extra", nargs="+", default=[], metavar="PACKAGE",
                        help="what the tests may use, from the package index, where it can be had")
    given = parser.parse_args()
    failed, ran, found = 0, 0, venvs.interpreters()
    if given.oldest and len(found) == 1:
        print("there is one interpreter: it is the newest")
        return 0
    for version, python in choose(found, given).items():
        own = venvs.make(python, version, given.wheels, given.place, given.extra, must=False)
        for suite in [pathlib.Path(path).resolve() for path in given.suite or []] or SUITES:
            if not suite.is_dir():
                continue
            begin = time.monotonic()
            good, line = run_suite(own, suite)
            failed += not good
            ran += 1
            print(f"{version[0]}.{version[1]}  {suite.relative_to(venvs.ROOT)}: {line} [{time.monotonic() - begin:.1f} s]",
                  flush=True)
    if not ran:
        print("no interpreter was found")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
