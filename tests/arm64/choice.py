#!/usr/bin/env python3
"""choice.py BUILD WHERE: which tests of a build tree for arm64 run where, as tests.txt says; without it: by qemu-user.

As a program it prints an expression for `ctest -R`, or with "no" the tests that are not run, with the reasons."""
import collections
import json
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).resolve().with_name("tests.txt")
USER, SYSTEM, NO = "user", "system", "no"
Line = collections.namedtuple("Line", "pattern where rest")


def lines():
    """The lines of the list, in order."""
    found = [line.split(None, 2) for line in LIST.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]
    return [Line(words[0], words[1], words[2] if len(words) > 2 else "") for words in found]


def place_of(name):
    """The first line that names a test by its whole name or the beginning of it."""
    for line in lines():
        if re.match(line.pattern, name):
            return line
    return Line("", USER, "")


def tests(build, where, patterns=()):
    """What ctest would run of the tests that belong there: commands, folders, settings."""
    listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True).stdout)
    found = []
    for test in listed["tests"]:
        line = place_of(test["name"])
        if line.where != where or patterns and not any(re.search(pattern, test["name"]) for pattern in patterns):
            continue
        facts = {fact["name"]: fact["value"] for fact in test["properties"]}
        found.append({"name": test["name"], "command": test["command"], "folder": facts.get("WORKING_DIRECTORY", str(build)),
                      "timeout": facts.get("TIMEOUT", 1500), "alone": facts.get("RUN_SERIAL", False), "reason": line.rest,
                      "environment": dict(word.split("=", 1) for word in line.rest.split() if where == SYSTEM and "=" in word)})
    return found


def main():
    build, where = sys.argv[1:3]
    found = tests(build, where)
    if where == NO:
        for test in found:
            print(f"{test['name']:28} {test['reason']}")
    else:
        print("^(" + "|".join(re.escape(test["name"]) for test in found) + ")$")


if __name__ == "__main__":
    main()
